// What GBNF and regular expressions write alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/grammar/automaton.h"

namespace fovea::grammar {

constexpr int hex_digit(char c) {  // -1: none
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

inline constexpr std::uint32_t largest_count = 1'000'000;

struct Counts {
  std::uint32_t least, most;
};

// n}, n,} and n,m} behind an opening brace; `at` moves behind it. Nothing, and `at` stays: it is none of
// them, or a number is larger than largest_count.
inline std::optional<Counts> take_counts(std::string_view text, std::size_t& at) {
  std::size_t to = at;
  const auto number = [&]() -> std::optional<std::uint32_t> {
    std::uint32_t value = 0;
    const std::size_t begin = to;
    for (; to < text.size() && text[to] >= '0' && text[to] <= '9'; ++to) {
      value = value * 10 + static_cast<std::uint32_t>(text[to] - '0');
      if (value > largest_count) return {};
    }
    if (to == begin) return {};
    return value;
  };
  const auto take = [&](char c) { return to < text.size() && text[to] == c && ++to; };
  const auto least = number();
  if (!least) return {};
  Counts counts{*least, *least};
  if (take(',')) {
    counts.most = Expression::unbounded;
    if (to < text.size() && text[to] != '}') {
      const auto most = number();
      if (!most) return {};
      counts.most = *most;
    }
  }
  if (!take('}')) return {};
  at = to;
  return counts;
}

// *, +, ?, {n}, {n,} or {n,m} behind what is repeated; `at` moves behind it.
struct Repetition {
  enum class Found : std::uint8_t {
    none,
    counts,
    no_counts
  };  // no_counts: a brace with something else in it
  Found found = Found::none;
  Counts counts{0, Expression::unbounded};
};
inline Repetition take_repetition(std::string_view text, std::size_t& at) {
  Repetition repetition;
  const char sign = at < text.size() ? text[at] : '\0';
  if (sign == '+') repetition.counts.least = 1;
  if (sign == '?') repetition.counts.most = 1;
  if (sign != '*' && sign != '+' && sign != '?' && sign != '{') return repetition;
  ++at;
  repetition.found = Repetition::Found::counts;
  if (sign != '{') return repetition;
  const auto counts = take_counts(text, at);
  if (!counts) repetition.found = Repetition::Found::no_counts;
  if (counts) repetition.counts = *counts;
  return repetition;
}

}  // namespace fovea::grammar
