#!/usr/bin/env python3
"""Tiny random models of every family, and what transformers says their logits are.

    make_models.py [OUTPUT]     (default: the folder "models" beside this file)

Each case is a folder (config.json, model.safetensors) or a GGUF file; cases.json lists them with their tokens, and
NAME.npy holds the logits [tokens, vocabulary] in float32. Weights are rounded to bfloat16 (and stored as F32), so that
git can compress them. Needs transformers 5, torch, safetensors, gguf and numpy.
"""

import json
import pathlib
import shutil
import sys

import gguf
import numpy as np
import torch
import transformers
from safetensors.torch import save_file

F32 = gguf.GGMLQuantizationType.F32
OUT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "models"

CONFIGS = {
    "llama": transformers.LlamaConfig,
    "mistral": transformers.MistralConfig,
    "qwen2": transformers.Qwen2Config,
    "qwen3": transformers.Qwen3Config,
    "qwen2_moe": transformers.Qwen2MoeConfig,
    "qwen3_moe": transformers.Qwen3MoeConfig,
    "mixtral": transformers.MixtralConfig,
    "mellum": transformers.MellumConfig,
}
# Shapes that divide by nothing: grouped heads, odd widths, prime vocabularies.
SHAPES = [
    dict(hidden_size=24, num_attention_heads=4, num_key_value_heads=2, intermediate_size=27, vocab_size=37),
    dict(hidden_size=30, num_attention_heads=3, num_key_value_heads=1, intermediate_size=31, vocab_size=31),
    dict(hidden_size=20, num_attention_heads=5, num_key_value_heads=5, intermediate_size=21, vocab_size=41),
]
EXPERTS = [
    dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=11, norm_topk_prob=False),
    dict(num_experts=4, num_experts_per_tok=3, moe_intermediate_size=13, norm_topk_prob=True),
    dict(num_experts=7, num_experts_per_tok=1, moe_intermediate_size=9, norm_topk_prob=False),
]
TOKENS = 19


def settings(family, index):
    values = dict(SHAPES[index], num_hidden_layers=2, max_position_embeddings=64, tie_word_embeddings=index == 1,
                  rms_norm_eps=1e-5)
    if family == "llama":
        values["attention_bias"] = index == 2
    if family.startswith("qwen3"):
        values["head_dim"] = [10, 8, 6][index]  # not hidden / heads
        values["attention_bias"] = index == 2
    if family.endswith("_moe"):
        values.update(EXPERTS[index])
    if family == "qwen2_moe":
        values["shared_expert_intermediate_size"] = [17, 15, 21][index]
        values["mlp_only_layers"] = [0] if index == 2 else []
    if family == "qwen3_moe":
        values["decoder_sparse_step"] = 2 if index == 2 else 1
    if family == "mixtral":
        values.update(num_local_experts=EXPERTS[index]["num_experts"],
                      num_experts_per_tok=EXPERTS[index]["num_experts_per_tok"], intermediate_size=17)
    return values


def random_model(family, values, seed):
    """Weights large enough that a wrong rotation, mask, norm or expert shows in the logits."""
    config = CONFIGS[family](**values)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager",
                                                          experts_implementation="eager").float().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if weight.dim() == 1:
                weight.copy_(noise * 0.3 if name.endswith("bias") else 1 + 0.3 * noise)
            else:
                weight.copy_(noise * (1.0 if "embed" in name else 1.2 / weight.shape[-1] ** 0.5))
            weight.copy_(weight.bfloat16().float())
    return model


def router_margin(model, ids):
    """How far the last chosen expert is ahead of the first one left out: a tie would make the test a coin toss."""
    result = model(ids, output_router_logits=True)
    margin = 1.0
    for logits in result.router_logits or ():
        used = model.config.num_experts_per_tok
        ranked = torch.softmax(logits, -1).sort(-1, descending=True).values
        if used < ranked.shape[-1]:
            margin = min(margin, (ranked[:, used - 1] - ranked[:, used]).min().item())
    return margin


