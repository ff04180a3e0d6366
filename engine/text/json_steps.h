// Readers of tokenizer.json's "normalizer", "pre_tokenizer", "decoder" and "post_processor".
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/text/tokenizer_parts.h"

namespace fovea::text {

Result<void> read_normalizer(const nlohmann::json&, const Phrase& where, Tokenizer::Parts&);
// Sets byte_level when the words are to be spelled as bytes.
Result<void> read_pretokenizer(const nlohmann::json&, const Phrase& where, Tokenizer::Parts&,
                               bool& byte_level);
Result<void> read_decoder(const nlohmann::json&, const Phrase& where, Tokenizer::Parts&);
Result<void> read_postprocessor(const nlohmann::json&, const Phrase& where, Tokenizer::Parts&);

}  // namespace fovea::text
