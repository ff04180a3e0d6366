// Masks against Earley's algorithm over each token by itself, for random grammars and vocabularies.
#include "engine/grammar/matcher.h"

#include <QTest>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "answers.h"
#include "tests/support/test.h"

using namespace fovea;

namespace {

// Letters are terminals, numbers are rules.
struct PlainGrammar {
  std::vector<std::vector<std::vector<int>>> rules;  // alternatives of symbols; a terminal is -letter

  std::string gbnf() const {
    std::string text;
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      text += rule == 0 ? "root ::=" : "r" + std::to_string(rule) + " ::=";
      for (std::size_t i = 0; i < rules[rule].size(); ++i) {
        if (i > 0) text += " |";
        if (rules[rule][i].empty()) text += " \"\"";
        for (const int symbol : rules[rule][i]) {
          if (symbol < 0) {
            text += std::string(" \"") + static_cast<char>(-symbol) + "\"";
          } else {
            text += symbol == 0 ? " root" : " r" + std::to_string(symbol);
          }
        }
      }
      text += "\n";
    }
    return text;
  }
};

// Rules never begin with themselves: before an alternative's first letter stand only rules with larger
// numbers.
PlainGrammar random_grammar(std::mt19937& random) {
  PlainGrammar grammar;
  const int count = 1 + static_cast<int>(random() % 5);
  const auto letter = [&] { return -('a' + static_cast<int>(random() % 3)); };
  for (int rule = 0; rule < count; ++rule) {
    auto& alternatives = grammar.rules.emplace_back();
    // Each rule has an end.
    auto& plain = alternatives.emplace_back();
    for (std::size_t i = random() % 3; i > 0; --i) plain.push_back(letter());
    for (std::size_t more = random() % 4; more > 0; --more) {
      auto& symbols = alternatives.emplace_back();
      bool has_letter = false;
      for (std::size_t i = random() % 5; i > 0; --i) {
        if (random() % 2) {
          symbols.push_back(letter());
          has_letter = true;
        } else if (has_letter) {
          symbols.push_back(static_cast<int>(random() % static_cast<unsigned>(count)));
        } else if (rule + 1 < count) {
          symbols.push_back(rule + 1 + static_cast<int>(random() % static_cast<unsigned>(count - rule - 1)));
        }
      }
    }
  }
  return grammar;
}

struct Verdict {
  bool can_go_on, is_complete;
};

// Earley's recogniser, items as sets until nothing is added.
Verdict earley(const PlainGrammar& grammar, std::string_view text) {
  using Item = std::tuple<int, int, std::size_t, std::size_t>;  // rule, alternative, symbols read, begin
  std::vector<std::set<Item>> chart(text.size() + 1);
  for (int i = 0; i < static_cast<int>(grammar.rules[0].size()); ++i) chart[0].insert({0, i, 0, 0});
  for (std::size_t at = 0; at <= text.size(); ++at) {
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto& [rule, alternative, read, begin] : std::set<Item>(chart[at])) {
        const auto& symbols =
            grammar.rules[static_cast<std::size_t>(rule)][static_cast<std::size_t>(alternative)];
        if (read == symbols.size()) {
          for (const auto& [r, a, n, b] : std::set<Item>(chart[begin])) {
            const auto& outer = grammar.rules[static_cast<std::size_t>(r)][static_cast<std::size_t>(a)];
            if (n < outer.size() && outer[n] == rule) grew |= chart[at].insert({r, a, n + 1, b}).second;
          }
        } else if (symbols[read] >= 0) {
          const int called = symbols[read];
          for (int i = 0; i < static_cast<int>(grammar.rules[static_cast<std::size_t>(called)].size()); ++i) {
            grew |= chart[at].insert({called, i, 0, at}).second;
          }
        } else if (at < text.size() && text[at] == -symbols[read]) {
          chart[at + 1].insert({rule, alternative, read + 1, begin});
        }
      }
    }
    if (chart[at].empty()) return {false, false};
  }
  bool is_complete = false;
  for (const auto& [rule, alternative, read, begin] : chart[text.size()]) {
    is_complete |=
        rule == 0 && begin == 0 && read == grammar.rules[0][static_cast<std::size_t>(alternative)].size();
  }
  return {true, is_complete};
}

std::vector<std::string> random_vocabulary(std::mt19937& random) {
  std::vector<std::string> tokens{"", "a", "b", "c"};  // the first is a control token
  for (int i = 0; i < 40; ++i) {
    std::string token;
    for (std::size_t length = random() % 6; length > 0; --length) {
      token += static_cast<char>('a' + random() % 3);
    }
    tokens.push_back(token);
  }
  return tokens;
}

