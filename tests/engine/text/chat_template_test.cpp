// Templates against jinja2 (tests/golden/templates*.json), and the interpreter's own bounds.
// FOVEA_TEMPLATE_CASES=file compares the cases of another file (tests/golden/template_fuzz.py makes such).
#include "engine/text/chat_template.h"

#include <cstdlib>
#include <fstream>
#include <thread>

#include "engine/text/errors.h"
#include "tests/support/test.h"

using fovea::phrases::name_place;
using fovea::text::ChatTemplate;
using fovea::text::RenderLimits;
using nlohmann::ordered_json;

namespace {

ordered_json read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  ordered_json json = ordered_json::parse(file, nullptr, false);
  if (json.is_discarded()) qFatal("the golden templates cannot be read");
  return json;
}

ordered_json read_cases() {
  if (const char* other = std::getenv("FOVEA_TEMPLATE_CASES")) return read_file(other);
  ordered_json all = read_file(fovea::tests::golden("templates.json"));
  const ordered_json random = read_file(fovea::tests::golden("templates_random.json"));
  all["variables"].update(random["variables"]);
  for (const ordered_json& one : random["cases"]) all["cases"].push_back(one);
  return all;
}

const ordered_json& cases() {
  static const ordered_json all = read_cases();
  return all;
}

// What a case must give; an error where it has no output.
struct Outcome {
  bool ok = false;
  std::string text;
};

Outcome render(const std::string& source, const ordered_json& variables, const RenderLimits& limits = {}) {
  const auto parsed = ChatTemplate::parse(source, name_place("test"));
  if (!parsed) return {false, parsed.error().message()};
  const auto text = parsed->render(variables, limits);
  return text ? Outcome{true, *text} : Outcome{false, text.error().message()};
}

// A case's template and variables, which may be named in the file's shared parts.
ordered_json part(const ordered_json& one, const char* key, const char* shared) {
  const auto found = one.find(key);
  if (found == one.end()) return ordered_json::object();
  if (found->is_string() && cases().contains(shared)) {
    const auto& table = cases()[shared];
    if (const auto named = table.find(found->get<std::string>()); named != table.end()) return *named;
  }
  return *found;
}

std::string difference(const Outcome& outcome, const ordered_json& expected) {
  if (!expected.contains("output")) {
    return outcome.ok ? "jinja2 refuses this, and we gave: " + outcome.text : std::string();
  }
  const auto wanted = expected["output"].get<std::string>();
  if (!outcome.ok) return "expected: " + wanted + "\n   error: " + outcome.text;
  return outcome.text == wanted ? std::string() : "expected: " + wanted + "\n   found: " + outcome.text;
}

}  // namespace

class ChatTemplateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("TZ", "UTC");
    tzset();
  }

  void equalsJinja_data() {
    QTest::addColumn<int>("index");
    int index = 0;
    for (const ordered_json& one : cases()["cases"]) {
      QTest::newRow(one.value("name", std::to_string(index)).c_str()) << index;
      ++index;
    }
  }
  void equalsJinja() {
    QFETCH(int, index);
    const ordered_json& one = cases()["cases"][static_cast<std::size_t>(index)];
    const auto source = part(one, "template", "templates").get<std::string>();
    const std::string wrong = difference(render(source, part(one, "variables", "variables")), one);
    QVERIFY2(wrong.empty(), (source + "\n" + wrong).c_str());
  }

  void comparisonCanFail() {
    const ordered_json planted = {{"output", "one\n"}};
    QVERIFY(!difference({true, "one"}, planted).empty());
    QVERIFY(!difference({false, "error"}, planted).empty());
    QVERIFY(!difference({true, "text"}, ordered_json::object()).empty());
    QVERIFY(difference({true, "one\n"}, planted).empty());
  }

  void bounds_data();
  void bounds();
  void errorsNameSourceAndLine_data();
  void errorsNameSourceAndLine();
  void templatesAreQuoted();
  void leftOutIsNamed_data();
  void leftOutIsNamed();
  void rendersFromManyThreads();
  void clockIsInjected();
  void refusesBrokenText();
  void deepVariablesAreRefused();
};
FOVEA_TEST(ChatTemplateTest)

