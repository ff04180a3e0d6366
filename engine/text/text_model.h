// What a TextModel holds, for the engine's own use.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "engine/api/text.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

namespace fovea {

namespace checkpoint {
class Checkpoint;
}

namespace text {
// What TextModel::open() does, with a checkpoint that is open already.
Result<std::shared_ptr<const TextModel>> open_text_model(const checkpoint::Checkpoint&);
}  // namespace text

struct TextModel::Parts {
  text::Tokenizer tokenizer;
  // Nothing when the model has none. A template that cannot be read is an error only when it is used.
  std::optional<Result<text::ChatTemplate>> chat_template;
  nlohmann::ordered_json special_tokens;  // bos_token, eos_token … as the template sees them
};

}  // namespace fovea