// Texts of any characters between quotes, of bounded length and not, with what may go on beside or behind
// them.
std::string random_text_grammar(std::mt19937& random) {
  static constexpr const char* sets[] = {
      R"g([^"\\\x00-\x1F])g", R"g([^"\\\x00-\x1F])g", R"g([^"])g",    R"g([^"\\a])g",
      R"g([^\\\x00-\x1F])g",  R"g([\x00-\x7F])g",     R"g([^"\\é])g", "."};
  static constexpr const char* forms[] = {R"g(root ::= "\"" text "\"" ("," root)?)g",
                                          R"g(root ::= ("\"" text "\"")+)g",
                                          R"g(root ::= "\"" (text | "abc" | "\\" text) "\"")g",
                                          R"g(root ::= "\"" (char | "\\" ["\\n])+ "\"")g",
                                          R"g(root ::= "\"" char char [a-f] text "\"")g",
                                          R"g(root ::= text "a" text)g",
                                          R"g(root ::= text)g"};
  std::string repetition = "*";
  if (const auto kind = random() % 4; kind > 0) {
    const unsigned least = random() % 5;
    repetition = "{" + std::to_string(least) + ",";
    if (kind > 1) repetition += std::to_string(least + random() % 40);
    repetition += "}";
  }
  return std::string(forms[random() % std::size(forms)]) + "\ntext ::= char" + repetition +
         "\nchar ::= " + sets[random() % std::size(sets)] + "\n";
}

// All bytes, and tokens with characters and halves of characters.
std::vector<std::string> vocabulary_of_texts(std::mt19937& random) {
  static constexpr std::string_view pieces[] = {
      "a",    "b",    " ",    "é",        "是",       "\U0001F642", "\"",   "\",", "\\",      "\n",
      "\x7F", "\xC3", "\xA9", "\xE6\x98", "\xF0\x9F", "\x99\x82",   "\xC0", "ab",  "aaaaaaaa"};
  std::vector<std::string> tokens;
  for (int i = 0; i < 120; ++i) {
    std::string token;
    for (std::size_t parts = 1 + random() % (random() % 8 ? 5 : 12); parts > 0; --parts)
      token += pieces[random() % std::size(pieces)];
    tokens.push_back(std::move(token));
  }
  return tests::bytes_and(std::move(tokens));
}

}  // namespace

class MatcherTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void masks_are_those_of_each_token_by_itself();
  void masks_of_texts_are_those_of_each_token_by_itself();
  void answers_fit_their_limit();
  void copies_go_their_own_ways();
  void long_repetitions_share_masks_and_keep_counts();
  void deep_answers_turn_back();
  void what_an_ambiguous_grammar_reads_does_not_multiply();
  void a_vocabulary_without_single_bytes();
};

void MatcherTest::masks_are_those_of_each_token_by_itself() {
  const unsigned seed = tests::seed();
  std::mt19937 random(seed);
  int compared = 0;
  for (int round = 0; round < tests::rounds(15); ++round) {
    const PlainGrammar plain = random_grammar(random);
    const std::vector<std::string> tokens = random_vocabulary(random);
    const auto grammar = grammar::Grammar::from_gbnf(plain.gbnf(), phrases::name_place("random"));
    FOVEA_VERIFY(grammar);
    const auto masks = tests::masks_of(*grammar, tokens);
    QVERIFY(masks);
    for (int walk = 0; walk < 2; ++walk) {
      grammar::Matcher matcher = masks->start();
      std::string text;
      std::vector<std::uint32_t> bits((tokens.size() + 31) / 32);
      for (int step = 0; step < 8; ++step) {
        FOVEA_VERIFY(matcher.mask(bits));
        const std::vector<TokenId> ids = tests::allowed_tokens(bits);
        for (std::size_t id = 0; id < tokens.size(); ++id) {
          const bool expected = !tokens[id].empty() && earley(plain, text + tokens[id]).can_go_on;
          const bool found = std::ranges::count(ids, static_cast<TokenId>(id)) == 1;
          QVERIFY2(found == expected,
                   qPrintable(QString("FOVEA_TEST_SEED=%1: token \"%2\" behind \"%3\" of\n%4")
                                  .arg(seed)
                                  .arg(tokens[id].c_str(), text.c_str(), plain.gbnf().c_str())));
          QCOMPARE(grammar::Matcher(matcher).accept(static_cast<TokenId>(id)).value(), expected);
          ++compared;
        }
        QCOMPARE(matcher.is_complete(), earley(plain, text).is_complete);
        QCOMPARE(matcher.must_end(), ids.empty());
        if (ids.empty()) break;
        const TokenId id = ids[random() % ids.size()];
        QVERIFY(matcher.accept(id).value());
        text += tokens[static_cast<std::size_t>(id)];
      }
    }
  }
  QVERIFY(compared > 3000);
}