def make(family, values, seed, tokens=TOKENS, kinds=None):
    for attempt in range(100):
        model = random_model(family, values, seed * 1000 + attempt)
        if kinds:
            round_to_blocks(family, model, kinds)
        generator = torch.Generator().manual_seed(seed * 1000 + attempt)
        ids = torch.randint(0, values["vocab_size"], (1, tokens), generator=generator)
        with torch.no_grad():
            if "moe" in family or family in ("mixtral", "mellum"):
                if router_margin(model, ids) < 1e-3:
                    continue
            logits = model(ids).logits[0].float().numpy()
        assert np.isfinite(logits).all() and logits.std() > 0.1
        return model, ids[0].tolist(), logits
    raise RuntimeError(f"{family}: every seed has a tie between experts")


def as_transformers_4(config):
    """config.json as transformers 4 wrote it."""
    old = {k: v for k, v in config.items() if k not in ("rope_parameters", "dtype", "layer_types")}
    rope = dict(config["rope_parameters"])
    old["rope_theta"] = rope.pop("rope_theta")
    old["rope_scaling"] = None if rope.get("rope_type") == "default" else rope
    if old["rope_scaling"] and rope["rope_type"] in ("linear", "dynamic"):
        old["rope_scaling"] = {"type": rope["rope_type"], "factor": rope["factor"]}
    if config["model_type"] == "qwen3_moe":
        old["num_experts"] = old.pop("num_local_experts")
    old.update(torch_dtype="float32", transformers_version="4.46.0")
    return old


def tidy(model):
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    return tensors


def write_folder(name, model, form):
    folder = OUT / name
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if form == "fused":  # the names that the model has in memory
        save_file(tidy(model), folder / "model.safetensors")
    if form == "transformers4":
        path = folder / "config.json"
        path.write_text(json.dumps(as_transformers_4(json.loads(path.read_text())), indent=1) + "\n")


def interleave(weight, heads):
    """The row order that llama.cpp's rotation of llama models expects."""
    rows = weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1).swapaxes(1, 2)
    return rows.reshape(weight.shape)


GGUF_ARCH = {"llama": "llama", "mixtral": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "qwen2_moe": "qwen2moe",
             "qwen3_moe": "qwen3moe"}


def gguf_keys(writer, family, config):
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope["rope_theta"])
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    if family in ("qwen3", "qwen3_moe"):
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    if family in ("llama", "mixtral"):
        writer.add_rope_dimension_count(head_dim)
        writer.add_vocab_size(config.vocab_size)
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if "moe" in family or family == "mixtral":
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
    if "moe" in family:
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    if family == "qwen2_moe":
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    if family == "qwen3_moe" and not config.norm_topk_prob:
        writer.add_expert_weights_norm(False)
    if family == "qwen2_moe" and config.norm_topk_prob:
        writer.add_expert_weights_norm(True)


def llama3_factors(config):
    """What rope_freqs.weight holds: the default frequencies over those that transformers computes."""
    rotary = transformers.models.llama.modeling_llama.LlamaRotaryEmbedding(config)
    dim = config.head_dim
    base = config.rope_parameters["rope_theta"]
    return (1.0 / base ** (torch.arange(0, dim, 2).double() / dim) / rotary.inv_freq.double()).float().numpy()


def gguf_tensors(family, model, split_experts=False):
    """(GGUF's name, values) of every tensor; the values share the model's memory except where rows change places."""
    config = model.config
    arch = {v: k for k, v in gguf.MODEL_ARCH_NAMES.items()}[GGUF_ARCH[family]]
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    for source, tensor in tidy(model).items():
        layer = source.split(".")[2] if source.startswith("model.layers.") else None
        if family in ("llama", "mixtral") and "self_attn.q_proj" in source:
            tensor = interleave(tensor, config.num_attention_heads)
        if family in ("llama", "mixtral") and "self_attn.k_proj" in source:
            tensor = interleave(tensor, config.num_key_value_heads)
        if source.endswith(("experts.gate_up_proj", "experts.down_proj")):
            parts = zip(("gate", "up"), tensor.chunk(2, dim=1)) if "gate_up" in source else [("down", tensor)]
            for part, values in parts:
                if split_experts:
                    for expert, matrix in enumerate(values):
                        yield f"blk.{layer}.ffn_{part}.{expert}.weight", matrix
                else:
                    yield f"blk.{layer}.ffn_{part}_exps.weight", values
        elif source.endswith(".mlp.gate.weight"):
            yield f"blk.{layer}.ffn_gate_inp.weight", tensor
        elif source.endswith("shared_expert_gate.weight"):
            yield f"blk.{layer}.ffn_gate_inp_shexp.weight", tensor[0]
        else:
            yield names.get_name(source, try_suffixes=(".weight", ".bias")), tensor


