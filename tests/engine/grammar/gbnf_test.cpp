// Grammars in llama.cpp's notation: what they accept, and what is refused where.
#include <QTest>
#include <string>

#include "answers.h"
#include "tests/support/test.h"

using namespace fovea;

namespace {

constexpr const char* json_grammar =
    "root   ::= object # JSON, with white space behind its signs\n"
    "value  ::= object | array | string | number | (\"true\" | \"false\" | \"null\") space\n"
    "object ::= \"{\" space (\n"
    "             string \":\" space value\n"
    "             (\",\" space string \":\" space value)*\n"
    "           )? \"}\" space\n"
    "array  ::= \"[\" space (value (\",\" space value)*)? \"]\" space\n"
    "string ::= \"\\\"\" ( [^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\bfnrt/] | \"u\" [0-9a-fA-F]{4}) )* "
    "\"\\\"\" space\n"
    "number ::= \"-\"? (\"0\" | [1-9] [0-9]{0,15}) (\".\" [0-9]+)? ([eE] [-+]? [0-9]+)? space\n"
    "space  ::= | \" \" | \"\\n\" [ \\t]{0,20}\n";

constexpr const char* list_grammar = R"(
root ::= item+
item ::= "- " [^\r\n\x0b\x0c\u0085\u2028\u2029]+ "\n"
)";

constexpr const char* arithmetic_grammar = R"(
root  ::= (sum "=" ws term "\n")+
sum   ::= term ([-+*/] term)*
term  ::= name | number | [(] ws sum [)] ws
name  ::= [a-z] [a-z0-9_]* ws
number ::= [0-9]+ ws
ws    ::= [ \t\n]*
)";

}  // namespace

class GbnfTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void accepts_data();
  void accepts();
  void refuses_data();
  void refuses();
  void hostile_grammars_end();
};

void GbnfTest::accepts_data() {
  QTest::addColumn<QByteArray>("grammar");
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<bool>("accepted");
  const auto row = [](const char* name, const char* grammar, QByteArray text, bool accepted) {
    QTest::newRow(name) << QByteArray(grammar) << text << accepted;
  };
  row("json", json_grammar,
      R"({"a": [1, -2.5e3, "x\u00e9\n", {"ü": null}],)"
      "\n"
      R"("b":{}})",
      true);
  row("json without quotes", json_grammar, R"({a: 1})", false);
  row("json with a number that begins with 0", json_grammar, R"({"a": 01})", false);
  row("json cut off", json_grammar, R"({"a": [1, 2)", false);
  row("list", list_grammar, "- one\n- zwölf\n", true);
  row("list without its last line end", list_grammar, "- one\n- two", false);
  row("list with U+2028", list_grammar, "- a\xE2\x80\xA8\n", false);
  row("arithmetic", arithmetic_grammar, "(a +2)*b_1 = 7\nx=3\n", true);
  row("arithmetic with an open bracket", arithmetic_grammar, "(a + 2*b = 7\n", false);
  row("a class over several lengths", "root ::= [\\u007e-\\U0001F600]", "\xF0\x9F\x98\x80", true);
  row("behind that class", "root ::= [\\u007e-\\U0001F600]", "\xF0\x9F\x98\x81", false);
  row("a negated class holds no part of a character", "root ::= [^a]", "\xC3", false);
  row("a surrogate in UTF-8", "root ::= .", "\xED\xA0\x80", false);
  row("too long a spelling", "root ::= .", "\xC0\x80", false);
  row("any character", "root ::= .{2}", "\n\xE2\x82\xAC", true);
  row("alternatives over lines", "root ::= \"a\"\n  | \"b\" # or\n\n  | \"c\"\nx ::= \"d\"", "c", true);
  row("nothing at all", "root ::= \"a\"?", "", true);
  row("exactly", "root ::= (\"ab\"){3}", "ababab", true);
  row("exactly, one less", "root ::= (\"ab\"){3}", "abab", false);
  row("at least", "root ::= \"a\"{2,} \"b\"", "aaaaab", true);
  row("from to, more", "root ::= \"a\"{1,3}", "aaaa", false);
  row("what may be empty, repeated", "root ::= (\"a\"? \"b\"?)* \"c\"", "abbac", true);
  row("escapes", "root ::= \"\\x41\\u00e4\\\"\\\\\\t\"", "Aä\"\\\t", true);
}

