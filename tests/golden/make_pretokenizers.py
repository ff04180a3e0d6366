#!/usr/bin/env python3
"""Writes tests/golden/tokenizers/pretokenizers.json: where Hugging Face tokenizers cuts words, for each name that a GGUF
file's tokenizer.ggml.pre may have.

  make_pretokenizers.py SHARED

SHARED is the folder of shared data. Made with tokenizers 0.23.3.

Each name stands for a normaliser and a pre-tokeniser of published models, which are written out here as their
tokenizer.json has them (kimi-k2's, which has none, as its tokenization_kimi.py), and run by tokenizers: its own regular
expressions, digits, punctuation and byte alphabet, none of which is ours. A text's words are hashed as bytes, each with
0xFF behind it, and a text with 0xFE; a name's hash is over groups of texts.
"""
import hashlib
import json
import pathlib
import sys

from make_tokenizers import OUT, Random, corpora, groups, random_text
from tokenizers import Regex, normalizers
from tokenizers.pre_tokenizers import ByteLevel, Digits, Punctuation, Sequence, Split

LINES = 20  # of each corpus
MIXED = [
    "", " ", "   ", "\n", "\r\n\r\n", " \n x", "a \n\n  b\t\tc \r", "end  ", "end\n", "end \n ", " " * 70 + "x", " " * 1100 + "y",
    "don't WON'T I'd we'Ve they'LL 's 'S 'T x'Re ''d l'eau \u2019s", "1 12 123 1234 12345 123456 1234567 12345678x90",
    "x1234567 12,345,678.90 \u0661\u0662\u0663\u0664\u0665 \u00bd\u00b2\u00b3 \u2167 \uff11\uff12\uff13\uff14", "<sentinel:12> <sentinel:x> IMGIMGABCZ IMGIMGZ IMGIMGABCDEZ",
    "def f(x):\n    return {'a': x**2, \"b\": -x}  # ok\n\n\nclass A_b:\n\tpass", "http://a.b/c?d=e&f=%20 // /* */ <|x|> `y` ~z^ $5+6=11",
    "foo_bar FooBarBAZ iPhone HTMLParser \u01c5a \u02b0x \u00aaB e\u0301A\u0301\u0301 \u0915\u094d\u0937\u093f \u0e01\u0e33 \u1780\u17d2\u1780 \u1004\u103a",
    "\u4e2d\u6587abc\u4e2d\u6587123\uff0c\u3002\u300a\u4e66\u300b \u6f22\u5b57A\u4eee\u540d\u3072\u3089\u304c\u306a\u30ab\u30bf\u30ab\u30ca\u30fc\uff71\uff72 \u3105\u3106 \u9fa6\u9fff\u3400\U00020000",
    "\ud55c\uad6d\uc5b4 \u3131\u3141 \u1100\u1161\u11a8 \uac00\ud7a3\ud7a4 \u0800\u0e01\u30fb", "\u0440\u0443\u0441\u0441\u043a\u0438\u0439 \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u05e2\u05d1\u05e8\u05d9\u05ea \u0627\u0644\u0639\u0631\u0628\u064a\u0629\u060c \u0939\u093f\u0928\u094d\u0926\u0940\u0964 \u06d4",
    "\u2026\u201cquoted\u201d \u2018x\u2019 \u2014\u2013 \uff01\uff1a\uff5e \u3000\u3001 \ufe30\ufe4f (a|b) ,.!?", "\u00a0\u2003\u180e\u0085\u2028\u200b\ufeffx \u20ac\u00a3 \u2192\u221e \U0001f600\U0001f468\u200d\U0001f469 \U0001f1e9\U0001f1ea",
    "\u212a\u2126\u1f7d\u1fd3 \U00010400\U000104b0\U00010c80\U0001e900 \u0370\u1c90\ua722\ufb00\ufb13 \u1e9e \u017f \u0130", "a(b) (c d (( |x| \u060cy", "!a !ab \"Quote 'q _x_ -y /z *w @v #u",
    "\u1e69 s\u0323\u0307 \u00c5 \u212b \uac01 \u1100\u1161\u11a8",
]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
         r"\s+(?!\S)|\s+")
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
          r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
          r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK_LETTERS = (
    r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ"
    "\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-"
    "\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    "ℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+")
DEEPSEEK_EAST = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
DEEPSEEK3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"""
             r""" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""")
EAST = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
BLOOM = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
KIMI = (r"[\p{Han}]+|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
AFMOE_EAST = ("[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f"
              "\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+")


def cut(*steps, words=False):
    """A text expression is a Split; `words` lets the byte-level step cut as GPT-2 does."""
    steps = [Split(Regex(step), "isolated") if isinstance(step, str) else step for step in steps]
    return Sequence(steps + [ByteLevel(add_prefix_space=False, use_regex=words)])


def digits():
    return cut(Digits(individual_digits=True), words=True)


# Of names that mean the same the first; the others are below.
PUBLISHED = {
    "gpt-2": cut(words=True),
    "mpt": cut(words=True),
    "starcoder": digits(),
    "command-r": digits(),
    "llama-bpe": cut(LLAMA3),
    "jais-2": cut(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
                  r"\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|"
                  r"\s{1,2}(?!\S)|\s{1}"),
    "minicpm5": cut(r"\p{N}{1,3}", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|"
                    r"\s*[\r\n]+|\s+(?!\S)|\s+"),
    "qwen2": cut(QWEN2),
    "hunyuan": cut(QWEN2),
    "qwen35": cut(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|"
                  r"\s*[\r\n]+|\s+(?!\S)|\s+"),
    "ufakzeka": cut(r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"),
    "seed-coder": cut("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\r\n]+|"
                      "\\s*[\r\n]+|\\s+(?!\\S)|\\s+"),
    "laguna": cut(r"[^\n]+|[\n]+", QWEN2),
    "bailingmoe": cut(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|"
                      r"\s+(?!\S)|\s+"),
    "exaone-moe": cut(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|"
                      r" ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"),
    "deepseek-llm": cut("[\r\n]", DEEPSEEK_LETTERS, "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+$",
                        DEEPSEEK_EAST, Digits(individual_digits=True)),
    "deepseek-coder": cut("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", DEEPSEEK_EAST, Digits(individual_digits=True)),
    "deepseek-v3": cut(r"\p{N}{1,3}", EAST, DEEPSEEK3),
    "spark2_5": cut(r"\p{N}{1,3}", EAST, r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"""
                    r"""[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+""", r"\p{N}"),
    "youtu": cut("[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+|"
                 "[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
                 GPT4O.replace(r"\p{N}{1,3}", r"\p{N}")),
    "bloom": cut(BLOOM),
    "viking": cut(BLOOM, Digits(individual_digits=True)),
    "tekken": cut(TEKKEN),
    "chameleon": cut("<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", r"([\t\n]|    |  )",
                     Digits(individual_digits=True), Punctuation("isolated"), words=True),
    "gpt-4o": cut(GPT4O),
    "tiny_aya": cut(r"\d{1,3}(?=(?:\d{3})*\b)", GPT4O),
    "kimi-k2": cut(KIMI),
    "superbpe": cut(r"\p{N}+", r"(?=(\d{3})+(?!\d))"),
    "afmoe": cut(r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))", AFMOE_EAST, DEEPSEEK3),
    # Published, the byte alphabet comes before the digits, so that bytes which it spells as \u00b2, \u00b3, \u00b9, \u00bc, \u00bd
    # or \u00be stand alone, too. No token holds one of them with others, so that ids are the same without that.
    # And its Punctuation knows what was punctuation in Unicode 8.
    "falcon": cut(r"[\p{P}$+<=>^~|`]+", GPT2, Digits(individual_digits=False), "[0-9][0-9][0-9]"),
    # Of no model: what llama.cpp takes for a file that does not say.
    "default": cut(r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"),
    "gemma4": cut(r"[^\n]+|[\n]+"),
}
NORMALIZED = ["mpt", "command-r", "qwen2", "qwen35"]  # their tokenizer.json has NFC
ALIKE = {
    "gpt-2": "phi-2 jina-es jina-de jina-v2-es jina-v2-de jina-v1-en jina-v2-code roberta-bpe modern-bert gigachat a.x-4.0 "
             "mellum exaone4 jais trillion granite-docling",
    "mpt": "olmo",
    "starcoder": "refact codeshell exaone minerva-7b mellum2",
    "llama-bpe": "llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano dbrx smaug-bpe chatglm-bpe glm4 glm5",
    "hunyuan": "deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 solar-open grok-2",
    "bailingmoe": "bailingmoe2 llada-moe",
    "deepseek-v3": "hunyuan-dense hy_v4 joyai-llm",
    "bloom": "poro-chat gpt3-finnish",
    "gpt-4o": "llama4 kanana2 talkie minimax-m2 granite-embed-multi-97m",
    "tiny_aya": "cohere2moe",
    "gemma4": "granite-embed-multi-311m mmbert sarvam-moe",
}
# What expressions mean that no name has, but a tokenizer.json may.
EXPRESSIONS = [r"\w+|\W", r"[\w\-]+\b", r"\p{^Han}+|\P{Latin}", r"[\p{Greek}\p{Lu}]+|[[:alpha:]\w]", r"[]x]+|[^]y]"]


