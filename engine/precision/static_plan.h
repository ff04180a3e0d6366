// The best fixed map of a budget, and the plan whose arena holds it: which units stand highest follows from
// what each tier costs in quality, and is chosen by bytes, since units may differ in size.
#pragma once

#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/plan_inputs.h"
#include "engine/precision/planner.h"

namespace fovea::precision {

struct StaticPlan {
  PrecisionPlan plan;
  std::vector<TierId> tiers;  // [units]; no_tier: offloaded
};

// `loss` [units, tiers]: what a unit at a tier costs, see expected_loss(). Without a budget everything is at
// the highest tier, unless time counts. ErrorKind::memory as plan_precision.
// `policy`: fovea keeps spare blocks beside the map, static_tiers and offload none.
Result<StaticPlan> plan_static(const UnitPlan& units, std::span<const double> loss);
// For units that are known by their sizes alone: `group` [units] in the inputs' groups; `absent` [units].
Result<StaticPlan> plan_static(const PlanInputs& inputs, std::span<const std::size_t> group,
                               const std::vector<bool>& absent, std::span<const double> loss,
                               PolicyKind policy = PolicyKind::static_tiers);

// What a policy may know of a plan: how many units each tier has room for, and how many may be on their way.
void give_room(const PrecisionPlan& plan, PolicyWorld& world);

}  // namespace fovea::precision
