#!/usr/bin/env python3
"""Makes tests/golden/operations.bin: small inputs and outputs of every operation, computed by torch in float64.

Usage: make_operations.py [OUT]      needs: pip install torch numpy

Layout, little endian: "FVOP", u32 arrays; each array: u32 length of name, name, u32 kind (0 float32, 1 int32),
u32 elements, data. The shapes are written beside each case below and in reference_test.cpp.
"""
import struct
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(11)
arrays = {}


def put(name, value):
    value = value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
    arrays[name] = value.astype("<i4" if value.dtype.kind == "i" else "<f4").ravel()


def given(name, *shape, scale=1.0):
    """A random input, rounded to float32 before it is used in float64."""
    value = (torch.randn(*shape) * scale).double()
    put(name, value)
    return value


def rms_norm():  # rows 3, columns 10
    x, residual, weight = given("norm.x", 3, 10), given("norm.residual", 3, 10), given("norm.weight", 10)
    put("norm.plain", F.rms_norm(x, (10,), weight, 1e-5))
    total = (x.float() + residual.float()).double()
    put("norm.sum", total)
    put("norm.out", F.rms_norm(total, (10,), weight, 1e-5))


def rotary():  # tokens 3, heads 2, head_dim 12, rotary 8
    x = given("rotary.x", 3, 2, 12)
    positions = torch.tensor([0, 5, 1000])
    frequency = (10000.0 ** -(torch.arange(0, 8, 2) / 8)).float()
    put("rotary.frequency", frequency)
    angle = positions[:, None].double() * frequency.double()  # [tokens, 4]
    turn = torch.polar(torch.full_like(angle, 1.5), angle)[:, None, :]  # magnitude 1.5
    pairs = torch.complex(x[..., :4].contiguous(), x[..., 4:8].contiguous()) * turn
    put("rotary.half_split", torch.cat([pairs.real, pairs.imag, x[..., 8:]], -1))
    pairs = torch.view_as_complex(x[..., :8].reshape(3, 2, 4, 2).contiguous()) * turn
    put("rotary.interleaved", torch.cat([torch.view_as_real(pairs).reshape(3, 2, 8), x[..., 8:]], -1))


def attention():  # positions 11, first query at 4, heads 6 over 2, head_dim 8
    q, k, v = given("attention.q", 7, 6, 8), given("attention.k", 11, 2, 8), given("attention.v", 11, 2, 8)
    keys, values = (a.permute(1, 0, 2).repeat_interleave(3, 0) for a in (k, v))
    row, column = torch.arange(4, 11)[:, None], torch.arange(11)[None, :]
    for window in (0, 3):
        seen = (column <= row) & ((column > row - window) if window else True)
        out = F.scaled_dot_product_attention(q.permute(1, 0, 2), keys, values, attn_mask=seen, scale=0.25)
        put(f"attention.window{window}", out.permute(1, 0, 2))


def route():  # tokens 4, experts 9, used 3
    logits = given("route.logits", 4, 9, scale=3.0)
    p, ids = torch.topk(torch.softmax(logits, -1), 3, dim=-1)
    put("route.ids", ids.int())
    put("route.weights", p * 2.5)
    put("route.normalised", p / p.sum(-1, keepdim=True) * 2.5)


def expert(prefix, d, width):
    gate, up, down = (given(f"{prefix}.{n}", *s) for n, s in
                      (("gate", (width, d)), ("up", (width, d)), ("down", (d, width))))
    return lambda x: (F.silu(x @ gate.T) * (x @ up.T)) @ down.T


def feed_forward():  # tokens 4, d 6, 3 experts of width 5, used 2; shared of width 7
    x = given("ff.x", 4, 6)
    experts = [expert(f"ff.{e}", 6, 5) for e in range(3)]
    shared = expert("ff.shared", 6, 7)
    ids = torch.tensor([[2, 0], [0, 2], [2, 0], [0, 2]])  # expert 1 gets no token
    put("ff.ids", ids.int())
    weights, shared_weights = given("ff.weights", 4, 2), given("ff.shared_weights", 4)
    routed = torch.stack([sum(w * experts[e](row) for e, w in zip(i.tolist(), ws)) for row, i, ws in zip(x, ids, weights)])
    put("ff.routed", routed)
    put("ff.with_shared", routed + shared_weights[:, None] * shared(x))
    put("ff.dense", shared(x))


def linear():  # tokens 3, columns 7, two projections of 4 and 5 rows, the first with a bias
    x, a, b, bias = given("linear.x", 3, 7), given("linear.a", 4, 7), given("linear.b", 5, 7), given("linear.bias", 4)
    put("linear.out_a", F.linear(x, a, bias))
    put("linear.out_b", F.linear(x, b))


def elementwise():
    x, y = given("element.x", 9, scale=20.0), given("element.y", 9)
    put("element.sigmoid", torch.sigmoid(x))
    put("element.sum", (x.float() + y.float()))


for case in (rms_norm, rotary, attention, route, feed_forward, linear, elementwise):
    case()
out = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "operations.bin")
with open(out, "wb") as f:
    f.write(b"FVOP" + struct.pack("<I", len(arrays)))
    for name, value in arrays.items():
        f.write(struct.pack("<I", len(name)) + name.encode())
        f.write(struct.pack("<II", int(value.dtype.kind == "i"), value.size) + value.tobytes())
print(out, out.stat().st_size, "bytes")
