#include "engine/grammar/plain_steps.h"

#include <algorithm>
#include <bitset>
#include <utility>

#include "engine/grammar/characters.h"
#include "engine/grammar/plain_tokens.h"

namespace fovea::grammar {
namespace {

constexpr std::size_t ascii = 0x80;

const std::bitset<ascii>& plain_ascii() {
  static const std::bitset<ascii> bytes = [] {
    std::bitset<ascii> set;
    for (char32_t c = 0; c < ascii; ++c) set[c] = plain_characters().contains(c);
    return set;
  }();
  return bytes;
}

// How UTF-8 spells all others: all of them are plain.
const std::vector<std::vector<ByteRange>>& spellings_beyond_ascii() {
  static const std::vector<std::vector<ByteRange>> all = [] {
    std::vector<std::vector<ByteRange>> sequences;
    const CharacterSet beyond = plain_characters() & CharacterSet::of({{ascii, 0x10FFFF}});
    for (const CharacterRange& range : beyond.ranges()) append_utf8_ranges(range, sequences);
    return sequences;
  }();
  return all;
}

}  // namespace

std::optional<Stacks::Id> PlainSteps::from(Stacks::Id at) {
  if (at >= steps_.size()) steps_.resize(at + std::size_t{1});
  if (steps_[at].known == Known::not_yet) {
    const auto to = find(at);
    steps_[at] = {to ? Known::alike : Known::differ, to.value_or(Stacks::dead)};
  }
  if (steps_[at].known == Known::differ) return {};
  return steps_[at].to;
}

std::optional<Stacks::Id> PlainSteps::find(Stacks::Id at) {
  const auto reads = reads_plain_ascii(at);
  if (!reads) return {};
  const Stacks::Id to = *reads ? stacks_.step(at, 'a') : Stacks::dead;
  if (!all_lead_to(to, at)) return {};
  return to;
}

// Whether all of them are read, and lead to the same; nothing: they differ.
std::optional<bool> PlainSteps::reads_plain_ascii(Stacks::Id at) const {
  struct Way {
    Stacks::Entry to;
    std::bitset<ascii> bytes;
  };
  constexpr std::size_t most_ways = 16;
  std::vector<Way> ways;
  for (const Stacks::Entry& entry : stacks_.entries(at)) {
    for (const Rules::ByteEdge& edge : rules_.edges_of(entry.state)) {
      const Stacks::Entry to{edge.to, entry.below};
      auto way = std::ranges::find(ways, to, &Way::to);
      if (way == ways.end()) {
        if (ways.size() == most_ways) return {};
        way = ways.insert(way, {to, {}});
      }
      for (std::size_t byte = edge.first; byte <= edge.last && byte < ascii; ++byte) way->bytes.set(byte);
    }
  }
  bool reads = false;
  for (const Way& way : ways) {
    const auto plain = way.bytes & plain_ascii();
    if (plain.none()) continue;
    if (plain != plain_ascii()) return {};
    reads = true;
  }
  return reads;
}

// Of the plain characters of several bytes.
bool PlainSteps::all_lead_to(Stacks::Id to, Stacks::Id at) {
  for (const auto& spelling : spellings_beyond_ascii()) {
    std::vector<Stacks::Id> reached{at};
    for (const ByteRange& range : spelling) {
      std::vector<Stacks::Id> next;
      for (const Stacks::Id from : reached) {
        for (unsigned byte = range.first; byte <= range.last; ++byte) {
          if (byte > range.first && rules_.class_of_byte[byte] == rules_.class_of_byte[byte - 1]) continue;
          const Stacks::Id step = stacks_.step(from, static_cast<std::uint8_t>(byte));
          if ((step == Stacks::dead) != (to == Stacks::dead)) return false;
          if (step != Stacks::dead && std::ranges::find(next, step) == next.end()) next.push_back(step);
        }
      }
      reached = std::move(next);
    }
    if (std::ranges::any_of(reached, [to](Stacks::Id each) { return each != to; })) return false;
  }
  return true;
}

}  // namespace fovea::grammar
