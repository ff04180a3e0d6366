#include "engine/text/word_piece.h"

#include <algorithm>
#include <utility>

#include "engine/text/utf8.h"

namespace fovea::text {

WordPiece::WordPiece(const Vocabulary& vocabulary, WordPieceOptions options) : options_(std::move(options)) {
  for (TokenId id = 0; id < vocabulary.size(); ++id)
    longest_bytes_ = std::max(longest_bytes_, vocabulary.text(id).size());
}

TokenId WordPiece::longest_piece(const Vocabulary& vocabulary, const std::string& prefix,
                                 std::string_view rest, std::size_t& bytes) const {
  if (longest_bytes_ <= prefix.size()) return -1;
  std::string piece = prefix;
  piece += rest.substr(0, longest_bytes_ - prefix.size());
  for (; piece.size() > prefix.size(); piece.pop_back()) {
    bytes = piece.size() - prefix.size();
    const bool inside = bytes < rest.size() && (static_cast<unsigned char>(rest[bytes]) & 0xC0) == 0x80;
    if (inside) continue;
    if (const TokenId id = vocabulary.find(piece); id >= 0) return id;
  }
  return -1;
}

void WordPiece::encode(const Vocabulary& vocabulary, std::string_view word, std::vector<TokenId>& out) const {
  const auto characters =
      std::ranges::count_if(word, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  const std::size_t before = out.size();
  bool known = static_cast<std::size_t>(characters) <= options_.longest;
  for (std::size_t at = 0, bytes = 0; known && at < word.size(); at += bytes) {
    const std::string& prefix = at == 0 ? options_.start : options_.continuation;
    const TokenId id = longest_piece(vocabulary, prefix, word.substr(at), bytes);
    known = id >= 0;
    if (known) out.push_back(id);
  }
  if (known) return;
  out.resize(before);
  out.push_back(options_.unknown);
}

}  // namespace fovea::text
