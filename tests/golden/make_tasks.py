#!/usr/bin/env python3
"""Small data sets in the form of the published ones, and what lm-evaluation-harness makes of them.

    make_tasks.py [OUTPUT]     (default: the folder "tasks" beside this file)

Writes OUTPUT/data, as `fovea eval --data` reads it, and OUTPUT/expected.json: for each document the prompt, the
log-likelihoods or the answer, and the values, all by the harness' own task files over the same documents, with the tiny
model of "chat"; and each task's scores and standard errors. Questions and texts are made up here.
Made with lm_eval 0.4.13, transformers 5.24.0, torch 2.15.0, sacrebleu 2.6.0, rouge_score 0.1.2.
Needs: pip install lm_eval transformers torch sacrebleu rouge_score
"""
import bz2
import io
import json
import lzma
import pathlib
import random
import sys
import tarfile
import tempfile

import lm_eval
import torch
import yaml
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "tasks"
HARNESS = pathlib.Path(lm_eval.__file__).parent / "tasks"
RANDOM = random.Random(7)
NOUNS = "router expert token page cache layer machine memory weight answer eye question".split()
VERBS = "reads holds chooses sees waits writes asks needs".split()


def sentence():
    return f"The {RANDOM.choice(NOUNS)} {RANDOM.choice(VERBS)} the {RANDOM.choice(NOUNS)}"


def csv_value(text):
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text


def question():
    options = RANDOM.sample(NOUNS, 4)
    text = RANDOM.choice(["Which, \"if\" any, is it?", " What does it see?", "Who waits,\nand who reads?"])
    return text, options, RANDOM.randrange(4)


def problem():
    a, b = RANDOM.randrange(2, 30), RANDOM.randrange(2, 30)
    return f"A page holds {a} keys and {b} values. How many?", f"{a} + {b} = <<{a}+{b}={a + b}>>{a + b}\n#### {a + b}", a + b


ARTICLES = """
 = The Router = 

 The router , a small matrix , chooses @-@ of 1 @,@ 024 experts ( " the best " ) ; it 's quick . 

 = = How = = 

 It reads [ once ] and waits ' not ' at all : 5 @.@ 5 times . 
 = The Page = 

 A page holds keys & values ! 

 = = = Why = = = 

 N reasons ; 20 ° C . 
"""
SUBJECTS = ["abstract_eyes", "the_cache"]
PARADIGMS = ["agreement_one", "word_order"]
LANGUAGES = ["en", "fr", "zh"]


def make_documents():
    docs = {"mmlu": {name: {"test": [question() for _ in range(4)], "dev": [question() for _ in range(5)]} for name in SUBJECTS},
            "blimp": {name: [(sentence() + ".", "The " + " ".join(reversed(sentence().split())) + ".") for _ in range(3)]
                      for name in PARADIGMS},
            "hellaswag": [(f"Reading [substeps] pages: {sentence()}. [title] A  {RANDOM.choice(NOUNS)}", RANDOM.randrange(4),
                           [sentence() + "." for _ in range(3)] + [RANDOM.choice(VERBS) + " [header]é."]) for _ in range(5)],
            "gsm8k": {"test": [problem() for _ in range(3)], "train": [problem() for _ in range(40)]},
            "mgsm": {name: [problem() for _ in range(2)] for name in LANGUAGES},
            "aime25": [(f"Find {RANDOM.choice(NOUNS)}s: ${RANDOM.randrange(9)}x$.", str(RANDOM.randrange(999))) for _ in range(2)],
            "cnn_dailymail": [(f"{sentence()}. {sentence()}. {sentence()}...", f"{sentence()} .\n{sentence()} .") for _ in range(3)],
            "wmt14": [(f"Le {RANDOM.choice(NOUNS)} attend.", sentence() + ".") for _ in range(4)]}
    return docs


def pack(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    path.write_bytes(lzma.compress(raw.getvalue()))


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def lines(objects):
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)


def write_data(docs, folder):
    def csv(rows):
        return "".join(",".join(map(csv_value, [text, *options, "ABCD"[gold]])) + "\n" for text, options, gold in rows)
    pack(folder / "mmlu/mmlu_csv.tar.xz",
         {f"data_mmlu/{split}/{name}_{split}.csv": csv(rows) for name, splits in docs["mmlu"].items()
          for split, rows in splits.items()})
    pack(folder / "blimp/blimp.tar.xz",
         {f"data/{name}.jsonl": lines({"sentence_good": good, "sentence_bad": bad} for good, bad in pairs)
          for name, pairs in docs["blimp"].items()})
    write(folder / "hellaswag/hellaswag_val_full.txt.bz2", bz2.compress("".join(
        "\n".join([text, str(gold), *endings]) + "\n" for text, gold, endings in docs["hellaswag"]).encode()))
    write(folder / "wikitext-2/wiki.test.raw", ARTICLES)
    for split, rows in docs["gsm8k"].items():
        text = lines({"question": q, "answer": a} for q, a, _ in rows).encode()
        write(folder / ("gsm8k/test.jsonl" if split == "test" else "gsm8k/train.jsonl.xz"),
              text if split == "test" else lzma.compress(text))
    pack(folder / "mgsm/mgsm.tar.xz",
         {f"mgsm/mgsm_{name}.tsv": "".join(f"{q}\t{n:,}\n" for q, _, n in rows) for name, rows in docs["mgsm"].items()})
    write(folder / "math/aime25_test.jsonl", lines({"problem": p, "answer": a} for p, a in docs["aime25"]))
    write(folder / "cnn-dailymail-sample/cnn_dailymail_3_0_0_news_summary.jsonl",
          lines({"prompt": f"Summarise the article:\n\n{a}\n", "completion": h + "<|endoftext|>"}
                for a, h in docs["cnn_dailymail"]))
    write(folder / "fr-en/newstest2014.fr", "".join(f + "\n" for f, _ in docs["wmt14"]))
    write(folder / "fr-en/newstest2014.en", "".join(e + "\n" for _, e in docs["wmt14"]))


