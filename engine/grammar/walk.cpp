#include "engine/grammar/walk.h"

#include <algorithm>
#include <ranges>

namespace fovea::grammar {

template <class Allow>
void Walk::walk(std::uint32_t begin, std::uint32_t end, Allow allow) {
  const auto nodes = vocabulary_.nodes();
  for (std::uint32_t i = begin; i < end;) {
    const VocabularyTrie::Node& node = nodes[i];
    const Stacks::Id to = stacks_.step(path_[node.depth - 1U], node.byte);
    if (to == Stacks::dead) {
      i = node.end;
      continue;
    }
    if (node.token != VocabularyTrie::none) allow(node.token, to);
    path_[node.depth] = to;
    ++i;
  }
}

TopMask Walk::top(Stacks::Id from) {
  const auto nodes = vocabulary_.nodes();
  TopMask mask;
  mask.bits.resize(vocabulary_.mask_words());
  path_[0] = from;
  open_[0] = stacks_[from].is_unknown;
  for (std::uint32_t i = 0; i < nodes.size();) {
    const VocabularyTrie::Node& node = nodes[i];
    const Stacks::Id to = stacks_.step(path_[node.depth - 1U], node.byte);
    if (to == Stacks::dead) {
      if (open_[node.depth - 1U]) mask.undecided.push_back(i);
      i = node.end;
      continue;
    }
    if (node.token != VocabularyTrie::none) {
      set_bit(mask.bits, node.token);
      mask.distance = std::max(mask.distance, stacks_[to].distance);
    }
    path_[node.depth] = to;
    open_[node.depth] = open_[node.depth - 1U] || stacks_[to].is_unknown;
    ++i;
  }
  return mask;
}

std::uint32_t Walk::decide(Stacks::Id from, std::span<const std::uint32_t> undecided, std::uint32_t distance,
                           std::span<std::uint32_t> bits) {
  const auto nodes = vocabulary_.nodes();
  std::uint32_t largest = 0;
  const auto allow = [&](std::uint32_t token, Stacks::Id to) {
    if (stacks_[to].distance > distance) return;
    set_bit(bits, token);
    largest = std::max(largest, stacks_[to].distance);
  };
  // The nodes above, as far as the path has them.
  std::vector<std::uint32_t> above(path_.size(), VocabularyTrie::none), missing;
  path_[0] = from;
  for (const std::uint32_t root : undecided) {
    std::uint32_t parent = vocabulary_.parent(root);
    missing.clear();
    while (parent != VocabularyTrie::none && above[nodes[parent].depth] != parent) {
      missing.push_back(parent);
      parent = vocabulary_.parent(parent);
    }
    for (const std::uint32_t node : std::views::reverse(missing)) {
      const std::size_t depth = nodes[node].depth;
      path_[depth] = stacks_.step(path_[depth - 1], nodes[node].byte);
      above[depth] = node;
    }
    walk(root, nodes[root].end, allow);
    // The walk went over the path below its root's parent.
    for (std::size_t depth = nodes[root].depth; depth < above.size() && above[depth] != VocabularyTrie::none;
         ++depth) {
      above[depth] = VocabularyTrie::none;
    }
  }
  return largest;
}

void Walk::within(Stacks::Id from, std::uint32_t distance, std::span<std::uint32_t> bits) {
  path_[0] = from;
  walk(0, static_cast<std::uint32_t>(vocabulary_.nodes().size()), [&](std::uint32_t token, Stacks::Id to) {
    if (stacks_[to].distance <= distance) set_bit(bits, token);
  });
}

// The chain is where n plain characters lead, by n.
std::optional<std::uint32_t> Walk::within_plain(Stacks::Id from, PlainSteps& steps, std::uint32_t distance,
                                                std::span<std::uint32_t> bits) {
  const PlainTokens& plain = vocabulary_.plain();
  std::vector<Stacks::Id> chain{from};
  while (chain.size() <= plain.longest()) {
    const auto to = steps.from(chain.back());
    if (!to) return {};
    if (*to == Stacks::dead) break;
    chain.push_back(*to);
  }
  if (chain.size() == 1) return {};
  std::uint32_t largest = allow_plain(chain, distance, bits);

  std::vector<std::vector<Place>> places(1);  // by depth
  for (std::uint16_t n = 0; n < chain.size(); ++n) add_place(places[0], {chain[n], n, n});
  const auto nodes = plain.nodes();
  for (std::uint32_t i = 0; i < nodes.size();) {
    const PlainTokens::Node& node = nodes[i];
    if (places.size() == node.depth) places.emplace_back();
    std::vector<Place>& here = places[node.depth];
    here.clear();
    for (const Place& above : places[node.depth - 1U]) {
      const Stacks::Id to = stacks_.step(above.at, node.byte);
      if (to != Stacks::dead) add_place(here, {to, above.first, above.last});
    }
    if (here.empty()) {
      i = node.end;
      continue;
    }
    largest = std::max(largest, allow_entries(plain.entries_of(node), here, distance, bits));
    ++i;
  }
  return largest;
}

// In rising order of their characters; one with the one before where both stand at the same.
void Walk::add_place(std::vector<Place>& places, const Place& place) {
  if (!places.empty() && places.back().at == place.at && places.back().last + 1 == place.first) {
    places.back().last = place.last;
  } else {
    places.push_back(place);
  }
}

std::uint32_t Walk::allow_plain(std::span<const Stacks::Id> chain, std::uint32_t distance,
                                std::span<std::uint32_t> bits) const {
  std::uint32_t largest = 0;
  for (std::size_t first = 1; first < chain.size(); ++first) {
    std::size_t behind = first;
    for (; behind < chain.size() && stacks_[chain[behind]].distance <= distance; ++behind)
      largest = std::max(largest, stacks_[chain[behind]].distance);
    if (behind > first) vocabulary_.plain().allow(first, behind - 1, bits);
    first = behind;
  }
  return largest;
}

std::uint32_t Walk::allow_entries(std::span<const PlainTokens::Entry> entries, std::span<const Place> places,
                                  std::uint32_t distance, std::span<std::uint32_t> bits) const {
  std::uint32_t largest = 0;
  auto entry = entries.begin();
  for (const Place& place : places) {
    const std::uint32_t at = stacks_[place.at].distance;
    while (entry != entries.end() && entry->characters < place.first) ++entry;
    for (; entry != entries.end() && entry->characters <= place.last; ++entry) {
      if (at > distance) continue;
      set_bit(bits, entry->token);
      largest = std::max(largest, at);
    }
  }
  return largest;
}

}  // namespace fovea::grammar
