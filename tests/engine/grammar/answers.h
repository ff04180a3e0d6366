// Small vocabularies, and answers that are drawn from masks.
#pragma once

#include <QByteArray>
#include <QTest>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/errors.h"
#include "engine/grammar/matcher.h"
#include "tests/support/test.h"

namespace fovea::tests {

// All bytes, then `more`.
inline std::vector<std::string> bytes_and(std::vector<std::string> more) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

inline std::vector<TokenId> allowed_tokens(std::span<const std::uint32_t> bits) {
  std::vector<TokenId> ids;
  for (std::size_t id = 0; id < bits.size() * 32; ++id) {
    if (bits[id / 32] >> (id % 32) & 1) ids.push_back(static_cast<TokenId>(id));
  }
  return ids;
}

inline bool accepts(const std::shared_ptr<grammar::TokenMasks>& masks, std::string_view text) {
  grammar::Matcher matcher = masks->start();
  return matcher.accept_bytes(text).value_or(false) && matcher.is_complete();
}

inline std::shared_ptr<grammar::TokenMasks> masks_of(const grammar::Grammar& grammar,
                                                     std::span<const std::string> tokens) {
  auto masks = grammar::TokenMasks::make(grammar, std::make_shared<const grammar::VocabularyTrie>(tokens));
  return masks ? *masks : nullptr;
}

inline Result<grammar::Grammar> compiled(grammar::Notation notation, const QByteArray& text) {
  return grammar::Grammar::from(notation, text.toStdString(), phrases::name_place("g"));
}

// What is said of a grammar that is refused; empty: it is not.
inline QByteArray refusal(grammar::Notation notation, const QByteArray& text) {
  const auto grammar = compiled(notation, text);
  return grammar ? QByteArray() : QByteArray::fromStdString(grammar.error().message());
}
inline bool is_invalid(grammar::Notation notation, const std::string& text) {
  const auto grammar = compiled(notation, QByteArray::fromStdString(text));
  return !grammar && grammar.error().kind == ErrorKind::invalid;
}

// The columns "grammar", "text" and "accepted" of a test's row.
inline void check_acceptance(grammar::Notation notation) {
  QFETCH(QByteArray, grammar);
  QFETCH(QByteArray, text);
  QFETCH(bool, accepted);
  const auto made = compiled(notation, grammar);
  FOVEA_VERIFY(made);
  QCOMPARE(accepts(masks_of(*made, bytes_and({})), text.toStdString()), accepted);
}

// The columns "grammar" and "message".
inline void check_refusal(grammar::Notation notation) {
  QFETCH(QByteArray, grammar);
  QFETCH(QByteArray, message);
  const QByteArray found = refusal(notation, grammar);
  QVERIFY2(found.contains(message), found);
}

// As a model that finds all allowed tokens alike would answer with at most `limit` tokens; where the answer
// may end, it does once in eight times. Nothing: it found no token and no end.
template <class Random>
std::optional<std::string> random_answer(grammar::TokenMasks& masks, std::span<const std::string> tokens,
                                         std::int64_t limit, Random& random) {
  grammar::Matcher matcher = masks.start();
  std::vector<std::uint32_t> bits((tokens.size() + 31) / 32);
  std::string answer;
  for (std::int64_t left = limit;; --left) {
    if (matcher.must_end() || (matcher.is_complete() && (left == 0 || random() % 8 == 0))) return answer;
    if (!matcher.mask_within(left, bits)) return {};
    const std::vector<TokenId> ids = allowed_tokens(bits);
    if (ids.empty()) {
      if (matcher.is_complete()) return answer;
      return {};
    }
    const TokenId id = ids[random() % ids.size()];
    if (!matcher.accept(id).value_or(false)) return {};
    answer += tokens[static_cast<std::size_t>(id)];
  }
}

}  // namespace fovea::tests
