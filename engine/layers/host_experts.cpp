#include "engine/layers/host_experts.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <string>
#include <utility>

#include "engine/layers/errors.h"
#include "engine/layers/layout.h"

namespace fovea::layers {

namespace {

// Looks at a question before the driver is asked whether all is well, and how long that goes on before the
// device is waited for with its own patience.
constexpr int polls_at_once = 1024;
constexpr std::chrono::seconds longest_wait{10};

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
  if (experts->allocate()) return experts;
  return fail(phrases::forward_pass_place(),
              errors::no_memory_for_host_experts(Bytes{host_bytes(config, max_tokens)}));
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
  const bool asks = block.tokens <= kernels::max_quantised_rows && host_.asks();
  return asks ? ask(layer, rows, block, chosen, then) : cross(layer, rows, block, then);
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
