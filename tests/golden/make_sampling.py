#!/usr/bin/env python3
"""Filtered next-token probabilities from transformers' logits processors: writes sampling.json beside this file.

Needs: pip install torch transformers. Presence and frequency penalties, which transformers lacks, are subtracted
here by their definition before the temperature.
"""
import json
import pathlib

import numpy
import torch
from transformers import (LogitsProcessorList, MinPLogitsWarper, RepetitionPenaltyLogitsProcessor,
                          TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper)

OFF = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0,
       "presence_penalty": 0.0, "frequency_penalty": 0.0}
SETTINGS = [
    {}, {"temperature": 0.3}, {"temperature": 1.7}, {"top_k": 1}, {"top_k": 7}, {"top_k": 1000}, {"top_p": 0.01},
    {"top_p": 0.5}, {"top_p": 0.97}, {"min_p": 0.02}, {"min_p": 0.4}, {"min_p": 1.0}, {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.8}, {"presence_penalty": 0.9}, {"frequency_penalty": 0.4}, {"frequency_penalty": -0.5},
    {"temperature": 0.7, "top_k": 20, "top_p": 0.8},
    {"temperature": 0.6, "top_k": 40, "top_p": 0.95, "min_p": 0.05},
    {"temperature": 1.5, "top_k": 60, "top_p": 0.9, "min_p": 0.1, "repetition_penalty": 1.1},
    {"temperature": 0.9, "top_p": 0.7, "repetition_penalty": 1.2, "presence_penalty": 0.3, "frequency_penalty": 0.2},
]


def filtered(logits, history, s):
    scores = torch.tensor(logits, dtype=torch.float32)[None]
    ids = torch.tensor(history, dtype=torch.long)[None]
    if s["repetition_penalty"] != 1:
        scores = RepetitionPenaltyLogitsProcessor(s["repetition_penalty"])(ids, scores)
    for token in set(history):
        scores[0, token] -= s["presence_penalty"] + history.count(token) * s["frequency_penalty"]
    warpers = LogitsProcessorList()
    if s["temperature"] != 1:
        warpers.append(TemperatureLogitsWarper(s["temperature"]))
    if s["top_k"] > 0:
        warpers.append(TopKLogitsWarper(s["top_k"]))
    if s["top_p"] < 1:
        warpers.append(TopPLogitsWarper(s["top_p"]))
    if s["min_p"] > 0:
        warpers.append(MinPLogitsWarper(s["min_p"]))
    scores = warpers(ids, scores)[0].double()
    probabilities = torch.softmax(scores, 0)
    return {str(i): float(f"{p:.6g}") for i, p in enumerate(probabilities.tolist()) if p > 0}


def main():
    random = numpy.random.default_rng(7)
    cases = []
    for scale in (0.5, 3.0):
        logits = [round(float(x), 4) for x in random.normal(0, scale, 151)]
        history = [int(x) for x in random.integers(0, 151, 12)]
        history += history[:4]
        entries = [{"settings": OFF | s, "probabilities": filtered(logits, history, OFF | s)} for s in SETTINGS]
        cases.append({"logits": logits, "history": history, "entries": entries})
    path = pathlib.Path(__file__).with_name("sampling.json")
    path.write_text(json.dumps(cases, separators=(",", ":")) + "\n")
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
