// What a load request's zeros mean, and the KV cache that it asks for. A plan counts with the same numbers.
#pragma once

#include <functional>

#include "engine/api/engine.h"
#include "engine/models/config.h"
#include "engine/models/plan.h"
#include "engine/precision/plan_inputs.h"
#include "engine/runtime/kv_cache.h"

namespace fovea::runtime {

inline constexpr std::int64_t page_tokens = 64;

// ErrorKind::invalid names the number that is out of range.
Result<void> check(const LoadRequest& request);
// The context when none is given: the model's, at most 8,192 tokens. The chunk: 256 tokens, or 128 under a
// policy that moves experts; twice that on a `card`, a device with memory of its own; no longer than the
// context.
void choose_defaults(LoadRequest& settings, const models::ModelConfig& config, bool card);
// What a device with memory of its own has free now, other programs' use taken off; 0 where it is the host's.
std::int64_t free_bytes(const kernels::Device& device);
// What a matrix of the file takes where the processor computes with it, for a plan's Surroundings. The
// checkpoint must outlive what comes back.
std::function<std::int64_t(const models::MatrixSource&)> host_bytes(const checkpoint::Checkpoint& checkpoint,
                                                                    const kernels::Device& processor);
// Counts in a plan what a card's memory being out of the host's reach takes: what passes exchange with it,
// and what is kept free.
void count_card(const models::ModelConfig& config, std::int64_t context, std::int64_t chunk,
                precision::Surroundings& around);
kernels::Type storage_type(KvType kv);
KvCache::Settings kv_settings(const models::ModelConfig& config, std::int64_t context, KvType kv);

}  // namespace fovea::runtime
