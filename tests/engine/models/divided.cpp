#include "divided.h"

#include "kernels/cpu/device.h"
#include "tests/support/test.h"

#include "runner.h"

namespace fovea::tests {

const kernels::Device& cpu() {
  return *kernels::cpu::default_device();
}

const kernels::OperationTable& WatchedHost::operations() const {
  static const kernels::OperationTable table = [] {
    kernels::OperationTable own = cpu().operations();
    own.feed_forward = [](const kernels::FeedForward& arguments, kernels::Stream& stream) {
      if (before_feed_forward) before_feed_forward();
      cpu().operations().feed_forward(arguments, stream);
    };
    return own;
  }();
  return table;
}

Divided divide(const std::filesystem::path& path, const kernels::Device& device, const Shares& shares) {
  auto model = load(path, device, shares);
  if (!model) qFatal("%s", model.error().message().c_str());
  auto host = models::HostWeights::load(*model, cpu(), 2);
  if (!host) qFatal("%s", host.error().message().c_str());
  return {*std::move(model), *std::move(host)};
}

Shares all_of(const models::Model& model) {
  Shares shares;
  for (const models::LayerWeights& layer : model.layers())
    shares.push_back({.experts = std::vector(layer.experts.size(), true), .shared = layer.experts.empty()});
  return shares;
}

}  // namespace fovea::tests
