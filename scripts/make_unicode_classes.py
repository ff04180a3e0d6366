#!/usr/bin/env python3
"""Writes the tables of engine/text that make Unicode there the Unicode of Hugging Face tokenizers.

unicode_classes.inc: the properties of code points that tokenisers' patterns ask for.
The regular expressions of Hugging Face tokenizers are matched by Oniguruma, whose Unicode version differs from that
of this system's libraries; so it is asked itself. Needs the Python package `tokenizers`.

An entry is the first code point of a range, shifted left by 8, and the range's class (engine/text/character_class.h).
Ranges that Unicode 14 does not know, as PCRE2 10.42 does not, carry the bit 31.

unicode_inert.inc: ranges (first, last) of code points that utf8proc normalises and tokenizers, whose tables are
older, leaves alone.

unicode_bert_*.inc: ranges (first, last) of what BERT's steps there call control characters (dropped), nonspacing marks
(dropped after decomposition) and punctuation (cut out); each has a Unicode version of its own.
"""
import ctypes
import pathlib
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

BITS = {r"\p{L}": 1, r"\p{N}": 2, r"\s": 4, r"\p{M}": 8, r"\p{P}": 16, r"\p{S}": 32, r"[\p{Lu}\p{Lt}]": 64, r"\p{Ll}": 128}
POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def members(expression):
    split = pre_tokenizers.Split(Regex(f"{expression}+"), behavior="removed", invert=True)
    return {ord(c) for text, _ in split.pre_tokenize_str("".join(map(chr, POINTS))) for c in text}


def main():
    classes = [0] * 0x110000
    for expression, bit in BITS.items():
        for c in members(expression):
            classes[c] |= bit
    if unicodedata.unidata_version != "14.0.0":
        raise SystemExit(f"this Python knows Unicode {unicodedata.unidata_version}, not 14.0.0 (Python 3.11 does)")
    values = [c | (1 << 31 if c and unicodedata.category(chr(i)) == "Cn" else 0) for i, c in enumerate(classes)]
    entries = [(i << 8) | v for i, v in enumerate(values) if i == 0 or v != values[i - 1]]
    write("unicode_classes.inc", [f"0x{entry:X}," for entry in entries])
    write_ranges("unicode_inert.inc", inert_points())
    for name, points in bert_points().items():
        write_ranges(f"unicode_bert_{name}.inc", points)


def inert_points():
    library = ctypes.CDLL("libutf8proc.so.2")
    library.utf8proc_map.restype = ctypes.c_ssize_t
    library.utf8proc_map.argtypes = [ctypes.c_char_p, ctypes.c_ssize_t, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int]

    def mapped(text, options):
        data, out = text.encode(), ctypes.c_void_p()
        size = library.utf8proc_map(data, len(data), ctypes.byref(out), options)
        return ctypes.string_at(out, size).decode()  # the few bytes are not worth freeing

    stable, compatible, compose, decompose = 2, 4, 8, 16
    forms = [(normalizers.NFC(), stable | compose), (normalizers.NFD(), stable | decompose),
             (normalizers.NFKC(), stable | compose | compatible), (normalizers.NFKD(), stable | decompose | compatible)]
    different = []
    for c in POINTS:
        texts = (chr(c), f"\u0301{chr(c)}\u0316", f"\u0316{chr(c)}\u0301")
        if all(form.normalize_str(text) == mapped(text, options) for form, options in forms for text in texts):
            continue
        if any(form.normalize_str(text) != text for form, _ in forms for text in (chr(c), f"\u0301{chr(c)}\u0316")):
            raise SystemExit(f"U+{c:04X} is normalised in another way, not left alone")
        different.append(c)
    return different


def bert_points():
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    clean = normalizers.BertNormalizer(**off | {"clean_text": True})
    strip = normalizers.BertNormalizer(**off | {"strip_accents": True})
    cut = pre_tokenizers.BertPreTokenizer()
    return {"control": [c for c in POINTS if clean.normalize_str(f"a{chr(c)}b") == "ab"],
            "nonspacing": [c for c in POINTS if strip.normalize_str(f"a{chr(c)}b") == "ab"],
            "punctuation": [c for c in POINTS if len(cut.pre_tokenize_str(f"a{chr(c)}b")) == 3]}


def write_ranges(name, points):
    ranges = []
    for c in points:
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    write(name, [f"{{0x{first:X}, 0x{last:X}}}, " for first, last in ranges])


def write(name, entries):
    lines = ["// Made by scripts/make_unicode_classes.py; do not edit."]
    row = ""
    for entry in entries:
        if len(row) + len(entry) > 110:
            lines.append(row.rstrip())
            row = ""
        row += entry
    lines.append(row.rstrip())
    target = pathlib.Path(__file__).parents[1] / "engine/text" / name
    target.write_text("\n".join(lines) + "\n")
    print(f"{target}: {len(entries)} ranges")


if __name__ == "__main__":
    main()
