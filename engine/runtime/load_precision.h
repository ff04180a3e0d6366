// What a policy adds to loading, behind the plan: the store, the arena and its first versions.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "engine/api/engine.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/models/host_weights.h"
#include "engine/models/model.h"
#include "engine/runtime/load_plan.h"
#include "engine/runtime/precision_control.h"

namespace fovea::runtime {

// Where the versions come from in a store's place.
using VersionMaker =
    std::function<std::unique_ptr<precision::VersionSource>(const precision::UnitPlan& units)>;

// Measured, of what swaps share with decoding: the memory, or the link to a device that has its own. 0: it
// could not be measured.
double shared_gb_per_s(const kernels::Device& device, int threads);
// Of what they share, that swaps may take: where versions are read, and what experts that change places with
// the host's copy, while decoding leaves the link to a card alone.
inline constexpr double traffic_share = 0.05, places_traffic_share = 0.5;
// What is asked for, else a share of what they share; 0: none.
double traffic_limit_gb_per_s(const PrecisionRequest& request, const std::function<double()>& shared,
                              double share = traffic_share);

// Makes the store that the plan asks for and that is not there yet.
Result<void> build_store(const checkpoint::Checkpoint& checkpoint, const PlannedLoad& planned,
                         const kernels::Device& device, const ProgressSink& progress, std::stop_token stop);

// A card, or the processor, and what it begins with. Where experts change places they come from `host`, which
// learns who has them, and there is no other source.
struct CardLoad {
  PlannedLoad planned;
  std::unique_ptr<precision::VersionSource> source;
  std::unique_ptr<precision::Policy> policy;
  models::Model& model;
  models::HostWeights* host = nullptr;
  const kernels::Device& device;
};
// Reads the first versions into the arenas and publishes them in the models' handles.
Result<std::unique_ptr<PrecisionControl>> start_precision(std::vector<CardLoad> cards,
                                                          const ProgressSink& progress, std::stop_token stop);

}  // namespace fovea::runtime
