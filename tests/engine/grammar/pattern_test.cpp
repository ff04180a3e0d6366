// Regular expressions against those of the C++ library, on random texts.
#include <QTest>
#include <random>
#include <regex>
#include <string>

#include "engine/grammar/front_ends.h"
#include "answers.h"
#include "tests/support/test.h"

using namespace fovea;

namespace {

constexpr const char* expressions[] = {
    "abc",
    "a|bc|",
    "(a|b)*c",
    "[a-c]+1{2,3}",
    "(?:ab?){0,2}c{2}",
    "a.c",
    "[^ab]*",
    "\\d+(\\.\\d{1,2})?",
    "\\w\\W\\s\\S",
    "^a+$",
    "^(a|b$)",
    "(^a|b)c*",
    "a*?b+?",
    "x{0}a",
    "[\\d_-]+",
    "(a(b(c)?)?)?1",
    "$",
    "^",
    "(a$|^b)+",
    "\\x61[\\u0062]",
};

// Also texts on which an expression turns: pieces of it, and its characters.
std::string random_text(std::mt19937& random) {
  static constexpr std::string_view characters = "aaabbbcc11._- \nx9";
  std::string text;
  for (std::size_t length = random() % 8; length > 0; --length)
    text += characters[random() % characters.size()];
  return text;
}

bool accepts(const grammar::Automaton& automaton, const grammar::CharacterSets& sets, std::string_view text) {
  std::vector<bool> at(automaton.states.size(), false);
  at[0] = true;
  for (const char c : text) {
    std::vector<bool> next(at.size(), false);
    for (std::size_t state = 0; state < at.size(); ++state) {
      if (!at[state]) continue;
      for (const grammar::Edge& edge : automaton.states[state].edges) {
        if (sets[edge.value].contains(static_cast<unsigned char>(c))) next[edge.to] = true;
      }
    }
    at = std::move(next);
  }
  for (std::size_t state = 0; state < at.size(); ++state) {
    if (at[state] && automaton.states[state].accepting) return true;
  }
  return false;
}

}  // namespace

class PatternTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void agrees_data();
  void agrees();
  void characters_beyond_ascii();
  void refuses_data();
  void refuses();
  void answers_match();
};

void PatternTest::agrees_data() {
  QTest::addColumn<QString>("expression");
  for (const char* expression : expressions) QTest::newRow(expression) << QString(expression);
}

void PatternTest::agrees() {
  QFETCH(QString, expression);
  const std::string source = expression.toStdString();
  const std::regex judge(source, std::regex::ECMAScript);
  std::mt19937 random(tests::seed());
  const auto grammar = grammar::Grammar::from_regex(source, phrases::name_place("r"));
  FOVEA_VERIFY(grammar);
  const auto masks = tests::masks_of(*grammar, tests::bytes_and({}));
  grammar::CharacterSets sets;
  const auto anywhere = grammar::automaton_of_pattern(source, false, sets, phrases::name_place("r"));
  FOVEA_VERIFY(anywhere);
  for (int i = 0; i < tests::rounds(2000); ++i) {
    const std::string text = i == 0 ? "" : random_text(random);
    const bool expected = std::regex_match(text, judge);
    QVERIFY2(tests::accepts(masks, text) == expected, text.c_str());
    // Where a line ends, ^ and $ of the library hold as well.
    if (text.contains('\n')) continue;
    QVERIFY2(accepts(*anywhere, sets, text) == std::regex_search(text, judge), text.c_str());
  }
}

void PatternTest::characters_beyond_ascii() {
  std::mt19937 random(tests::seed());
  for (int round = 0; round < tests::rounds(30); ++round) {
    const auto code_point = [&] {
      const unsigned bits = 6 + random() % 15;
      const auto c = static_cast<char32_t>(random() % (1U << bits));
      return c >= 0xD800 && c <= 0xDFFF ? U'x' : c;
    };
    const char32_t a = code_point(), b = code_point();
    const char32_t first = std::min(a, b), last = std::max(a, b);
    const bool is_negated = random() % 2;
    const std::string source = QString("[%1\\u{%2}-\\u{%3}]")
                                   .arg(is_negated ? "^" : "")
                                   .arg(static_cast<uint>(first), 0, 16)
                                   .arg(static_cast<uint>(last), 0, 16)
                                   .toStdString();
    const auto grammar = grammar::Grammar::from_regex(source, phrases::name_place("r"));
    FOVEA_VERIFY(grammar);
    const auto masks = tests::masks_of(*grammar, tests::bytes_and({}));
    std::vector<char32_t> probes{first, last, first + 1, last + 1, first - 1, last - 1, 0,
                                 0x7F,  0x80, 0x7FF,     0x800,    0xFFFF,    0x10000,  0x10FFFF};
    for (int i = 0; i < 50; ++i) probes.push_back(code_point());
    for (const char32_t c : probes) {
      if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) continue;
      const std::string text = QString::fromUcs4(&c, 1).toStdString();
      QVERIFY2(tests::accepts(masks, text) == ((c >= first && c <= last) != is_negated), source.c_str());
    }
  }
}

void PatternTest::refuses_data() {
  QTest::addColumn<QByteArray>("grammar");
  QTest::addColumn<QByteArray>("message");
  const auto row = [](const char* expression, const char* message) {
    QTest::newRow(expression) << QByteArray(expression) << QByteArray(message);
  };
  row("a(?=b)", "looking ahead or behind ((?=) is not supported");
  row("(?<!b)a", "looking ahead or behind ((?<) is not supported");
  row("(a)\\1", "a reference to a group (\\1) is not supported");
  row("\\bword", "a word boundary (\\b) is not supported");
  row("\\p{L}", "a property of characters (\\p) is not supported");
  row("(?i:a)", "a change of flags ((?i) is not supported");
  row("a)", "g, byte 1: expected the end of the expression");
  row("(a", "g, byte 2: expected the closing bracket of a group");
  row("[a", "g, byte 2: expected the closing bracket of a class");
  row("*a", "g, byte 0: expected something to repeat before *");
  row("a{2,1}", "a repetition from 2 to 1 times");
  row("[z-a]", "a range that ends before it begins");
  row("\\", "expected something that \\ escapes");
  row("a{1000}{1000}", "expected something to repeat before {");
  row("((a{1000}){1000}){1000}", "this takes more than");
  row("a$b", "no answer satisfies it");
}

void PatternTest::refuses() {
  tests::check_refusal(grammar::Notation::regex);
}

void PatternTest::answers_match() {
  std::mt19937 random(tests::seed());
  const auto tokens = tests::bytes_and({"ab", "abc", "aa", "12", "1.", "bcc", "cc"});
  for (const char* expression : expressions) {
    const std::regex judge(expression, std::regex::ECMAScript);
    const auto grammar = grammar::Grammar::from_regex(expression, phrases::name_place("r"));
    FOVEA_VERIFY(grammar);
    const auto masks = tests::masks_of(*grammar, tokens);
    for (int i = 0; i < tests::rounds(20); ++i) {
      const auto answer = tests::random_answer(*masks, tokens, masks->shortest_answer() + 10, random);
      QVERIFY2(answer, expression);
      // The library knows bytes, not characters.
      if (std::ranges::all_of(*answer, [](unsigned char c) { return c < 0x80; })) {
        QVERIFY2(std::regex_match(*answer, judge), answer->c_str());
      }
    }
  }
}

FOVEA_TEST(PatternTest)
#include "pattern_test.moc"
