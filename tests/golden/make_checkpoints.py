#!/usr/bin/env python3
"""Write the small model files of tests/golden/checkpoint with the tools that publish such files.

    make_checkpoints.py [--transformers]

--transformers writes the folder transformers4 or transformers5, whichever is installed (made with 4.46.3 and
5.23.0); without it everything else is written. Needs: pip install gguf safetensors numpy torch transformers.

Tensor bytes follow a formula that the tests repeat: byte i of tensor number k of a file is (31 i + 17 k + 7) mod
251. They need not mean anything: nobody computes with them here.
"""
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType as T, GGUFEndian, GGUFWriter, GGUFValueType as V
from safetensors.torch import save_file

TYPES = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K",
         "IQ4_NL", "IQ4_XS", "MXFP4"]
BLOCK = {"F32": (1, 4), "F16": (1, 2), "BF16": (1, 2), "Q4_0": (32, 18), "Q4_1": (32, 20), "Q5_0": (32, 22),
         "Q5_1": (32, 24), "Q8_0": (32, 34), "Q2_K": (256, 84), "Q3_K": (256, 110), "Q4_K": (256, 144),
         "Q5_K": (256, 176), "Q6_K": (256, 210), "IQ4_NL": (32, 18), "IQ4_XS": (256, 136), "MXFP4": (32, 17)}


def pattern(k, count):
    return ((31 * np.arange(count, dtype=np.int64) + 17 * k + 7) % 251).astype(np.uint8)


def raw(writer, name, k, kind, shape):
    """A tensor of `shape` (outermost first) with the pattern's bytes."""
    elements, size = BLOCK[kind]
    rows = shape[:-1] + [shape[-1] // elements * size]
    writer.add_tensor(name, pattern(k, int(np.prod(rows))).reshape(rows), raw_dtype=T[kind])


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def all_types(path):
    """Every storage type; the keys stand in the order of their names, so that a sorted writer makes equal bytes."""
    w = GGUFWriter(path, "llama")
    w.add_name("every type")
    for k, kind in enumerate(TYPES):
        raw(w, f"weight.{kind}", k, kind, [2, 3, 256])
    finish(w)


def metadata(path):
    w = GGUFWriter(path, "llama")
    w.add_custom_alignment(64)
    for name, kind, value in [
            ("u8", V.UINT8, 200), ("i8", V.INT8, -100), ("u16", V.UINT16, 60000), ("i16", V.INT16, -30000),
            ("u32", V.UINT32, 4000000000), ("i32", V.INT32, -2000000000), ("u64", V.UINT64, 2**64 - 1),
            ("i64", V.INT64, -2**63), ("f32", V.FLOAT32, 0.1), ("f64", V.FLOAT64, 0.1), ("true", V.BOOL, True),
            ("false", V.BOOL, False), ("string", V.STRING, "Grüße, 世界"), ("empty_string", V.STRING, "")]:
        w.add_key_value(f"test.{name}", value, kind)
    for name, kind, values in [
            ("u8", V.UINT8, [0, 255]), ("i8", V.INT8, [-128, 127]), ("u16", V.UINT16, [1, 2, 65535]),
            ("i16", V.INT16, [-32768, 5]), ("u32", V.UINT32, [7, 2**32 - 1]), ("i32", V.INT32, [-1, 3, -2**31]),
            ("u64", V.UINT64, [2**64 - 1]), ("i64", V.INT64, [-2**63, 2**63 - 1]), ("f32", V.FLOAT32, [0.5, -1.25]),
            ("f64", V.FLOAT64, [0.1, 1e300]), ("bool", V.BOOL, [True, False, True]),
            ("string", V.STRING, ["", "a", "Ġhello", "世界"])]:
        w.add_key_value(f"test.list.{name}", values, V.ARRAY, sub_type=kind)
    raw(w, "odd", 0, "F32", [3])
    raw(w, "next", 1, "F16", [5, 7])
    finish(w)


def small(path, endianess=GGUFEndian.LITTLE, **arguments):
    w = GGUFWriter(path, "llama", endianess=endianess, **arguments)
    w.add_name("small")
    w.add_array("tokenizer.ggml.tokens", ["a", "b", "ab"])
    for k in range(5):
        raw(w, f"blk.{k}.weight", k, "Q8_0", [2, 32])
    finish(w)


def vocabulary(path):
    w = GGUFWriter(path, "llama")
    w.add_tokenizer_model("gpt2")
    w.add_array("tokenizer.ggml.tokens", ["a", "b", "ab"])
    w.add_chat_template("{{ messages[0]['content'] }}")
    finish(w)


def tensor(k, dtype, shape):
    count = int(np.prod(shape)) * torch.empty(0, dtype=dtype).element_size()
    return torch.from_numpy(pattern(k, count)).view(dtype).reshape(shape)


def folders(out):
    single = out / "folder"
    single.mkdir()
    save_file({"a.weight": tensor(0, torch.float32, [3, 5]), "b.weight": tensor(1, torch.float16, [7]),
               "c.weight": tensor(2, torch.bfloat16, [2, 2, 2]), "none": torch.zeros(0, 4),
               "scalar": tensor(4, torch.float32, [])}, single / "model.safetensors", {"format": "pt"})
    (single / "config.json").write_text(json.dumps({"model_type": "llama", "hidden_size": 8}, indent=2))
    (single / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, 2]}))
    (single / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "chat_template": "from the config"}))
    (single / "tokenizer.json").write_text('{"version": "1.0"}')
    (single / "chat_template.jinja").write_text("from the file\n")

    sharded = out / "sharded"
    sharded.mkdir()
    weights = {f"layers.{k}.weight": tensor(k, torch.float32, [2, 3]) for k in range(5)}
    names, weight_map = list(weights), {}
    for number, part in enumerate([names[:2], names[2:4], names[4:]], 1):
        file = f"model-{number:05d}-of-00003.safetensors"
        save_file({n: weights[n] for n in part}, sharded / file, {"format": "pt"})
        weight_map.update({n: file for n in part})
    index = {"metadata": {"total_size": 120}, "weight_map": weight_map}
    (sharded / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))
    (sharded / "config.json").write_text(json.dumps({"model_type": "llama"}))
    named = [{"name": "tool_use", "template": "for tools"}, {"name": "default", "template": "for chat"}]
    (sharded / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))

    empty = out / "no_weights"
    empty.mkdir()
    (empty / "config.json").write_text(json.dumps({"model_type": "llama"}))
    (empty / "tokenizer_config.json").write_text(json.dumps({"chat_template": "a single text"}))


