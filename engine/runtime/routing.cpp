// What the routers choose while a sequence is computed.
#include <algorithm>

#include "engine/api/engine.h"
#include "engine/core/result.h"
#include "engine/runtime/entropy.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/routing_record.h"

namespace fovea {
namespace {

std::int64_t file_bytes(const kernels::Weight& weight) {
  return weight.rows * kernels::row_bytes(weight.type, weight.columns);
}

}  // namespace

std::vector<ExpertLayer> Engine::Parts::expert_layers() const {
  std::vector<ExpertLayer> found;
  for (std::int64_t number = 0; number < model->config().layer_count(); ++number) {
    const std::vector<kernels::Expert>& experts = layer(number).experts;
    if (experts.empty()) continue;
    const kernels::Expert& expert = experts.front();
    ExpertLayer each{.layer = number, .experts = static_cast<std::int32_t>(experts.size())};
    for (const kernels::Weight* weight : {&expert.gate, &expert.up, &expert.down}) {
      each.parameters += weight->rows * weight->columns;
      each.file_bytes += file_bytes(*weight);
    }
    found.push_back(each);
  }
  return found;
}

std::vector<ExpertLayer> Engine::expert_layers() const {
  return parts_->expert_layers();
}

std::span<const float> Engine::calibrated_uses() const {
  return parts_->precision ? parts_->precision->calibrated_uses() : std::span<const float>();
}

Result<void> Engine::routing(std::span<const TokenId> tokens, std::int64_t chunk, const RoutingSink& sink,
                             std::stop_token stop) {
  Parts& parts = *parts_;
  const std::lock_guard turn(parts.turn);
  const std::int64_t vocabulary = parts.model->config().vocabulary, length = std::ssize(tokens);
  if (length < 1 || length > parts.plan.options.context)
    return fail(phrases::option_place("tokens"),
                errors::tokens_beyond_context(length, parts.plan.options.context));
  runtime::RoutingRecord record(expert_layers(), parts.model->config().experts_used());
  runtime::Sequence sequence = parts.cache->begin({}, 0);
  while (sequence.length() < length) {
    const std::int64_t first = sequence.length();
    const std::int64_t count = std::min({length - first, chunk, parts.plan.options.chunk});
    // All logits are wanted: else the last layer would not route all tokens.
    const runtime::PassPart part{
        .sequence = &sequence,
        .tokens = tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
        .wanted = layers::LogitsWanted::all};
    FOVEA_TRY(const std::span<const float> logits,
              parts.pass({&part, 1}, parts.plan.options.context, stop, &record));
    FOVEA_CHECK(sink(
        {.tokens = count, .entropy = runtime::mean_entropy(logits, vocabulary), .layers = record.layers()}));
  }
  sequence.discard();
  return {};
}

}  // namespace fovea