// Against stepping with each token, also within a limit.
void MatcherTest::masks_of_texts_are_those_of_each_token_by_itself() {
  const unsigned seed = tests::seed();
  std::mt19937 random(seed);
  for (int round = 0; round < tests::rounds(25); ++round) {
    const std::string written = random_text_grammar(random);
    const std::vector<std::string> tokens = vocabulary_of_texts(random);
    const auto grammar = grammar::Grammar::from_gbnf(written, phrases::name_place("random"));
    FOVEA_VERIFY(grammar);
    const auto masks = tests::masks_of(*grammar, tokens);
    QVERIFY(masks);
    grammar::Matcher matcher = masks->start();
    std::vector<std::uint32_t> bits((tokens.size() + 31) / 32);
    for (int step = 0; step < 12 && !matcher.must_end(); ++step) {
      std::vector<std::int64_t> after;  // tokens to complete the answer behind each; -1: it is not allowed
      for (std::size_t id = 0; id < tokens.size(); ++id) {
        grammar::Matcher next = matcher;
        const bool fits = next.accept(static_cast<TokenId>(id)).value();
        after.push_back(fits ? next.tokens_to_complete() : -1);
      }
      for (const std::int64_t left :
           {std::int64_t{1'000'000}, matcher.tokens_to_complete(),
            matcher.tokens_to_complete() + static_cast<std::int64_t>(random() % 6)}) {
        FOVEA_VERIFY(matcher.mask_within(left, bits));
        for (std::size_t id = 0; id < tokens.size(); ++id) {
          const bool expected = after[id] >= 0 && after[id] < left;
          QVERIFY2((bits[id / 32] >> (id % 32) & 1) == expected,
                   qPrintable(QString("FOVEA_TEST_SEED=%1: token %2 with %3 left, step %4 of\n%5")
                                  .arg(seed)
                                  .arg(QByteArray::fromStdString(tokens[id]).toHex().constData())
                                  .arg(left)
                                  .arg(step)
                                  .arg(written.c_str())));
        }
      }
      std::vector<TokenId> ids;
      for (std::size_t id = 0; id < tokens.size(); ++id)
        if (after[id] >= 0) ids.push_back(static_cast<TokenId>(id));
      if (ids.empty()) break;
      QVERIFY(matcher.accept(ids[random() % ids.size()]).value());
    }
  }
}

void MatcherTest::answers_fit_their_limit() {
  const unsigned seed = tests::seed();
  std::mt19937 random(seed);
  for (int round = 0; round < tests::rounds(300); ++round) {
    const PlainGrammar plain = random_grammar(random);
    const std::vector<std::string> tokens = random_vocabulary(random);
    const auto grammar = grammar::Grammar::from_gbnf(plain.gbnf(), phrases::name_place("random"));
    FOVEA_VERIFY(grammar);
    const auto masks = tests::masks_of(*grammar, tokens);
    QVERIFY(masks);
    const std::int64_t limit = masks->shortest_answer() + static_cast<std::int64_t>(random() % 12);
    const auto answer = tests::random_answer(*masks, tokens, limit, random);
    QVERIFY2(answer, qPrintable(QString("FOVEA_TEST_SEED=%1: no answer of %2 tokens to\n%3")
                                    .arg(seed)
                                    .arg(limit)
                                    .arg(plain.gbnf().c_str())));
    QVERIFY(earley(plain, *answer).is_complete);
  }
}

void MatcherTest::copies_go_their_own_ways() {
  const auto grammar =
      grammar::Grammar::from_gbnf("root ::= \"a\" (\"b\" | \"c\") \"d\"", phrases::name_place("g"));
  FOVEA_VERIFY(grammar);
  const std::vector<std::string> tokens{"a", "b", "c", "d", "bd", "cd", "ab"};
  const auto masks = tests::masks_of(*grammar, tokens);
  grammar::Matcher one = masks->start();
  QVERIFY(one.accept(0).value());
  grammar::Matcher other = one;
  QVERIFY(one.accept(1).value());
  QVERIFY(!one.accept(2).value());  // and nothing has changed
  QVERIFY(other.accept(5).value());
  QVERIFY(other.must_end());
  QVERIFY(!one.is_complete());
  QVERIFY(one.accept(3).value());
  QVERIFY(one.must_end());
}

