"""Small template cases by subject. Each is rendered with SNIPPET_VARIABLES; jinja2 decides what comes out."""

SNIPPET_VARIABLES = {
    "s": "Hello World",
    "u": "Größe 日本 😀é",
    "multi": "one\n  two\r\n\nthree\x0bfour\x85five",
    "n": 7,
    "f": 2.5,
    "big": 18446744073709551615,
    "none": None,
    "yes": True,
    "no": False,
    "l": [3, 1, 2],
    "w": ["b", "A", "c", "a"],
    "mixed": [1, "a", None, 2.0, True, [1], {"k": "v"}],
    "d": {"b": 2, "a": [1, 2], "C": None, "items": 5},
    "users": [
        {"name": "Zoë", "age": 30, "tags": ["x", "y"], "home": {"city": "Rome"}},
        {"name": "adam", "age": 25, "tags": [], "home": {"city": "oslo"}},
        {"name": "Bob", "age": 30, "home": {"city": "Oslo"}},
    ],
    "html": "<a href=\"x\">'&'</a>",
    "tree": [{"v": 1, "c": [{"v": 2, "c": [{"v": 3, "c": []}]}, {"v": 4, "c": []}]}, {"v": 5, "c": []}],
}

# Expressions: each stands in {{ }}.
EXPRESSIONS = r"""
1 + 2 * 3 - 4
7 // 2, -7 // 2, 7 // -2, -7 // -2
7 % 3, -7 % 3, 7 % -3, -7 % -3
7.5 // 2, -7.5 // 2, 7.5 % -2, -7.5 % 2, -0.0 % 3
2 ** 10, 2 ** -1, 2 ** 3 ** 2, -2 ** 2, 0 ** 0, 2.0 ** 0.5
1 / 2, 4 / 2, 1 / 3, 1e300 * 1e10, -1 / 3
1 / 0
1 // 0
1 % 0
1.0 / 0
0 ** -1
00, 0, 100
1e3, 1.5e-7, 1e16, 1e15, 123456789.123456789, 1e22, 1e-4, 1e-5, 0.1 + 0.2, 5e-324, 1.7976931348623157e308
1., 2
1.e5
.5
big, big + 1, big * 2, -big
170141183460469231731687303715884105727
'a' 'b' "c"
'it\'s', "q\"q", 'a\\b', '\n\t\r', '\x41\u00e9\U0001F600', '\q'
'é'|length, '😀'|length, u|length
'a' + 'b', 'a' ~ 1 ~ none ~ true ~ 1.0 ~ [1] ~ {'a': none}
'ab' * 3, 3 * 'ab', 'ab' * 0, 'ab' * -1, [1] * 2, (1, 2) * 2
[1] + [2], (1,) + (2,)
[1] + (2,)
'a' + 1
1 + 'a'
none + 1
true + true, true * 3, -true, +true, true == 1, 1.0 == 1, '1' == 1
1 < 2 < 3, 1 < 3 < 2, 3 > 2 >= 2, 1 == 1.0 == true
'a' < 'b', 'a' < 'B', [1, 2] < [1, 3], (1, 'a') < (1, 'b'), [1] == (1,)
1 < 'a'
none < 1
1 in l, 9 in l, 'b' in d, 'ell' in s, '' in s, 1 not in l, none in mixed
1 in 'abc'
1 in 5
[1] in d
not 1, not '', not [], not none, not missing
missing, missing|default('x'), missing is defined
missing.x
missing['x']
missing + 1
missing()
missing == missing, missing == none, missing != 1, missing|length, missing|list, missing or 'd'
s.missing, s.missing is defined, d.missing, l[9], l['x'], d['zz'], none.x, n.x
s.missing.more
1 if yes else 2, 1 if no else 2, (1 if no), (1 if no) is undefined, 'a' if yes if no else 'b'
yes and no, yes or no, no and missing.x, yes or missing.x, 1 and 2, 0 or '' or 'z'
[], [1, 'a', none, true, 1.5, missing], (), (1,), (1, 2), {}, {'a': 1, 2: 'b', none: 3, true: 4, 1.5: 5, (1, 2): 6}
{1: 'a', true: 'b', 1.0: 'c'}
{[1]: 2}
['it\'s', "a\"b'c", '\n', '\x00', '\x7f', '\xa0', 'é', '\u200b', '\\']
u, [u]
s[0], s[-1], s[99], u[6], u[-1], l[0], l[-1], (1, 2)[1], s.0, l.1
s[1:3], s[:3], s[3:], s[::2], s[::-1], s[-3:], s[10:2], s[5:1:-1], s[99:], s[:-99]
u[::-1], u[6:8], u[-2:], u[:5]
l[::-1], l[1:], l[:-1], l[::2], l[5:], (1, 2, 3)[::-1], range(10)[2:5], range(10)[::-3]
s[::0]
s['a':]
d[1:2]
d.b, d['b'], d.items, d['items'], d.keys()|list, d.C, d['C'] is none
d.items()|list, d.keys(), d.values(), d.items()
d.get('b'), d.get('z'), d.get('z', 1), d.get(none)
range(3), range(1, 3), range(5, 0, -2)|list, range(0), range(3)|length, 2 in range(3)
range(1, 2, 0)
range(1000000)
range('a')
dict(a=1, b=2), dict([('x', 1)]), dict({'y': 2}, z=3), dict()
users|map(attribute='name')|join(', ')
users|map(attribute='home.city')|list
users|map(attribute='tags')|list
users|map(attribute='tags', default='-')|list
users|map(attribute='tags.0', default=none)|list
users|map('length')|list
w|map('upper')|list, w|map('replace', 'a', 'b')|list
w|map('nothing')|list
w|map|list
none|map('upper')|list
users|selectattr('age', 'equalto', 30)|map(attribute='name')|list
users|selectattr('tags')|list|length, users|rejectattr('tags')|list|length, users|selectattr('tags', 'defined')|list|length
users|selectattr('home.city', 'in', ['Rome', 'Oslo'])|map(attribute='age')|list
users|selectattr('age', 'gt', 26)|list|length, users|rejectattr('age', '==', 30)|map(attribute='name')|first
l|select('odd')|list, l|reject('odd')|list, mixed|select|list, mixed|reject|list, mixed|select('string')|list, l|select('divisibleby', 2)|list
l|select('nothing')|list
l|select|length
(l|select) is iterable, (l|select) is sequence, (l|select) and 1
l|sort, l|sort(reverse=true), w|sort, w|sort(case_sensitive=true), w|sort(true)
users|sort(attribute='name')|map(attribute='name')|list, users|sort(attribute='age,name')|map(attribute='name')|list, users|sort(attribute='age', reverse=true)|map(attribute='name')|list
mixed|sort
d|dictsort, d|dictsort(true), d|dictsort(reverse=true)
d|dictsort(by='value')
d|dictsort(by='x')
w|unique|list, w|unique(true)|list, users|unique(attribute='age')|map(attribute='name')|list, [1, 1.0, true, '1']|unique|list
[[1], [1]]|unique|list
l|min, l|max, w|min, w|max, w|min(case_sensitive=true), users|max(attribute='age'), []|min, []|max is undefined
mixed|max
l|sum, [1.5, 2]|sum, l|sum(start=10), users|sum('age'), users|sum(attribute='age', start=1), [[1], [2]]|sum(start=[]), []|sum
w|sum
l|first, l|last, s|first, s|last, []|first is undefined, d|first, d|last, range(3)|last, missing|first
l|reverse|list, s|reverse, u|reverse, range(3)|reverse|list, d|reverse|list
5|reverse
l|join, l|join('-'), users|join(', ', attribute='name'), s|join('.'), d|join(','), mixed|join('|')
5|join
l|length, s|length, d|length, users|count, range(4)|length, d.items()|length, missing|length
5|length
none|length
s|list, d|list, none|default('x'), none|default('x', true), ''|d('e'), ''|d('e', true), 0|default(1, boolean=true)
none|list
s|upper, s|lower, 'hELLO wORLD'|capitalize
'hello-world foo(bar) [x]{y} it\'s'|title, 'hello world it\'s'.title(), 'ß'|upper, 'ŒUVRE'|lower, 'ΑΣ ΑΣΑ'|lower, 'ǆ'|capitalize, 'ﬁx'|title, 'İ'|lower
5|upper, none|upper, true|lower, [1, 'A']|lower
'  x '|trim ~ '|', 'xxaxx'|trim('x'), '\n a \t'|trim, 5|trim, '\u00a0a\u2003'|trim
s|replace('l', 'L'), s|replace('l', 'L', 1), s|replace('', '-'), 5|replace('5', '6'), s|replace('o', none)
'a\nb\n\nc'|indent, 'a\nb'|indent(2), 'a\nb'|indent(2, true), 'a\n\nb'|indent(2, blank=true), 'a\nb'|indent('> '), 'a\n'|indent, ''|indent(first=true)
5|indent
multi|indent(1)
html|e, html|escape|upper, html|e|e, (html|e) + '<', '<' + (html|e), (html|e) ~ '<', html|safe, (html|safe)|e, [html|e], none|e
'42'|int, ' 42 '|int, '4_2'|int, '42.9'|int, '-1e3'|int, 'x'|int, 'x'|int(5), none|int, 2.9|int, -2.9|int, true|int, []|int(3), '１'|length
missing|int
'1.5'|float, 'x'|float, 'x'|float(2.0), 'inf'|float, '1e3'|float, ' -.5 '|float, 3|float, none|float, '1_0'|float, 'nan'|float
2.5|round, 3.5|round, -2.5|round, 2.675|round(2), 1234.567|round(-2), 42|round, 42.4|round(1, 'ceil'), 42.45|round(1, 'floor'), 7|round(0, 'ceil'), 2.345|round(1), 1e20|round, 15|round(-1), 25|round(-1), true|round
'a'|round
1|round(0, 'x')
-3|abs, 2.5|abs, -0.0|abs, true|abs
'a'|abs
'%s|%d' % ('a', 3), '%s' % 5, '%%', '%d%%' % 2.9, '%s' % none, '%s' % missing, '%s' % d, '%s' % l, '%d' % true, '%s%s' % (1, [2]), 'a' % {}, 'a' % l, '%s' % ((1, 2),)
'%s %s'|format('a', 'b'), 5|format, 'no'|format, '%d'|format(7)
'%d' % 'a'
'%s %s' % 'a'
'%s' % ('a', 'b')
'%q' % 1
'{} {}'.format(1, 'a'), '{1}{0}'.format('a', 'b'), '{x}-{y}{x}'.format(x=1, y=[2]), '{{}}'.format(), '{{{}}}'.format('a'), '<{}>'.format(none), '{}'.format(missing, 2), '{0}{a}'.format('é', a=true)
'{} {}'.format(1)
'{} {0}'.format(1)
'{x}'.format()
'}'.format()
'{'.format()
s|tojson, html|tojson, u|tojson, u|tojson(ensure_ascii=true), '\n\t\x00\x7f\\"/'|tojson, mixed|tojson, d|tojson, 1.0|tojson, 1e100|tojson, none|tojson, big|tojson
d|tojson(indent=2)
mixed|tojson(indent=1)
d|tojson(indent='--'), []|tojson(indent=2), {}|tojson(indent=2), [[], {}]|tojson(indent=2), {'b': 1, 'a': 2}|tojson(sort_keys=true), {'a': [1, 2]}|tojson(separators=(',', ':')), {1: 2, none: 3, true: 4, 1.5: 5}|tojson, (1, 2)|tojson, 'inf'|float|tojson
{(1, 2): 3}|tojson
missing|tojson
range(3)|tojson
d.items()|tojson
l|map('int')|tojson
s.upper(), s.lower(), s.title(), s.capitalize(), s.strip('Hd'), s.lstrip('He'), s.rstrip('ld'), '  a '.strip() ~ '|', 'éaé'.strip('é')
s.split(), s.split('o'), s.split('o', 1), s.rsplit('o', 1), ' a  b '.split(), ' a  b '.split(' '), 'a,b,,c'.split(','), ''.split(), ''.split(','), ' a b c '.split(none, 1), ' a b c '.rsplit(none, 1), 'a b c'.split(maxsplit=1), 'abc'.split('abc'), 'aXbXc'.rsplit('X')
s.split('')
multi.splitlines(), 'a\nb\n'.splitlines(true), ''.splitlines(), '\n'.splitlines()
s.startswith('He'), s.startswith(('x', 'H')), s.endswith('d'), s.endswith(('x',)), s.startswith(''), s.startswith(())
s.startswith(['H'])
s.startswith(1)
s.find('o'), s.rfind('o'), s.find('z'), u.find('日'), u.rfind('é'), s.find(''), s.rfind(''), s.count('l'), s.count(''), u.count(''), 'aaa'.count('aa')
s.replace('o', '0'), s.replace('o', '0', 1), s.replace('', '.'), 'aaa'.replace('aa', 'b'), s.replace('l', '', 0)
s.replace(1, 2)
'-'.join(['a', 'b']), ''.join(w), '-'.join('abc'), ','.join(d)
'-'.join([1])
'prefix-x'.removeprefix('prefix-'), 'x.txt'.removesuffix('.txt'), 'x'.removeprefix('y'), 'x'.removesuffix('')
s.nothing()
s.nothing is defined
l.index(1), l.count(1), w.index('c'), (1, 2, 1).count(1), (1, 2).index(2), range(5).index(3)
l.index(9)
l.append(4)
l.pop()
l.append is defined, d.update is defined, d.pop, s.__class__, s.__class__ is defined
s.__class__.__mro__
d.update({'x': 1})
d.pop('b')
d.clear()
namespace(a=1).a, namespace({'b': 2}).b, namespace(), namespace(a=1)
namespace(_a=1)
n is integer, f is float, yes is boolean, n is number, yes is number, s is string, d is mapping, l is sequence, s is sequence, d is sequence, l is iterable, n is iterable, s is iterable, none is none, none is defined
1 is odd, 2 is even, 6 is divisibleby 3, 6 is divisibleby(4), 1 is equalto 1, 1 is eq(2), 1 is ne 2, 1 is lt 2, 2 is le 2, 3 is gt 2, 3 is ge 4, 1 is lessthan 2, 2 is greaterthan 1, 1 is in [1], 'a' is in 'abc'
yes is true, 1 is true, no is false, 0 is false, none is true
n is not odd, not n is odd, n is not none, s is not string, 5 is not in [5], missing is not defined
'a' is odd
n is nothing
n is defined is defined
none is integer or 1
s is string and n is number
[1, 2] is sequence and [1, 2] is not string and [1, 2] is not mapping
-7|abs, (-7)|abs, -2.5|round|int, 2 ** 2|string, not s|length
1 if s is string else 2
(1, 2,), [1, 2,], {'a': 1,}
[1, 2
(1
{'a': 1
'abc
1 +
a b
1 === 1
!x
a.
a..b
1|
|upper
x is
f(a=1, 2)
f(**d, *l)
f(a=1, a=2)
dict(**{'a': 1}, b=2)
range(*[1, 4])|list
dict(**{'a': 1}, a=2)
joiner('|')() ~ '.'
raise_exception('stop')
strftime_now('%Y') is string
loop
loop is defined
caller is defined
true, True, false, False, none, None
1 and 2 or 3, 1 or 2 and 3, not 1 == 2, -1 ** 2, 2 - 1 - 1, 2 ~ 3 + 4, 1 + 2 ~ 3
[l, d]|tojson, {'a': {'b': [1, {'c': none}]}}|tojson
(html|safe) + html, html + (html|safe), (html|safe)|title + '<', (html|safe)|first + '<', (html|safe)|last + '<', (html|safe)[0] + '<', ((html|safe)|list|first) + '<', ((html|safe)|upper) + '<'
(html|safe).replace('a', '<') + '<', ('<'|safe).join(['<', html|safe, 1]) + '<', '&'.join([html|safe]) + '<', (html|safe).split('x')[0] + '<', (html|safe).strip('<') + '<', (html|safe).removeprefix('<') + '<', (html|safe * 2) + '<'
('<%s>'|safe) % '<' + '<', ('<%s%d>'|safe) % (html|safe, 5), ('<%s>'|safe) % ['<'], ('<{}>'|safe).format('<') + '<', ('{a}{b}'|safe).format(a=html, b=html|safe), '%s' % (html|safe) + '<', '{}'.format(html|safe) + '<', ('<%s>'|safe|format('<')) + '<'
((html|safe)|indent('<')) + '<', ('a\nb'|safe|indent('<', true)) + '<', ((html|safe)|replace('a', 'b')) + '<', ((html|safe)|trim) + '<', ((html|safe)|join) + '<', ((html|safe)|reverse) + '<', ((html|safe)|string) + '<', ((html|safe)|tojson) + '<', {'a': html|safe}|tojson
"a" in ["a", "b"] and "c" not in ["a"]
users[0].name, users[0]['home']['city'], users[-1].tags is defined, users[0].tags[0], users|length - 1
users[-1]['tags'] is none, users[-1].get('tags') is none
(users|first).name, (users|last)['name'], users|map(attribute='age')|sum, users|map(attribute='age')|max
"""

