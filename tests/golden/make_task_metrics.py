#!/usr/bin/env python3
"""What the packages that define them make of texts: Rouge, BLEU, stems, filters, matches, errors.

    make_task_metrics.py [OUTPUT]     (default: task_metrics.json beside this file)

Made with rouge_score 0.1.2, nltk 3.10.4, sacrebleu 2.6.0, lm_eval 0.4.13.
Needs: pip install lm_eval rouge_score sacrebleu
"""
import importlib.util
import json
import pathlib
import random
import sys

import lm_eval
import sacrebleu
from lm_eval.api import metrics
from lm_eval.filters.extraction import RegexFilter, WhitespaceFilter
from nltk.stem.porter import PorterStemmer
from rouge_score import rouge_scorer
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "task_metrics.json"
HARNESS = pathlib.Path(lm_eval.__file__).parent / "tasks"
RANDOM = random.Random(3)

BEGINNINGS = ("abil act adjust agree allow analog angular bowdler call capab cease communic conflat control cri depend "
              "die differ digit effect electr fail fall feed fil fizz fl form geo happ hesit hiss hop hope in irrit "
              "just king lov mat motor oper philo pla plaster play pon predic prob rat relat rev roll s sens siz sk "
              "ski sky t tan tri trip troubl ty vil viet y yy try en oat e ee o archaeo theo").split()
ENDINGS = ("ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti "
           "iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent "
           "ion sion tion ou ism ate iti ous ive ize e ee ll l s ss sses ies ied eed ed ing y ating ized bled pped lling "
           "sses").split() + [""]
WORDS = "skies sky dying lying tying news innings inning outings canning howe proceed exceed succeed a at the 123 4th".split()

TEXTS = [
    "The quick brown fox jumps over the lazy dog.", "A fox jumped over dogs that were lazily sleeping; quickly!",
    "The routers choose experts, and the experts rest.", "Experts are resting while a router is choosing.",
    "", "Größe naïve İstanbul 123,456.78 K", "grosse naive istanbul 123 456 78 k", "the the the cat", "the cat the",
    "It costs $5.50 -- or 20-30 % less (see p. 7), \"he said\" & left: don't!", "It costs $5,50 – or 20–30% less, he said.",
    "“Quoted”\u00a0text, with\u2009spaces … and 1.5.2 versions, 3,000 times. A-1 and 1-A.",
    "&quot;Entities&quot; &amp; &lt;tags&gt; <skipped> hyphen-\nated lines\nhere", ".,.,. ..5 5.. ,a a, -5 5- 5-5",
]
NUMBERS = ["18", "#### 18", "The answer is #### 1,234.", "#### -5", "so 3 + 4 = 7.", "costs $1,000.50 in all", "no number",
           "1.", "-", "- 5", "#### 18\nQuestion: 20", "####18", "#### ", "#### .5 or #### 6", "a-5b", "12 apples and 3", "$5",
           "...", ".", "1,2,3", "#### 70.", "7%", "-7", " 18 ", "18.0", "eighteen", "１８", "#### $18"]
AIME = [("70", "70"), ("The answer is $70$.", "70"), ("$x = 70$", "70"), ("\\boxed{70}", "70"), ("so \\boxed{ 70 }.", "70"),
        ("\\boxed{7} or \\boxed{70}", "70"), ("\\boxed{\\text{70}}", "70"), ("\\boxed 70$ is it", "70"), ("$5$ and $70$", "70"),
        ("x=70", "70"), ("abc=70", "70"), ("a=b=70", "70"), ("70\\%", "70"), ("70\\text{ cm}", "70"), ("\\boxed{70^\\circ}", "70"),
        ("\\boxed{70^{\\circ}}", "70"), ("070", "70"), ("70.", "70"), ("7 0", "70"), ("\\boxed{70", "70"), ("\\fbox{70}", "70"),
        ("\\$70", "70"), ("7\\!0", "70"), ("\n70\n", "70"), ("", "70"), ("\\boxed{}", "70"), ("$\\left70\\right$", "70"),
        ("70\\text{ a}\\text{ b}", "70"), ("= 70", "70"), ("k = 70", "70"), ("\\boxed{k = 70}", "70"), ("$$70$$", "70"),
        ("\\boxed{{70}}", "70"), ("\\boxed{70}}", "70"), ("x \\boxed70", "70")]
