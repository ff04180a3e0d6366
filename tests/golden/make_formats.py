#!/usr/bin/env python3
"""Makes tests/golden/formats.bin: what gguf-py says about random blocks of every storage type.

Usage: make_formats.py [OUT]      needs: pip install gguf numpy

Layout, little endian: "FVFM", u32 records; each record: u32 kind (0 dequantise, 1 quantise), u32 type
(GGUF's number), u32 count (elements), u32 bytes, the blocks' bytes, count float32.
kind 0: random block bytes and their dequantised values. kind 1: random values and their quantised bytes.
"""
import struct
import sys
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as T
from gguf.quants import dequantize, quantize

TYPES = [T.F32, T.F16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0, T.Q2_K, T.Q3_K, T.Q4_K, T.Q5_K, T.Q6_K,
         T.IQ4_NL, T.IQ4_XS, T.BF16, T.MXFP4]
QUANTIZED = [T.F32, T.F16, T.BF16, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0]
# Byte offsets of the f16 fields in a block: random bits there must not be infinite or NaN.
HALVES = {T.F16: [0], T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0], T.Q2_K: [80, 82],
          T.Q3_K: [108], T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208], T.IQ4_NL: [0], T.IQ4_XS: [0]}


def random_blocks(rng, kind):
    elements, size = GGML_QUANT_SIZES[kind]
    count = 64 if elements == 1 else 12 if elements == 32 else 4
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for offset in HALVES.get(kind, []):
        # All exponents but the one of infinity; the first block's scale is subnormal, the second's zero.
        bits = rng.integers(0, 0x7C00, count, dtype=np.uint16) | rng.integers(0, 2, count, dtype=np.uint16) << 15
        bits[0], bits[1] = 0x0155, 0x8000
        blocks[:, offset:offset + 2] = bits.astype("<u2").view(np.uint8).reshape(count, 2)
    if kind in (T.F32, T.BF16):  # exponents below the one of infinity
        blocks[:, -1] &= 0xBF
    if kind == T.MXFP4:  # subnormal, smallest and largest scales
        blocks[:4, 0] = [0, 1, 2, 250]
    return blocks


def random_values(rng):
    rows = [rng.standard_normal(32) * 10.0 ** e for e in (-3, 0, 3)]
    rows += [np.abs(rng.standard_normal(32)), -np.abs(rng.standard_normal(32)), np.zeros(32), np.full(32, 0.75),
             rng.standard_normal(32) * 1e-7, rng.standard_normal(32) * 1e-35, np.arange(32) - 15.5,
             np.where(np.arange(32) == 17, -5.0, 0.0)]
    return np.array(rows, dtype=np.float32)


def main():
    out = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "formats.bin")
    rng = np.random.default_rng(7)
    records = []
    for kind in TYPES:
        blocks = random_blocks(rng, kind)
        records.append((0, kind, blocks.tobytes(), dequantize(blocks, kind).astype("<f4").ravel()))
    for kind in QUANTIZED:
        values = random_values(rng)
        with np.errstate(over="ignore", invalid="ignore"):
            packed = quantize(values, kind)
        records.append((1, kind, packed.tobytes(), values.ravel()))
    with open(out, "wb") as f:
        f.write(b"FVFM" + struct.pack("<I", len(records)))
        for what, kind, data, values in records:
            f.write(struct.pack("<IIII", what, int(kind), values.size, len(data)) + data + values.tobytes())
    print(out, out.stat().st_size, "bytes")


main()