void ChatTemplateTest::bounds_data() {
  QTest::addColumn<QString>("source");
  QTest::addColumn<QString>("says");
  const auto row = [](const char* name, const std::string& source, const char* says) {
    QTest::newRow(name) << QString::fromStdString(source) << says;
  };
  const auto many = [](const char* text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  row("steps", "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "5000000 steps");
  row("output", "{% for a in range(9999) %}{{ 'x' * 99999 }}{% endfor %}", "67108864 bytes");
  row("one string", "{{ 'x' * 10 ** 9 }}", "67108864 bytes");
  row("one list", "{{ [0] * 10 ** 12 }}", "67108864 bytes");
  row("doubling",
      "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "67108864 bytes");
  row("doubled list",
      "{% set ns = namespace(x=[0]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "bytes");
  row("macro recursion", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "200 levels");
  row("loop recursion", "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}", "200 levels");
  row("nested values",
      "{% set ns = namespace(x=[]) %}{% for i in range(999) %}{% set ns.x = [ns.x] %}{% endfor %}",
      "nested more than 200");
  row("namespace in itself", "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}", "200 levels");
  row("deep brackets", "{{ " + many("(", 50000) + "1" + many(")", 50000) + " }}", "nested more than");
  row("deep lists", "{{ " + many("[", 50000) + many("]", 50000) + " }}", "nested more than");
  row("deep negation", "{{ " + many("not ", 50000) + "1 }}", "nested more than");
  row("deep signs", "{{ " + many("-", 50000) + "1 }}", "nested more than");
  row("long chain", "{{ " + many("1+", 50000) + "1 }}", "nested more than");
  row("long postfix", "{{ a" + many(".b", 50000) + " }}", "nested more than");
  row("long filters", "{{ a" + many("|d", 50000) + " }}", "nested more than");
  row("long conditions", "{{ 1" + many(" if 1 else 1", 50000) + " }}", "nested more than");
  row("deep blocks", many("{% if 1 %}", 50000), "nested more than");
  row("deep targets", "{% for " + many("(", 50000) + "a" + many(",)", 50000) + " in b %}{% endfor %}",
      "nested more than");
  row("range", "{{ range(10 ** 9) }}", "range() has more than");
  row("indent", "{{ 'x\\ny'|indent(10 ** 12) }}", "67108864 bytes");
  row("json indent", "{{ [[1]]|tojson(indent=10 ** 12) }}", "67108864 bytes");
  row("replace", "{{ ('x' * 99999)|replace('', 'y' * 99999) }}", "67108864 bytes");
  row("join", "{{ range(99999)|join('x' * 99999) }}", "67108864 bytes");
  const std::string shared =
      "{% set a = namespace(x=(1,), y=(1,)) %}{% for i in range(90) %}{% set a.x = (a.x, a.x) %}"
      "{% set a.y = (a.y, a.y) %}{% endfor %}";
  row("shared parts compared", shared + "{{ a.x == a.y }}", "5000000 steps");
  row("shared parts as a key", shared + "{{ {a.x: 1} }}", "5000000 steps");
  row("shared parts looked up", shared + "{{ messages[a.x] }}{{ a.x in {} }}", "steps");
  row("shared parts ordered", shared + "{{ a.x < a.y }}", "steps");
  row("shared parts printed", shared + "{{ a.x }}", "steps");
  row("shared parts as JSON", shared + "{{ a.x|tojson }}", "steps");
  row("long lists compared",
      "{% set l = [0] * 99999 %}{% set m = [0] * 99999 %}{% for i in range(9999) %}{{ l == m }}{% endfor %}",
      "5000000 steps");
  row("integers", "{{ 10 ** 99 }}", "128 bits");
  row("integer literal", "{{ 999999999999999999999999999999999999999999 }}", "128 bits");
}

void ChatTemplateTest::bounds() {
  QFETCH(QString, source);
  QFETCH(QString, says);
  const Outcome outcome = render(source.toStdString(), {{"messages", ordered_json::object()}});
  QVERIFY(!outcome.ok);
  QVERIFY2(outcome.text.find(says.toStdString()) != std::string::npos, outcome.text.c_str());
}

void ChatTemplateTest::errorsNameSourceAndLine_data() {
  QTest::addColumn<QString>("source");
  QTest::addColumn<QString>("message");
  const auto row = [](const char* name, const char* source, const char* message) {
    QTest::newRow(name) << source << message;
  };
  row("filter", "a\nb\n{{ 1|nothing }}", "test, line 3: the filter 'nothing' is not known");
  row("filter in a condition", "{% if x %}\n{{ 1|nothing }}\n{% endif %}",
      "test, line 2: the filter 'nothing' is not known");
  row("test", "\n{{ 1 is nothing }}", "test, line 2: the test 'nothing' is not known");
  row("tag", "\n\n{% nothing %}", "test, line 3: the tag 'nothing' is not known here");
  row("include", "\n{% include 'x' %}",
      "test, line 2: the tag 'include' is not supported. A chat template must stand alone");
  row("undefined", "\n\n{{ x.y.z }}", "test, line 3: 'dict object' has no attribute 'y'");
  row("undefined name", "{{ y.z }}", "test, line 1: 'y' is undefined");
  row("raised", "{%- if x %}\n\n{{ raise_exception('No ' + 'roles') }}{% endif %}",
      "test, line 3: the template says: No roles");
  row("brackets", "{{ (1 }}", "test, line 1: found '}', expected ')'");
  row("unclosed", "\n{% for a in b %}\n\n", "the template ends before the 'for' of line 2 does");
  row("string", "{{ 'abc }}", "test, line 1: the string does not end");
  row("method", "\n{{ 'x'.encode() }}", "test, line 2: the attribute 'encode' of str is not supported");
  row("left out argument", "{{ 'x'.find('x', 1) }}", "find() takes at most 1 argument, 2 are given");
  row("left out keyword", "{{ 'x'|int(base=16) }}", "int() has no argument 'base'");
  row("argument of a test", "{{ x is defined(1) }}", "test, line 1: the test takes no arguments");
  row("argument of a method", "{{ 'x'.upper(1) }}", "test, line 1: the method takes no arguments");
  row("no argument of a comparison", "{{ x is gt }}", "test, line 1: gt() lacks its argument 'other'");
  row("in a macro", "{% macro m() %}\n{{ 1 + 'a' }}{% endmacro %}\n{{ m() }}",
      "test, line 2: '+' cannot be applied to int and str");
}

void ChatTemplateTest::errorsNameSourceAndLine() {
  QFETCH(QString, source);
  QFETCH(QString, message);
  const Outcome outcome = render(source.toStdString(), {{"x", {{"a", 1}}}});
  QVERIFY(!outcome.ok);
  QVERIFY2(outcome.text.find(message.toStdString()) != std::string::npos, outcome.text.c_str());
}

void ChatTemplateTest::templatesAreQuoted() {
  const auto parsed = ChatTemplate::parse("{{ raise_exception('No {roles}') }}", name_place("test"));
  FOVEA_VERIFY(parsed);
  const auto raised = parsed->render(ordered_json::object());
  QVERIFY(!raised);
  const fovea::Argument* const said = raised.error().what.find("said");
  QVERIFY(said != nullptr && *said == fovea::Argument(fovea::Said{"No {roles}"}));
  QCOMPARE(raised.error().where_words(), std::string("test, line 1"));
}

void ChatTemplateTest::leftOutIsNamed_data() {
  QTest::addColumn<QString>("source");
  QTest::addColumn<QString>("what");
  const auto row = [](const QString& source, const QString& what) {
    QTest::newRow(qPrintable(source)) << source << what;
  };
  for (const char* name :
       {"attr", "batch", "center", "filesizeformat", "forceescape", "groupby", "pprint", "random", "slice",
        "striptags", "truncate", "urlencode", "urlize", "wordcount", "wordwrap", "xmlattr"}) {
    row(QString("{{ [x]|%1 }}").arg(name), QString("the filter '%1'").arg(name));
  }
  for (const char* name : {"callable", "escaped", "filter", "lower", "test", "upper"})
    row(QString("{{ 'x' is %1 }}").arg(name), QString("the test '%1'").arg(name));
  for (const char* name :
       {"casefold",    "center",  "encode",     "expandtabs", "format_map",   "index",     "isalnum",
        "isalpha",     "isascii", "isdecimal",  "isdigit",    "isidentifier", "islower",   "isnumeric",
        "isprintable", "isspace", "istitle",    "isupper",    "ljust",        "maketrans", "partition",
        "rindex",      "rjust",   "rpartition", "swapcase",   "translate",    "zfill"}) {
    row(QString("{{ 'x'.%1(1) }}").arg(name), QString("the attribute '%1' of str").arg(name));
  }
  row("{{ x.copy() }}", "the attribute 'copy' of dict");
  row("{{ x.fromkeys('a') }}", "the attribute 'fromkeys' of dict");
  row("{{ [1].copy() }}", "the attribute 'copy' of list");
  row("{{ 1.5.is_integer() }}", "the attribute 'is_integer' of float");
  row("{{ 'x'['zfill'](3) }}", "the attribute 'zfill' of str");
  row("{{ 'x'.zfill is defined }}", "the attribute 'zfill' of str");
  for (const char* name : {"cycler", "lipsum", "self"})
    row(QString("{{ %1 }}").arg(name), QString("the name '%1'").arg(name));
  for (const char* name : {"autoescape", "block", "do", "print", "trans"})
    row(QString("{% %1 x %}").arg(name), QString("the tag '%1'").arg(name));
  for (const char* name : {"kwargs", "varargs"}) {
    row(QString("{% macro m() %}{{ %1 }}{% endmacro %}").arg(name), QString("'%1' in a macro").arg(name));
  }
  for (const char* field : {"%5d", "%-5s", "%05d", "%.2f", "%f", "%x", "%r", "%c", "%i", "%*d", "%é"})
    row(QString("{{ '%1' % 1 }}").arg(field), QString("the format '%1'").arg(field));
  row("{{ '%(x)s' % x }}", "the format '%('");
  row("{{ '%7d'|format(1) }}", "the format '%7d'");
  row("{{ '%s'|format(x=1) }}", "the filter 'format' with names");
  for (const char* field : {"{:>5}", "{0:d}", "{!r}", "{x.y}", "{x[0]}", "{:{}}"}) {
    const QString shown = QString(field).left(QString(field).indexOf('}') + 1);
    row(QString("{{ '%1'.format(1, x=2) }}").arg(field), QString("the format '%1'").arg(shown));
  }
  row("{{ ('{' ~ 'é' * 9999 ~ ':}').format() }}", "the format '{" + QString(60, QChar(u'é')) + "}'");
  row("{{ 0x1F }}", "the number '0x1F'");
  row("{{ 0b1 }}", "the number '0b1'");
  row("{{ 0O7 }}", "the number '0O7'");
  row("{{ 1_000 }}", "the number '1_000'");
  row("{{ 1.5_0 }}", "the number '1.5_0'");
  row("{{ '\\101' }}", "the escape '\\1' in a string");
  row("{{ '\\N{BULLET}' }}", "the escape '\\N' in a string");
  row("{% if x %}{{ x|pprint }}{% endif %}", "the filter 'pprint'");
  row("{{ [x]|map('pprint')|list }}", "the filter 'pprint'");
  row("{{ [x]|select('callable')|list }}", "the test 'callable'");
}

void ChatTemplateTest::leftOutIsNamed() {
  QFETCH(QString, source);
  QFETCH(QString, what);
  const Outcome outcome = render(source.toStdString(), {{"x", {{"a", 1}}}});
  QVERIFY(!outcome.ok);
  const QString error = "test, line 1: " + what + " is not supported in Fovea's templates";
  QVERIFY2(outcome.text.starts_with(error.toStdString()), outcome.text.c_str());
}

void ChatTemplateTest::rendersFromManyThreads() {
  const auto parsed = ChatTemplate::parse(
      "{% macro m(x, n=2) %}{% for c in x %}{{ loop.index ~ c|upper * n }}{% endfor %}{% endmacro %}"
      "{% set ns = namespace(i=0) %}{% for m_ in messages %}{% set ns.i = ns.i + 1 %}{{ m(m_.content) }}{{ "
      "m_|tojson }}"
      "{% endfor %}{{ ns.i }}",
      name_place("test"));
  FOVEA_VERIFY(parsed);
  ordered_json variables;
  for (int i = 0; i < 20; ++i)
    variables["messages"].push_back({{"role", "user"}, {"content", "héllo " + std::to_string(i)}});
  const auto expected = parsed->render(variables);
  FOVEA_VERIFY(expected);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 25; ++i) {
          const auto text = parsed->render(variables);
          if (!text || *text != *expected) ++wrong;
        }
      });
    }
  }
  QCOMPARE(wrong.load(), 0);
}

