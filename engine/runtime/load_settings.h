// What the zeros of load options mean, and the KV cache that they ask for.
#pragma once

#include <optional>

#include "engine/api/engine.h"
#include "engine/layers/staging.h"
#include "engine/models/config.h"
#include "engine/models/plan.h"
#include "engine/precision/plan_inputs.h"
#include "engine/runtime/kv_cache.h"

namespace fovea::runtime {

inline constexpr std::int64_t page_tokens = 64;
// Experts that are brought to a card for a prompt come once for each pass.
inline constexpr std::int64_t streaming_chunk = 2048;

// ErrorKind::invalid names the number that is out of range.
Result<void> check(const LoadOptions& options);
// The context when none is given: the model's, at most 8,192 tokens. The chunk: 256 tokens, or 128 under a
// policy that moves experts; twice that on a `card`, a device with memory of its own, where a plan may make
// it streaming_chunk (chunk_may_grow); no longer than the context. The threads: the physical cores.
void choose_defaults(LoadOptions& options, const models::ModelConfig& config, bool card);
// What is to be said of a context that is longer than the trained one.
std::optional<Phrase> context_note(std::int64_t context, const models::ModelConfig& config);
// Counts in a plan what a card's memory being out of the host's reach takes: what passes exchange with it,
// what brings experts to it, of which `largest_expert` bytes lie in main memory at most, and what is kept
// free. `goes_on`: on another card.
void count_card(const models::ModelConfig& config, const LoadOptions& options, bool goes_on,
                std::int64_t largest_expert, precision::Surroundings& around);
kernels::Type storage_type(KvType kv);
// What windows no longer see is kept to return to in a gibibyte at most, but for twice a window.
PageShape page_shape(const models::ModelConfig& config, const LoadOptions& options);
KvCache::Settings kv_settings(const models::ModelConfig& config, const LoadOptions& options);
models::StatePlan plan_states(const models::ModelConfig& config, const LoadOptions& options);
// Of a pass: a chunk of prompts, and a token of each other answer.
std::int64_t max_pass_tokens(const LoadOptions& options);
layers::PassLimits pass_limits(const models::ModelConfig& config, const LoadOptions& options);

}  // namespace fovea::runtime
