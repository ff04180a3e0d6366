// How much each tier of each unit changes the model's output: the price of a tier, as policies and the
// planner want it. Linear layers are measured one by one. Experts are measured layer by layer, and what a
// layer costs is divided among them by their uses and the squared errors of their outputs: one by one they
// would take the model's time for each version, and drown in what any change in an early layer does to the
// rounding and the routing behind it.
#pragma once

#include <stop_token>

#include "engine/api/progress.h"
#include "engine/checkpoint/store.h"
#include "engine/core/result.h"
#include "engine/models/model.h"
#include "engine/precision/calibrate_windows.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "kernels/api/device.h"

namespace fovea::precision {

// What is put into the model, packed for the device that it runs on. `first_tier`: the store's tier that is
// 0 there, since the lowest tiers alone may be.
struct MeasuredVersions {
  const checkpoint::StoreWriter& writer;
  std::int64_t first_tier = 0;
};

// Writes Extent::divergence of every extent that has none: the mean KL divergence in nats over the windows'
// positions; of experts each one's part of it, so that they add up. The model is loaded on `device`, whose
// memory is the host's, as its file has it and is left so; `units` are of its plan, and the store is
// calibrated. Progress counts versions, of experts their units.
Result<void> measure_divergences(models::Model& model, const UnitTable& units, const TierSet& tiers,
                                 const kernels::Device& device, const MeasuredVersions& versions,
                                 checkpoint::StoreWriter& store, const Windows& windows, int threads,
                                 const ProgressSink& progress, const std::stop_token& stop);

// The first of the tiers whose versions are put into the model: of experts the lowest.
std::int64_t first_measured_tier(const UnitTable& units, const TierSet& tiers);

}  // namespace fovea::precision
