// The values of GGUF's tokenizer.ggml.pre: which patterns cut words, and what else the name implies.
#pragma once

#include <span>
#include <string_view>

namespace fovea::text {

struct PreTokenizer {
  std::span<const std::string_view> patterns;  // applied one after the other
  bool ignore_merges = false;
  bool adds_bos = false;    // unless tokenizer.ggml.add_bos_token says otherwise
  bool characters = false;  // SentencePiece's way in a BPE: blanks become U+2581, symbols are characters
  bool nfc = false;         // the model's tokenizer.json normalises, which GGUF does not say
};

// Null when the name is not known.
const PreTokenizer* find_pre_tokenizer(std::string_view name);

}  // namespace fovea::text