# Whole templates, separated by lines of '===='.
TEMPLATES = r"""
{% for x in l %}{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}
====
{% for x in [] %}{{ x }}{% else %}nothing{% endfor %}
====
{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }} {% endfor %}
====
{% for x in w %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }}{{ loop.previtem is defined }}{{ loop.cycle('odd', 'even') }}{{ loop.changed(x|lower) }}{% endfor %}
====
{% for x in range(10) if x is odd and x > 2 %}{{ loop.index }}:{{ x }}{{ loop.last }} {% endfor %}
====
{% for x in range(10) if x > 5 %}{{ loop.length }}{{ loop.revindex }}{% endfor %}
====
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k, v in d|dictsort %}{{ k }}{% endfor %}{% for k in d %}{{ k }}{% endfor %}
====
{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}
====
{% for a, b in [1, 2] %}{% endfor %}
====
{% for a, b in [(1, 2, 3)] %}{% endfor %}
====
{% for x in range(9) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}
====
{% for x in [1, 2] %}{% break %}{% else %}else{% endfor %}
====
{% for x in [1, 2] %}{% continue %}{% else %}else{% endfor %}
====
{% for n in tree recursive %}[{{ n.v }}{{ loop.depth }}{{ loop(n.c) }}]{% endfor %}
====
{% for n in tree recursive %}{{ n.v }}{% if n.c %}({{ loop(n.c) }}){% else %}.{% endif %}{% endfor %}
====
{% for x in l %}{{ loop(x) }}{% endfor %}
====
{% for x in l %}{% for y in w %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}
====
{% for x in l %}{% set outer = loop %}{% for y in l %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}
====
{% for x in 5 %}{% endfor %}
====
{% for x in none %}{% endfor %}
====
{% for x in missing %}a{% else %}b{% endfor %}
====
{% for c in 'añ😀' %}{{ c }}|{% endfor %}
====
{% set loop = 1 %}{{ loop }}
====
{% for x in l %}{% set loop = 1 %}{% endfor %}
====
{% break %}
====
{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}
====
{% if n > 5 %}a{% elif n > 3 %}b{% else %}c{% endif %}{% if no %}x{% elif yes %}y{% endif %}
====
{% if missing %}a{% endif %}{% if not missing %}b{% endif %}{% if missing is defined and missing.x %}c{% endif %}
====
{% set x = 1 %}{% for i in l %}{% set x = x + 1 %}{{ x }}{% endfor %}{{ x }}
====
{% set x = 1 %}{% if yes %}{% set x = 2 %}{% endif %}{{ x }}
====
{% if no %}{% set s = 2 %}{% endif %}{{ s }}
====
{% if not n %}{% set n = 1 %}{% else %}{% set q = 2 %}{% endif %}{{ n }}{{ q }}
====
{% for i in l %}{{ s }}{% endfor %}{% set s = 'later' %}{{ s }}
====
{% for i in l %}{{ i }}{{ z }}{% set z = i %}{{ z }};{% endfor %}{{ z is defined }}
====
{% macro m() %}{{ s }}{% endmacro %}{{ m() }}{% set s = 'late' %}{{ m() }}
====
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set (c, d2) = [3, 4] %}{{ c }}{{ d2 }}
====
{% set a, b = [1] %}
====
{% set 1 = 2 %}
====
{% set none = 2 %}
====
{% set l[0] = 2 %}
====
{% set x %}a{{ n }}b{% endset %}{{ x }}{{ x|length }}
====
{% set x | upper | trim %}  abc {% endset %}[{{ x }}]
====
{% set ns = namespace(i=0, found=false) %}{% for x in l %}{% set ns.i = ns.i + x %}{% if x == 1 %}{% set ns.found = true %}{% endif %}{% endfor %}{{ ns.i }}{{ ns.found }}{{ ns.none }}
====
{% set ns.x = 1 %}
====
{% set d.x = 1 %}
====
{% set ns = namespace() %}{% set ns._x = 1 %}
====
{% set ns = namespace(n=0) %}{% for m in l if ns.n < 2 %}{% set ns.n = ns.n + 1 %}{{ m }}{% endfor %}
====
{% macro m(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c=9) }}{{ m(b=1, a=5) }}{{ m() }}
====
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
====
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=1) }}
====
{% macro m(a, a) %}{% endmacro %}
====
{% macro m(a=1, b) %}{% endmacro %}
====
{% macro m(x) %}<{{ caller(x) }}>{% endmacro %}{% call(y) m(5) %}y={{ y }}{% endcall %}
====
{% macro m() %}<{{ caller() }}{{ caller() }}>{% endmacro %}{% call m() %}{{ n }}{% set n = 1 %}{% endcall %}{{ n }}
====
{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}
====
{% macro m() %}{{ caller is defined }}{% if caller %}{{ caller() }}{% endif %}{% endmacro %}{{ m() }}{% call m() %}c{% endcall %}
====
{% macro fact(k) %}{{ k if k < 2 else k * (fact(k - 1)|int) }}{% endmacro %}{{ fact(10) }}
====
{% macro m() %}{% set q = 5 %}{{ q }}{% endmacro %}{{ m() }}{{ q is defined }}{{ m }}{{ m.name }}
====
{% macro m(x) %}{% for i in x %}{{ loop.index }}{% endfor %}{{ loop is defined }}{% endmacro %}{% for a in l %}{{ m(w) }}{% endfor %}
====
{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}
====
{{ m() }}{% macro m() %}{% endmacro %}
====
{% filter upper %}abc{{ s }}{% endfilter %}{% filter replace('a', 'b')|indent(2, true) %}aa
a{% endfilter %}
====
{% filter length %}abc{% endfilter %}
====
{% with a = 1, b = n %}{{ a }}{{ b }}{% set n = 2 %}{{ n }}{% endwith %}{{ n }}{{ a is defined }}
====
{% with %}{% set x = 1 %}{{ x }}{% endwith %}
====
{% generation %}a{{ s }}{% set s = 1 %}{% endgeneration %}{{ s }}
====
{%- generation -%}  x  {%- endgeneration -%} y
====
a{# comment #}b{#- c -#} d {#- e #} f
====
a {# unclosed
====
{% raw %}{{ x }}{% if %}{# #}{% endraw %}|{%- raw -%}  a  {%- endraw -%}  |
====
{% raw %}{{ x }}
====
  {% if yes %}
    a
  {% endif %}
  b
====
  {%+ if yes %}
    a
  {%+ endif %}
  b
====
  {%- if yes -%}
    a
  {%- endif -%}
  b
====
{% if yes +%}
 a
{% endif +%}
b
====
a {{ n }}
  {{ n }}

{{- n -}}

 b
====
{% if yes %}  {{ n }}  {% endif %}  {% if yes %}  x{% endif %}
====
x  {% if yes %}y{% endif %}  
  {# c #}
  z
====
	{% set a = 1 %}	b
====
{{ '{{' }}{{ "}}" }}{{ '%}' }}{{ {'a': {'b': 1}}}}{{ {'a': 1}['a'] }}
====
{ { x } } { % if % } {# #} }} %}
====
{{ 1 }}}{{{ 'a': 2 }}}
====
{% if yes %}a
====
{% endif %}
====
{% if yes %}{% for x in l %}{% endif %}{% endfor %}
====
{% for %}{% endfor %}
====
{% foo %}
====
{% %}
====
{{ }}
====
{{ 1
====
{% if
====
{% include 'x' %}
====
{% import 'x' as y %}
====
{% from 'x' import y %}
====
{% extends 'x' %}
====
{% if no %}{{ 1|nothing }}{% endif %}ok
====
{% if no %}{% for a in l %}{{ 1|nothing }}{% endfor %}{% endif %}ok
====
{{ 1|nothing if no else 2 }}
====
{% macro never() %}{{ 1|nothing }}{% endmacro %}ok
====
{% set x = l|map('upper') %}{{ x|list }}{{ x|list }}
====
{% set x = l|select('odd') %}{% for a in x %}{{ a }}{% break %}{% endfor %}{{ x|list }}{{ x|first is undefined }}
====
{% set j = joiner(', ') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}
====
{% for x in l %}{{ loop }}{% endfor %}
====
{% set suffix = ':open' %}{% set think = '<think{}>'.format(suffix) %}{{ think }}{{ '</{0}{1}>'.format('think', suffix) }}
====
{% for user in users %}{{ '%s|%d' | format(user.name, user.age) }}
{% endfor %}
====
{%- for m in users %}
    {%- if m.age > 26 and m.name is not none %}
        {{- '<|' ~ m.name ~ '|>' + '\n' }}
    {%- endif %}
{%- endfor %}
====
{{ "multi
line" }}{{ 'tab	x' }}
====
a
b
{{ missing.x }}
====
{% set x = {'a': 1} %}{% set y = dict(x, b=2) %}{{ x }}{{ y }}{{ x.items()|list + y.items()|list }}
====
{% do l %}
====
{{ loop.index if loop is defined else 'no loop' }}
====
{% set a = [1] %}{% set b = a + [2] %}{{ a }}{{ b }}{% set a = a + b %}{{ a }}
"""

# Line ends and other white space that a text file would not keep.
RAW_TEMPLATES = [
    "a\r\nb\r{{ n }}\r\n",
    "a\n\n",
    "{{ n }}\n",
    "{% if yes %}\r\na\r\n{% endif %}\r\n",
    "\u00a0{%- if yes %}x{% endif -%}\u2003y",
    " \t{% if yes %}\n\n x{% endif %}\n\n",
    "{#- a -#}\n\n{# b #}\n\nc",
    "",
    "\n",
    "{{ 'a\r\nb'|length }}",
    "\ufeff{{ n }}",
    "{{ n }}\x0c{%- set a = 1 -%}\x0b.",
]
