#include "engine/layers/first_layers.h"

#include <cstring>
#include <utility>

#include "engine/layers/errors.h"
#include "engine/models/no_stream.h"

namespace fovea::layers {

FirstLayers::FirstLayers(const kernels::Device& place, const kernels::Device& device, Forward forward,
                         std::unique_ptr<kernels::Stream> stream, std::int64_t floats)
    : place_(place),
      device_(device),
      forward_(std::move(forward)),
      stream_(std::move(stream)),
      floats_(floats),
      crossing_(device.allocate_host(4 * floats)) {}

FirstLayers::~FirstLayers() {
  if (crossing_ != nullptr) device_.release_host(crossing_, 4 * floats_);
}

Result<std::unique_ptr<FirstLayers>> FirstLayers::create(const HostPart& host, const kernels::Device& device,
                                                         const PassLimits& limits) {
  const models::Model& model = *host.first_layers;
  const kernels::Device& place = host.first_device != nullptr ? *host.first_device : *host.device;
  const HostPart experts{.weights = host.first_weights,
                         .device = host.device,
                         .threads = host.threads,
                         .uses_per_token = host.first_uses_per_token,
                         .stream = host.first_streams};
  FOVEA_TRY(Forward forward, Forward::create(model, place, limits, experts));
  kernels::StreamOptions options = host.first_stream;
  options.threads = host.threads;
  auto stream = place.make_stream(options);
  if (!stream) return models::no_stream(place);
  std::unique_ptr<FirstLayers> layers(new FirstLayers(place, device, std::move(forward), std::move(stream),
                                                      limits.tokens * model.config().hidden));
  if (layers->crossing_ == nullptr)
    return fail(phrases::forward_pass_place(), errors::no_memory_for_activations(4 * layers->floats_ >> 20));
  return layers;
}

bool FirstLayers::run(const Pass& pass, float* x, kernels::Stream& stream) {
  forward_.run(pass, *stream_);
  const std::span<const float> residual = forward_.residual();
  if (residual.empty()) return false;
  const auto bytes = static_cast<std::int64_t>(residual.size_bytes());
  if (place_.memory_is_host()) {
    std::memcpy(crossing_, residual.data(), residual.size_bytes());
  } else {
    place_.read_back(crossing_, reinterpret_cast<const std::byte*>(residual.data()), bytes, *stream_);
    stream_->synchronize();
    if (!stream_->failure().empty()) return false;
  }
  device_.copy(reinterpret_cast<std::byte*>(x), crossing_, bytes, stream);
  return true;
}

Forward::Bytes FirstLayers::bytes() const {
  const Forward::Bytes own = forward_.bytes();
  if (place_.memory_is_host()) return {.device = 0, .host = own.device + 4 * floats_};
  return {.device = own.device, .host = own.host + 4 * floats_};
}

}  // namespace fovea::layers
