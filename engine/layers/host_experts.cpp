#include "engine/layers/host_experts.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <string>
#include <utility>

#include "engine/core/log.h"
#include "engine/layers/errors.h"
#include "engine/layers/layout.h"

namespace fovea::layers {

namespace {

// Looks at a question before the driver is asked whether all is well, and how long that goes on before the
// device is waited for with its own patience.
constexpr int polls_at_once = 1024;
constexpr std::chrono::seconds longest_wait{10};
// By which the processor's speed in prompts is measured: some milliseconds.
constexpr std::int64_t sampled_tokens = 64;

std::atomic_ref<std::uint32_t> shared_word(std::uint32_t* words, std::int64_t layer) {
  return std::atomic_ref(words[layer]);
}

}  // namespace

void HostExperts::Shared::each(const models::ModelConfig& config, std::int64_t max_tokens, Layout& layout) {
  layout(x, max_tokens * config.hidden);
  layout(out, max_tokens * config.hidden);
  layout(ids, kernels::max_quantised_rows * config.experts_used());
  layout(weights, kernels::max_quantised_rows * config.experts_used());
  layout(asked, config.layer_count());
  layout(answered, config.layer_count());
  layout(late, 1);
}

std::int64_t HostExperts::host_bytes(const models::ModelConfig& config, std::int64_t max_tokens) {
  Layout layout;
  Shared{}.each(config, max_tokens, layout);
  return layout.bytes;
}

HostExperts::HostExperts(const models::ModelConfig& config, const kernels::Device& device,
                         const HostPart& host, std::int64_t max_tokens, kernels::HostRound* rounds)
    : config_(config),
      device_(device),
      host_(*host.device),
      weights_(*host.weights),
      max_tokens_(max_tokens),
      uses_per_token_(host.uses_per_token),
      threads_(host_.make_stream({.threads = host.threads})),
      event_(device.make_event()),
      device_rounds_(rounds),
      rounds_(static_cast<std::size_t>(config.layer_count())) {}

HostExperts::~HostExperts() {
  if (pinned_ != nullptr) device_.release_host(pinned_, host_bytes(config_, max_tokens_));
}

bool HostExperts::allocate() {
  pinned_ = device_.allocate_host(host_bytes(config_, max_tokens_));
  if (pinned_ == nullptr || threads_ == nullptr || event_ == nullptr) return false;
  Layout layout{.memory = pinned_};
  shared_.each(config_, max_tokens_, layout);
  std::fill_n(shared_.asked, config_.layer_count(), 0U);
  std::fill_n(shared_.answered, config_.layer_count(), 0U);
  *shared_.late = 0;
  return !asks() || begin_rounds();
}

// At zero, as the host's.
bool HostExperts::begin_rounds() {
  const auto stream = device_.make_stream({.background = true});
  if (stream == nullptr) return false;
  const std::vector<kernels::HostRound> zeros(rounds_.size());
  device_.copy(reinterpret_cast<std::byte*>(device_rounds_), reinterpret_cast<const std::byte*>(zeros.data()),
               static_cast<std::int64_t>(zeros.size() * sizeof(kernels::HostRound)), *stream);
  stream->synchronize();
  return stream->failure().empty();
}

Result<std::unique_ptr<HostExperts>> HostExperts::create(const models::ModelConfig& config,
                                                         const kernels::Device& device, const HostPart& host,
                                                         std::int64_t max_tokens,
                                                         kernels::HostRound* rounds) {
  assert(host.device->memory_is_host());
  std::unique_ptr<HostExperts> experts(new HostExperts(config, device, host, max_tokens, rounds));
  if (!experts->allocate())
    return fail(phrases::forward_pass_place(),
                errors::no_memory_for_host_experts(Bytes{host_bytes(config, max_tokens)}));
  FOVEA_CHECK(experts->begin_streaming(host.stream));
  return experts;
}

Result<void> HostExperts::begin_streaming(const StreamSettings& settings) {
  const bool can = device_.operations().repack != nullptr && config_.experts() > 0;
  if (settings.from_tokens == StreamSettings::never || !can) return {};
  auto streamed = StreamedExperts::create(config_, device_, weights_, max_tokens_, settings.part_bytes);
  const bool asked_for = settings.from_tokens != StreamSettings::measured;
  if (!streamed && asked_for) return std::unexpected(std::move(streamed).error());
  if (!streamed) {
    not_streamed_ = std::move(streamed).error();
    return {};
  }
  streamed_ = *std::move(streamed);
  stream_from_ = asked_for ? settings.from_tokens : measured_stream_from();
  if (!asked_for && stream_from_ > max_tokens_) {
    not_streamed_ = errors::streaming_does_not_pay(stream_from_, max_tokens_);
    streamed_.reset();
  }
  return {};
}

std::int64_t HostExperts::measured_stream_from() {
  std::int64_t layer = 0, layers = 0;
  double evenly = 0;  // experts of the host's that a token uses, if all are used alike
  for (std::int64_t l = config_.layer_count() - 1; l >= 0; --l) {
    if (!streamed_->has(l)) continue;
    layer = l;
    ++layers;
    const auto here =
        std::ranges::count_if(weights_.layer(l).experts, [](const auto& e) { return bool(e.gate); });
    evenly += static_cast<double>(here * config_.experts_used()) / static_cast<double>(config_.experts());
  }
  if (layers == 0) return max_tokens_ + 1;
  const double link = streamed_->measure_link();
  const double expert = seconds_for_an_expert(layer, std::min<std::int64_t>(sampled_tokens, max_tokens_));
  const std::int64_t from =
      tokens_that_pay(streamed_->all_bytes(), link, uses_per_token_ > 0 ? uses_per_token_ : evenly, expert);
  log::info("layers", "the link brings ", link * 1e-9, " GB/s, the processor takes ", expert * 1e6,
            " us for an expert of a token: prompts bring experts from ", from, " tokens on, of ", max_tokens_,
            " at once");
  return from;
}

double HostExperts::seconds_for_an_expert(std::int64_t layer, std::int64_t tokens) {
  std::vector<std::int32_t> here;
  const std::vector<kernels::Expert>& experts = weights_.layer(layer).experts;
  for (std::size_t e = 0; e < experts.size(); ++e)
    if (experts[e].gate) here.push_back(static_cast<std::int32_t>(e));
  const std::int64_t used = config_.experts_used();
  std::vector<std::int32_t> ids(static_cast<std::size_t>(tokens * used));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = here[i % here.size()];
  const std::vector<float> weights(ids.size(), 1.0F);
  std::fill_n(shared_.x, tokens * config_.hidden, 1.0F);
  double seconds = 0;
  for (int i = 0; i < 2; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    compute(layer, tokens, {.ids = ids.data(), .weights = weights.data()});
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    seconds = i == 0 ? took : std::min(seconds, took);
  }
  return seconds / static_cast<double>(ids.size());
}

std::optional<std::int64_t> HostExperts::take_late() {
  const std::uint32_t late = shared_word(shared_.late, 0).exchange(0);
  return late == 0 ? std::nullopt : std::optional<std::int64_t>(late - 1);
}

bool HostExperts::PassSteps::feed_forward(std::int64_t layer, const Rows& rows, kernels::FeedForward block) {
  const models::HostWeights::Layer& own = host_.layer(layer);
  if (!own) return inner_.feed_forward(layer, rows, block);
  assert(block.tokens <= host_.max_tokens_);
  const kernels::RmsNorm then = std::exchange(block.then, {});
  const Choices chosen{.ids = block.ids, .weights = block.weights};
  if (own.all_experts) {
    block.experts = {};
    block.used = 0;
    block.ids = nullptr;
    block.weights = nullptr;
  }
  if (block.tokens <= kernels::max_quantised_rows && host_.asks())
    return ask(layer, rows, block, chosen, then);
  if (!own.computes_now()) {
    block.then = then;
    return inner_.feed_forward(layer, rows, block);
  }
  const bool brings = host_.streamed_ && block.tokens >= host_.stream_from_ && host_.streamed_->has(layer);
  return brings ? bring(layer, rows, block, chosen, then) : cross(layer, rows, block, then);
}

bool HostExperts::PassSteps::bring(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block,
                                   const Choices& chosen, const kernels::RmsNorm& then) {
  const bool both = !block.experts.empty() || block.shared != nullptr;
  if (both && !inner_.feed_forward(layer, rows, block)) return false;
  kernels::FeedForward brought = block;
  brought.used = host_.config_.experts_used();
  brought.ids = chosen.ids;
  brought.weights = chosen.weights;
  if (!host_.streamed_->feed_forward(layer, brought, !both, stream_)) return false;
  ++host_.streamed_layers_;
  if (then) inner_.norm(then);
  return true;
}

bool HostExperts::PassSteps::ask(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block,
                                 const Choices& chosen, const kernels::RmsNorm& then) {
  const kernels::OperationTable& operations = host_.device_.operations();
  const models::HostWeights::Layer& own = host_.layer(layer);
  const Shared& shared = host_.shared_;
  const bool always = own.all_experts || own.shared.gate;
  kernels::HostRound* const round = host_.device_rounds_ + layer;
  operations.ask_host({.x = block.x,
                       .tokens = block.tokens,
                       .d = block.d,
                       .used = own.experts.empty() ? 0 : host_.config_.experts_used(),
                       .ids = chosen.ids,
                       .weights = chosen.weights,
                       .table = always ? nullptr : staging_.experts(layer, stream_),
                       .always = always,
                       .round = round,
                       .host_x = shared.x,
                       .host_ids = shared.ids,
                       .host_weights = shared.weights,
                       .asked = shared.asked + layer},
                      stream_);
  const bool both = !block.experts.empty() || block.shared != nullptr;
  if (both && !inner_.feed_forward(layer, rows, block)) return false;
  operations.add_answer({.round = round,
                         .host_out = shared.out,
                         .answered = shared.answered + layer,
                         .late = shared.late,
                         .name = static_cast<std::uint32_t>(layer + 1),
                         .out = block.out,
                         .alone = !both,
                         .tokens = block.tokens,
                         .d = block.d,
                         .then = then},
                        stream_);
  return graphs_.beside([&host = host_, layer, tokens = block.tokens, &stream = stream_](bool wanted) {
    std::uint32_t& round = host.rounds_[static_cast<std::size_t>(layer)];
    ++round;
    // Where an answer was late, the pass is lost.
    wanted = wanted && shared_word(host.shared_.late, 0).load() == 0;
    if (wanted && !host.answer(layer, tokens, stream)) return false;
    shared_word(host.shared_.answered, layer).store(round, std::memory_order_release);
    return true;
  });
}

bool HostExperts::answer(std::int64_t layer, std::int64_t tokens, kernels::Stream& stream) {
  const std::uint32_t quiet = 2 * rounds_[static_cast<std::size_t>(layer)];
  const auto asked = [&] {
    return shared_word(shared_.asked, layer).load(std::memory_order_acquire) - quiet;
  };
  const auto begin = std::chrono::steady_clock::now();
  for (int poll = 1; asked() > 1; ++poll) {
    if (poll % polls_at_once != 0) continue;
    if (poll == polls_at_once) device_.record(*event_, stream);
    const bool is_stuck = std::chrono::steady_clock::now() - begin > longest_wait;
    if (is_stuck) event_->wait();
    if ((is_stuck || event_->done()) && asked() > 1) return false;
  }
  if (asked() == 0) return true;
  compute(layer, tokens, {.ids = shared_.ids, .weights = shared_.weights});
  return true;
}

bool HostExperts::PassSteps::cross(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block,
                                   const kernels::RmsNorm& then) {
  const models::HostWeights::Layer& own = host_.layer(layer);
  const kernels::Device& device = host_.device_;
  const std::int64_t tokens = block.tokens, count = tokens * block.d;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(float));
  if (!own.experts.empty()) staging_.read_choices(layer, layer, tokens, stream_);
  device.read_back(reinterpret_cast<std::byte*>(host_.shared_.x), reinterpret_cast<const std::byte*>(block.x),
                   bytes, stream_);
  device.record(*host_.event_, stream_);
  const bool both = !block.experts.empty() || block.shared != nullptr;
  if (both && !inner_.feed_forward(layer, rows, block)) return false;
  if (!host_.wait(stream_)) return false;
  host_.compute(layer, tokens, own.experts.empty() ? Choices{} : staging_.choices(layer, tokens));
  float* const spare = h_ + rows.first * block.d;
  float* const target = both ? spare : block.out;
  device.copy(reinterpret_cast<std::byte*>(target), reinterpret_cast<const std::byte*>(host_.shared_.out),
              bytes, stream_);
  if (both) device.operations().add({.x = block.out, .y = spare, .count = count}, stream_);
  if (then) inner_.norm(then);
  return true;
}

bool HostExperts::wait(const kernels::Stream& stream) const {
  event_->wait();
  // What a device that has failed leaves here are no choices: they must not be looked up.
  return stream.failure().empty();
}

void HostExperts::compute(std::int64_t layer, std::int64_t tokens, const Choices& choices) {
  const models::HostWeights::Layer& own = weights_.layer(layer);
  kernels::FeedForward block{
      .x = shared_.x, .tokens = tokens, .d = config_.hidden, .experts = own.experts, .out = shared_.out};
  if (!own.experts.empty()) {
    block.used = config_.experts_used();
    block.ids = choices.ids;
    block.weights = choices.weights;
  }
  if (own.shared.gate) block.shared = &own.shared;
  host_.operations().feed_forward(block, *threads_);
}

}  // namespace fovea::layers