def transformers_folder(out):
    """A model folder as the installed transformers saves it; parameter number k has the pattern's bytes."""
    import transformers
    from tokenizers import Tokenizer, models
    folder = out / f"transformers{transformers.__version__.split('.')[0]}"
    shutil.rmtree(folder, ignore_errors=True)
    config = transformers.LlamaConfig(vocab_size=8, hidden_size=8, intermediate_size=12, num_hidden_layers=1,
                                      num_attention_heads=2, num_key_value_heads=1)
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        for k, (_, parameter) in enumerate(sorted(model.named_parameters())):
            parameter.copy_(tensor(k, torch.float32, list(parameter.shape)))
    model.save_pretrained(folder, max_shard_size="1KB")
    vocabulary = {"<unk>": 0, "a": 1, "b": 2, "ab": 3}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.BPE(vocabulary, [("a", "b")], unk_token="<unk>")), unk_token="<unk>")
    tokenizer.chat_template = "{{ messages[0]['content'] }}"
    tokenizer.save_pretrained(folder)


def main():
    out = Path(__file__).parent / "checkpoint"
    if "--transformers" in sys.argv:
        return transformers_folder(out)
    for path in out.glob("*"):
        if path.is_file():
            path.unlink()
        elif not path.name.startswith("transformers"):
            shutil.rmtree(path)
    out.mkdir(exist_ok=True)
    all_types(out / "types.gguf")
    metadata(out / "metadata.gguf")
    small(out / "small.gguf")
    version2 = bytearray((out / "small.gguf").read_bytes())
    version2[4] = 2  # versions 2 and 3 differ in nothing else when they are little-endian
    (out / "version2.gguf").write_bytes(version2)
    small(out / "big_endian.gguf", GGUFEndian.BIG)
    small(out / "split.gguf", split_max_tensors=2)
    vocabulary(out / "vocabulary.gguf")
    folders(out)


if __name__ == "__main__":
    main()
