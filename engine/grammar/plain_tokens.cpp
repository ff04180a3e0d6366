#include "engine/grammar/plain_tokens.h"

#include <algorithm>
#include <string_view>

namespace fovea::grammar {
namespace {

struct Divided {
  std::string_view rest;  // not empty
  PlainTokens::Entry entry;
};

// The plain characters that a token begins with; `at` moves behind them.
std::uint16_t take_plain(std::string_view token, std::size_t& at) {
  std::uint16_t characters = 0;
  while (characters < PlainTokens::most_characters && at < token.size()) {
    std::size_t next = at;
    if (!plain_characters().contains(take_code_point(token, next))) break;
    at = next;
    ++characters;
  }
  return characters;
}

}  // namespace

const CharacterSet& plain_characters() {
  static const CharacterSet set = CharacterSet::of({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}}).complement();
  return set;
}

PlainTokens::PlainTokens(std::span<const std::string> tokens) {
  const std::size_t words = (tokens.size() + 31) / 32;
  up_to_.emplace_back(words);
  std::vector<Divided> divided;
  for (std::uint32_t id = 0; id < tokens.size(); ++id) {
    const std::string_view token = tokens[id];
    if (token.empty()) continue;
    std::size_t at = 0;
    const std::uint16_t characters = take_plain(token, at);
    longest_ = std::max<std::size_t>(longest_, characters);
    if (at < token.size()) {
      divided.push_back({token.substr(at), {id, characters}});
      continue;
    }
    while (up_to_.size() <= characters) up_to_.emplace_back(words);
    up_to_[characters][id / 32] |= std::uint32_t{1} << (id % 32);
  }
  for (std::size_t n = 1; n < up_to_.size(); ++n)
    std::ranges::transform(up_to_[n], up_to_[n - 1], up_to_[n].begin(), std::bit_or());

  std::ranges::sort(divided, [](const Divided& a, const Divided& b) {
    return a.rest != b.rest ? a.rest < b.rest : a.entry.characters < b.entry.characters;
  });
  std::vector<std::uint32_t> path;  // the nodes of the one before
  std::string_view before;
  const auto leave = [&](std::size_t depth) {
    for (; path.size() > depth; path.pop_back())
      nodes_[path.back()].end = static_cast<std::uint32_t>(nodes_.size());
  };
  for (const auto& [rest, entry] : divided) {
    const auto common = static_cast<std::size_t>(std::ranges::mismatch(rest, before).in1 - rest.begin());
    leave(common);
    for (std::size_t i = common; i < rest.size(); ++i) {
      path.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({0, static_cast<std::uint32_t>(entries_.size()), 0, static_cast<std::uint16_t>(i + 1),
                        static_cast<std::uint8_t>(rest[i])});
    }
    ++nodes_[path.back()].count;  // sorted: those with the same rest come one after another
    entries_.push_back(entry);
    deepest_ = std::max(deepest_, rest.size());
    before = rest;
  }
  leave(0);
}

void PlainTokens::allow(std::size_t first, std::size_t last, std::span<std::uint32_t> bits) const {
  last = std::min(last, up_to_.size() - 1);
  if (first > last) return;
  const auto& with = up_to_[last];
  const auto& without = up_to_[first - 1];
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] |= with[i] & ~without[i];
}

}  // namespace fovea::grammar
