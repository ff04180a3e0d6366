// What every tokeniser must do, whichever file it came from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer.h"

#include "fuzz.h"

namespace fovea::fuzz {

inline void check_text(const text::Tokenizer& tokenizer, std::string_view text, EncodeOptions options) {
  const std::vector<TokenId> tokens = tokenizer.encode(text, options);
  text::StreamDecoder stream(tokenizer);
  std::string streamed;
  for (const TokenId token : tokens) {
    fuzz_check(token >= 0 && token < tokenizer.vocabulary());
    (void)tokenizer.piece(token);
    (void)tokenizer.name(token);
    (void)tokenizer.is_control(token);
    streamed += stream.push(token);
  }
  streamed += stream.finish();
  (void)tokenizer.decode(tokens);
  (void)tokenizer.decode(tokens, true);
  fuzz_check(tokens == tokenizer.encode(text, options));
}

// `extra`: bytes of the input itself, since its vocabulary may know them.
inline void check_tokenizer(const text::Tokenizer& tokenizer, std::string_view extra) {
  fuzz_check(tokenizer.vocabulary() >= 0);
  fuzz_check(tokenizer.bos() >= -1 && tokenizer.bos() < tokenizer.vocabulary());
  fuzz_check(tokenizer.eos() >= -1 && tokenizer.eos() < tokenizer.vocabulary());
  for (const TokenId token : tokenizer.end_of_generation()) {
    fuzz_check(token >= 0 && token < tokenizer.vocabulary());
  }
  for (const TokenId token : {TokenId{-1}, TokenId{0}, static_cast<TokenId>(tokenizer.vocabulary())}) {
    (void)tokenizer.decode(std::vector{token}, true);
  }
  check_text(tokenizer, "", {});
  check_text(tokenizer, "ab  The 12345's\n\n größe 世界 \xf0\x9f\x98\x80 \xff\xc3 <s></s>", {});
  check_text(tokenizer, extra.substr(0, 200), {.add_special = true, .parse_special = true});
}

}  // namespace fovea::fuzz
