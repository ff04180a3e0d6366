#include "engine/text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "engine/text/character_class.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

bool ends_with_word(std::string_view text) {
  if (text.empty()) return false;
  const char* at = text.data() + text.size();
  return is_word_character(previous_code_point(at));
}

bool begins_with_word(std::string_view text) {
  if (text.empty()) return false;
  const char* at = text.data();
  return is_word_character(next_code_point(at));
}

// Where the white space at the end of `text` begins.
std::size_t trailing_space(std::string_view text) {
  const char* at = text.data() + text.size();
  while (at > text.data()) {
    const char* before = at;
    if (!is_space(previous_code_point(before))) break;
    at = before;
  }
  return static_cast<std::size_t>(at - text.data());
}

std::size_t leading_space(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const char* next = at;
    if (!is_space(next_code_point(next))) break;
    at = next;
  }
  return static_cast<std::size_t>(at - text.data());
}

}  // namespace

std::int32_t AddedTokens::child(std::int32_t node, char byte) const {
  std::int32_t at = nodes_[static_cast<std::size_t>(node)].child;
  while (at >= 0 && nodes_[static_cast<std::size_t>(at)].byte != byte)
    at = nodes_[static_cast<std::size_t>(at)].sibling;
  return at;
}

void AddedTokens::add(AddedToken token) {
  std::int32_t node = 0;
  for (const char byte : token.text) {
    std::int32_t next = child(node, byte);
    if (next < 0) {
      next = static_cast<std::int32_t>(nodes_.size());
      Node& parent = nodes_[static_cast<std::size_t>(node)];
      const Node made{.token = -1, .child = -1, .sibling = parent.child, .byte = byte};
      parent.child = next;
      nodes_.push_back(made);
    }
    node = next;
  }
  first_[static_cast<unsigned char>(token.text[0])] = true;
  nodes_[static_cast<std::size_t>(node)].token = static_cast<std::int32_t>(tokens_.size());
  tokens_.push_back(std::move(token));
}

std::int32_t AddedTokens::longest_match(std::string_view text, std::size_t at) const {
  std::int32_t best = -1;
  std::int32_t node = 0;
  for (; at < text.size(); ++at) {
    node = child(node, text[at]);
    if (node < 0) break;
    if (const std::int32_t token = nodes_[static_cast<std::size_t>(node)].token; token >= 0) best = token;
  }
  return best;
}

void AddedTokens::split(std::string_view text, bool parse_special, std::vector<Part>& parts) const {
  std::size_t done = 0;
  for (std::size_t at = 0; !tokens_.empty() && at < text.size();) {
    if (!first_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const std::int32_t found = longest_match(text, at);
    if (found < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(found)];
    std::size_t begin = at;
    std::size_t end = at + token.text.size();
    at = end;
    if (token.special && !parse_special) continue;
    if (token.single_word && (ends_with_word(text.substr(0, begin)) || begins_with_word(text.substr(end))))
      continue;
    // What an earlier token swallowed stays with it.
    if (token.strip_left) begin = std::max(done, trailing_space(text.substr(0, begin)));
    if (token.strip_right) end += leading_space(text.substr(end));
    if (begin > done) parts.push_back({text.substr(done, begin - done), -1});
    parts.push_back({text.substr(begin, end - begin), token.id});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), -1});
}

}  // namespace fovea::text
