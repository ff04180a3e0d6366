// From tokens back to text: the decoder steps of tokenizer.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fovea::text {

struct DecodeReplace {
  std::string from, to;
};
struct DecodeStrip {
  std::string character;
  std::size_t left, right;
};  // of each token
struct DecodeMetaspace {
  std::string replacement;
  bool strip_first;
};
struct DecodeSuffix {
  std::string suffix;
};  // BPEDecoder: the suffix becomes a blank, but at the end
struct DecodeWordPiece {
  std::string prefix;  // of pieces that go on with a word; others begin one with a blank
  bool cleanup;        // no blank before punctuation and English contractions
};

using DecodeStep = std::variant<DecodeReplace, DecodeStrip, DecodeMetaspace, DecodeSuffix, DecodeWordPiece>;

// tokenizer_config.json's "clean_up_tokenization_spaces" is left alone. transformers 5 ignores it for BPE,
// where it would eat blanks that the model wrote; DecodeWordPiece cleans up token by token; and in unigram
// models text that was streamed cannot lose a blank afterwards.
struct DecodePlan {
  bool byte_level = false;     // tokens are spelled in GPT-2's alphabet
  bool byte_fallback = false;  // <0xXX> tokens are bytes
  bool join_with_space = false;
  std::vector<DecodeStep> steps;  // for each token by itself
  std::string strip_character;    // of the whole text's beginning, at most strip_left of them
  std::size_t strip_left = 0;
};

// What one token adds. `first`: no token of the text stands before it.
struct DecodedToken {
  bool bytes = false;  // may be a part of a character
  std::string text;
};
DecodedToken decode_token(const DecodePlan&, std::string_view token, bool first, bool last);

}  // namespace fovea::text
