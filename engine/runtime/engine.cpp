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
#include "engine/runtime/scheduler.h"

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
          .activations = parts_->forward->bytes().device +
                         (parts_->precision ? parts_->precision->cards().back().own_bytes() : 0),
          .host_weights = parts_->host_weight_bytes(),
          .host_cache = parts_->precision ? parts_->precision->cached_bytes() : 0,
          .host_buffers = parts_->forward->bytes().host +
                          (parts_->first_device ? 0 : parts_->cache->first_bytes()) +
                          (card ? states.host + windows.host : 0) +
                          (parts_->precision ? parts_->precision->transfer_bytes() : 0),
          .first_card = parts_->first_card_bytes()};
}

std::optional<PrecisionUse> Engine::precision() const {
  const std::lock_guard turn(parts_->turn);
  if (!parts_->precision) return std::nullopt;
  PrecisionUse use = parts_->precision->use();
  use.accounted_bytes += memory().on_device() + parts_->first_card_bytes() - parts_->first_arena_bytes();
  return use;
}

bool Engine::read_snapshot(Snapshot& snapshot) {
  return parts_->watch && parts_->watch->read_snapshot(snapshot);
}

bool Engine::recall(std::string_view use_profile) {
  const std::lock_guard turn(parts_->turn);
  if (!parts_->precision || parts_->precision->profile().empty()) return false;
  const std::vector<float> uses =
      precision::decode_use_profile(use_profile, parts_->precision->units().first_units(), parts_->info.name);
  if (uses.empty()) return false;
  parts_->precision->recall(uses);
  return true;
}

bool Engine::rest() {
  if (!parts_->precision) return false;
  const std::unique_lock turn(parts_->turn, std::try_to_lock);
  if (!turn) return true;
  const bool under_way = parts_->precision->rest();
  parts_->watch->rest();
  return under_way;
}

std::int64_t runtime::PassPart::wanted_rows() const {
  switch (wanted) {
    case layers::LogitsWanted::none:
      return 0;
    case layers::LogitsWanted::last:
      return last_tokens;
    case layers::LogitsWanted::all:
      return std::ssize(tokens);
    case layers::LogitsWanted::top_k:
      break;
  }
  return 1;
}

Result<std::span<const float>> Engine::Parts::pass(std::span<const runtime::PassPart> of,
                                                   std::int64_t rotary_context, const std::stop_token& stop,
                                                   runtime::RoutingRecord* record) {
  layers::Pass pass{.segments = {}, .context = rotary_context, .stop = stop};
  std::vector<runtime::UnitWatch::Share> shares;
  for (const runtime::PassPart& part : of) {
    FOVEA_CHECK(part.sequence->reserve(std::ssize(part.tokens)));
    pass.segments.push_back({.tokens = part.tokens,
                             .first = part.sequence->length(),
                             .pages = part.sequence->pages(),
                             .pages_revision = part.sequence->pages_revision(),
                             .state = part.sequence->state(),
                             .logits = part.wanted,
                             .last_tokens = part.last_tokens,
                             .temperature = part.temperature,
                             .hidden = part.hidden,
                             .is_prompt = part.is_prompt});
    shares.push_back({.sequence = part.sequence->id(),
                      .tokens = std::ssize(part.tokens),
                      .is_prompt = part.is_prompt,
                      .wanted = part.wanted_rows(),
                      .record = part.record});
  }
  if (watch) pass.observer = watch->begin_pass(shares);
  if (record) pass.observer = record->around(pass.observer);
  const std::span<const float> logits = forward->run(pass, *stream);
  FOVEA_CHECK(check_device());
  const std::optional<std::int64_t> late = forward->take_late();
  if (watch) {
    const auto entropies = [&]() -> std::vector<float> {
      if (!precision || !precision->wants_entropy()) return {};
      if (!logits.empty()) return runtime::entropies(logits, model->config().vocabulary);
      std::vector<float> of_rows;
      for (std::int64_t row = 0; const auto largest = forward->top_k(row); ++row)
        of_rows.push_back(static_cast<float>(largest->entropy));
      return of_rows;
    };
    watch->end_pass(!forward->stopped() && !late, entropies());
  }
  if (precision) {
    if (auto error = precision->take_error()) return std::unexpected(std::move(*error));
  }
  if (forward->stopped()) return fail(phrases::forward_pass_place(), errors::stopped_on_request());
  if (late)
    return fail(phrases::name_place(device->name()),
                errors::processor_is_late(kernels::host_patience_s, *late));
  for (const runtime::PassPart& part : of) {
    part.sequence->commit(part.tokens);
    if (const std::int64_t spacing = cache->state_spacing();
        spacing > 0 && !part.hidden && part.sequence->length() % spacing == 0)
      part.sequence->save_state();
  }
  return logits;
}