def byte_of():
    """The byte of each character of the byte alphabet: printable Latin-1 stands for itself, others follow U+0100."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {chr(byte): byte for byte in own} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


BYTES = byte_of()


def digest(steps, normalized, texts):
    sha = hashlib.sha1()
    for text in texts:
        if normalized:
            text = normalizers.NFC().normalize_str(text)
        for word, _ in steps.pre_tokenize_str(text):
            sha.update(bytes(BYTES[c] for c in word) + b"\xff")
        sha.update(b"\xfe")
    return sha.hexdigest()[:16]


def main():
    shared = pathlib.Path(sys.argv[1])
    random = Random(29)
    samples = {"mixed": MIXED, "random": [random_text(random) for _ in range(2000)]}
    for corpus, lines in corpora(shared):
        if not corpus.endswith(".raw"):  # one text of a megabyte
            samples[corpus] = lines[:LINES]
    hashes = {name: {sample: [digest(steps, name in NORMALIZED, group) for group in groups(texts, 250)]
                     for sample, texts in samples.items()} for name, steps in PUBLISHED.items()}
    expressions = {text: digest(cut(text), False, samples["random"][:250]) for text in EXPRESSIONS}
    out = {"mixed": MIXED, "lines": LINES, "hashes": hashes, "expressions": expressions, "alike": {name: other.split() for name, other in ALIKE.items()}}
    (OUT / "pretokenizers.json").write_text(json.dumps(out, indent=0) + "\n")


if __name__ == "__main__":
    main()
