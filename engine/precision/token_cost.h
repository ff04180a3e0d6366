// What decoding a token costs where the processor computes some of a card's units: the bytes that each side
// is expected to read, which bound its time from below.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/precision/plan_inputs.h"

namespace fovea::precision {

// How likely a token chooses each unit: a layer's shares add up to the experts that a token uses. From `uses`
// [units], the shares of a profile; empty: every expert alike. Linear layers serve every token.
std::vector<double> chances(const UnitTable& units, std::int64_t experts_used, std::span<const float> uses);

// Bytes of units that a token reads.
struct UnitReads {
  double device = 0, host = 0;
};
// Units on the device count with the mean of the tiers that the plan gives to their like.
UnitReads unit_reads(const UnitPlan& units, const PrecisionPlan& plan, std::span<const double> chances,
                     const std::function<std::int64_t(const models::MatrixSource&)>& host_bytes);

// What the processor's part takes, in seconds: its reads at its memory's speed, for each layer of which it
// has a part a question, and as often as a token chooses one of its experts the way there and back.
struct HostCost {
  std::vector<double> chances = {};      // [units]
  std::vector<std::int64_t> bytes = {};  // [units] in main memory
  double gb_per_s = 0;
  models::LayerRange layers = {};  // of which it is asked; {}: all

  double seconds(const UnitTable& units, const std::vector<bool>& on_host) const;
};

}  // namespace fovea::precision
