#!/usr/bin/env python3
"""What the demo model's tensors are, as the recipe's own program writes them: demo/tensors.txt.

    make_demo_tensors.py DEMO.gguf      of make_demo.py (../shared/demo), Q8_0 experts; numpy 2.4.6, gguf 0.19.0

A line for each tensor, in the order of names: name, type, shape (outermost first) and the first 16 digits of its bytes'
SHA-256.
"""
import hashlib
import sys
from pathlib import Path

from gguf import GGUFReader


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def main():
    model = GGUFReader(sys.argv[1])
    lines = []
    for tensor in sorted(model.tensors, key=lambda t: t.name):
        shape = "x".join(str(n) for n in reversed(tensor.shape.tolist()))
        lines.append(f"{tensor.name} {tensor.tensor_type.name} {shape} {digest(tensor.data.tobytes())}")
    (Path(__file__).parent / "demo" / "tensors.txt").write_text("\n".join(lines) + "\n")


main()
