#!/usr/bin/env python3
"""Write the fuzz targets' seeds, tests/fuzz/corpus/*, from the golden files beside this script.

    make_fuzz_corpus.py

Run make_checkpoints.py before. Needs: pip install gguf numpy torch safetensors tokenizers.
"""
import json
import shutil
import struct
from pathlib import Path

from gguf import GGUFReader, GGUFWriter
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from make_checkpoints import TYPES, finish, raw
from template_conversations import TEMPLATES as CONVERSATIONS

GOLDEN = Path(__file__).parent
CORPUS = GOLDEN.parent / "fuzz/corpus"


def folder(name):
    path = CORPUS / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def gguf():
    out = folder("gguf")
    for path in (GOLDEN / "checkpoint").glob("*.gguf"):
        if path.stat().st_size < 4096:
            shutil.copy(path, out / path.name)
    for first in range(0, len(TYPES), 4):
        w = GGUFWriter(out / f"types{first}.gguf", "llama")
        for k, kind in enumerate(TYPES[first:first + 4]):
            raw(w, kind, k, kind, [256])
        finish(w)


def safetensors():
    out = folder("safetensors")
    shutil.copy(GOLDEN / "checkpoint/folder/model.safetensors", out / "types")
    shutil.copy(GOLDEN / "checkpoint/sharded/model-00001-of-00003.safetensors", out / "shard")
    header = json.dumps({"i": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
                         "b": {"dtype": "BOOL", "shape": [2, 1], "data_offsets": [8, 10]}}).encode()
    (out / "integers").write_bytes(len(header).to_bytes(8, "little") + header + bytes(10))
    (out / "empty").write_bytes((2).to_bytes(8, "little") + b"{}")


def stores():
    """The first byte: 3 puts the checksums right and lets the file be as long as the header says (see store_fuzz.cpp)."""
    out = folder("store")

    def seed(name, tiers, units, flags=3, **more):
        text = json.dumps({"model_fingerprint": "0123456789abcdef", "packing": "cpu-tiles-16", "scope": "experts",
                           "quantizer_version": 1, "calibration": "0" * 16, "tiers": tiers, "units": units} | more,
                          separators=(",", ":")).encode()
        index = (88 + len(text) + 7) // 8 * 8
        data = (index + 48 * units * len(tiers) + 4095) // 4096 * 4096
        entries, end = b"", data
        for slot in range(units * len(tiers)):
            size = 4096 * (1 + slot % 3)
            entries += struct.pack("<QQQfffIQ", end, size, slot, 0.5, 0.25, -1 if slot % 2 else 0.125, 0, 0)
            end += size
        header = b"FOVEASTO" + struct.pack("<IIQQQQQQQQQ", 1, 48, units, len(tiers), len(text), 0, 0, index, data, end, 0)
        (out / name).write_bytes(bytes([flags]) + (header + text).ljust(index, b"\0") + entries)

    seed("one", ["file"], 1)
    seed("experts", ["file", "q4", "q2"], 5)
    seed("layers", ["bf16", "q8"], 7, scope="linear_layers")
    seed("unsealed", ["q8", "q4"], 2, flags=0)


def model_folder():
    """The first byte says which of a folder's files the rest is (see folder_fuzz.cpp)."""
    out = folder("folder")
    for version in (4, 5):
        source = GOLDEN / f"checkpoint/transformers{version}"
        for selector, name in (("c", "config.json"), ("t", "tokenizer_config.json"), ("g", "generation_config.json"),
                               ("i", "model.safetensors.index.json")):
            (out / f"{Path(name).stem}{version}").write_text(selector + (source / name).read_text())
    (out / "named_templates").write_text("t" + (GOLDEN / "checkpoint/sharded/tokenizer_config.json").read_text())
    (out / "index").write_text('i{"metadata": {}, "weight_map": {"a": "model-1.safetensors"}}')
    (out / "template").write_text("j{{ messages }}")


def configs():
    """The first byte: c before config.json, g before a GGUF file, which has no tensors (see config_fuzz.cpp)."""
    out = folder("config")
    for source in sorted((GOLDEN / "families").glob("*.gguf")):
        (out / f"{source.stem}.json").write_text("c" + (source.with_suffix("") / "config.json").read_text())
        fields = GGUFReader(source).fields
        w = GGUFWriter(out / "made", fields["general.architecture"].contents())
        for key, field in fields.items():
            if not key.startswith(("GGUF.", "tokenizer.", "general.architecture")):
                w.add_key_value(key, field.contents(), field.types[0], sub_type=field.types[1] if len(field.types) > 1 else None)
        finish(w)
        made = out / "made"
        (out / source.stem).write_bytes(b"g" + made.read_bytes())
        made.unlink()
    for path in sorted((GOLDEN / "models").glob("*-0/config.json")):
        (out / f"{path.parent.name}.json").write_text("c" + path.read_text())


