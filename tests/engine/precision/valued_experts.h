// A small Mixture-of-Experts model whose experts' weights are of a chosen kind.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/core/result.h"

namespace fovea::tests {

// Slabs: random sign, sizes evenly between one and two. A grid: 15 integers times a scale.
enum class Values : std::uint8_t { normal, slabs, grid, zeros, not_finite };

// A GGUF file; `others` are the values of all layers but the first. Drawn with the test's seed.
Result<void> write_valued_experts(const std::filesystem::path& path, Values first_layer, Values others);

}  // namespace fovea::tests
