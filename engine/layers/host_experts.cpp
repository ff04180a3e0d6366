#include "engine/layers/host_experts.h"

#include <cassert>
#include <string>
#include <utility>

#include "engine/layers/errors.h"

namespace fovea::layers {

HostExperts::HostExperts(const kernels::Device& device, const HostPart& host, std::int64_t d,
                         std::int64_t used, std::int64_t max_tokens)
    : device_(device),
      host_(*host.device),
      weights_(*host.weights),
      d_(d),
      used_(used),
      max_tokens_(max_tokens),
      threads_(host_.make_stream({.threads = host.threads})),
      input_is_here_(device.make_event()) {}

HostExperts::~HostExperts() {
  for (float* const memory : {x_, out_}) {
    if (memory != nullptr) device_.release_host(reinterpret_cast<std::byte*>(memory), bytes());
  }
}

bool HostExperts::allocate() {
  x_ = reinterpret_cast<float*>(device_.allocate_host(bytes()));
  out_ = reinterpret_cast<float*>(device_.allocate_host(bytes()));
  return x_ != nullptr && out_ != nullptr && threads_ != nullptr && input_is_here_ != nullptr;
}

Result<std::unique_ptr<HostExperts>> HostExperts::create(const models::ModelConfig& config,
                                                         const kernels::Device& device, const HostPart& host,
                                                         std::int64_t max_tokens) {
  assert(host.device->memory_is_host());
  std::unique_ptr<HostExperts> experts(
      new HostExperts(device, host, config.hidden, config.experts_used(), max_tokens));
  if (experts->allocate()) return experts;
  return fail(phrases::forward_pass_place(), errors::no_memory_for_host_experts(Bytes{2 * experts->bytes()}));
}

bool HostExperts::PassSteps::feed_forward(std::int64_t layer, const Rows& rows, kernels::FeedForward block) {
  const models::HostWeights::Layer& own = host_.layer(layer);
  if (!own) return inner_.feed_forward(layer, rows, block);
  const kernels::RmsNorm then = std::exchange(block.then, {});
  const std::int64_t tokens = block.tokens, count = tokens * block.d;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(float));
  assert(tokens <= host_.max_tokens_);
  if (!own.experts.empty()) staging_.read_choices(layer, layer, tokens, stream_);
  if (own.all_experts) {
    block.experts = {};
    block.used = 0;
    block.ids = nullptr;
    block.weights = nullptr;
  }
  const kernels::Device& device = host_.device_;
  const auto mark = [&host = host_, &stream = stream_] {
    host.device_.record(*host.input_is_here_, stream);
    return true;
  };
  const auto own_part = [&host = host_, layer, tokens, &staging = staging_, &stream = stream_] {
    return host.compute(layer, tokens, staging, stream);
  };
  device.read_back(reinterpret_cast<std::byte*>(host_.x_), reinterpret_cast<const std::byte*>(block.x), bytes,
                   stream_);
  const bool both = !block.experts.empty() || block.shared != nullptr;
  if (both) {
    if (!graphs_.aside(mark)) return false;
    if (!inner_.feed_forward(layer, rows, block)) return false;
    if (!graphs_.aside(own_part)) return false;
  } else if (!graphs_.aside([=] { return mark() && own_part(); })) {
    return false;
  }
  float* const spare = h_ + rows.first * block.d;
  float* const target = both ? spare : block.out;
  device.copy(reinterpret_cast<std::byte*>(target), reinterpret_cast<const std::byte*>(host_.out_), bytes,
              stream_);
  if (both) device.operations().add({.x = block.out, .y = spare, .count = count}, stream_);
  if (then) inner_.norm(then);
  return true;
}

bool HostExperts::compute(std::int64_t layer, std::int64_t tokens, const Staging& staging,
                          const kernels::Stream& stream) {
  input_is_here_->wait();
  // What a device that has failed leaves here are no choices: they must not be looked up.
  if (!stream.failure().empty()) return false;
  const models::HostWeights::Layer& own = weights_.layer(layer);
  kernels::FeedForward block{.x = x_, .tokens = tokens, .d = d_, .experts = own.experts, .out = out_};
  if (!own.experts.empty()) {
    const Choices choices = staging.choices(layer, tokens);
    block.used = used_;
    block.ids = choices.ids;
    block.weights = choices.weights;
  }
  if (own.shared.gate) block.shared = &own.shared;
  host_.operations().feed_forward(block, *threads_);
  return true;
}

}  // namespace fovea::layers
