#!/usr/bin/env python3
"""Made-up documents in the form of HumanEval and MBPP+, and the prompts that lm-evaluation-harness makes of them.

    make_code_prompts.py [OUTPUT]     (default: the folder "tasks" beside this file)

Writes OUTPUT/data/humaneval/HumanEval.jsonl and OUTPUT/data/mbppplus/MbppPlus.jsonl, as `fovea eval --data` reads them,
and OUTPUT/expected_code.json: by task each document's prompt and the strings that end an answer, by the harness' own task
files over the same documents. Its examples for MBPP+ are three published problems; here they are the first three
documents, as Fovea has them. Nothing is run, so that its metric, which it would download, is not needed.
Made with lm_eval 0.4.13. Needs: pip install lm_eval
"""
import json
import pathlib
import sys
import tempfile
from unittest import mock

import lm_eval
import yaml
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "tasks"
HARNESS = pathlib.Path(lm_eval.__file__).parent / "tasks"

HUMANEVAL = [
    {"task_id": "Made/0", "entry_point": "double_all",
     "prompt": 'from typing import List\n\n\ndef double_all(values: List[int]) -> List[int]:\n    """ Twice each value.\n'
               '    >>> double_all([1, 2])\n    [2, 4]\n    """\n',
     "canonical_solution": "    return [2 * value for value in values]\n",
     "test": "\n\ndef check(candidate):\n    assert candidate([1, 2]) == [2, 4]\n"},
    {"task_id": "Made/1", "entry_point": "is_é",
     "prompt": "\ndef is_é(text):\n    '''Whether it's \"é\".'''\n",
     "canonical_solution": "    return text == 'é'\n",
     "test": "def check(candidate):\n    assert candidate('é')\n"},
]
# Text, code, tests.
MBPP = [
    ("Write a function to add two numbers.", "def add(a, b):\n  return a + b",
     ["assert add(1, 2) == 3", "assert add(0, 0) == 0", "assert add(-1, 1) == 0"]),
    ("Write a python function to find whether a list is empty.", "def is_empty(values):\n    return not values",
     ["assert is_empty([]) == True", "assert is_empty([1]) == False", "assert is_empty([[]]) == False"]),
    ("Write a function to join words with a given sign.", "import re\n\ndef join(words, sign):\n  return sign.join(words)",
     ['assert join(["a", "b"], "-") == "a-b"', 'assert join([], "-") == ""', "assert join(['é'], '') == 'é'"]),
    ("Write a function to count the {{ braces }} of a text.", "def braces(text):\n  return text.count('{')",
     ["assert braces('{') == 1", "assert braces('{{ x }}') == 2", "assert braces('') == 0"]),
]


def lines(objects):
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)


def write_data(folder):
    for name in ("humaneval", "mbppplus"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "humaneval/HumanEval.jsonl").write_text(lines(HUMANEVAL))
    (folder / "mbppplus/MbppPlus.jsonl").write_text(lines(
        {"task_id": f"Made/{i}", "prompt": f'"""\n{text}\n{tests[0]}\n"""\n', "canonical_solution": f"\n{code}\n",
         "assertion": "\n" + "\n".join(tests) + "\n"} for i, (text, code, tests) in enumerate(MBPP)))


def task_file(folder, name, include, documents, changes):
    data = folder / f"{name}.jsonl"
    data.write_text(lines(documents))
    config = {"include": str(HARNESS / include), "task": name, "dataset_path": "json", "dataset_name": None,
              "dataset_kwargs": {"data_files": {"test": str(data)}}, **changes}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(config, allow_unicode=True, sort_keys=False))


class Asked(LM):
    """Keeps what it is asked."""

    def __init__(self):
        super().__init__()
        self.requests = {}

    def generate_until(self, requests):
        for each in requests:
            context, settings = each.args
            self.requests.setdefault(each.task_name, []).append((each.doc_id, context, settings["until"]))
        return ["" for _ in requests]

    def loglikelihood(self, requests):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError


class NoMetric:
    @staticmethod
    def compute(**_):
        return {"pass@1": 0.0}, {}


def main():
    write_data(OUT / "data")
    shots = [{"text": text, "code": code, "test_list": tests, "is_fewshot": True} for text, code, tests in MBPP[:3]]
    with tempfile.TemporaryDirectory() as temporary, mock.patch("evaluate.load", lambda *_, **__: NoMetric):
        folder = pathlib.Path(temporary)
        task_file(folder, "humaneval", "humaneval/humaneval.yaml", HUMANEVAL, {})
        task_file(folder, "mbpp_plus", "mbpp/mbpp_plus.yaml",
                  [{"prompt": text, "code": code, "test_list": tests} for text, code, tests in MBPP],
                  {"fewshot_config": {"sampler": "first_n", "samples": shots}})
        model = Asked()
        lm_eval.simple_evaluate(model, tasks=["humaneval", "mbpp_plus"], confirm_run_unsafe_code=True,
                                task_manager=TaskManager(include_path=str(folder), include_defaults=False))
    expected = {name: [{"context": context, "until": until} for _, context, until in sorted(asked)]
                for name, asked in model.requests.items()}
    (OUT / "expected_code.json").write_text(json.dumps(expected, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    main()
