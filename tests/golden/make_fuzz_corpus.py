#!/usr/bin/env python3
"""Write the fuzz targets' seeds, tests/fuzz/corpus/*, from the golden files beside this script.

    make_fuzz_corpus.py

Run make_checkpoints.py before. Needs: pip install gguf numpy torch safetensors.
"""
import json
import shutil
from pathlib import Path

from gguf import GGUFWriter

from make_checkpoints import TYPES, finish, raw

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


if __name__ == "__main__":
    gguf()
    safetensors()
    model_folder()
