"""Renders the chat templates that llama.cpp's source carries as transformers does, into published_templates.json.

The templates are their authors' and stay where they are: the file has a hash of each and of what each conversation
becomes. Needs transformers and jinja2, and the folder that scripts/test makes:
    python tests/golden/make_published.py build/templates
"""

import hashlib
import json
import pathlib
import sys

from make_templates import CLOCK, HERE, FixedClock, outcome, transformers
from template_conversations import CONVERSATIONS, TOOLS


def short_hash(data):
    return hashlib.sha256(data).hexdigest()[:8]


def variables():
    fixed = {"bos_token": "<s>", "eos_token": "</s>", "date_string": "26 Jul 2024"}
    for messages in CONVERSATIONS.values():
        for switches in (
            {},
            {"enable_thinking": True},
            {"enable_thinking": False},
            {"reasoning_effort": "high"},
            {"tools": TOOLS},
        ):
            yield {"messages": messages, "add_generation_prompt": True, **switches, **fixed}


def main(folder):
    transformers.utils.chat_template_utils.datetime = FixedClock
    every = list(variables())
    templates = {}
    for path in sorted(pathlib.Path(folder).glob("*.jinja")):
        text = path.read_text(encoding="utf-8")
        results = [outcome(text, one) for one in every]
        hashes = [short_hash(one["output"].encode()) if "output" in one else "error" for one in results]
        templates[path.name] = {"template": short_hash(path.read_bytes()), "cases": " ".join(hashes)}
    content = {"variables": [{**one, "fovea_clock": CLOCK} for one in every], "templates": templates}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in templates.items()]
    text = '{"variables": ' + json.dumps(content["variables"], ensure_ascii=False) + ',\n"templates": {\n'
    (HERE / "published_templates.json").write_text(text + ",\n".join(lines) + "\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
