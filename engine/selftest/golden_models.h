// The models that the self test carries: made by tests/golden/make_models.py, with the logits that
// transformers computes of them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/text.h"

namespace fovea::selftest {

struct GoldenModel {
  std::string_view name;
  std::span<const std::byte> file;  // GGUF
  std::vector<TokenId> tokens;
  std::vector<float> logits;  // [tokens, vocabulary]
  double tolerance = 0;       // of each logit
};

// qwen3moe in F32, and the same kind with experts in Q4_0. ErrorKind::internal: the program is damaged.
Result<std::vector<GoldenModel>> golden_models();
Result<GoldenModel> quantised_experts();

}  // namespace fovea::selftest
