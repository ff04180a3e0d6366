#include "engine/grammar/vocabulary_trie.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace fovea::grammar {

namespace {

// A token longer than a node can tell is never allowed.
std::vector<std::string> without_overlong(std::span<const std::string> tokens) {
  std::vector<std::string> kept(tokens.begin(), tokens.end());
  for (std::string& token : kept) {
    if (token.size() > std::numeric_limits<std::uint16_t>::max()) token.clear();
  }
  return kept;
}

}  // namespace

VocabularyTrie::VocabularyTrie(std::span<const std::string> tokens)
    : tokens_(without_overlong(tokens)), size_(tokens.size()), plain_(tokens_) {
  std::vector<std::uint32_t> order(size_);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t id) { return std::string_view(tokens_[id]); });

  std::vector<std::uint32_t> path;  // the nodes of the token before
  std::string_view before;
  const auto leave = [&](std::size_t depth) {
    for (; path.size() > depth; path.pop_back()) {
      nodes_[path.back()].end = static_cast<std::uint32_t>(nodes_.size());
    }
  };
  for (const std::uint32_t id : order) {
    const std::string_view token = tokens_[id];
    if (token.empty()) continue;
    longest_ = std::max(longest_, token.size());
    if (token.size() == 1) has_byte_[static_cast<std::uint8_t>(token[0])] = true;
    const auto common = static_cast<std::size_t>(std::ranges::mismatch(token, before).in1 - token.begin());
    leave(common);
    if (common == token.size()) {  // sorted: the one before is the same
      twins_.push_back({nodes_[path.back()].token, id});
      continue;
    }
    for (std::size_t i = common; i < token.size(); ++i) {
      parents_.push_back(path.empty() ? none : path.back());
      path.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({0, none, static_cast<std::uint16_t>(i + 1), static_cast<std::uint8_t>(token[i])});
    }
    nodes_.back().token = id;
    before = token;
  }
  leave(0);
}

}  // namespace fovea::grammar
