#!/usr/bin/env python3
"""Writes tests/golden/tokenizers: what Hugging Face tokenizers and SentencePiece make of many texts.

  make_tokenizers.py SHARED SMOLLM2.gguf

SHARED is the folder of shared data (its data/qwen3-tokenizer and corpora); the GGUF is read by transformers.
Needs tokenizers, transformers, sentencepiece, gguf, numpy.

hashes.json   ids of whole corpora and of 100,000 random strings, as SHA-1 over groups of texts; the strings come from
              a generator that the C++ test has too
tiny/*.json   small tokenisers of every kind, trained here, and tiny/*.gguf with the same vocabulary
cases/*       texts, ids and decoded texts of the small tokenisers
"""
import gzip
import hashlib
import json
import lzma
import pathlib
import struct
import sys
import tarfile
import tempfile

OUT = pathlib.Path(__file__).parent / "tokenizers"
MASK = (1 << 64) - 1


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % limit


RANGES = [(0x20, 0x7E), (0x00, 0x7F), (0x80, 0x24F), (0x300, 0x36F), (0x370, 0x5FF), (0x600, 0x10FF), (0x1100, 0x11FF),
          (0x1E00, 0x20FF), (0x2000, 0x2BFF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xFFFF),
          (0x10000, 0x1FFFF), (0x20000, 0x10FFFF)]
PIECES = [" ", "  ", "\n", "\r\n", "\t", "'s", "'S", "'\u017f", "'ll", "'RE", "\u00a0", "\u3000", "\u180e", "\u0085",
          "\u2028", "1", "23", "4567", "\u0301", "\u0323", "\u00b2", "e\u0301", "\u1e9e", "<|im_end|>"]


def random_text(random):
    text = ""
    for _ in range(1 + random.below(24)):
        kind = random.below(10)
        if kind < 3:
            text += PIECES[random.below(len(PIECES))]
        elif kind < 6:
            text += chr(0x20 + random.below(95))
        else:
            low, high = RANGES[random.below(len(RANGES))]
            text += chr(low + random.below(high - low + 1))
    return text


def digest(tokenizer, texts):
    sha = hashlib.sha1()
    for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
        sha.update(struct.pack(f"<{len(encoding.ids) + 1}i", *encoding.ids, -1))
    return sha.hexdigest()[:16]


def corpora(shared):
    """Name, lines. The C++ test reads the same files in the same way."""
    data = shared / "data"
    for packed, ending in (("flores101/flores101_devtest.tar.xz", ".devtest"), ("mgsm/mgsm.tar.xz", ".tsv")):
        with tarfile.open(data / packed) as archive:
            for member in sorted(archive.getnames()):
                if member.endswith(ending):
                    yield member, archive.extractfile(member).read().decode().split("\n")
    for name, opener in (("humaneval/HumanEval.jsonl.gz", gzip.open), ("mbppplus/MbppPlus.jsonl.gz", gzip.open),
                         ("gsm8k/test.jsonl", open), ("gsm8k/train.jsonl.xz", lzma.open),
                         ("math/math500_test.jsonl", open), ("math/aime24_test.jsonl", open),
                         ("math/aime25_test.jsonl", open), ("math/math_test.jsonl.xz", lzma.open)):
        with opener(data / name, "rb") as file:
            lines = file.read().decode().split("\n")
        yield name, lines
        strings = []  # the lines' texts with their real line breaks
        for line in lines:
            fields = parsed(line)
            strings.append("".join(fields[key] for key in sorted(fields) if isinstance(fields[key], str)))
        yield name + " strings", strings
    yield "wikitext-2/wiki.test.raw", [(data / "wikitext-2/wiki.test.raw").read_bytes().decode()]


def parsed(line):
    def refuse(name):  # Infinity and NaN are no JSON
        raise ValueError(name)

    try:
        return json.loads(line, parse_constant=refuse)
    except ValueError:
        return {}


def groups(texts, size):
    return [texts[i:i + size] for i in range(0, len(texts), size)]


def write_hashes(shared, models):
    out = {name: {} for name in models}
    for corpus, lines in corpora(shared):
        for name, tokenizer in models.items():
            out[name][corpus] = [digest(tokenizer, group) for group in groups(lines, 250)]
    random = Random(2026)
    texts = [random_text(random) for _ in range(100_000)]
    for name, tokenizer in models.items():
        out[name]["random"] = [digest(tokenizer, group) for group in groups(texts, 1000)]
    (OUT / "hashes.json").write_text(json.dumps(out, indent=0) + "\n")


