#include "engine/layers/first_layers.h"

#include <cstring>
#include <utility>

#include "engine/layers/errors.h"
#include "engine/models/no_stream.h"

namespace fovea::layers {

FirstLayers::FirstLayers(const kernels::Device& device, Forward forward,
                         std::unique_ptr<kernels::Stream> stream, std::int64_t floats)
    : device_(device),
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
  FOVEA_TRY(Forward forward, Forward::create(model, *host.device, limits));
  auto stream = host.device->make_stream({.threads = host.threads});
  if (!stream) return models::no_stream(*host.device);
  std::unique_ptr<FirstLayers> layers(
      new FirstLayers(device, std::move(forward), std::move(stream), limits.tokens * model.config().hidden));
  if (layers->crossing_ == nullptr)
    return fail(phrases::forward_pass_place(), errors::no_memory_for_activations(4 * layers->floats_ >> 20));
  return layers;
}

bool FirstLayers::run(const Pass& pass, float* x, kernels::Stream& stream) {
  forward_.run(pass, *stream_);
  const std::span<const float> residual = forward_.residual();
  if (residual.empty()) return false;
  std::memcpy(crossing_, residual.data(), residual.size_bytes());
  device_.copy(reinterpret_cast<std::byte*>(x), crossing_, static_cast<std::int64_t>(residual.size_bytes()),
               stream);
  return true;
}

std::int64_t FirstLayers::bytes() const {
  return forward_.bytes().device + 4 * floats_;
}

}  // namespace fovea::layers
