// What a tokeniser is made of. Readers of tokenizer.json and of GGUF's keys fill it; tokenizer.cpp runs it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "engine/text/added_tokens.h"
#include "engine/text/bpe.h"
#include "engine/text/decoders.h"
#include "engine/text/normalize.h"
#include "engine/text/pretokenize.h"
#include "engine/text/tokenizer.h"
#include "engine/text/unigram.h"
#include "engine/text/vocabulary.h"
#include "engine/text/word_piece.h"

namespace fovea::text {

struct Tokenizer::Parts {
  Vocabulary vocabulary;
  std::vector<bool> control;     // by id
  AddedTokens added;             // found in the text as it is
  AddedTokens added_normalized;  // found in the normalised text
  std::vector<NormalizeStep> normalize;
  std::vector<PretokenizeStep> pretokenize;
  std::variant<std::monostate, Bpe, Unigram, WordPiece, WordLevel> model;  // a reader sets one
  DecodePlan decode;
  std::vector<TokenId> before, after;  // what add_special puts around the text
  TokenId bos = -1;
  TokenId eos = -1;
  std::vector<TokenId> end_of_generation;
  bool answers_have_parts = false;  // <|end|> ends one of them, not the answer

  void encode_words(std::string_view text, bool at_start, std::vector<TokenId>& out, BpeScratch&,
                    Words&) const;
};

// Largest id that a file may name, so that a few bytes cannot ask for gigabytes.
constexpr std::int64_t largest_vocabulary = 1 << 24;

// eos, and the tokens that models in the wild end an answer with, found by name among control tokens.
void find_end_of_generation(Tokenizer::Parts&);
void add_end_of_generation(Tokenizer::Parts&, TokenId);  // -1: nothing
// generation_config.json's "eos_token_id", one id or a list.
void add_ends_of(const nlohmann::json& generation_config, Tokenizer::Parts&);

}  // namespace fovea::text