Result<void> Engine::Parts::check_device() const {
  const auto check = [](const kernels::Device& on, const kernels::Stream& in) -> Result<void> {
    const kernels::Failure failure = in.failure();
    if (failure.empty()) return {};
    return fail(phrases::name_place(on.name()),
                errors::device_failed(phrase_of(failure)).advise(phrases::conversation_is_kept()));
  };
  if (first_device != nullptr) FOVEA_CHECK(check(*first_device, *forward->first_stream()));
  return check(*device, *stream);
}

std::int64_t Engine::Parts::prompt_pass_tokens() const {
  const std::int64_t most = plan.options.chunk;
  if (!precision) return most;
  // Recurrent layers take so many at once, and with fewer than streams_from() the processor would compute
  // what is kept off the device.
  const std::int64_t unit = cache->state_spacing() > 0 ? kernels::recurrent_chunk : 1;
  const std::int64_t wanted = precision->prompt_pass_tokens(most);
  return std::clamp(wanted - wanted % unit, std::min(std::max(unit, forward->streams_from()), most), most);
}

std::int64_t Engine::Parts::slice(const runtime::Sequence& sequence, std::int64_t left,
                                  std::int64_t most) const {
  const std::int64_t unit = cache->state_spacing() > 0 ? kernels::recurrent_chunk : 1;
  std::int64_t count = std::min(left, most);
  if (count < left && count > unit) count -= count % unit;
  if (const std::int64_t spacing = cache->state_spacing(); spacing > 0)
    count = std::min(count, spacing - sequence.length() % spacing);
  return count;
}

Result<std::span<const float>> Engine::Parts::prefill(runtime::Sequence& sequence,
                                                      std::span<const TokenId> tokens,
                                                      const AfterChunk& after, const std::stop_token& stop) {
  std::span<const float> logits;
  const auto watched =
      static_cast<std::size_t>(std::max<std::int64_t>(1, precision ? precision->prompt_tokens_watched() : 0));
  if (watch) watch->begin_prompt();
  for (std::size_t done = 0; done < tokens.size();) {
    const auto count = static_cast<std::size_t>(
        slice(sequence, std::ssize(tokens) - static_cast<std::int64_t>(done), prompt_pass_tokens()));
    const std::size_t behind = tokens.size() - done - count;
    const std::size_t wanted = behind < watched ? std::min(watched - behind, count) : 0;
    const runtime::PassPart part{
        .sequence = &sequence,
        .tokens = tokens.subspan(done, count),
        .wanted = wanted > 0 ? layers::LogitsWanted::last : layers::LogitsWanted::none,
        .last_tokens = static_cast<std::int64_t>(wanted),
        .is_prompt = true};
    FOVEA_TRY(logits, pass({&part, 1}, plan.options.context, stop));
    done += count;
    if (after) after(static_cast<std::int64_t>(done));
  }
  return logits.empty() ? logits : logits.last(static_cast<std::size_t>(model->config().vocabulary));
}

}  // namespace fovea