void ChatTemplateTest::clockIsInjected() {
  const ordered_json variables = {{fovea::text::clock_variable, 1722211200}};
  const Outcome outcome =
      render("{{ strftime_now('%d %b %Y %H:%M %%') }}|{{ fovea_clock is defined }}", variables);
  QCOMPARE(outcome.text, std::string("29 Jul 2024 00:00 %|False"));
}

void ChatTemplateTest::refusesBrokenText() {
  QVERIFY(!render("a\xff", ordered_json::object()).ok);
  const auto parsed = ChatTemplate::parse("{{ x }}", name_place("test"));
  FOVEA_VERIFY(parsed);
  const auto broken = parsed->render({{"x", "a\xc0\x80"}});
  QVERIFY(!broken && broken.error().is(fovea::errors::given_no_utf8.code));
}

void ChatTemplateTest::deepVariablesAreRefused() {
  ordered_json deep = ordered_json::array();
  for (int i = 0; i < 5000; ++i) deep = ordered_json::array({std::move(deep)});
  const auto parsed = ChatTemplate::parse("{{ x }}", name_place("test"));
  FOVEA_VERIFY(parsed);
  const auto refused = parsed->render({{"x", deep}});
  QVERIFY(!refused && refused.error().is(fovea::errors::given_nested.code));
  QCOMPARE(refused.error().number("limit"), std::optional<std::int64_t>(100));
}

#include "chat_template_test.moc"
