// How much the model's output changes when one unit alone has a tier: the price of each tier of each unit, as
// policies and the planner want it. Expensive: the whole model runs once for each unit and tier.
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

// Writes Extent::divergence, the mean KL divergence in nats over the windows' positions, of every extent that
// has none. The model is loaded on `device`, whose memory is the host's, as its file has it and is left so;
// the store is packed for the other device; `units` are of its plan. Progress counts versions.
Result<void> measure_divergences(models::Model& model, const UnitTable& units, const TierSet& tiers,
                                 const kernels::Device& device, const kernels::Device& packed_for,
                                 checkpoint::StoreWriter& store, const Windows& windows, int threads,
                                 const ProgressSink& progress, const std::stop_token& stop);

}  // namespace fovea::precision