TEXT_WITH_SPACES = [
    " = Title = \n \n A @-@ b , c ( \" d e \" ) 's [ f ] { g } . \n  = = Sub = = \n", "it ' s ' quoted ' and ( nested ( twice ) )",
    " N things ; 1 @,@ 000 @.@ 5 : so ! really ? yes . 20 ° C", "plants ' leaves", "( open", "no marks",
    "\" a \" b \" c", "= = = Deep = = = = = = ="]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rouge():
    cases = []
    for reference in TEXTS:
        for text in RANDOM.sample(TEXTS, 4) + [reference]:
            plain, stemmed = (rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=s).score(reference, text)
                              for s in (False, True))
            cases.append({"reference": reference, "text": text, "plain": [plain[k].fmeasure for k in plain],
                          "stemmed": [stemmed[k].fmeasure for k in stemmed]})
    return cases


def bleu():
    long = [" ".join(RANDOM.sample(TEXTS[0].split() + TEXTS[2].split(), 9)) for _ in range(12)]
    pairs = [list(zip(TEXTS, TEXTS[1:])), [(a, b) for a, b in zip(long, long[1:])], [(long[0], long[0])],
             [("a b c d e f", "a b")], [("a b", "c d")], [("a b c d e", "a b x d e"), (TEXTS[9], TEXTS[10])], [("a", "")]]
    return [{"pairs": each, "score": sacrebleu.corpus_bleu([t for _, t in each], [[r for r, _ in each]]).score} for each in pairs]


def numbers():
    strict = RegexFilter(regex_pattern=r"#### (\-?[0-9\.\,]+)")
    flexible = RegexFilter(regex_pattern="(-?[$0-9.,]{2,})|(-?[0-9]+)", group_select=-1)
    def match(number, gold, **options):
        return float(metrics.exact_match_hf_evaluate([number], [gold], ignore_case=True, **options)["exact_match"])
    ignored = [",", "\\$", "(?s).*#### ", "\\.$"]
    cases = []
    for text in NUMBERS:
        [[a]], [[b]], [[c]] = (f.apply([[text]], [{}]) for f in (strict, flexible, WhitespaceFilter()))
        for gold in ("18", "1234", "-5", "70"):
            cases.append({"text": text, "gold": gold, "strict": a, "flexible": b,
                          "gsm8k": [match(n, f"steps\n#### {gold}", regexes_to_ignore=ignored) for n in (a, b)],
                          "mgsm": [match(n, gold, ignore_punctuation=True) for n in (c, b)]})
    return cases


def main():
    words = WORDS + [b + e for b in BEGINNINGS for e in RANDOM.sample(ENDINGS, 24)]
    stemmer, tokenizer = PorterStemmer(), Tokenizer13a()
    aime, wikitext, hellaswag = (load(HARNESS / name) for name in (
        "aime/utils.py", "wikitext/preprocess_wikitext.py", "hellaswag/utils.py"))
    marked = ["A [title] b  c [header] d.", " x [step] ", "[a[b]c] d [title]", "no marks", "open [ only"]
    draws = random.Random(1234)
    sizes, errors = [4, 7, 1, 20], [0.25, 0.1, 0.0, 0.03]
    sample = [0.0, 1.0, 1.0, 0.5, 0.25]
    expected = {
        "stems": [[word, stemmer.stem(word)] for word in sorted(set(words))],
        "rouge": rouge(), "bleu": bleu(), "bleu_tokens": [[text, tokenizer(text.rstrip())] for text in TEXTS],
        "numbers": numbers(),
        "aime": [[a, t, aime.process_results({"answer": t}, [a])["exact_match"]] for a, t in AIME],
        "wikitext": [{"page": page, "text": wikitext.wikitext_detokenizer({"page": page}),
                      "words": wikitext.process_results({"page": page}, (0,))["word_perplexity"][1]} for page in TEXT_WITH_SPACES],
        "hellaswag": [[text, hellaswag.preprocess(text)] for text in marked],
        "draws": [[size, count, draws.sample(range(size), count)] for size, count in
                  [(7473, 5), (7473, 5), (40, 2), (40, 2), (10, 4), (200, 8), (85, 6), (86, 6), (21, 3), (22, 3), (5, 5)]],
        "errors": {"sample": sample, "mean": metrics.mean(sample), "mean_error": metrics.mean_stderr(sample),
                   "sizes": sizes, "part_errors": errors, "pooled": float(metrics.pooled_sample_stderr(errors, sizes))},
    }
    OUT.write_text(json.dumps(expected, ensure_ascii=False, separators=(",", ":")) + "\n")
    print({key: len(value) for key, value in expected.items()}, OUT.stat().st_size)


if __name__ == "__main__":
    main()