def packed():
    """The first byte says how the layer is packed (see packed_fuzz.cpp)."""
    out = folder("packed")

    def seed(name, selector, columns, rows, bits, groups, awq=False, order=False, scales="F16"):
        words = (columns, rows // 8) if awq else (columns * bits // 32, rows)
        parts = {"x.qweight": ("I32", words), "x.qzeros": ("I32", (groups, rows * bits // 32)),
                 "x.scales": (scales, (groups, rows))}
        if order:
            parts["x.g_idx"] = ("I32", (columns,))
        header, data = {}, b""
        for part, (dtype, shape) in parts.items():
            width = 2 if dtype.endswith("F16") else 4
            if part == "x.g_idx":
                values = b"".join((i * groups // columns).to_bytes(4, "little") for i in range(columns))
            else:
                pattern = {"x.qzeros": b"\x77", "x.scales": b"\x34"}.get(part, b"\xa5")
                values = pattern * (shape[0] * shape[1] * width)
            header[part] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(values)]}
            data += values
        text = json.dumps(header).encode()
        (out / name).write_bytes(selector.encode() + len(text).to_bytes(8, "little") + text + data)

    seed("symmetric", "s", 64, 32, 4, 2, order=True)
    seed("three_bits", "2", 32, 32, 3, 1)
    seed("eight_bits", "8", 32, 8, 8, 1, scales="BF16")
    seed("awq", "a", 64, 16, 4, 2, awq=True)


TEMPLATES = {
    "plain": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>'"
              " + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "blocks": "{%- set ns = namespace(found=false, n=0) -%}\n{%- for m in messages if m.role != 'tool' -%}\n"
              "{%- set ns.n = ns.n + loop.index0 -%}{%- if loop.first -%}{{ m.content | trim }}{%- elif m['content'] is string -%}"
              "{{ m.content[:2] ~ loop.revindex }}{%- else -%}{% continue %}{%- endif -%}\n{%- else -%}none{%- endfor -%}{{ ns.n }}",
    "macros": "{% macro show(x, sep=', ') %}{{ x | join(sep) }}{{ caller() if caller else '' }}{% endmacro %}"
              "{% call show([1, 2, 'a']) %}!{% endcall %}{{ show(sep='-', x=(3, 4)) }}{% set t %}{{ bos_token }}{% endset %}{{ t | upper }}",
    "recursive": "{% for k, v in tools[0].items() recursive %}{{ k }}={% if v is mapping %}({{ loop(v.items()) }}){% else %}{{ v }}"
                 "{% endif %}{% if not loop.last %};{% endif %}{% endfor %}",
    "values": "{{ messages | tojson(indent=2) }}{{ -n ** 2 // 3 % 5 }}{{ 'a' in 'abc' and not none }}{{ [1, 2, 3][::-1] | sum }}"
              "{{ {'a': 1}.get('b', x) }}{{ 'x' if n is lt 0 else 'y' }}{{ '%s-%d' | format('a', 3) }}{{ 'ä'.upper() * 3 }}",
    "tests": "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list | length }}"
             "{% if undefined_thing is not defined %}{{ (messages | last).content is iterable }}{% endif %}{{ range(5) | list }}"
             "{{ '  a b '.strip().split(' ') | reverse | list }}{{ strftime_now('%Y-%m-%d') }}",
    "errors": "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no ' + messages[0]['role']) }}{% endif %}",
    "white": "  {% if true %}  \n  a {#- c -#} b\n  {%- endif +%}\n{% raw %}{{ no }}{% endraw %}{% generation %}x{% endgeneration %}\n",
}


def chat_template():
    out = folder("chat_template")
    for name, text in (TEMPLATES | CONVERSATIONS).items():
        (out / name.replace(" ", "_")).write_text(text)


PIECES = ["<unk>", "<s>", "</s>", "a", "b", "ab", "\u2581", "\u2581a", "<0x41>", "<0xFF>", "\u00df", "T", "h", "e", "Th", "The"]


def tokenizers_json():
    out = folder("tokenizer_json")

    def save(name, tokenizer):
        (out / name).write_text(tokenizer.to_str(), encoding="utf-8")

    byte_pieces = {t: i for i, t in enumerate(["<|end|>", "a", "b", "ab", "\u0120", "\u0120T", "T", "h", "e", "he", "1", "\u010a"])}
    merges = [("a", "b"), ("\u0120", "T"), ("h", "e")]
    for name, split in [("gpt2", None), ("qwen2", r"(?i:'s|'t|'re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")]:
        t = Tokenizer(models.BPE(byte_pieces, merges, ignore_merges=name == "qwen2"))
        if split:
            t.normalizer = normalizers.NFC()
            t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(split), "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
        else:
            t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel()])
        t.decoder = decoders.ByteLevel()
        t.post_processor = processors.TemplateProcessing(single="<|end|> $A", special_tokens=[("<|end|>", 0)])
        t.add_special_tokens([AddedToken("<|end|>", special=True), AddedToken("<x>", lstrip=True, rstrip=True)])
        save(name, t)
    t = Tokenizer(models.BPE({p: i for i, p in enumerate(PIECES)}, [("a", "b"), ("\u2581", "a"), ("T", "h"), ("Th", "e")],
                             unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    save("sentencepiece", t)
    t = Tokenizer(models.Unigram([(p, -float(i)) for i, p in enumerate(PIECES)], 0, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    save("unigram", t)


def tokenizers_gguf():
    out = folder("tokenizer_gguf")
    for model, pre in [("gpt2", "smollm"), ("gpt2", "qwen2"), ("gpt2", "llama-bpe"), ("llama", None), ("t5", None)]:
        w = GGUFWriter(out / (f"{model}_{pre}" if pre else model), "llama")
        w.add_tokenizer_model(model)
        if pre:
            w.add_tokenizer_pre(pre)
            w.add_token_list(["<|end|>", "a", "b", "ab", "\u0120", "\u0120T", "T", "h", "e", "he"])
            w.add_token_merges(["a b", "\u0120 T", "h e"])
            w.add_token_types([3] + [1] * 9)
        else:
            w.add_token_list(PIECES)
            w.add_token_scores([-float(i) for i in range(len(PIECES))])
            w.add_token_types([2, 3, 3] + [1] * 5 + [6, 6] + [1] * 6)
        w.add_bos_token_id(0)
        w.add_eos_token_id(0 if pre else 2)
        w.add_add_bos_token(True)
        finish(w)


def traces():
    """Routing traces; engine/eval/trace.h says what they are made of."""
    out = folder("trace")

    def varint(value):
        data = b""
        while value >= 128:
            data += bytes([value & 127 | 128])
            value >>= 7
        return data + bytes([value])

    def header(used, layers, name=b"m"):  # layers: (number, experts, weights, bytes)
        data = b"FOVTRACE" + struct.pack("<I", 1) + varint(len(name)) + name + varint(used) + varint(len(layers))
        return data + b"".join(varint(value) for layer in layers for value in layer)

    def record(tokens, layers, prefill=False, entropy=None, routed=None):  # layers: [(distance, tokens, q)]
        flags = prefill + 2 * (entropy is not None) + 4 * (routed is None)
        data = bytes([1, flags]) + varint(tokens) + (b"" if entropy is None else struct.pack("<f", entropy))
        for number, uses in enumerate(layers):
            of_layer = tokens if routed is None else routed[number]
            data += b"" if routed is None else varint(of_layer)
            data += varint(len(uses)) + (struct.pack("<e", 0.5) if uses else b"")
            for distance, count, q in uses:
                data += varint(distance) + (varint(count - 1) if of_layer > 1 else b"") + bytes([q])
        return data

    def end(passes, tokens, text=None):
        return (b"" if text is None else struct.pack("<BQ", 3, text)) + b"\x02" + varint(passes) + varint(tokens)

    one, two = header(1, [(0, 4, 96, 54)]), header(2, [(0, 8, 4096, 2304), (3, 300, 1 << 20, 0)], b"two layers")
    decode = record(1, [[(1, 1, 255), (3, 1, 100)], [(0, 1, 9), (298, 1, 255)]], entropy=1.25)
    chunk = record(130, [[(0, 130, 255), (6, 130, 1)], [(200, 1, 255)]], prefill=True, routed=[130, 1])
    (out / "empty").write_bytes(one + end(0, 0))
    (out / "one_token").write_bytes(one + record(1, [[(2, 1, 255)]]) + end(1, 1))
    (out / "decode").write_bytes(two + decode * 3 + end(3, 3))
    (out / "of_a_text").write_bytes(two + decode * 2 + end(2, 2, 0x0123456789ABCDEF))
    (out / "prefill").write_bytes(two + chunk + decode + end(2, 131))
    (out / "unrouted").write_bytes(two + record(5, [[(0, 5, 8)], []], prefill=True, routed=[5, 0]) + end(1, 5))
    (out / "cut_off").write_bytes((two + chunk)[:-4])
    (out / "wrong_count").write_bytes(two + decode + end(2, 1))


if __name__ == "__main__":
    tokenizers_json()
    tokenizers_gguf()
    chat_template()
    gguf()
    safetensors()
    stores()
    traces()
    model_folder()
    configs()
    packed()
