// Where a text spells control tokens ("<|im_end|>").
//
// A user's text may spell one without meaning it. Before a chat template sees a message, protect() puts a
// mark into every such spelling; the template's own control tokens have none. encode() then knows which is
// which: marked spellings become plain text, and the marks are gone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/text.h"
#include "engine/text/tokenizer.h"

namespace fovea::chat {

class ControlTokens {
 public:
  explicit ControlTokens(std::vector<std::string> names);
  explicit ControlTokens(const text::Tokenizer& tokenizer);

  struct Span {
    std::size_t begin = std::string_view::npos;  // npos: none
    std::size_t length = 0;
  };
  // The first spelling at or after `from`; of several that begin there, the longest.
  Span find(std::string_view text, std::size_t from) const;

  std::string protect(std::string_view text, std::string_view mark) const;

 private:
  std::array<std::vector<std::string>, 256> names_;  // by first byte, the longest first
  std::string first_bytes_;
};

// A character for private use that none of the texts contains, as UTF-8.
std::string unused_mark(const std::vector<Message>& messages, std::string_view more = {});

// Tokens of a rendered prompt: control tokens are parsed, except where a spelling has the mark in it.
std::vector<TokenId> encode_protected(const text::Tokenizer& tokenizer, const ControlTokens& control,
                                      std::string_view rendered, std::string_view mark);

}  // namespace fovea::chat
