#include "engine/text/unigram.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

constexpr double unknown_penalty = 10;  // below the worst piece, as SentencePiece counts

std::uint64_t edge_key(std::int32_t node, char byte) {
  return (std::uint64_t{static_cast<std::uint32_t>(node)} << 8) | static_cast<unsigned char>(byte);
}

std::size_t edge_slot(std::uint64_t key) {
  key *= 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(key ^ (key >> 32));
}

}  // namespace

Unigram::Unigram(const Vocabulary& vocabulary, const std::vector<UnigramPiece>& usable, TokenId unknown,
                 bool byte_fallback)
    : pieces_(1, {-1, 0}), unknown_(unknown), byte_fallback_(byte_fallback) {
  double worst = 0;
  for (const UnigramPiece& piece : usable) {
    worst = std::min(worst, piece.score);
    std::int32_t node = 0;
    for (const char byte : vocabulary.text(piece.id)) node = insert(node, byte);
    if (node != 0) pieces_[static_cast<std::size_t>(node)] = piece;
  }
  unknown_score_ = worst - unknown_penalty;
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (std::size_t byte = 0; byte < 256; ++byte) {
    byte_tokens_[byte] = vocabulary.find(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + '>');
    if (byte_tokens_[byte] < 0) byte_fallback_ = false;
  }
}

std::int32_t Unigram::child(std::int32_t node, char byte) const {
  const std::uint64_t key = edge_key(node, byte);
  std::size_t slot = edge_slot(key) & (edges_.size() - 1);
  while (edges_[slot].child >= 0) {
    if (edges_[slot].key == key) return edges_[slot].child;
    slot = (slot + 1) & (edges_.size() - 1);
  }
  return -1;
}

void Unigram::grow() {
  std::vector<Edge> old = std::move(edges_);
  edges_.assign(old.size() * 2, {});
  for (const Edge& edge : old) {
    if (edge.child < 0) continue;
    std::size_t slot = edge_slot(edge.key) & (edges_.size() - 1);
    while (edges_[slot].child >= 0) slot = (slot + 1) & (edges_.size() - 1);
    edges_[slot] = edge;
  }
}

std::int32_t Unigram::insert(std::int32_t node, char byte) {
  if (const std::int32_t found = child(node, byte); found >= 0) return found;
  if (pieces_.size() * 2 > edges_.size()) grow();
  const std::uint64_t key = edge_key(node, byte);
  std::size_t slot = edge_slot(key) & (edges_.size() - 1);
  while (edges_[slot].child >= 0) slot = (slot + 1) & (edges_.size() - 1);
  edges_[slot] = {key, static_cast<std::int32_t>(pieces_.size())};
  pieces_.push_back({-1, 0});
  return edges_[slot].child;
}

void Unigram::push_unknown(std::string_view text, std::vector<TokenId>& out) const {
  if (byte_fallback_) {
    for (const char byte : text) out.push_back(byte_tokens_[static_cast<unsigned char>(byte)]);
  } else if (unknown_ >= 0) {
    out.push_back(unknown_);
  }
}

void Unigram::encode(std::string_view text, std::vector<TokenId>& out) const {
  std::vector<Step> steps(text.size() + 1);
  steps[0].reached = true;
  const auto offer = [&](std::size_t from, std::size_t to, double score, TokenId id) {
    score += steps[from].score;
    if (!steps[to].reached || score > steps[to].score) steps[to] = {score, from, id, true};
  };
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const auto from = static_cast<std::size_t>(at - text.data());
    next_code_point(at);
    const auto next = static_cast<std::size_t>(at - text.data());
    bool known = false;
    std::int32_t node = 0;
    for (std::size_t to = from; to < text.size();) {
      node = child(node, text[to]);
      if (node < 0) break;
      ++to;
      const UnigramPiece& piece = pieces_[static_cast<std::size_t>(node)];
      if (piece.id < 0) continue;
      offer(from, to, piece.score, piece.id);
      known = known || to == next;
    }
    if (!known) offer(from, next, unknown_score_, -1);
  }
  std::vector<std::pair<std::size_t, std::size_t>> path;
  for (std::size_t to = text.size(); to > 0; to = steps[to].from) path.emplace_back(steps[to].from, to);
  std::ranges::reverse(path);
  std::size_t unknown_from = std::numeric_limits<std::size_t>::max();
  for (const auto& [from, to] : path) {
    const TokenId id = steps[to].id;
    if (id < 0) {
      unknown_from = std::min(unknown_from, from);
      continue;
    }
    if (unknown_from < from) push_unknown(text.substr(unknown_from, from - unknown_from), out);
    unknown_from = std::numeric_limits<std::size_t>::max();
    out.push_back(id);
  }
  if (unknown_from < text.size()) push_unknown(text.substr(unknown_from), out);
}

}  // namespace fovea::text
