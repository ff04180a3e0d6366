#include "engine/layers/host_experts.h"

#include <cassert>
#include <string>

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
  return fail(ErrorKind::memory, "forward pass",
              "what crosses to the processor's experts needs " + std::to_string(2 * experts->bytes()) +
                  " bytes of pinned memory, more than there is",
              "Choose a smaller prefill chunk");
}

bool HostExperts::run(std::int64_t layer, const kernels::FeedForward& device_part, float* spare,
                      const Crossing& crossing, kernels::Stream& stream, Graphs& graphs) {
  const std::int64_t tokens = device_part.tokens;
  const std::int64_t bytes = tokens * d_ * static_cast<std::int64_t>(sizeof(float));
  assert(weights_.layer(layer) && tokens <= max_tokens_);
  const auto mark = [this, &stream] {
    device_.record(*input_is_here_, stream);
    return true;
  };
  const auto own_part = [this, layer, tokens, &crossing, &stream] {
    return compute(layer, tokens, crossing, stream);
  };
  device_.read_back(reinterpret_cast<std::byte*>(x_), reinterpret_cast<const std::byte*>(device_part.x),
                    bytes, stream);
  const bool both = !device_part.experts.empty() || device_part.shared != nullptr;
  if (both) {
    if (!graphs.aside(mark)) return false;
    device_.operations().feed_forward(device_part, stream);
    if (!graphs.aside(own_part)) return false;
  } else if (!graphs.aside([=] { return mark() && own_part(); })) {
    return false;
  }
  float* const target = both ? spare : device_part.out;
  device_.copy(reinterpret_cast<std::byte*>(target), reinterpret_cast<const std::byte*>(out_), bytes, stream);
  if (both) device_.operations().add({.x = device_part.out, .y = spare, .count = tokens * d_}, stream);
  return true;
}

bool HostExperts::compute(std::int64_t layer, std::int64_t tokens, const Crossing& crossing,
                          const kernels::Stream& stream) {
  input_is_here_->wait();
  // What a device that has failed leaves here are no choices: they must not be looked up.
  if (!stream.failure().empty()) return false;
  const models::HostWeights::Layer& own = weights_.layer(layer);
  kernels::FeedForward block{.x = x_, .tokens = tokens, .d = d_, .experts = own.experts, .out = out_};
  if (!own.experts.empty()) {
    const Crossing::Choices choices = crossing.choices(layer, tokens);
    block.used = used_;
    block.ids = choices.ids;
    block.weights = choices.weights;
  }
  if (own.shared.gate) block.shared = &own.shared;
  host_.operations().feed_forward(block, *threads_);
  return true;
}

}  // namespace fovea::layers
