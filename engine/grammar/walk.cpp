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

}  // namespace fovea::grammar
