"""Random templates that use everything the interpreter knows (engine/jinja/template.h), rendered with jinja2.

    python tests/golden/template_fuzz.py SEED COUNT > cases.json
    FOVEA_TEMPLATE_CASES=cases.json build/release/test_engine_text ChatTemplateTest equalsJinja
"""

import json
import random
import sys

from make_templates import FUZZ_VARIABLES, outcome

NAMES = ["a", "b", "n", "f", "s", "u", "empty", "numbers", "words", "d", "rows", "nested", "none", "yes", "missing", "messages"]
ATTRIBUTES = ["role", "content", "k", "x", "items", "keys", "name", "missing", "values", "find", "upper"]
TEXT_METHODS = ["upper()", "lower()", "title()", "capitalize()", "strip()", "lstrip()", "rstrip()", "strip('ab ')",
                "lstrip('x\\n')", "rstrip('é')", "split()", "split('a')", "split(' ', 1)", "split(None, 1)", "rsplit('a', 1)", "rsplit()", "rsplit(None, 2)",
                "splitlines()", "splitlines(true)", "startswith('a')", "startswith(('H', 'a'))", "endswith('o')", "endswith(('x', 'd'))",
                "find('l')", "rfind('l')", "count('l')", "count('')",
                "replace('l', 'LL')", "replace('', '-')", "replace('l', '', 1)", "join(['p', 'q'])", "join(words)",
                "removeprefix('He')", "removesuffix('d')", "format(1, 'b')", "title", "nothing()"]
LIST_METHODS = ["index(1)", "count(2)", "index('b')", "append(1)", "pop()", "insert(0, 1)", "extend([1])", "sort()", "reverse()"]
DICT_METHODS = ["items()", "keys()", "values()", "get('k')", "get('missing')", "get('missing', 7)", "get(1)", "pop('k')", "update({})",
                "items()|list", "values()|list", "keys()|sort"]
FILTERS = ["upper", "lower", "title", "capitalize", "trim", "trim('aH')", "length", "count", "first", "last", "list", "string", "int", "int(7)", "float", "float(2)",
           "abs", "round", "round(1)", "round(2, 'floor')", "round(1, 'ceil')", "round(-1)", "default('D')", "d('D', true)", "default", "tojson", "tojson(indent=2)",
           "tojson(ensure_ascii=true)", "tojson(sort_keys=true)", "tojson(separators=(',', ':'))", "tojson(indent=0)", "tojson(indent='\\t')", "join", "join(', ')", "join('-', attribute='k')", "join(d='|')",
           "map('upper')|list", "map(attribute='k')|list", "map(attribute='k', default=0)|list", "map('length')|join(',')", "map('default', 'x')|list", "map(attribute='x.0')|list", "map('int')|sum",
           "select|list", "reject|list", "select('string')|list", "select('odd')|list", "reject('none')|list", "select('equalto', 2)|list", "select('>', 1)|list", "select('in', [1, 'b'])|list",
           "selectattr('k')|list", "selectattr('k', 'defined')|list", "rejectattr('k')|list", "selectattr('role', 'equalto', 'user')|list", "selectattr('k', '==', 1)|list", "rejectattr('role', 'in', ['user'])|list",
           "sort", "sort(reverse=true)", "sort(attribute='k')", "sort(case_sensitive=true)", "sort(attribute='k,role')", "unique|list", "unique(true)|list", "unique(attribute='k')|list", "min", "max", "max(attribute='k')", "min(case_sensitive=true)",
           "sum", "sum(start=3)", "sum('k')", "sum(attribute='k', start=1)", "reverse|list", "reverse", "dictsort", "dictsort(reverse=true)", "dictsort(by='value')", "dictsort(true)",
           "items|list", "indent", "indent(2)", "indent(2, true)", "indent('> ', blank=true)", "replace('l', 'r')", "replace('o', '0', 1)", "replace(1, 2)",
           "e", "escape", "safe", "e|upper", "format(1)", "format('x', 2)", "string|length",
           "nothing", "select('nothing')|list", "map('nothing')|list"]
