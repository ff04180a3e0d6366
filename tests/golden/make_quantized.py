#!/usr/bin/env python3
"""Tiny models packed as GPTQ, AWQ and AutoRound write them, and what transformers says of the same weights.

    make_quantized.py [OUTPUT]     (default: the folder "quantized" beside this file)

Each case is a folder as those tools publish it. The packing here follows the layouts that they document: codes are
packed along the inputs (GPTQ: a stream of bits in 32-bit words) or along the outputs (AWQ: eight in a word, in the
order 0 2 4 6 1 3 5 7), zero points along the outputs; the first GPTQ format stores zero points less one. NAME.npy
holds transformers' logits [tokens, vocabulary] with the weights that the codes mean, scale (code - zero), rounded to
F16 where no block type can hold them; NAME.weights.safetensors holds some of these weights, never rounded. cases.json lists
tokens, the expected types and whether rows are exact.

`make_quantized.py --check FOLDER` compares the packing with that of the tools themselves, where FOLDER holds their
unpacked source distributions (auto_round, autoawq).
"""

import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import types

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file

from make_models import TOKENS, random_model, router_margin

LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
SMALL = dict(hidden_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=16, intermediate_size=96,
             vocab_size=37, num_hidden_layers=1, max_position_embeddings=64, tie_word_embeddings=True,
             rms_norm_eps=1e-5)
EXPERTS = dict(num_experts=3, num_experts_per_tok=2, moe_intermediate_size=32, norm_topk_prob=True)


