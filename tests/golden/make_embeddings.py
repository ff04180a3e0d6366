#!/usr/bin/env python3
"""What transformers says the mean of a text's last hidden states is, of models that lie here.

    make_embeddings.py [OUTPUT]     (default: embeddings.json beside this file)

Of each model of make_models.py and make_families.py that is a folder without blocks: the mean over the tokens of its case
of AutoModel's last_hidden_state, which stands behind the final norm. And of the model of make_chat.py, of texts, each
with the tokens that its own tokeniser makes of it. Made with transformers 5.24 and torch 2.15.
"""

import json
import pathlib
import sys

import torch
import transformers

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "embeddings.json"
# Of each family a dense model or one with experts, windows, recurrent layers, scaled rotations.
MODELS = ["llama-0", "llama-2", "qwen2-2", "qwen3-1", "qwen2_moe-2", "qwen3_moe-0", "mixtral-2", "rope-llama3",
          "window-mistral"]
FAMILIES = ["mellum-1", "gpt_oss-0", "qwen3_next-0", "qwen3_next-1", "qwen3_5-0", "qwen3_5_moe-1", "gemma3-0", "gemma3-1",
            "gemma4-0", "gemma4-1"]
TEXTS = ["Hello, who are you?", "A router chooses the experts.", "Größe 日本語 🙂"]


@torch.no_grad()
def mean(folder, tokens):
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager", experts_implementation="eager",
                                                   dtype=torch.float32).eval()
    states = model(torch.tensor([tokens])).last_hidden_state[0]
    assert states.shape[0] == len(tokens)
    return states.double().mean(0)


def rounded(values):
    return [float(f"{value:.7g}") for value in values]


def main():
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(1)
    entries = []
    for folder, names in (("models", MODELS), ("families", FAMILIES)):
        cases = {case["name"]: case for case in json.loads((HERE / folder / "cases.json").read_text())}
        for name in names:
            case = cases[name]
            assert not case["quantised"]
            values = mean(HERE / folder / case["model"], case["tokens"])
            entries.append(dict(model=f"{folder}/{case['model']}", tokens=case["tokens"],
                                mean=rounded(values)))
            print(name, len(values), float(values.norm()))
    tokenizer = transformers.AutoTokenizer.from_pretrained(HERE / "chat")
    for text in TEXTS:
        tokens = tokenizer(text).input_ids
        entries.append(dict(model="chat", text=text, tokens=tokens, mean=rounded(mean(HERE / "chat", tokens))))
    OUT.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


if __name__ == "__main__":
    main()
