#include "engine/text/vocabulary.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fovea::text {
namespace {

constexpr std::size_t block_bytes = 1 << 20;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a *= 0x9E3779B97F4A7C15U;
  a ^= a >> 32;
  return (a ^ b) * 0xD6E8FEB86659FD93U;
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes) {
  std::uint64_t hash = bytes.size() * 0xA0761D6478BD642FU;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t block = 0;
    std::memcpy(&block, bytes.data() + i, 8);
    hash = mix(hash, block);
  }
  std::uint64_t last = 0;
  std::memcpy(&last, bytes.data() + i, bytes.size() - i);
  hash = mix(hash, last);
  return hash ^ (hash >> 29);
}

void Vocabulary::reserve(std::size_t tokens, std::size_t bytes) {
  texts_.reserve(tokens);
  blocks_.emplace_back(std::max(bytes, block_bytes));
  used_ = 0;
}

std::string_view Vocabulary::keep(std::string_view text) {
  if (blocks_.empty() || blocks_.back().size() - used_ < text.size() + 1) {
    blocks_.emplace_back(std::max(block_bytes, text.size() + 1));
    used_ = 0;
  }
  char* const at = blocks_.back().data() + used_;
  std::ranges::copy(text, at);
  used_ += text.size() + 1;  // one more, so that an empty text has an address too
  return {at, text.size()};
}

TokenId Vocabulary::add(std::string_view text) {
  texts_.push_back(keep(text));
  return static_cast<TokenId>(texts_.size() - 1);
}

void Vocabulary::set(TokenId id, std::string_view text) {
  const auto at = static_cast<std::size_t>(id);
  if (at >= texts_.size()) texts_.resize(at + 1);
  texts_[at] = keep(text);
}

void Vocabulary::index() {
  const std::size_t slots = std::bit_ceil(texts_.size() * 2 + 2);
  slots_.assign(slots, -1);
  tags_.assign(slots, 0);
  for (std::size_t id = 0; id < texts_.size(); ++id) {
    if (texts_[id].data() == nullptr) continue;
    const std::uint64_t hash = hash_bytes(texts_[id]);
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t slot = hash & (slots - 1);
    while (slots_[slot] >= 0 && !(tags_[slot] == tag && text(slots_[slot]) == texts_[id]))
      slot = (slot + 1) & (slots - 1);
    if (slots_[slot] >= 0) continue;
    slots_[slot] = static_cast<TokenId>(id);
    tags_[slot] = tag;
  }
}

TokenId Vocabulary::find(std::string_view wanted) const {
  if (slots_.empty()) return -1;
  const std::uint64_t hash = hash_bytes(wanted);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] >= 0) {
    if (tags_[slot] == tag && text(slots_[slot]) == wanted) return slots_[slot];
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return -1;
}

}  // namespace fovea::text