void GbnfTest::accepts() {
  tests::check_acceptance(grammar::Notation::gbnf);
}

void GbnfTest::refuses_data() {
  QTest::addColumn<QByteArray>("grammar");
  QTest::addColumn<QByteArray>("message");
  const auto row = [](const char* grammar, const char* message) {
    QTest::newRow(grammar) << QByteArray(grammar) << QByteArray(message);
  };
  row("x ::= \"a\"", "g: there is no rule \"root\"");
  row("root ::= x", "g: the rule \"x\" is used and not defined");
  row("root ::= \"a\"\nroot ::= \"b\"", "g, line 2: the rule \"root\" is defined twice");
  row("root ::= \"a\"\nx = \"b\"", "g, line 2: expected ::=");
  row("root ::= (\"a\"\n\"b\"", "g, line 2: expected )");
  row("root ::= \"a", "g, line 1: expected the closing quote or bracket on the same line");
  row("root ::= \"\\q\"", "g, line 1: expected one of");
  row("root ::= [b-a]", "g, line 1: a range that ends before it begins");
  row("root ::= \"a\"{3,2}", "g, line 1: a repetition from 3 to 2 times");
  row("root ::= \"a\"{x}", "g, line 1: expected {n}, {n,} or {n,m} with");
  row("root ::= root \"a\" | \"b\"", "g: the rule \"root\" may begin with itself");
  row("root ::= x \"a\"\nx ::= y\ny ::= \"q\"? x | \"b\"", "may begin with itself");
  row("root ::= <think>", "g, line 1: tokens between < and > are not supported");
  row("root ::= \"a\" root", "g: no answer satisfies it");
  row("root ::= \"\\uD800\"", "g, line 1: expected a code point that is not a surrogate");
  row("\xC3", "g: the text is not UTF-8");
}

void GbnfTest::refuses() {
  tests::check_refusal(grammar::Notation::gbnf);
}

void GbnfTest::hostile_grammars_end() {
  const auto refused = [](const std::string& text) {
    return tests::is_invalid(grammar::Notation::gbnf, text);
  };
  QVERIFY(refused("root ::= (((\"a\"{1000}){1000}){1000}){1000}"));
  QVERIFY(refused("root ::= (\"\"{1000000}){1000000}"));
  QVERIFY(refused("root ::= " + std::string(100000, '(')));
  QVERIFY(refused("root ::= \"a\"" + std::string(100000, '*')));
  QVERIFY(refused("root ::= \"a\"{99999999999999999999}"));
  QVERIFY(refused(std::string((1 << 20) + 1, ' ')));
  // Every character may be read in thousands of ways.
  std::string wide = "root ::= (";
  for (int i = 0; i < 5000; ++i)
    wide += "\"" + std::string(8, 'a') + static_cast<char>('b' + i % 20) + "\" | ";
  wide += "\"b\")*";
  const auto compiled = grammar::Grammar::from_gbnf(wide, phrases::name_place("g"));
  FOVEA_VERIFY(compiled);
  const auto masks = tests::masks_of(*compiled, tests::bytes_and({"aa", "aaaa"}));
  grammar::Matcher matcher = masks->start();
  const auto accepted = matcher.accept_bytes("a");
  QVERIFY(!accepted);
  QCOMPARE(accepted.error().kind, ErrorKind::unsupported);
}

FOVEA_TEST(GbnfTest)
#include "gbnf_test.moc"
