// What a replay holds of the model: the trace's experts as units, the tiers with their sizes and what they
// cost, the room that there is for them, and what is offloaded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/api/replay.h"
#include "engine/core/result.h"
#include "engine/eval/trace.h"
#include "engine/precision/planner.h"
#include "engine/precision/policy.h"
#include "engine/precision/units.h"

namespace fovea::eval {

struct Stage {
  precision::PolicyWorld world = {};
  std::vector<std::string> tier_names = {};
  precision::UnitTable units;           // by the trace's layers
  std::vector<std::string> names = {};  // [units] as the tier map calls them
  precision::PlanInputs plan = {};      // of the experts alone
  std::vector<std::size_t> group = {};  // [units] in plan.groups
  std::vector<bool> absent = {};        // [units] offloaded
  std::int64_t cpu_moe_layers = 0;      // that --n-cpu-moe auto found
  precision::ArenaPlan arena = {};      // the blocks for all of it
  std::int64_t on_demand_blocks = 0;    // of these, for units on disk alone
  std::vector<Phrase> notes = {};       // what the user should know
};

// Sizes and damages are the store's where the request names one; else they follow from the bits per weight.
// `largest_pass`: tokens. Errors name the tier, the store or the number that is wrong; ErrorKind::memory when
// the budget is too small.
Result<Stage> set_stage(const ReplayRequest& request, const TraceShape& shape, std::int64_t largest_pass);

// Bytes of the versions that fixed tiers [units] hold.
std::int64_t held_bytes(const precision::PolicyWorld& world, std::span<const std::uint8_t> tiers);

// Fixed tiers as the text of a tier map: a default line, and one for each unit that differs from it.
std::string tier_map_text(const Stage& stage, std::span<const std::uint8_t> tiers,
                          const std::string& comment);

}  // namespace fovea::eval
