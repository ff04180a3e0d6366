#!/usr/bin/env python3
"""What lm-evaluation-harness finds for contexts, continuations and texts with the tiny model of "chat".

    make_likelihoods.py [OUTPUT]     (default: likelihoods.json beside this file)

Its own code tokenises, cuts and scores, with transformers in float32. Made with lm_eval 0.4.13, transformers 5.24.0 and
torch 2.15.0. Needs: pip install lm_eval transformers torch.
"""
import json
import pathlib
import sys

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "likelihoods.json"
TEXT = ("A router chooses the experts that a token needs, and the others rest. Reading weights takes longer than "
        "multiplying with them, so a machine waits for its memory. Größe, naïve, 日本語 and 🙂 are text as well. ")
CASES = [  # the longest context that the model is loaded for, a context, its continuations
    (512, "What is a mixture of experts?\nAnswer:", [" A", " B", " C", " D"]),
    (512, "The eye sees sharply only", [" where it looks.", " in the dark", ", or not at all, and then it waits for more"]),
    (512, "A page of the cache holds keys and", [" values", " values; a conversation is a list of pages.", "values"]),
    (512, "Two spaces stand behind this  ", ["and words", " more words"]),
    (512, "A line ends here.\n", ["Größe", " 日本語 🙂"]),
    (512, "The word goes on: mix", ["ture of experts", "ing", "tures"]),  # tokens reach over the border
    (512, "", ["The experts rest.", " The experts rest.", "<|endoftext|>The experts rest."]),
    (512, "<|im_start|>user\nHow?<|im_end|>\n<|im_start|>assistant\n", ["So.<|im_end|>", "So."]),
    (48, TEXT, [" yes", " no, because a machine waits for its memory"]),  # the context loses its beginning
]
ROLLING = [(512, TEXT), (24, TEXT * 2), (24, "Short."), (7, TEXT)]


def load(max_length):
    return HFLM(pretrained=str(HERE / "chat"), dtype="float32", device="cpu", batch_size=1, max_length=max_length)


def request(kind, arguments):
    return Instance(request_type=kind, doc={}, arguments=arguments, idx=0)


@torch.no_grad()
def likeliest(model):
    """A context, and the token that is likeliest there, as its text."""
    for end in range(20, len(TEXT)):
        ids = model.tok_encode(TEXT[:end])
        token = int(model.model(torch.tensor([ids])).logits[0, -1].argmax())
        best = model.tokenizer.decode([token])
        if best.strip() and TEXT[end - 1] != " " and model._encode_pair(TEXT[:end], best) == (ids, [token]):
            return TEXT[:end], best
    raise SystemExit("no context fits")


def main():
    torch.set_num_threads(1)
    models = {length: load(length) for length in (512, 48, 24, 7)}
    text, best = likeliest(models[512])
    cases = []
    for context, text, continuations in CASES + [(512, text, [best, best + "!", " no"])]:
        found = models[context].loglikelihood([request("loglikelihood", (text, each)) for each in continuations])
        cases.append({"context": context, "text": text, "continuations": continuations,
                      "log_likelihoods": [float(value) for value, _ in found], "greedy": [bool(g) for _, g in found]})
    rolling = []
    for context, text in ROLLING:
        [value] = models[context].loglikelihood_rolling([request("loglikelihood_rolling", (text,))])
        rolling.append({"context": context, "text": text, "log_likelihood": float(value)})
    OUT.write_text(json.dumps({"continuations": cases, "rolling": rolling}, ensure_ascii=False, indent=0) + "\n")
    for case in cases:
        print(case["context"], repr(case["text"][-30:]), case["log_likelihoods"], case["greedy"])
    print([r["log_likelihood"] for r in rolling])


if __name__ == "__main__":
    main()
