"""Random schemas: the package jsonschema judges what a sampler answers that is held to them, and what it would refuse.

judge_schemas.py SCHEMA_ANSWERS [ARGUMENT …] [--planted]

Every answer must be valid; every valid document in the white space of json.dumps must be accepted; every document that
jsonschema calls invalid must be refused. FOVEA_TEST_SEED and FOVEA_TEST_ROUNDS are as in CONTRIBUTING.md: 20 rounds are
10,000 answers. With --planted each answer is judged by another schema, which must be noticed. Exits with 77 where the
package is missing.
"""
import json
import os
import random
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("the Python package jsonschema is missing")
    sys.exit(77)

SEED = int(os.environ.get("FOVEA_TEST_SEED", "1"))
SCHEMAS = 100 * int(os.environ.get("FOVEA_TEST_ROUNDS", "1"))
ANSWERS = 5  # of each
LETTERS = 'abz"\\\n/éü是😀 _-0'
PATTERNS = {"^[a-c]{2,4}$": lambda r: "".join(r.choice("abc") for _ in range(r.randint(2, 4))),
            "x": lambda r: text(r, 0, 2) + "x" + text(r, 0, 2),
            "^\\d{3}-[A-Z]+": lambda r: f"{r.randint(100, 999)}-" + r.choice("AQZ") + text(r, 0, 2),
            "(ab|\\n)$": lambda r: text(r, 0, 2) + "ab"}
FORMATS = {"date": lambda r: f"{r.randint(1, 9999):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02}",
           "time": lambda r: f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}Z",
           "date-time": lambda r: "2024-02-29T23:59:59.5+01:00",
           "uuid": lambda r: "123e4567-e89b-12d3-A456-426614174000",
           "ipv4": lambda r: ".".join(str(r.choice([0, 9, 10, 99, 100, 199, 249, 255])) for _ in range(4))}


def text(r, least, most):
    return "".join(r.choice(LETTERS) for _ in range(r.randint(least, most)))


def name(r):
    return r.choice(["a", "b", "ab", "abc", "long name", 'quo"te', "ü"])


def any_value(r, depth):
    kind = r.randrange(7 if depth > 0 else 5)
    return [None, r.random() < 0.5, r.randint(-1000, 1000), round(r.uniform(-10, 10), 3), text(r, 0, 5),
            [any_value(r, depth - 1) for _ in range(r.randrange(3))] if depth > 0 else 0,
            {name(r): any_value(r, depth - 1) for _ in range(r.randrange(3))} if depth > 0 else 0][kind]