TESTS = ["defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "number", "integer", "float", "boolean", "true", "false", "odd", "even", "divisibleby(3)", "divisibleby 2", "equalto 1",
         "eq('a')", "ne 2", "lt 3", "gt(1)", "ge 2", "le 2", "in [1, 2, 'a']", "in 'Hello'", "in d", "sameas none", "sameas true", "not defined", "not none", "not string", "not in [1]", "nothing"]


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.names = list(NAMES)

    def pick(self, items):
        return self.rng.choice(items)

    def literal(self):
        return self.pick(["0", "1", "2", "-3", "7", "10", "1.5", "-0.25", "2.0", "1e3", "1e16", "1e-5", "12345", "'a'", "'Hello World'", "\"it's\"", "'é日本😀'", "''", "'a\\nb\\tc'", "'  x '", "true", "false", "none", "True", "None",
                          "[]", "{}", "()", "[1, 2, 3]", "['b', 'a', 'B']", "[3, 1.5, true]", "{'k': 1}", "{'b': 2, 'a': [1]}", "(1,)", "(1, 'x')", "range(4)", "range(5, 0, -2)", "'%s-%d'", "'{}:{}'", "dict(k=3)", "[none, 'x']", "[[1, 2], [3]]", "[{'k': 2, 'role': 'b'}, {'k': 1, 'role': 'A'}]"])

    def expression(self, depth):
        rng = self.rng
        if depth <= 0:
            return self.pick(self.names) if rng.random() < 0.55 else self.literal()
        sub = lambda: self.expression(depth - 1)  # noqa: E731
        kind = rng.randrange(17)
        if kind <= 1:
            if rng.random() < 0.1:
                return f"{sub()} ** {self.pick(['2', '3', '-1', '0'])}"
            return f"{sub()} {self.pick(['+', '-', '*', '/', '//', '%', '~', '+', '~'])} {sub()}"
        if kind == 2:
            return f"({sub()})"
        if kind == 3:
            return f"{sub()} {self.pick(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'])} {sub()}"
        if kind == 4:
            return f"{sub()} {self.pick(['and', 'or'])} {sub()}"
        if kind == 5:
            return f"{self.pick(['not', '-', '+'])} {sub()}"
        if kind in (6, 7, 8):
            return f"{sub()}|{self.pick(FILTERS)}"
        if kind == 9:
            return f"({sub()}) is {self.pick(TESTS)}"
        if kind == 10:
            return f"{self.pick(self.names)}.{self.pick(ATTRIBUTES)}"
        if kind == 11:
            return f"{self.pick(self.names)}[{sub()}]"
        if kind == 12:
            bound = lambda: self.pick(["", "", "1", "-1", "2", "-2", "0", "9", "n", "none"])  # noqa: E731
            return self.pick([name for name in self.names if name != "none"] + ["'Hello World'", "'é日本😀'", "[1, 2, 3]", "range(9)"]) + f"[{bound()}:{bound()}" + self.pick(["", ":", ":2", ":-1", ":-2", ":3"]) + "]"
        if kind == 13:
            return f"({sub()}).{self.pick(self.pick([TEXT_METHODS, TEXT_METHODS, LIST_METHODS, DICT_METHODS]))}"
        if kind == 14:
            return f"({sub()} if {sub()}" + (f" else {sub()}" if rng.random() < 0.8 else "") + ")"
        if kind == 15:
            return self.pick([f"[{sub()}, {sub()}]", f"{{'k': {sub()}, 'z': {sub()}}}", f"({sub()}, {sub()})"])
        return f"{sub()} {self.pick(['<', '=='])} {sub()} {self.pick(['<=', '!='])} {sub()}"

    def tag(self, text):
        return "{%" + self.pick(["", "", "-", "-", "+"]) + " " + text + " " + self.pick(["", "", "-", "-", "+"]) + "%}"

    def text(self):
        return self.pick(["", "", " ", "\n", "  \n", "x", "\n  ", "a b\n", "<|im_start|>", "\t", "{", "}", "{ %", "é\n\n", "\r\n"])

    def output(self, depth):
        return "{{" + self.pick(["", "", "-"]) + f" {self.expression(depth)} " + self.pick(["", "", "-"]) + "}}"

    def statement(self, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.35:
            return self.output(rng.randrange(3))
        body = lambda: self.body(depth - 1)  # noqa: E731
        kind = rng.randrange(16)
        if kind == 0:
            return self.tag(f"if {self.expression(1)}") + body() + self.tag("endif")
        if kind == 1:
            return self.tag(f"if {self.expression(1)}") + body() + self.tag(f"elif {self.expression(1)}") + body() + self.tag("else") + body() + self.tag("endif")
        if kind in (2, 3, 4):
            target = self.pick(["a", "b", "item", "x"])
            test = self.pick(["", "", f" if {target}", f" if {self.expression(1)}"])
            self.names.append(target)
            inside = self.pick(["{{ loop.index }}", "{{ loop.last }}", "{{ loop.length }}", "{{ loop.revindex0 }}", "{{ loop.cycle('p', 'q') }}", "{{ loop.changed(" + target + ") }}", "{{ loop.previtem }}", "{{ loop.nextitem is defined }}", "", "", self.tag("break"), self.tag(f"if {self.expression(0)}") + self.tag("continue") + self.tag("endif")])
            otherwise = self.pick(["", "", self.tag("else") + body()])
            return self.tag(f"for {target} in {self.expression(1)}{test}") + inside + body() + "{{ " + target + " }}" + otherwise + self.tag("endfor")
        if kind == 5:
            return self.tag(f"for k, v in {self.pick(['d.items()', 'd|items', 'd|dictsort', '[(1, 2), (3, 4)]', 'nested'])}") + "{{ k }}={{ v }}" + body() + self.tag("endfor")
        if kind in (6, 7):
            name = self.pick(["a", "b", "x", "y"])
            code = self.tag(f"set {name} = {self.expression(2)}")
            self.names.append(name)
            return code
        if kind == 8:
            name = self.pick(["a", "y"])
            code = self.tag(f"set {name}" + self.pick(["", " | upper", " | trim | length"])) + body() + self.tag("endset")
            self.names.append(name)
            return code + "{{ " + name + " }}"
        if kind == 9:
            return self.tag(f"filter {self.pick(['upper', 'trim', 'indent(2)', 'replace(1, 2)', 'length', 'trim|title'])}") + body() + self.tag("endfilter")
        if kind == 10:
            signature = self.pick(["a", "a, b=2", "a=n, b=a", "x, y='q'", ""])
            call = self.pick(["1", "1, 2", "s", "x=1", "b=3", "", "1, 2, 3", "1, z=2", "*[1]", "**{'a': 1}"])
            extra = self.pick(["", "", "{{ caller() if caller }}"])
            return self.tag(f"macro m({signature})") + body() + extra + self.tag("endmacro") + "{{ m(" + call + ") }}"
        if kind == 11:
            return self.tag("macro w(t='T')") + "[{{ t }}{{ caller(" + self.pick(["", "1", "n, 2"]) + ") }}]" + self.tag("endmacro") + self.tag(f"call{self.pick(['', '(p)', '(p, q=3)'])} w({self.pick(['', '1', 't=s'])})") + body() + self.pick(["", "{{ p }}"]) + self.tag("endcall")
        if kind == 12:
            return self.tag("set ns = namespace(c=0, l=[])") + self.tag(f"for i in {self.expression(1)}") + self.tag("set ns.c = ns.c + 1") + self.tag("set ns.l = ns.l + [i]") + self.tag("endfor") + "{{ ns.c }}{{ ns.l }}"
        if kind == 13:
            return self.tag(f"with {self.pick(['a', 'q'])} = {self.expression(1)}") + body() + self.tag("endwith")
        if kind == 14:
            return self.pick(["{# comment #}", "{#- c -#}\n", "  {# c #}\n", self.tag("generation") + body() + self.tag("endgeneration"), "{% raw %}{{ a }}{% endraw %}", "{%- raw -%} {% x {%- endraw -%}\n"])
        return self.tag(f"for r in {self.pick(['nested', 'rows', '[[1, [2, [3]]]]'])} recursive") + "{{ loop.depth }}{{ r if r is not iterable else '' }}" + "{{ loop(r) if r is iterable and r is not string and r is not mapping }}" + self.tag("endfor")

    def body(self, depth):
        return "".join(self.text() + self.statement(depth) for _ in range(self.rng.randrange(1, 3))) + self.text()


def case(seed, index):
    rng = random.Random(f"{seed}/{index}")
    generator = Generator(rng)
    template = generator.output(rng.randrange(1, 4)) if rng.random() < 0.5 else generator.body(rng.randrange(1, 4))
    return {"name": f"{seed}/{index}", "template": template, "variables": "fuzz", **outcome(template, FUZZ_VARIABLES)}


# What depends on memory addresses or is refused on purpose cannot be compared.
INCOMPARABLE = ["object at 0x", "<function", "<bound method", "<built-in method", "class '", " at 0x", "sameas"]


def cases(seed, count):
    made = (case(seed, index) for index in range(count))
    return [one for one in made if not any(part in one.get("output", "") or part in one["template"][:0] for part in INCOMPARABLE)]


if __name__ == "__main__":
    chosen = cases(sys.argv[1], int(sys.argv[2]))
    json.dump({"variables": {"fuzz": FUZZ_VARIABLES}, "cases": chosen}, sys.stdout, ensure_ascii=False, indent=0)