void MatcherTest::long_repetitions_share_masks_and_keep_counts() {
  const auto grammar =
      grammar::Grammar::from_gbnf("root ::= \"<\" [ab]{3,500} \">\"", phrases::name_place("g"));
  FOVEA_VERIFY(grammar);
  const std::vector<std::string> tokens{"<", ">", "a", "b", "aaa", "abab>", "aa>"};
  const auto masks = tests::masks_of(*grammar, tokens);
  grammar::Matcher matcher = masks->start();
  QVERIFY(matcher.accept(0).value());
  std::vector<std::uint32_t> bits(1);
  for (int read = 0; read <= 500; ++read) {
    FOVEA_VERIFY(matcher.mask(bits));
    std::vector<TokenId> expected;
    if (read >= 3) expected.push_back(1);
    if (read < 500) expected.insert(expected.end(), {2, 3});
    if (read + 3 <= 500) expected.push_back(4);
    if (read + 4 <= 500) expected.push_back(5);
    if (read + 2 <= 500 && read + 2 >= 3) expected.push_back(6);
    QCOMPARE(tests::allowed_tokens(bits), expected);
    QCOMPARE(matcher.accept(2).value(), read < 500);
  }
}

void MatcherTest::deep_answers_turn_back() {
  const auto grammar =
      grammar::Grammar::from_gbnf("root ::= \"(\" root \")\" | \"x\"", phrases::name_place("g"));
  FOVEA_VERIFY(grammar);
  const std::vector<std::string> tokens{"(", ")", "x", "(((("};
  const auto masks = tests::masks_of(*grammar, tokens);
  grammar::Matcher matcher = masks->start();
  std::vector<std::uint32_t> bits(1);
  std::string text;
  while (!matcher.must_end()) {
    FOVEA_VERIFY(matcher.mask(bits));
    const std::vector<TokenId> ids = tests::allowed_tokens(bits);
    QVERIFY(!ids.empty());
    const TokenId id = bits[0] & 1 ? 0 : ids[0];
    QVERIFY(matcher.accept(id).value());
    text += tokens[static_cast<std::size_t>(id)];
  }
  const std::size_t depth = text.find('x');
  QVERIFY(depth > 500);
  QCOMPARE(text, std::string(depth, '(') + "x" + std::string(depth, ')'));
}

void MatcherTest::what_an_ambiguous_grammar_reads_does_not_multiply() {
  const auto grammar = grammar::Grammar::from_gbnf(
      "root ::= a | b\na ::= \"(\" a \")\" | \"(\" b \")\" | \"x\"\nb ::= \"(\" a \")\" | \"(\" b \")\" | "
      "\"x\"",
      phrases::name_place("g"));
  FOVEA_VERIFY(grammar);
  const std::vector<std::string> tokens{"(", ")", "x"};
  const auto masks = tests::masks_of(*grammar, tokens);
  grammar::Matcher matcher = masks->start();
  QVERIFY(matcher.accept_bytes(std::string(200, '(') + "x" + std::string(199, ')')).value());
  QVERIFY(!matcher.is_complete());
  QVERIFY(matcher.accept(1).value());
  QVERIFY(matcher.must_end());
}

void MatcherTest::a_vocabulary_without_single_bytes() {
  const auto grammar =
      grammar::Grammar::from_gbnf("root ::= \"ab\" (\"c\" | \"xyz\")", phrases::name_place("g"));
  FOVEA_VERIFY(grammar);
  const std::vector<std::string> none{"a", "c"};
  const auto refused =
      grammar::TokenMasks::make(*grammar, std::make_shared<const grammar::VocabularyTrie>(none));
  QVERIFY(!refused);
  QCOMPARE(refused.error().what_words(),
           std::string("the model's vocabulary lacks single bytes that every answer needs"));
  // "x" leads to where no token goes on.
  const std::vector<std::string> some{"a", "b", "c", "x"};
  const auto masks = tests::masks_of(*grammar, some);
  grammar::Matcher matcher = masks->start();
  QVERIFY(matcher.accept_bytes("ab").value());
  std::vector<std::uint32_t> bits(1);
  FOVEA_VERIFY(matcher.mask(bits));
  QCOMPARE(tests::allowed_tokens(bits), std::vector<TokenId>{2});
}

FOVEA_TEST(MatcherTest)
#include "matcher_test.moc"
