"""The table of all errors and phrases, from the errors.h of every folder, and what translations make of it.

error_table.py SOURCE OUTPUT [LANGUAGE.json …]

Writes OUTPUT/error_table.inc, a row for each code, and for each LANGUAGE.json, named errors_<language>.json and holding
{code: text} or {code: [text, advice]}, OUTPUT/errors_<language>.ts. Fails, and says everything that is wrong, where a
code stands twice, a translation is missing or belongs to no code, or lacks or invents something that varies.
"""
import glob
import json
import os
import re
import sys
from xml.sax.saxutils import escape

MACRO = re.compile(r"\b(FOVEA_ERROR|FOVEA_PHRASE)\(")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
NAME = re.compile(r"\{\{|\{([a-z_0-9]+)(?::[^}]*)?\}")


def arguments_of(source, at):
    """The macro's arguments from behind its bracket on, as they are written."""
    parts, depth, start = [], 0, at
    while True:
        if source[at] == '"':
            at = STRING.match(source, at).end()
            continue
        if source[at] == "(":
            depth += 1
        elif source[at] == ")" and depth:
            depth -= 1
        elif source[at] in ",)" and not depth:
            parts.append(source[start:at].strip())
            if source[at] == ")":
                return parts
            start = at + 1
        at += 1


def text_of(literals):
    """What adjacent C++ literals say."""
    return json.loads('"' + "".join(STRING.findall(literals)) + '"')


def varies(*texts):
    return {found[1] for text in texts for found in NAME.finditer(text) if found[1]}


def read_codes(source, wrong):
    codes = {}
    for header in sorted(found for part in ("app", "engine", "ui")
                         for found in glob.glob(f"{source}/{part}/**/errors.h", recursive=True)):
        with open(header, encoding="utf-8") as file:
            content = re.sub(r"^\s*//.*$", "", file.read(), flags=re.M)
        for found in MACRO.finditer(content):
            parts = arguments_of(content, found.end())
            is_error = found[1] == "FOVEA_ERROR"
            kind, name, text, advice = parts if is_error else ("internal", parts[0], parts[1], '""')
            if name in codes:
                wrong.append(f"{header}: {name} stands in {codes[name]['header']} already")
                continue
            codes[name] = {"header": header, "kind": kind, "literals": (text, advice),
                           "text": text_of(text), "advice": text_of(advice)}
    return codes


def read_translation(path, codes, wrong):
    with open(path, encoding="utf-8") as file:
        rows = {}
        for code, row in json.load(file, object_pairs_hook=list):
            if code in rows:
                wrong.append(f"{path}: {code} stands there twice")
            rows[code] = row if isinstance(row, list) else [row, ""]
    for code in rows.keys() - codes.keys():
        wrong.append(f"{path}: there is no code {code}")
    for code, english in codes.items():
        if code not in rows:
            wrong.append(f"{path}: {code} is missing: {english['text']} | {english['advice']}")
            continue
        for which, there in zip(("text", "advice"), rows[code]):
            if bool(there) != bool(english[which]):
                wrong.append(f"{path}: {code}'s {which} is {there!r}, in English {english[which]!r}")
        said, meant = varies(*rows[code]), varies(english["text"], english["advice"])
        if said != meant:
            wrong.append(f"{path}: {code} has {sorted(said)}, in English {sorted(meant)}")
    return rows


def put(path, content):
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


def main():
    source, output, *translations = sys.argv[1:]
    wrong = []
    codes = read_codes(source, wrong)
    tables = {path: read_translation(path, codes, wrong) for path in translations}
    if wrong:
        sys.exit("\n".join(wrong))
    os.makedirs(output, exist_ok=True)
    put(output + "/error_table.inc", "".join(
        f'{{"{name}", {code["literals"][0]}, {code["literals"][1]}, ErrorKind::{code["kind"]}}},\n'
        for name, code in sorted(codes.items())))
    for path, rows in tables.items():
        name = os.path.splitext(os.path.basename(path))[0]
        messages = "".join(
            f"<message><source>{code}</source>{comment}<translation>{escape(text)}</translation></message>\n"
            for code, row in rows.items() for text, comment in zip(row, ("", "<comment>advice</comment>")) if text)
        put(f"{output}/{name}.ts",
            f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS version="2.1" language="{name.split("_")[-1]}">\n'
            f"<context>\n<name>errors</name>\n{messages}</context>\n</TS>\n")


if __name__ == "__main__":
    main()
