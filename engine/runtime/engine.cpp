#include "engine/api/engine.h"

#include <algorithm>

#include "engine/core/device_words.h"
#include "engine/core/errors.h"
#include "engine/core/result.h"
#include "engine/precision/use_profile.h"
#include "engine/runtime/entropy.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/routing_record.h"

namespace fovea {

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Engine::~Engine() = default;

const ModelInfo& Engine::info() const {
  return parts_->info;
}

std::shared_ptr<const TextModel> Engine::text() const {
  return parts_->text;
}

const LoadPlan& Engine::plan() const {
  return parts_->plan;
}

MemoryUse Engine::memory() const {
  const runtime::KvCache::Bytes states = parts_->cache->state_bytes();
  const runtime::KvCache::Bytes windows = parts_->cache->window_bytes();
  const bool card = !parts_->device->memory_is_host();
  return {.weights = parts_->model->weight_bytes(),
          .kv_cache = parts_->cache->bytes(),
          .windows = windows.device + (card ? 0 : windows.host),
          .states = states.device + (card ? 0 : states.host),
          .activations = parts_->forward->bytes().device,
          .host_weights = parts_->host_weights ? parts_->host_weights->bytes() : 0,
          .host_buffers = parts_->forward->bytes().host + (card ? states.host + windows.host : 0) +
                          (parts_->precision ? parts_->precision->transfer_bytes() : 0)};
}

std::optional<PrecisionUse> Engine::precision() const {
  if (!parts_->precision) return std::nullopt;
  PrecisionUse use = parts_->precision->use();
  use.accounted_bytes += memory().on_device();
  return use;
}

bool Engine::read_snapshot(Snapshot& snapshot) {
  return parts_->watch && parts_->watch->read_snapshot(snapshot);
}

bool Engine::recall(std::string_view use_profile) {
  if (!parts_->precision || parts_->precision->profile().empty()) return false;
  const std::vector<float> uses =
      precision::decode_use_profile(use_profile, parts_->precision->units().first_units(), parts_->info.name);
  if (uses.empty()) return false;
  parts_->precision->recall(uses);
  return true;
}

bool Engine::rest() {
  if (!parts_->precision) return false;
  const bool under_way = parts_->precision->rest();
  parts_->watch->rest();
  return under_way;
}

Result<std::span<const float>> Engine::Parts::pass(runtime::Sequence& sequence,
                                                   std::span<const TokenId> tokens,
                                                   layers::LogitsWanted wanted, std::int64_t rotary_context,
                                                   const std::stop_token& stop, float temperature,
                                                   runtime::PassWishes wishes) {
  FOVEA_CHECK(sequence.reserve(std::ssize(tokens)));
  layers::PassObserver* observer = watch ? watch->begin_pass(std::ssize(tokens)) : nullptr;
  if (wishes.record) observer = wishes.record->around(observer);
  const std::span<const float> logits = forward->run({.segments = {{.tokens = tokens,
                                                                    .first = sequence.length(),
                                                                    .pages = sequence.pages(),
                                                                    .state = sequence.state(),
                                                                    .logits = wanted,
                                                                    .last_tokens = wishes.last_tokens}},
                                                      .context = rotary_context,
                                                      .temperature = temperature,
                                                      .stop = stop,
                                                      .observer = observer},
                                                     *stream);
  FOVEA_CHECK(check_device());
  if (watch) {
    const auto entropies = [&]() -> std::vector<float> {
      if (!precision || !precision->wants_entropy()) return {};
      const auto largest = forward->top_k();
      return largest ? std::vector{static_cast<float>(largest->entropy)}
                     : runtime::entropies(logits, model->config().vocabulary);
    };
    watch->end_pass(!forward->stopped(), entropies());
  }
  if (precision) {
    if (auto error = precision->take_error()) return std::unexpected(std::move(*error));
  }
  if (forward->stopped()) return fail(phrases::forward_pass_place(), errors::stopped_on_request());
  sequence.commit(tokens);
  if (const std::int64_t spacing = cache->state_spacing(); spacing > 0 && sequence.length() % spacing == 0)
    sequence.save_state();
  return logits;
}

Result<void> Engine::Parts::check_device() const {
  if (const kernels::Failure failure = stream->failure(); !failure.empty())
    return fail(phrases::name_place(device->name()),
                errors::device_failed(phrase_of(failure)).advise(phrases::conversation_is_kept()));
  return {};
}

Result<std::span<const float>> Engine::Parts::prefill(runtime::Sequence& sequence,
                                                      std::span<const TokenId> tokens,
                                                      const AfterChunk& after, const std::stop_token& stop) {
  std::span<const float> logits;
  const auto watched =
      static_cast<std::size_t>(std::max<std::int64_t>(1, precision ? precision->prompt_tokens_watched() : 0));
  if (watch) watch->begin_prompt(std::ssize(tokens));
  for (std::size_t done = 0; done < tokens.size();) {
    std::size_t count = std::min(tokens.size() - done, static_cast<std::size_t>(plan.options.chunk));
    // To where the state is saved, and not beyond.
    if (const std::int64_t spacing = cache->state_spacing(); spacing > 0)
      count = std::min(count, static_cast<std::size_t>(spacing - sequence.length() % spacing));
    const std::size_t behind = tokens.size() - done - count;
    const std::size_t wanted = behind < watched ? std::min(watched - behind, count) : 0;
    FOVEA_TRY(logits,
              pass(sequence, tokens.subspan(done, count),
                   wanted > 0 ? layers::LogitsWanted::last : layers::LogitsWanted::none, plan.options.context,
                   stop, 1, {.last_tokens = static_cast<std::int64_t>(wanted)}));
    done += count;
    if (after) after(static_cast<std::int64_t>(done));
  }
  return logits.empty() ? logits : logits.last(static_cast<std::size_t>(model->config().vocabulary));
}

}  // namespace fovea
