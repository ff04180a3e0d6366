// What a precision policy adds to loading: the plan, made before any weight is read, and the store; then the
// arena, the first versions and the policy.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "engine/api/engine.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/models/model.h"
#include "engine/precision/plan_inputs.h"
#include "engine/runtime/precision_control.h"

namespace fovea::runtime {

struct PreparedPrecision {
  precision::UnitPlan units;
  precision::PrecisionPlan plan;
  precision::PolicyWorld world;
  std::vector<precision::TierId> first;  // [units], of policies that keep them; empty: the policy chooses
  std::vector<models::HostShare> host;   // [layers] what the processor computes beside the device; or empty
  std::unique_ptr<precision::VersionSource> source;
};

// Where the versions come from in a store's place; nothing is known of what they hurt.
using VersionMaker =
    std::function<std::unique_ptr<precision::VersionSource>(const precision::UnitPlan& units)>;

// Plans and opens the store, which is built first when there is none. Nothing when the request means no
// policy. `settings` with context, chunk and threads chosen; main_memory_bytes are free for what lies beside
// a card. Errors name what is wrong: the budget that would do, the store that does not match.
Result<std::optional<PreparedPrecision>> prepare_precision(
    const checkpoint::Checkpoint& checkpoint, const models::ModelConfig& config, const LoadRequest& settings,
    const kernels::Device& device, std::int64_t main_memory_bytes, const ProgressSink& progress,
    std::stop_token stop, const VersionMaker& versions = {});

// On a device with memory of its own, without a policy: the plan that keeps to that memory, and what of the
// model the processor computes beside it, [layers]. ErrorKind::memory, before any weight is read, says what
// would do and which flags leave more to the processor.
Result<std::vector<models::HostShare>> plan_without_policy(const checkpoint::Checkpoint& checkpoint,
                                                           const models::ModelConfig& config,
                                                           const LoadRequest& settings,
                                                           const kernels::Device& device,
                                                           std::int64_t main_memory_bytes);

// The policy that a request means, for what was prepared.
Result<std::unique_ptr<precision::Policy>> make_policy(const PreparedPrecision& prepared,
                                                       const PrecisionRequest& request);

// Reads the first versions into the arena and publishes them in the model's handles.
Result<std::unique_ptr<PrecisionControl>> start_precision(PreparedPrecision prepared,
                                                          std::unique_ptr<precision::Policy> policy,
                                                          models::Model& model, const LoadRequest& settings,
                                                          const kernels::Device& device,
                                                          const ProgressSink& progress, std::stop_token stop);

}  // namespace fovea::runtime
