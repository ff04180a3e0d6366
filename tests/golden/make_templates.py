"""Renders template cases with jinja2 exactly as transformers does, into templates.json and templates_random.json.

Needs transformers and jinja2; run it after changing the cases:  python tests/golden/make_templates.py
"""

import copy
import json
import logging
import os
import pathlib
import time

logging.disable(logging.WARNING)
import transformers.utils.chat_template_utils  # noqa: E402
from template_conversations import CONVERSATIONS, TOOLS  # noqa: E402
from template_conversations import TEMPLATES as CHAT_TEMPLATES  # noqa: E402
from template_snippets import EXPRESSIONS, RAW_TEMPLATES, SNIPPET_VARIABLES, TEMPLATES  # noqa: E402
from transformers.utils.chat_template_utils import _cached_compile_jinja_template  # noqa: E402

os.environ["TZ"] = "UTC"
time.tzset()
HERE = pathlib.Path(__file__).parent

FUZZ_VARIABLES = {
    "a": 1,
    "b": "text",
    "n": 3,
    "f": 2.5,
    "s": "Hello World",
    "u": "Größe 日本 😀é",
    "empty": [],
    "numbers": [3, 1, 2, 1],
    "words": ["b", "A", "c"],
    "d": {"k": 1, "b": [1, 2], "a": "x"},
    "rows": [{"k": 2, "role": "user", "x": [5]}, {"k": 1, "role": "tool"}, {"k": 2, "role": "User"}],
    "nested": [[1, 2], [3, [4]]],
    "none": None,
    "yes": True,
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None}],
}


def outcome(template, variables):
    """The case's output, or the error that jinja2 raises."""
    try:
        return {"output": _cached_compile_jinja_template(template).render(**copy.deepcopy(variables))}
    except Exception as error:  # noqa: BLE001: any error is an outcome
        return {"error": f"{type(error).__name__}: {error}"[:120]}


def snippet_cases():
    for index, line in enumerate(filter(None, EXPRESSIONS.split("\n"))):
        yield f"expression {index}: {line[:40]}", "{{ " + line + " }}"
    for index, text in enumerate(TEMPLATES.strip("\n").split("\n====\n")):
        yield f"template {index}: " + text[:40].replace("\n", " "), text
    for index, text in enumerate(RAW_TEMPLATES):
        yield f"white space {index}", text


def conversation_cases():
    fixed = {"bos_token": "<s>", "eos_token": "</s>", "date_string": "26 Jul 2024"}
    for style, template in CHAT_TEMPLATES.items():
        for kind, messages in CONVERSATIONS.items():
            for tools in (None, TOOLS):
                prompt = tools is None
                variables = {"messages": messages, "tools": tools, "add_generation_prompt": prompt, **fixed}
                if prompt and kind == "turns":
                    variables["enable_thinking"] = False
                yield f"{style}, {kind}, {'tools' if tools else 'no tools'}", style, variables


class FixedClock(transformers.utils.chat_template_utils.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(CLOCK, tz)


CLOCK = 1722211200  # what the tests give as the present


def main():
    transformers.utils.chat_template_utils.datetime = FixedClock
    cases = []
    for name, template in snippet_cases():
        cases.append({"name": name, "template": template, "variables": "snippets", **outcome(template, SNIPPET_VARIABLES)})
    for name, style, variables in conversation_cases():
        result = outcome(CHAT_TEMPLATES[style], variables)
        cases.append({"name": name, "template": style, "variables": {**variables, "fovea_clock": CLOCK}, **result})
    write("templates.json", {"variables": {"snippets": SNIPPET_VARIABLES}, "templates": CHAT_TEMPLATES, "cases": cases})

    from template_fuzz import cases as fuzz_cases

    small = [case for case in fuzz_cases("golden", 700) if len(case["template"]) < 250]
    write("templates_random.json", {"variables": {"fuzz": FUZZ_VARIABLES}, "cases": small[:500]})


def write(name, content):
    content["cases"] = [one for one in content["cases"] if " at 0x" not in one.get("output", "")]
    lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in content["cases"])
    shared = {key: value for key, value in content.items() if key != "cases"}
    text = json.dumps(shared, ensure_ascii=False)[:-1] + ', "cases": [\n' + lines + "\n]}\n"
    (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
