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


def attention_inputs():  # tokens 3, heads 4 over 2, head_dim 12, rotary 8
    q, k = given("inputs.q", 3, 4, 12), given("inputs.k", 3, 2, 12)
    given("inputs.v", 3, 2, 12)
    norms = {"q": given("inputs.q_norm", 12), "k": given("inputs.k_norm", 12)}
    positions = torch.tensor([0, 5, 1000])
    frequency = (10000.0 ** -(torch.arange(0, 8, 2) / 8)).float()
    put("inputs.frequency", frequency)
    angle = positions[:, None].double() * frequency.double()  # [tokens, 4]
    turn = torch.polar(torch.full_like(angle, 1.5), angle)[:, None, :]  # magnitude 1.5
    for name, x in (("q", q), ("k", k)):
        for style in ("plain", "half_split", "interleaved"):
            heads = x if style == "plain" else F.rms_norm(x, (12,), norms[name], 1e-5)
            if style == "interleaved":
                pairs = torch.view_as_complex(heads[..., :8].reshape(3, -1, 4, 2).contiguous()) * turn
                turned = torch.view_as_real(pairs).reshape(3, -1, 8)
            else:
                pairs = torch.complex(heads[..., :4].contiguous(), heads[..., 4:8].contiguous()) * turn
                turned = torch.cat([pairs.real, pairs.imag], -1)
            put(f"inputs.{style}.{name}", torch.cat([turned, heads[..., 8:]], -1))


def attention():  # positions 11, first query at 4, heads 6 over 2, head_dim 8
    q, k, v = given("attention.q", 7, 6, 8), given("attention.k", 11, 2, 8), given("attention.v", 11, 2, 8)
    keys, values = (a.permute(1, 0, 2).repeat_interleave(3, 0) for a in (k, v))
    row, column = torch.arange(4, 11)[:, None], torch.arange(11)[None, :]
    for window in (0, 3):
        seen = (column <= row) & ((column > row - window) if window else True)
        out = F.scaled_dot_product_attention(q.permute(1, 0, 2), keys, values, attn_mask=seen, scale=0.25)
        put(f"attention.window{window}", out.permute(1, 0, 2))


def router():  # tokens 4, d 6, experts 9, used 3
    x, weight, gate = given("router.x", 4, 6), given("router.weight", 9, 6), given("router.gate", 1, 6)
    logits = F.linear(x, weight).float().double()
    put("router.logits", logits)
    p, ids = torch.topk(torch.softmax(logits, -1), 3, dim=-1)
    put("router.ids", ids.int())
    put("router.weights", p * 2.5)
    put("router.normalised", p / p.sum(-1, keepdim=True) * 2.5)
    put("router.shared", torch.sigmoid(F.linear(x, gate)))


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
    put("element.sum", (x.float() + y.float()))


def attention_sinks():  # of attention(), one more score for each head whose value is zeros
    sinks = given("attention.sinks", 6, scale=2.0)
    q, k, v = (torch.from_numpy(arrays[f"attention.{n}"]).double().reshape(*s, 8)
               for n, s in (("q", (7, 6)), ("k", (11, 2)), ("v", (11, 2))))
    keys, values = (a.permute(1, 0, 2).repeat_interleave(3, 0) for a in (k, v))
    row, column = torch.arange(4, 11)[:, None], torch.arange(11)[None, :]
    for window in (0, 3):
        seen = (column <= row) & ((column > row - window) if window else True)
        scores = (q.permute(1, 0, 2) @ keys.transpose(1, 2) * 0.25).masked_fill(~seen, -torch.inf)
        weights = torch.softmax(torch.cat([scores, sinks[:, None, None].expand(6, 7, 1)], -1), -1)[..., :-1]
        put(f"attention.sinks_window{window}", (weights @ values).permute(1, 0, 2))


def router_bias():  # of router(), with a number added to each logit
    bias = given("router.bias", 9, scale=2.0)
    x, weight = (torch.from_numpy(arrays[f"router.{n}"]).double().reshape(-1, 6) for n in ("x", "weight"))
    logits = F.linear(x, weight, bias).float().double()
    put("router.biased_logits", logits)
    p, ids = torch.topk(torch.softmax(logits, -1), 3, dim=-1)
    put("router.biased_ids", ids.int())
    put("router.biased_weights", p / p.sum(-1, keepdim=True))


def activations():  # one expert of width 5 for tokens 4, d 6, with biases and each activation
    x = given("act.x", 4, 6, scale=4.0)
    gate, up, down = given("act.gate", 5, 6), given("act.up", 5, 6), given("act.down", 6, 5)
    gate_bias, up_bias, down_bias = given("act.gate_bias", 5), given("act.up_bias", 5), given("act.down_bias", 6)
    g, u = F.linear(x, gate, gate_bias), F.linear(x, up, up_bias)
    low, high = g.clamp(max=7), u.clamp(-7, 7)
    for name, hidden in (("silu", F.silu(g) * u), ("gelu_tanh", F.gelu(g, approximate="tanh") * u),
                         ("clamped_silu", (high + 1) * low * torch.sigmoid(low * torch.tensor(1.702).double()))):
        put(f"act.{name}", F.linear(hidden, down, down_bias))


def gemma():  # rows 3, columns 10; heads as in attention_inputs(); of router() a number for each expert
    x, residual = given("gemma.x", 3, 10), given("gemma.residual", 3, 10)
    inner, weight = given("gemma.residual_weight", 10), given("gemma.weight", 10)
    total = (0.7 * (x + F.rms_norm(residual, (10,), inner, 0.1))).float().double()
    put("gemma.sum", total)
    put("gemma.normed", F.rms_norm(total, (10,), weight, 1e-5))
    gate = given("gemma.gate", 3, 10, scale=3.0)
    put("gemma.sigmoid", x * torch.sigmoid(gate))
    put("gemma.gelu", F.gelu(x, approximate="tanh") * gate)
    put("gemma.capped", 2.0 * torch.tanh(x / 2.0))
    values = torch.from_numpy(arrays["inputs.v"]).double().reshape(3, 2, 12)
    put("gemma.values", F.rms_norm(values, (12,), eps=1e-5))
    keys = torch.from_numpy(arrays["inputs.k"]).double().reshape(3, 2, 12)
    put("gemma.values_of_keys", F.rms_norm(keys, (12,), eps=1e-5))
    scales = given("gemma.expert_scales", 9)
    ids, weights = (torch.from_numpy(arrays[f"router.biased_{n}"]) for n in ("ids", "weights"))
    put("gemma.expert_weights", weights.double() * scales[ids.long()])


for case in (rms_norm, attention_inputs, attention, router, feed_forward, linear, elementwise, attention_sinks,
             router_bias, activations, gemma):
    case()
out = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "operations.bin")
with open(out, "wb") as f:
    f.write(b"FVOP" + struct.pack("<I", len(arrays)))
    for name, value in arrays.items():
        f.write(struct.pack("<I", len(name)) + name.encode())
        f.write(struct.pack("<II", int(value.dtype.kind == "i"), value.size) + value.tobytes())
print(out, out.stat().st_size, "bytes")
