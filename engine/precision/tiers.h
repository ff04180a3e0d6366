// Tiers: the storage formats between which a unit can change, and how a version lies in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/units.h"
#include "kernels/api/device.h"

namespace fovea::precision {

struct Tier {
  std::string name;                   // "file", "bf16", "q8", "q4", "q4e", "q3", "q2"
  std::optional<kernels::Type> type;  // none: each matrix as the file has it
};

using TierId = std::uint8_t;  // index in a TierSet; 0 is the highest

// From high to low.
using TierSet = std::vector<Tier>;

// One tier by its name.
Result<Tier> parse_tier(const std::string& name);

// Names the tier that is unknown, given twice, or not below the one before it. "file" counts as what the
// units' matrices have on average.
Result<TierSet> parse_tiers(std::span<const std::string> names, const UnitTable& units);

// The other tiers that take as many bits for each weight; none for "file".
std::vector<Tier> tiers_of_equal_bits(const Tier& tier);

kernels::Type type_of(const Tier& tier, const models::MatrixSource& matrix);
// Of a unit's weights, everything included but the padding between matrices.
double bits_per_weight(const Tier& tier, const Unit& unit);

// A version in memory and in the store: the packed matrices one after the other, each aligned to 64 bytes,
// the whole a multiple of 4,096 bytes, so that it can be read without the page cache.
inline constexpr std::int64_t version_alignment = 4096;
struct VersionLayout {
  std::array<std::int64_t, 3> offsets = {};
  std::int64_t bytes = 0;
};
VersionLayout version_layout(const Tier& tier, const Unit& unit, const kernels::Device& device);

// The handles' content for a version whose bytes begin at `memory`: [unit.part_count] weights.
std::array<kernels::Weight, 3> weights_at(const Tier& tier, const Unit& unit, const kernels::Device& device,
                                          const std::byte* memory);

}  // namespace fovea::precision
