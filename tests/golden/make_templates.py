"""Renders template cases with jinja2 exactly as transformers does, into templates.json.

Needs transformers and jinja2; run it after changing the cases:  python tests/golden/make_templates.py
"""

import json
import logging
import os
import pathlib
import time

logging.disable(logging.WARNING)
from transformers.utils.chat_template_utils import _cached_compile_jinja_template  # noqa: E402

os.environ["TZ"] = "UTC"
time.tzset()
HERE = pathlib.Path(__file__).parent


def outcome(template, variables):
    """The case's output, or the error that jinja2 raises."""
    try:
        return {"output": _cached_compile_jinja_template(template).render(**variables)}
    except Exception as error:  # noqa: BLE001: any error is an outcome
        return {"error": f"{type(error).__name__}: {error}"[:120]}


def main():
    cases = []
    for name, template in [("loop", "{% for a in [1, 2] %}\n{{ loop.index ~ a }}\n{% endfor %}\n"), ("error", "{{ 1 + 'a' }}")]:
        cases.append({"name": name, "template": template, **outcome(template, {})})
    text = json.dumps({"cases": cases}, ensure_ascii=False, indent=0)
    (HERE / "templates.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