TRAINING = """The quick brown fox jumps over the lazy dog. She sells sea shells by the sea shore, doesn't she?
It was the best of times, it was the worst of times; 1234567890 and 3.14159 are numbers, we'll see, they've won.
def main(argc, argv):\n    for i in range(0, 10):\n        print(f"{i} -> {i * i}")\n    return None
Der schnelle braune Fuchs springt \u00fcber den faulen Hund. \u00c0 bient\u00f4t, cr\u00e8me br\u00fbl\u00e9e, na\u00efve, \u0142\u00f3d\u017a.
\u0411\u044b\u0441\u0442\u0440\u0430\u044f \u043a\u043e\u0440\u0438\u0447\u043d\u0435\u0432\u0430\u044f \u043b\u0438\u0441\u0430 \u043f\u0440\u044b\u0433\u0430\u0435\u0442 \u0447\u0435\u0440\u0435\u0437 \u043b\u0435\u043d\u0438\u0432\u0443\u044e \u0441\u043e\u0431\u0430\u043a\u0443.
\u6d89\u53ca\u4e2d\u6587\u5b57\u7b26\u7684\u6587\u672c\uff0c\u8fd8\u6709\u6a19\u9ede\u3002 \u3053\u3093\u306b\u3061\u306f\u4e16\u754c\u3001\u30c6\u30b9\u30c8\u3067\u3059\u3002 \ud55c\uad6d\uc5b4 \ubb38\uc7a5\uc785\ub2c8\ub2e4.
the the the and and of of to to in in a a is is that that it it was was for for on on are are as as with with
"""

TEXTS = ["", " ", "  ", "\n", "Hello world", " Hello  world ", "  leading and trailing  ", "don't we'll I'VE 'S", "a\tb\r\nc\n\n\nd",
         "1234567890 12 345 6", "x=1;  y  =  22\n    return", "caf\u00e9 cafe\u0301 \u00c5 A\u030a \u212b", "\ufb01ne \u2460 \uff21\uff22 \u3000x",
         "\u6d89\u53ca\u4e2d\u6587\u5b57\u7b26 \u4f60\u597d", "\u3053\u3093\u306b\u3061\u306f \u30c6\u30b9\u30c8", "\ud55c\uad6d\uc5b4 \uac00\u1100\u1161", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0646\u0635",
         "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 ok \U0001f1e9\U0001f1ea", "<s>a</s>", "a <mask> b", "x<sep>y  <sep>  z", "wordone one oneword one",
         "\u2581under\u2581score \u2581", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "HELLO WoRLD iPhone \u0130stanbul \u00df", "a\u0000b\u0007c", "\ufffd\ufeff\u200b", "the " * 60,
         "a" * 200, "e\u0301" * 50, " " * 70 + "x", "!!!???...,,,---", "foo_bar-baz.qux/quux", "\u00a0\u2003\u180e\u0085\u2028x"]


def tokenizers_by_name():
    from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                            trainers)
    lines = [line + "\n" for line in TRAINING.split("\n")]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    cased = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
             r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
             r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    llama3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
              r"\s+(?!\S)|\s+")
    specials = ["<unk>", "<s>", "</s>"]

    def bpe(size, byte_level=True, **options):
        tokenizer = Tokenizer(models.BPE(**options))
        trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet if byte_level else [],
                                      special_tokens=specials, show_progress=False,
                                      end_of_word_suffix=options.get("end_of_word_suffix") or "")
        return tokenizer, trainer

    def finish(tokenizer, trainer):
        tokenizer.train_from_iterator(lines, trainer)
        tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True), AddedToken("<sep>", lstrip=True, rstrip=True)])
        tokenizer.add_tokens([AddedToken("one", single_word=True), AddedToken("Caf\u00e9", normalized=True)])
        return tokenizer

    def template(tokenizer):
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 1), ("</s>", 2)])

    out = {}
    tokenizer, trainer = bpe(600)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    out["gpt2"] = finish(tokenizer, trainer)

    tokenizer, trainer = bpe(600, ignore_merges=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(llama3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    out["llama3"] = finish(tokenizer, trainer)
    template(out["llama3"])

    tokenizer, trainer = bpe(600)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(cased), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    out["gpt4o"] = finish(tokenizer, trainer)

    tokenizer, trainer = bpe(600)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("merged_with_next"),
         pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    out["digits"] = finish(tokenizer, trainer)

    tokenizer, trainer = bpe(500, byte_level=False, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=specials + [f"<0x{b:02X}>" for b in range(256)],
                                  show_progress=False, max_token_length=12)
    out["llama2"] = finish(tokenizer, trainer)
    template(out["llama2"])

    tokenizer, trainer = bpe(400, byte_level=False, unk_token="<unk>", fuse_unk=False, end_of_word_suffix="</w>")
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    out["words"] = finish(tokenizer, trainer)

    for name, scheme in (("metaspace", "always"), ("metaspace-first", "first")):
        tokenizer, trainer = bpe(400, byte_level=False, unk_token="<unk>")
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
        tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
        out[name] = finish(tokenizer, trainer)

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=specials, unk_token="<unk>", show_progress=False)
    out["unigram"] = finish(tokenizer, trainer)
    template(out["unigram"])

    for name, lowercase in (("bert", True), ("bert-cased", False)):
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100 if lowercase else 40))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece(cleanup=lowercase)
        trainer = trainers.WordPieceTrainer(vocab_size=400, special_tokens=["[UNK]", "[PAD]", "[CLS]", "[SEP]"],
                                            show_progress=False)
        out[name] = finish(tokenizer, trainer)
    out["bert"].post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    out["bert-cased"].post_processor = processors.RobertaProcessing(("[SEP]", 3), ("[CLS]", 2))

    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()])
    out["wordlevel"] = finish(tokenizer, trainers.WordLevelTrainer(vocab_size=150, special_tokens=specials,
                                                                   show_progress=False))

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(character_map()), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=specials, unk_token="<unk>", show_progress=False)
    out["precompiled"] = finish(tokenizer, trainer)
    return out