def write_gguf(name, family, model, split_experts=False, kinds=lambda name: F32):
    config = model.config
    writer = gguf.GGUFWriter(OUT / f"{name}.gguf", GGUF_ARCH[family])
    writer.add_name(name)
    gguf_keys(writer, family, config)
    for target, tensor in gguf_tensors(family, model, split_experts):
        values, kind = tensor.contiguous().numpy(), kinds(target)
        writer.add_tensor(target, values if kind == F32 else gguf.quants.quantize(values, kind),
                          raw_dtype=None if kind == F32 else kind)
    if config.rope_parameters["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(config))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def block_kinds(name):
    """A type of blocks for each kind of matrix, experts included."""
    if name.endswith(".bias") or "norm" in name or "gate_inp" in name:
        return F32
    kinds = {"attn_q": "Q4_1", "attn_k": "Q5_0", "attn_v": "F16", "attn_output": "BF16", "gate": "Q4_0", "up": "Q5_1",
             "down": "Q8_0", "token_embd": "Q8_0"}
    return next((gguf.GGMLQuantizationType[kind] for part, kind in kinds.items() if part in name), F32)


def expert_kinds(name):
    return gguf.GGMLQuantizationType.Q4_0 if "_exps" in name else F32


def round_to_blocks(family, model, kinds):
    """Every weight becomes what its blocks mean, so that transformers computes with the same values."""
    with torch.no_grad():
        for target, tensor in gguf_tensors(family, model):
            if (kind := kinds(target)) != F32:
                values = gguf.quants.dequantize(gguf.quants.quantize(tensor.contiguous().numpy(), kind), kind)
                tensor.copy_(torch.from_numpy(values))


def main():
    torch.set_num_threads(1)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    cases = []

    def case(name, family, values, seed, form="folder", ggufs=(), kinds=None):
        model, ids, logits = make(family, values, seed, kinds=kinds)
        np.save(OUT / f"{name}.npy", logits)
        entry = dict(name=name, tokens=ids, expected=f"{name}.npy", quantised=kinds is not None)
        if form != "none":
            write_folder(name, model, form)
            cases.append(dict(entry, model=name))
        for suffix, options in ggufs:
            write_gguf(name + suffix, family, model, **options)
            cases.append(dict(entry, name=name + suffix, model=f"{name}{suffix}.gguf"))

    for family in ("llama", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "mixtral"):
        for index in range(3):
            forms = ["transformers4", "folder", "folder"]
            ggufs = [("-gguf", {})] if index == 0 else []
            if family in ("qwen2_moe", "qwen3_moe") and index == 1:
                ggufs = [("-gguf", {})]  # the other way of normalising
            if family == "mixtral" and index == 1:
                ggufs = [("-split-gguf", dict(split_experts=True))]
            case(f"{family}-{index}", family, settings(family, index), 10 + index, forms[index], ggufs=ggufs)

    for family in ("qwen2_moe", "mixtral"):
        case(f"{family}-fused", family, settings(family, 0), 20, "fused")

    # Rotary scaling. Positions go past the original context where that matters.
    def rope(kind, **more):
        return dict(rope_parameters=dict(rope_type=kind, rope_theta=500.0, **more))

    small = dict(settings("llama", 1), num_hidden_layers=1)
    neox = dict(settings("qwen2", 1), num_hidden_layers=1)
    heads = dict(hidden_size=36, num_attention_heads=2, num_key_value_heads=1, intermediate_size=15)
    case("rope-theta", "llama", {**small, **rope("default")}, 30, "transformers4")
    case("rope-linear", "llama", {**small, **rope("linear", factor=2.5)}, 31, "transformers4", ggufs=[("-gguf", {})])
    dynamic = {**small, **rope("dynamic", factor=2.0), "max_position_embeddings": 11}
    case("rope-dynamic", "llama", dynamic, 32, "transformers4")
    case("rope-dynamic-short", "llama", {**dynamic, "max_position_embeddings": 40}, 32, "folder")
    yarn = rope("yarn", factor=4.0, original_max_position_embeddings=16)
    case("rope-yarn", "qwen2", {**neox, **heads, **yarn}, 33, "folder", ggufs=[("-gguf", {})])
    case("rope-yarn-4", "llama", {**small, **heads, **yarn}, 34, "transformers4")
    more = rope("yarn", factor=4.0, original_max_position_embeddings=16, mscale=0.8, mscale_all_dim=0.5, beta_fast=8.0,
                beta_slow=2.0, truncate=False)
    case("rope-yarn-mscale", "llama", {**small, **heads, **more}, 35, "folder")
    factor = rope("yarn", factor=4.0, original_max_position_embeddings=16, attention_factor=1.3)
    case("rope-yarn-factor", "qwen3", {**dict(settings("qwen3", 1), num_hidden_layers=1), **factor}, 36, "folder")
    llama3 = rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
    case("rope-llama3", "llama", {**small, **heads, **llama3}, 37, "folder", ggufs=[("-gguf", {})])
    case("rope-llama3-4", "llama", {**small, **heads, **llama3}, 38, "transformers4")

    # Sliding windows.
    case("window-mistral", "mistral", dict(settings("llama", 1), sliding_window=5, head_dim=None), 40, "transformers4")
    case("window-qwen2", "qwen2", dict(settings("qwen2", 0), use_sliding_window=True, sliding_window=4,
                                       max_window_layers=1), 41, "transformers4")
    case("window-qwen3", "qwen3", dict(settings("qwen3", 1), use_sliding_window=True, sliding_window=6,
                                       layer_types=["sliding_attention", "full_attention"]), 42, "folder")
    case("window-mixtral", "mixtral", dict(settings("mixtral", 1), sliding_window=7), 43, "folder")

    # Two rotary tables in one model, as gemma3 has them: five layers with a window to one that sees everything, the
    # window's unscaled, the other's stretched. One layer is dense, the others have experts.
    kinds = ["sliding_attention"] * 5 + ["full_attention"]
    tables = dict(sliding_attention=dict(rope_type="default", rope_theta=10_000.0),
                  full_attention=dict(rope_type="linear", rope_theta=1_000_000.0, factor=8.0))
    values = dict(settings("qwen3", 0), num_hidden_layers=6, layer_types=kinds, sliding_window=5, rope_parameters=tables,
                  mlp_layer_types=["dense"] + ["sparse"] * 5, num_experts=4, num_experts_per_tok=2,
                  moe_intermediate_size=9, norm_topk_prob=True)
    case("mellum-tables", "mellum", values, 70, "folder")

    # Quantised blocks; a device may quantise its activations as well, so the test is looser there.
    values = dict(settings("qwen2_moe", 0), hidden_size=64, num_attention_heads=4, moe_intermediate_size=32,
                  shared_expert_intermediate_size=32, num_hidden_layers=1)
    case("blocks", "qwen2_moe", values, 50, "none", ggufs=[("", dict(kinds=block_kinds))], kinds=block_kinds)

    # Enough experts of one type for tiers to be swapped.
    values = dict(settings("qwen3_moe", 0), hidden_size=64, num_attention_heads=4, num_experts=8, num_experts_per_tok=2,
                  moe_intermediate_size=64)
    case("experts", "qwen3_moe", values, 60, "none", ggufs=[("", dict(kinds=expert_kinds))], kinds=expert_kinds)

    (OUT / "cases.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main()
