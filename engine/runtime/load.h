// Engine::load with a policy of one's own: measurements and tests force swaps with it.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "engine/api/engine.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/layers/forward.h"
#include "engine/precision/policy.h"
#include "kernels/api/device.h"

namespace fovea::runtime {

using PolicyMaker =
    std::function<Result<std::unique_ptr<precision::Policy>>(const precision::PolicyWorld& world)>;

// Told of the engine's forward pass, which stays where it is, to watch it and to say how it shall compute.
using ForwardSink = std::function<void(layers::Forward& forward)>;

// The request's policy says how the arena is cut; an empty maker leaves the choices to it as well. A device
// that is given takes the place of the request's, and so does main memory of what the machine has free.
Result<std::unique_ptr<Engine>> load(const LoadOptions& options, const PolicyMaker& policy_maker,
                                     const ProgressSink& progress = {}, std::stop_token stop = {},
                                     const kernels::Device* device = nullptr,
                                     std::int64_t main_memory_bytes = 0, const ForwardSink& forward = {});

// The same for weights that are no file's, with routing that is made up: see Parts::routing. Without a
// tokeniser and without a store; the request's model is a name only.
struct MadeWeights {
  checkpoint::Checkpoint checkpoint;
  std::function<const std::int32_t*(std::int64_t tokens)> routing;
  std::uint64_t seed = 1;  // of the units' versions, where the request means a policy
  PolicyMaker policy_maker = {};
};
Result<std::unique_ptr<Engine>> load_made(const LoadOptions& options, MadeWeights made,
                                          const ProgressSink& progress = {}, std::stop_token stop = {},
                                          const kernels::Device* device = nullptr);

}  // namespace fovea::runtime
