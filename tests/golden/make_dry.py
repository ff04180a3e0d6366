#!/usr/bin/env python3
"""What the DRY sampler subtracts, word for word as its author defines it: writes dry.json beside this file.

The definition, of https://github.com/oobabooga/text-generation-webui/pull/5677 ("DRY: A modern repetition penalty that
reliably prevents looping"): of the input's last `window` tokens, find the longest sequence at their end that stands
elsewhere among them followed by the token in question. Where that is n ≥ allowed_length tokens long, the token's logit
loses multiplier · base ^ (n − allowed_length). A sequence breaker is in no such sequence, and loses nothing itself.

Needs nothing but Python. Everything is tried: each token, each length, each place.
"""
import json
import pathlib
import random


def longest(history, token, breakers):
    """Of the sequences at the end of `history` that occur in it followed by `token`."""
    best = 0
    for n in range(1, len(history)):
        sequence = history[-n:]
        if any(t in breakers for t in sequence):
            break
        for start in range(len(history) - n):
            if history[start:start + n + 1] == sequence + [token]:
                best = n
    return best


def penalties(history, vocabulary, s):
    window = history if s["window"] < 0 else history[len(history) - min(s["window"], len(history)):]
    result = {}
    for token in range(vocabulary):
        n = 0 if token in s["breakers"] else longest(window, token, s["breakers"])
        if n >= s["allowed_length"]:
            result[str(token)] = s["multiplier"] * s["base"] ** (n - s["allowed_length"])
    return result


def histories(draw):
    # Few symbols repeat by chance; a period repeats for ever; a copy with slips breaks off and goes on.
    for symbols in (2, 3, 5, 9):
        for length in (0, 1, 2, 5, 20, 60):
            yield [draw.randrange(symbols) for _ in range(length)]
    for period in (1, 2, 3, 7):
        once = [draw.randrange(12) for _ in range(period)]
        yield (once * 30)[:30]
    for _ in range(30):
        passage = [draw.randrange(12) for _ in range(draw.randrange(5, 25))]
        copy = [draw.randrange(12) if draw.random() < 0.1 else t for t in passage]
        yield passage + copy + passage[:draw.randrange(1, len(passage))]


def main():
    draw = random.Random(11)
    vocabulary = 12
    cases = []
    for history in histories(draw):
        for breakers in ([], sorted(draw.sample(range(vocabulary), draw.choice((1, 2))))):
            s = {"multiplier": draw.choice((0.5, 0.8, 2.0)), "base": draw.choice((1.0, 1.25, 1.75)),
                 "allowed_length": draw.choice((1, 2, 2, 3)), "window": draw.choice((-1, -1, -1, 6, 17, 45)),
                 "breakers": breakers}
            found = penalties(history, vocabulary, s)
            cases.append({"history": history, "settings": s,
                          "penalties": {token: float(f"{p:.7g}") for token, p in found.items()}})
    path = pathlib.Path(__file__).with_name("dry.json")
    path.write_text("[" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "]\n")
    print(path, path.stat().st_size, "bytes,", sum(bool(c["penalties"]) for c in cases), "of", len(cases), "subtract")


if __name__ == "__main__":
    main()
