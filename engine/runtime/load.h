// Engine::load with a policy of one's own: measurements and tests force swaps with it.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "engine/api/engine.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/layers/forward.h"
#include "engine/precision/policy.h"
#include "engine/runtime/load_precision.h"
#include "kernels/api/device.h"

namespace fovea::runtime {

using PolicyMaker =
    std::function<Result<std::unique_ptr<precision::Policy>>(const precision::PolicyWorld& world)>;

// Told of the engine's forward pass, which stays where it is, to watch it and to say how it shall compute.
using ForwardSink = std::function<void(layers::Forward& forward)>;

// The options' policy says how the arena is cut; an empty maker leaves the choices to it as well. A device
// that is given takes the place of the options', as does another card, `first`, for the first layers, and so
// do facts of what the machine has.
Result<std::unique_ptr<Engine>> load(const LoadOptions& options, const PolicyMaker& policy_maker,
                                     const ProgressSink& progress = {}, std::stop_token stop = {},
                                     const kernels::Device* device = nullptr, const MachineFacts& facts = {},
                                     const ForwardSink& forward = {}, const kernels::Device* first = nullptr);

// Engine::load of a plan that was shown, likewise.
Result<std::unique_ptr<Engine>> load(const LoadPlan& plan, IfChanged if_changed,
                                     const kernels::Device* device, const MachineFacts& facts = {},
                                     const ProgressSink& progress = {}, std::stop_token stop = {},
                                     const kernels::Device* first = nullptr);

// The same for weights that were made elsewhere; the options' model is a name only.
struct Weights {
  checkpoint::Checkpoint checkpoint;
  VersionMaker versions = {};  // of the units, in a store's place, where the options mean a policy
  // That computes what is left to the host; null: the machine's own.
  const kernels::Device* processor = nullptr;
};
Result<std::unique_ptr<Engine>> load(const LoadOptions& options, Weights weights,
                                     const PolicyMaker& policy_maker, const ProgressSink& progress,
                                     std::stop_token stop, const kernels::Device& device,
                                     const ForwardSink& forward = {});

}  // namespace fovea::runtime
