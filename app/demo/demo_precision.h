// The budget that the demo starts with, so that its experts move: chosen by measurement, see docs/demo.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/api/precision.h"
#include "engine/core/result.h"

namespace fovea::app {

// High, low.
std::vector<std::string> demo_tiers();

// Experts move between the two (fovea), within a budget that is 45 % of the way from all experts at the low
// one to all at the high one, as the planner counts it for this context (0: automatic).
Result<PrecisionRequest> demo_precision(const std::filesystem::path& model,
                                        const std::filesystem::path& stores, std::int64_t context);

// Whether the store is there that this needs.
bool demo_is_prepared(const std::filesystem::path& model, const std::filesystem::path& stores);

}  // namespace fovea::app