class Scheme:
    """How one layer is quantised; weights are [outputs, inputs], groups' values [groups, outputs]."""

    def __init__(self, bits=4, group=32, symmetric=True, scales=torch.float16, few_bits=True, permuted=False):
        self.bits, self.group, self.symmetric = bits, group, symmetric
        self.scales, self.few_bits, self.permuted = scales, few_bits, permuted

    def quantise(self, weight, rng):
        outputs, inputs = weight.shape
        size = self.group if self.group > 0 else inputs
        groups = -(-inputs // size)
        self.g_idx = np.arange(inputs, dtype=np.int32) // size
        if self.permuted:
            self.g_idx = rng.permutation(self.g_idx).astype(np.int32)
        most = 2**self.bits - 1
        # A shift for each group, so that zero points take many values.
        shift = np.zeros((groups, outputs))
        if not self.symmetric:
            shift = rng.uniform(-1.2, 1.2, (groups, outputs)) * weight.std()
        values = weight + shift[self.g_idx].T
        scale, zero = np.empty((groups, outputs), np.float32), np.empty((groups, outputs), np.int64)
        for g in range(groups):
            part = values[:, self.g_idx == g]
            if self.symmetric:
                scale[g], zero[g] = np.abs(part).max(1) * 2 / most, 2 ** (self.bits - 1)
            else:
                low, high = np.minimum(part.min(1), 0), np.maximum(part.max(1), 0)
                scale[g] = (high - low) / most
                zero[g] = np.clip(np.round(-low / scale[g]), 0, most)
        if self.few_bits:  # the products with steps are F16 numbers then
            mantissa, exponent = np.frexp(scale)
            scale = np.ldexp(np.ceil(mantissa * 8) / 8, exponent).astype(np.float32)
        self.scale = torch.from_numpy(scale).to(self.scales)
        self.zero = zero
        exact = self.scale.float().numpy()
        codes = np.round(values / exact[self.g_idx].T + zero[self.g_idx].T)
        self.codes = np.clip(codes, 0, most).astype(np.int64)
        return exact[self.g_idx].T * (self.codes - zero[self.g_idx].T).astype(np.float32)


def pack_stream(codes, bits):
    """[n, m] codes to words [ceil(n bits / 32), m]: code i takes the bits from i * bits on."""
    n, m = codes.shape
    words = np.zeros((-(-n * bits // 32) + 1, m), np.uint64)
    for i in range(n):
        word, shift = divmod(i * bits, 32)
        value = codes[i].astype(np.uint64) << np.uint64(shift)
        words[word] |= value & np.uint64(0xFFFFFFFF)
        words[word + 1] |= value >> np.uint64(32)
    return words[:-1].astype(np.uint32).view(np.int32)


def less_one(words, codes, bits):
    """GPTQ's first format: the words of whole codes are lessened together, with borrows; others code by code."""
    if 32 % bits == 0:
        return (words.view(np.uint32) - np.uint32(0xFFFFFFFF // (2**bits - 1))).view(np.int32)
    return pack_stream((codes.T - 1) % 2**bits, bits).T.copy()


def pack_awq(codes):
    """[n, m] codes to words [n, m / 8]."""
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    blocks = codes.reshape(codes.shape[0], -1, 8).astype(np.uint32)
    words = np.zeros(blocks.shape[:2], np.uint32)
    for place, output in enumerate(order):
        words |= blocks[:, :, output] << np.uint32(4 * place)
    return words.view(np.int32)


def pack(scheme, layout):
    """The tensors of one layer, without its name. layout: gptq, gptq_v2 or awq."""
    if layout == "awq":
        return dict(qweight=pack_awq(scheme.codes.T), qzeros=pack_awq(scheme.zero), scales=scheme.scale)
    zeros = pack_stream(scheme.zero.T, scheme.bits).T.copy()
    if layout == "gptq":
        zeros = less_one(zeros, scheme.zero, scheme.bits)
    return dict(qweight=pack_stream(scheme.codes.T, scheme.bits), qzeros=zeros, scales=scheme.scale, g_idx=scheme.g_idx)


def tensor(value):
    return value if isinstance(value, torch.Tensor) else torch.from_numpy(np.ascontiguousarray(value))


class Maker:
    def __init__(self, out):
        self.out = out
        self.cases = []

    def case(self, name, family, values, seed, layout, scheme, config, types, exact=True, order=True, zero_bias=False,
             shards=1, own_file=False):
        """`scheme` is a Scheme's settings, or a function from a layer's name to them."""
        for attempt in range(100):
            folder = self.out / name
            shutil.rmtree(folder, ignore_errors=True)
            rng = np.random.default_rng(seed * 1000 + attempt)
            model = random_model(family, {**SMALL, **values}, seed * 1000 + attempt)
            model.save_pretrained(folder)
            (folder / "generation_config.json").unlink(missing_ok=True)
            plain, packed, kept = load_file(folder / "model.safetensors"), {}, {}
            for key, weight in list(plain.items()):
                module, _, kind = key.rpartition(".")
                if kind != "weight" or module.rpartition(".")[2] not in LINEAR:
                    packed[key] = weight.bfloat16()
                    continue
                s = Scheme(**(scheme(module) if callable(scheme) else scheme))
                plain[key] = torch.from_numpy(s.quantise(weight.float().numpy().astype(np.float64), rng)).contiguous()
                for part, value in pack(s, layout).items():
                    if part != "g_idx" or order:
                        packed[f"{module}.{part}"] = tensor(value)
                if zero_bias:
                    packed[f"{module}.bias"] = torch.zeros(weight.shape[0], dtype=torch.float16)
                if module.endswith(("k_proj", "1.down_proj", "mlp.down_proj")):
                    kept[key] = plain[key]
                if not exact:  # what Fovea rounds to
                    plain[key] = plain[key].half().float()
            with tempfile.TemporaryDirectory() as exact_folder:
                shutil.copy(folder / "config.json", exact_folder)
                save_file(plain, pathlib.Path(exact_folder) / "model.safetensors", metadata={"format": "pt"})
                reference = transformers.AutoModelForCausalLM.from_pretrained(
                    exact_folder, dtype=torch.float32, attn_implementation="eager").eval()
            ids = torch.from_numpy(rng.integers(0, SMALL["vocab_size"], (1, TOKENS)))
            with torch.no_grad():
                if "moe" in family and router_margin(reference, ids) < 1e-2:
                    continue
                logits = reference(ids).logits[0].float().numpy()
            break
        assert np.isfinite(logits).all() and logits.std() > 0.1
        self.write(folder, packed, config, shards, own_file)
        np.save(self.out / f"{name}.npy", logits)
        save_file(kept, self.out / f"{name}.weights.safetensors")
        self.cases.append(dict(name=name, tokens=ids[0].tolist(), types=types, exact=exact))

    def write(self, folder, packed, config, shards, own_file):
        path = folder / "config.json"
        values = json.loads(path.read_text())
        if own_file:
            (folder / "quantize_config.json").write_text(json.dumps(config) + "\n")
        else:
            values["quantization_config"] = config
        path.write_text(json.dumps(values, indent=1) + "\n")
        (folder / "model.safetensors").unlink()
        if shards == 1:
            save_file(packed, folder / "model.safetensors", metadata={"format": "pt"})
            return
        # Parts of one layer come to lie in different files.
        names, places = sorted(packed), {}
        for i in range(shards):
            file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
            save_file({n: packed[n] for n in names[i::shards]}, folder / file, metadata={"format": "pt"})
            places.update({n: file for n in names[i::shards]})
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}) + "\n")


def mixed(module):
    """Layers with bits of their own, as the tools' per-layer settings allow."""
    return dict({"q_proj": dict(bits=2, symmetric=True), "k_proj": dict(bits=3, symmetric=False),
                 "v_proj": dict(bits=5, symmetric=True), "o_proj": dict(bits=6, symmetric=False),
                 "gate_proj": dict(bits=7, symmetric=False), "up_proj": dict(bits=2, symmetric=False),
                 "down_proj": dict(bits=3, symmetric=True, group=-1)}[module.rpartition(".")[2]])


def make(out):
    torch.set_num_threads(1)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    m = Maker(out)
    gptq = dict(quant_method="gptq", bits=4, group_size=32, sym=True, desc_act=False)
    m.case("gptq", "llama", {}, 60, "gptq", {}, gptq, ["Q4_0"], zero_bias=True)
    m.case("gptq-asymmetric", "qwen2", {}, 61, "gptq", dict(symmetric=False),
           {**gptq, "sym": False, "checkpoint_format": "gptq"}, ["Q5_0"])
    m.case("gptq-v2", "llama", {}, 62, "gptq_v2", dict(symmetric=False, group=64),
           {**gptq, "sym": False, "group_size": 64, "checkpoint_format": "gptq_v2"}, ["Q5_0"])
    m.case("gptq-8", "llama", {}, 63, "gptq", dict(bits=8, group=-1, scales=torch.bfloat16),
           {**gptq, "bits": 8, "group_size": -1}, ["Q8_0"], order=False)
    m.case("gptq-8-asymmetric", "llama", {}, 64, "gptq_v2", dict(bits=8, symmetric=False, few_bits=False),
           {**gptq, "bits": 8, "sym": False, "checkpoint_format": "gptq_v2"}, ["F16"], exact=False)
    m.case("gptq-mixed", "llama", {}, 65, "gptq", mixed, {**gptq, "dynamic": {".*q_proj": {"bits": 2}}},
           ["Q4_0", "Q5_0", "Q8_0"])
    m.case("gptq-activation-order", "llama", {}, 66, "gptq", dict(permuted=True), {**gptq, "desc_act": True}, ["F16"],
           exact=False)
    m.case("gptq-odd", "llama", dict(hidden_size=48, head_dim=8), 67, "gptq", dict(group=16),
           {**gptq, "group_size": 16}, ["F16"], exact=False, own_file=True)
    m.case("awq", "qwen3_moe", EXPERTS, 68, "awq", dict(symmetric=False),
           dict(quant_method="awq", bits=4, group_size=32, zero_point=True, version="gemm"), ["Q5_0"], shards=3)
    auto = dict(quant_method="auto-round", bits=4, group_size=32, sym=True, data_type="int", iters=200)
    m.case("auto-round", "qwen3_moe", EXPERTS, 69, "gptq", {}, {**auto, "packing_format": "auto_round:auto_gptq"},
           ["Q4_0"], order=False)
    m.case("auto-round-own", "llama", {}, 70, "gptq_v2", dict(bits=3, symmetric=False),
           {**auto, "bits": 3, "sym": False, "packing_format": "auto_round:gptqmodel"}, ["Q4_0"], order=False)
    m.case("auto-round-awq", "llama", {}, 71, "awq", dict(symmetric=False),
           {**auto, "sym": False, "packing_format": "auto_round:auto_awq"}, ["Q5_0"])
    (out / "cases.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in m.cases) + "\n]\n")


def load_module(path, stubs):
    """A module of a tool by itself: what it imports of the tool's other parts is not there."""
    for name in stubs:
        sys.modules.setdefault(name, types.ModuleType(name))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(folder):
    """Both directions that the tools' pure functions offer: AutoRound's bit streams, AWQ's dequantisation."""
    rng = np.random.default_rng(5)
    streams = load_module(next(folder.rglob("utils/bit_packing.py")), [])
    for bits in range(2, 9):
        codes = rng.integers(0, 2**bits, (96, 64))
        theirs = streams.pack_bitstream(torch.from_numpy(codes.astype(np.int32)), bits, dim=0)
        assert (theirs.numpy() == pack_stream(codes, bits)).all(), bits
    awq = load_module(next(folder.rglob("packing_utils.py")), [])
    s = Scheme(symmetric=False)
    exact = s.quantise(rng.standard_normal((48, 64)), rng)
    parts = {k: tensor(v) for k, v in pack(s, "awq").items()}
    theirs = awq.dequantize_gemm(parts["qweight"], parts["qzeros"], parts["scales"].float(), 4, 32)
    assert (theirs.numpy() == exact.T).all()
    print("the packing is that of the tools")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(pathlib.Path(sys.argv[2]))
    else:
        make(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "quantized")
