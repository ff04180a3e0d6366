// Models with random weights, and what transformers computes with them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/text.h"
#include "kernels/api/device.h"

namespace fovea::tests {

inline constexpr double tolerance = 1e-4;

struct Case {
  std::string name;
  std::filesystem::path model;
  std::vector<TokenId> tokens;
  std::vector<float> expected;      // [rows, vocabulary]
  bool quantised = false;           // the weights are blocks
  std::vector<std::size_t> rows{};  // of the logits, ascending; empty: all
};

const std::vector<Case>& cases();
const Case& case_named(std::string_view name);
// Those of make_families.py: published folders, and the peer's GGUF of each.
const std::vector<Case>& family_cases();

// The largest difference from what is expected. With weights in blocks the CPU's activations are 8-bit
// blocks: a step is 1/254 of a block's largest value, and what a few layers make of it stays below 3 % of the
// largest logit. A wrong row, block or expert is far above.
double allowed(const Case& c, const kernels::Device& device);

}  // namespace fovea::tests