RULES = {"A": "a", "\u00c5": "a\u030a", "\u212b": "ang", "\ufb01": "fi", "\u2460": "1", "\uff21": "A", "\uff22": "BB",
         "\u3000": " ", "\u2003": " ", "\u00a0": " ", "\t": " ", "\n": " ", "\r": " ", "\u0007": "", "\u200b": "", "\ufeff": "",
         "e\u0301": "\u00e9", "e": "E", "o\u0308\u0301": "\u00f6", "\u30d1": "\u30cf\u309a", "\u1100\u1161": "\uac00",
         "\uac00\u1100": "\u1112", "\u0e33": "\u0e4d\u0e32", "\U0001f1e9": "D", "\U0001f468\u200d": "M", "qu": "kw",
         "quick": "fast"}


def rule_texts():
    """Texts in which the rules' keys meet each other, combining marks and plain letters."""
    random, keys = Random(11), list(RULES) + ["\u0301", "\u0308", "u", "q", " ", "\u200d", "\u1161", "\U0001f1ea", "\uac01"]
    return ["".join(keys[random.below(len(keys))] for _ in range(1 + random.below(12))) for _ in range(150)]


def spelled(text):
    return " ".join(f"{ord(c):X}" for c in text)


def character_map():
    """A small character map, as SentencePiece compiles rules: keys of several characters, empty replacements."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2
    with tempfile.TemporaryDirectory() as folder:
        rules, text, prefix = (pathlib.Path(folder) / name for name in ("rules.tsv", "training.txt", "model"))
        rules.write_text("".join(f"{spelled(key)}\t{spelled(value)}\n" for key, value in RULES.items()))
        text.write_text(TRAINING)
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=str(prefix), vocab_size=300, model_type="unigram", hard_vocab_limit=False,
            normalization_rule_tsv=str(rules), minloglevel=2)
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString(prefix.with_suffix(".model").read_bytes())
        return model.normalizer_spec.precompiled_charsmap


def sentence_pieces(folder):
    import sentencepiece
    text = pathlib.Path(folder) / "training.txt"
    text.write_text(TRAINING)
    out = {}
    rules = pathlib.Path(folder) / "rules.tsv"
    rules.write_text("".join(f"{spelled(key)}\t{spelled(value)}\n" for key, value in RULES.items()))
    plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    mapped = {"normalization_rule_tsv": str(rules), "remove_extra_whitespaces": True}
    for kind, model, size, rules in (("bpe", "bpe", 700, plain), ("unigram", "unigram", 600, plain),
                                     ("mapped", "unigram", 500, mapped)):
        prefix = str(pathlib.Path(folder) / kind)
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=prefix, vocab_size=size, model_type=model, byte_fallback=True,
            hard_vocab_limit=False, user_defined_symbols=["<user>"], minloglevel=2, **rules)
        out[kind] = sentencepiece.SentencePieceProcessor(model_file=prefix + ".model")
    return out


def write_gguf(path, keys):
    import gguf
    writer = gguf.GGUFWriter(str(path), "llama")
    for key, value in keys.items():
        key = "tokenizer.ggml." + key
        if isinstance(value, list):
            writer.add_array(key, value)
        elif isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        else:
            writer.add_string(key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def gguf_of_bpe(tokenizer, pre):
    document = json.loads(tokenizer.to_str())
    added = {token["id"]: token for token in document["added_tokens"]}
    tokens = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    types = [1 if i not in added else 3 if added[i]["special"] else 4 for i in range(len(tokens))]
    merges = [" ".join(merge) for merge in document["model"]["merges"]]
    return {"model": "gpt2", "pre": pre, "tokens": tokens, "token_type": types, "merges": merges, "bos_token_id": 1,
            "eos_token_id": 2, "add_bos_token": True, "add_eos_token": True}


def gguf_of_sentence_piece(processor, model):
    size = processor.get_piece_size()
    kinds = [2 if processor.is_unknown(i) else 3 if processor.is_control(i) else 6 if processor.is_byte(i) else
             5 if processor.is_unused(i) else 4 if processor.id_to_piece(i) == "<user>" else 1 for i in range(size)]
    return {"model": model, "tokens": [processor.id_to_piece(i) for i in range(size)],
            "scores": [processor.get_score(i) for i in range(size)], "token_type": kinds, "bos_token_id": 1,
            "eos_token_id": 2, "unknown_token_id": 0, "add_bos_token": True, "add_eos_token": False,
            "add_space_prefix": True} | normalizer_of(processor)


def normalizer_of(processor):
    from sentencepiece import sentencepiece_model_pb2
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(processor.serialized_model_proto())
    keys = {"remove_extra_whitespaces": proto.normalizer_spec.remove_extra_whitespaces}
    if proto.normalizer_spec.precompiled_charsmap:
        keys["precompiled_charsmap"] = list(proto.normalizer_spec.precompiled_charsmap)
    return keys


def gguf_of_bert(tokenizer):
    """As llama.cpp converts BERT: pieces that go on with a word lose their sign, the others get an underline."""
    tokens = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    special = [token.startswith("[") and token.endswith("]") and len(token) > 2 for token in tokens]
    return {"model": "bert", "token_type": [3 if s else 1 for s in special],
            "tokens": [t if s else t[2:] if t.startswith("##") else "\u2581" + t for t, s in zip(tokens, special)],
            "unknown_token_id": 0, "cls_token_id": 2, "bos_token_id": 2, "seperator_token_id": 3}


def cases_of(tokenizer, texts):
    cases = []
    for text in texts:
        tokenizer.encode_special_tokens = True
        plain = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = False
        special = tokenizer.encode(text, add_special_tokens=True).ids
        cases.append({"text": text, "plain": plain, "special": special, "decoded": tokenizer.decode(special)})
    return cases


def main():
    shared, smollm2 = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer
    tiny = OUT / "tiny"
    tiny.mkdir(parents=True, exist_ok=True)
    random = Random(7)
    texts = TEXTS + [random_text(random) for _ in range(60)]
    cases = {}
    for name, tokenizer in tokenizers_by_name().items():
        (tiny / f"{name}.json").write_text(tokenizer.to_str() + "\n")
        cases[f"{name}.json"] = cases_of(tokenizer, texts + rule_texts() if name == "precompiled" else texts)
        if name == "bert":
            write_gguf(tiny / "bert.gguf", gguf_of_bert(tokenizer))
            cases["bert.gguf"] = [{key: case[key] for key in ("text", "plain")} for case in cases["bert.json"]
                                  if not any(token in case["text"] for token in ("<mask>", "<sep>", "one", "\u00e9"))]
        if name == "llama3":
            # GGUF cannot say that a token swallows blanks or stands alone: its texts hold none of those.
            write_gguf(tiny / "llama3.gguf", gguf_of_bpe(tokenizer, "llama-bpe"))
            cases["llama3.gguf"] = [case for case in cases["llama3.json"]
                                    if not any(token in case["text"] for token in ("<mask>", "<sep>", "one", "\u00e9"))]
    with tempfile.TemporaryDirectory() as folder:
        for kind, processor in sentence_pieces(folder).items():
            name = f"sentencepiece-{kind}.gguf"
            write_gguf(tiny / name, gguf_of_sentence_piece(processor, "llama" if kind == "bpe" else "t5"))
            all_texts = texts + rule_texts() if kind == "mapped" else texts
            cases[name] = [{"text": text, "plain": processor.encode(text)} for text in all_texts
                           if "<" not in text and "\0" not in text]
    (OUT / "cases").mkdir(exist_ok=True)
    for name, list_of_cases in cases.items():
        text = json.dumps(list_of_cases, ensure_ascii=True, separators=(",", ":"))
        (OUT / "cases" / f"{name}.json").write_text(text + "\n")
    with lzma.open(shared / "data/qwen3-tokenizer/tokenizer.json.xz") as file:
        qwen3 = Tokenizer.from_str(file.read().decode())
    hf = AutoTokenizer.from_pretrained(str(smollm2.parent), gguf_file=smollm2.name).backend_tokenizer
    models = {"qwen3": qwen3, "smollm2": hf}
    for tokenizer in models.values():
        tokenizer.encode_special_tokens = True
    write_hashes(shared, models)


if __name__ == "__main__":
    main()