def articles():
    """As the data set "wikitext_document_level" cuts them."""
    pages, page = [], []
    for line in ARTICLES.split("\n"):
        title = line.replace("= = =", "===").replace("= =", "==").strip()
        if title.startswith("= ") and title.endswith(" ="):
            pages.append("\n".join(page))
            page = []
        page.append(line)
    return [each for each in pages + ["\n".join(page)] if each.strip()]


def task_files(docs, folder):
    """The harness' own task files over local documents: by name the file to include and the documents by split."""
    def mmlu(rows):
        return [{"question": q, "choices": o, "answer": g} for q, o, g in rows]
    tasks = {}
    for name, splits in docs["mmlu"].items():
        tasks[f"mmlu_{name}"] = ("mmlu/default/_default_template_yaml", {k: mmlu(v) for k, v in splits.items()}, {
            "description": f"The following are multiple choice questions (with answers) about {name.replace('_', ' ')}.\n\n"})
    for name, pairs in docs["blimp"].items():
        tasks[f"blimp_{name}"] = ("blimp/_template_yaml", {"train": [{"sentence_good": g, "sentence_bad": b} for g, b in pairs]}, {})
    rows = [{"activity_label": t.split(": ", 1)[0], "ctx_a": t.split(": ", 1)[1], "ctx_b": "", "endings": e, "label": str(g)}
            for t, g, e in docs["hellaswag"]]
    tasks["hellaswag"] = ("hellaswag/hellaswag.yaml", {"validation": rows, "train": rows}, {"test_split": None})
    pages = [{"page": page} for page in articles()]
    tasks["wikitext"] = ("wikitext/wikitext.yaml", {"test": pages, "train": pages, "validation": pages}, {})
    tasks["gsm8k"] = ("gsm8k/gsm8k.yaml", {k: [{"question": q, "answer": a} for q, a, _ in v] for k, v in docs["gsm8k"].items()},
                      {"num_fewshot": 2})
    for name, rows in docs["mgsm"].items():
        rows = [{"question": q, "answer": None, "answer_number": n} for q, _, n in rows]
        tasks[f"mgsm_direct_{name}"] = (f"mgsm/direct/mgsm_direct_{name}.yaml", {"test": rows, "train": rows}, {})
    tasks["aime25"] = ("aime/aime25.yaml", {"test": [{"problem": p, "answer": a} for p, a in docs["aime25"]]}, {})
    tasks["cnn_dailymail"] = ("cnn_dailymail/cnn_dailymail.yaml",
                              {"test": [{"article": a, "highlights": h} for a, h in docs["cnn_dailymail"]]}, {})
    rows = [{"translation": {"fr": f, "en": e}} for f, e in docs["wmt14"]]
    tasks["wmt14-fr-en"] = ("translation/wmt14_fr-en.yaml", {"test": rows, "train": rows, "validation": rows}, {})
    for name, (include, splits, changes) in tasks.items():
        files = {}
        for split, rows in splits.items():
            files[split] = str(folder / f"{name}.{split}.jsonl")
            pathlib.Path(files[split]).write_text(lines(rows))
        config = {"include": str(HARNESS / include), "task": name, "tag": [], "dataset_path": "json", "dataset_name": None,
                  "dataset_kwargs": {"data_files": files}, **changes}
        if name in ("aime25", "cnn_dailymail", "gsm8k") or "mgsm" in name or "wmt" in name:
            whole = yaml.safe_load((HARNESS / include).read_text().replace("!function", "")) or {}
            config["generation_kwargs"] = {**whole.get("generation_kwargs", {}), "max_gen_toks": MAX_TOKENS}
        text = yaml.safe_dump(config, allow_unicode=True, sort_keys=False)
        (folder / f"{name}.yaml").write_text(text)
    return list(tasks)


MAX_TOKENS = 40


def main():
    torch.set_num_threads(1)
    docs = make_documents()
    write_data(docs, OUT / "data")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        names = task_files(docs, folder)
        model = HFLM(pretrained=str(HERE / "chat"), dtype="float32", device="cpu", batch_size=1)
        manager = TaskManager(include_path=str(folder), include_defaults=False)
        results = {}
        for few, some in ((5, [n for n in names if n.startswith("mmlu")]), (None, [n for n in names if not n.startswith("mmlu")])):
            found = lm_eval.simple_evaluate(model, tasks=some, num_fewshot=few, task_manager=manager, log_samples=True,
                                            bootstrap_iters=1000)
            for name in some:
                samples = sorted(found["samples"][name], key=lambda each: each["doc_id"])
                results[name] = {"scores": {k: v for k, v in found["results"][name].items() if isinstance(v, float)},
                                 "documents": [document(s, samples) for s in samples if s["filter"] == samples[0]["filter"]]}
    (OUT / "expected.json").write_text(json.dumps(results, ensure_ascii=False, indent=0) + "\n")
    for name, result in results.items():
        print(name, result["scores"])


def document(sample, samples):
    arguments = list(sample["arguments"].values()) if isinstance(sample["arguments"], dict) else sample["arguments"]
    first = arguments[0]
    context = first["arg_0"] if isinstance(first, dict) else first[0]
    resps = sample["resps"]
    if isinstance(resps[0][0], str):
        return {"context": context, "answer": resps[0][0]}
    return {"context": context, "log_likelihoods": [r[0][0] if isinstance(r[0], (list, tuple)) else r[0] for r in resps]}


if __name__ == "__main__":
    main()