def schema_and_maker(r, depth):
    """A schema, and a function that makes a value that is valid under it."""
    kinds = ["string", "length", "pattern", "format", "integer", "integers", "number", "numbers", "boolean", "null",
             "enum", "const", "any", "types"]
    if depth > 0:
        kinds += ["array", "tuple", "object", "map", "anyOf", "oneOf", "ref"] * 2
    kind = r.choice(kinds)
    if kind == "string":
        return {"type": "string", "description": "any"}, lambda: text(r, 0, 6)
    if kind == "length":
        least = r.randint(0, 4)
        most = least + r.randint(0, 6)
        return {"type": "string", "minLength": least, "maxLength": most}, lambda: text(r, least, most)
    if kind == "pattern":
        pattern = r.choice(sorted(PATTERNS))
        return {"type": "string", "pattern": pattern}, lambda: PATTERNS[pattern](r)
    if kind == "format":
        form = r.choice(sorted(FORMATS))
        return {"type": "string", "format": form}, lambda: FORMATS[form](r)
    if kind == "integer":
        return {"type": "integer"}, lambda: r.randint(-10**14, 10**14)
    if kind == "integers":
        least = r.randint(-1200, 1200)
        most = least + r.choice([0, 1, 9, 100, 5000])
        return {"minimum": least, "exclusiveMaximum": most + 1, "type": "integer"}, lambda: r.randint(least, most)
    if kind == "number":
        return {"type": "number"}, lambda: round(r.uniform(-1e6, 1e6), r.randint(0, 5))
    if kind == "numbers":
        least = round(r.uniform(-20, 20), r.randint(0, 3))
        most = round(least + r.choice([1, 0.75, 12, 300]), 3)
        bounds = {"exclusiveMinimum": least, "maximum": most}
        return {"type": "number", **bounds}, lambda: most if r.random() < 0.3 else round(
            min(most, max(least + 0.0001, r.uniform(least, most))), 4)
    if kind == "boolean":
        return {"type": "boolean"}, lambda: r.random() < 0.5
    if kind == "null":
        return {"type": "null"}, lambda: None
    if kind == "enum":
        values = [any_value(r, 1) for _ in range(r.randint(1, 4))]
        return {"enum": values}, lambda: r.choice(values)
    if kind == "const":
        value = any_value(r, 2)
        return {"const": value}, lambda: value
    if kind == "any":
        return r.choice([True, {}, {"title": "x"}]), lambda: any_value(r, 2)
    if kind == "types":
        return {"type": ["integer", "null", "string"], "maxLength": 3}, lambda: r.choice([None, 7, "abc"])
    if kind == "array":
        items, make = schema_and_maker(r, depth - 1)
        least = r.randint(0, 2)
        schema = {"type": "array", "items": items, "minItems": least}
        most = least + r.randint(0, 3)
        if r.random() < 0.5:
            schema["maxItems"] = most
        return schema, lambda: [make() for _ in range(r.randint(least, most))]
    if kind == "tuple":
        first, make_first = schema_and_maker(r, depth - 1)
        rest, make_rest = schema_and_maker(r, depth - 1)
        return ({"type": "array", "prefixItems": [first, True], "items": rest},
                lambda: ([make_first(), any_value(r, 1)] + [make_rest() for _ in range(r.randrange(3))])[:r.randint(0, 5)])
    if kind == "object":
        names = r.sample(["a", "b", "ab", "abc", "long name", 'quo"te', "ü"], r.randint(1, 4))
        parts = {each: schema_and_maker(r, depth - 1) for each in names}
        required = [each for each in names if r.random() < 0.5]
        schema = {"type": "object", "properties": {each: part[0] for each, part in parts.items()}}
        if required:
            schema["required"] = required
        others = r.choice([None, False, True, {"type": "integer"}])
        if others is not None:
            schema["additionalProperties"] = others

        def make():
            value = {each: parts[each][1]() for each in names if each in required or r.random() < 0.5}
            if others and r.random() < 0.5:
                value["other"] = 5
            return value
        return schema, make
    if kind == "map":
        values, make = schema_and_maker(r, depth - 1)
        return ({"type": "object", "additionalProperties": values},
                lambda: {text(r, 0, 3): make() for _ in range(r.randrange(3))})
    if kind == "anyOf":
        parts = [schema_and_maker(r, depth - 1) for _ in range(r.randint(1, 3))]
        return {"anyOf": [part[0] for part in parts]}, lambda: r.choice(parts)[1]()
    if kind == "oneOf":
        return ({"oneOf": [{"type": "object", "properties": {"kind": {"const": each}, "n": {"type": "integer"}},
                            "required": ["kind"]} for each in ("x", "y")] + [{"type": "null"}]},
                lambda: r.choice([None, {"kind": "y", "n": 1}, {"kind": "x"}]))
    # A list that is nested in itself; a $ref is from the root, to which the caller moves the definition.
    return {"$ref": "#/$defs/tree"}, lambda: {"v": 1, "children": [{"v": 2, "children": []}] * r.randrange(3)}


TREE = {"type": "object", "properties": {"v": {"type": "integer"},
                                         "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        "required": ["v", "children"], "additionalProperties": False}


def spelled(r, value):
    return json.dumps(value, ensure_ascii=False, **r.choice([{}, {"separators": (",", ":")}, {"indent": 2},
                                                             {"indent": "\t"}]))


def main():
    r = random.Random(SEED)
    schemas, questions, valid = [], [], []
    for _ in range(SCHEMAS):
        schema, make = schema_and_maker(r, 3)
        if isinstance(schema, bool):
            schema = {}
        schema = {"$defs": {"tree": TREE}, **schema}
        judge = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
        documents = [make() for _ in range(ANSWERS)]
        for document in documents:
            assert judge.is_valid(document), (schema, document)
        # Wrong ones: values of other schemas.
        others = [schema_and_maker(r, 1)[1]() for _ in range(ANSWERS)]
        documents += [other for other in others if not judge.is_valid(other)]
        valid.append([True] * ANSWERS + [False] * (len(documents) - ANSWERS))
        schemas.append((schema, judge))
        questions.append(json.dumps({"schema": schema, "answers": ANSWERS,
                                     "texts": [spelled(r, document) for document in documents]}))
    told = subprocess.run([each for each in sys.argv[1:] if each != "--planted"], input="\n".join(questions) + "\n", text=True, encoding="utf-8",
                          stdout=subprocess.PIPE, check=True).stdout.rstrip("\n").split("\n")
    assert len(told) == len(schemas)
    if "--planted" in sys.argv:
        schemas = schemas[1:] + schemas[:1]
    answers = wrong = 0
    for (schema, judge), question, expected, line in zip(schemas, questions, valid, told):
        found = json.loads(line)
        faults = []
        if "refused" in found:
            faults.append(found["refused"])
        for answer in found.get("answers", []):
            answers += 1
            if answer is None or not judge.is_valid(json.loads(answer)):
                faults.append(f"answered {answer}")
        for document, accepted, right in zip(json.loads(question)["texts"], found.get("accepted", []), expected):
            if accepted != right:
                faults.append(("refuses " if right else "accepts ") + document)
        if faults:
            wrong += 1
            print(json.dumps(schema, ensure_ascii=False), *faults, sep="\n  ")
    print(f"{answers} answers to {SCHEMAS} schemas, {wrong} schemas with faults (FOVEA_TEST_SEED={SEED})")
    return 1 if wrong or answers < SCHEMAS * ANSWERS else 0


sys.exit(main())
