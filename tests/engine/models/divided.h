// Models divided between a device and the processor.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "engine/layers/forward.h"
#include "engine/models/host_weights.h"
#include "engine/models/model.h"
#include "kernels/api/forwarding_device.h"

namespace fovea::tests {

using Shares = std::vector<models::HostShare>;

const kernels::Device& cpu();

// The processor, which tells before it computes a feed-forward layer.
class WatchedHost final : public kernels::ForwardingDevice {
 public:
  WatchedHost() : kernels::ForwardingDevice(cpu()) {}
  static inline std::function<void()> before_feed_forward;

  const kernels::OperationTable& operations() const override;
};

struct Watch {
  explicit Watch(std::function<void()> before) { WatchedHost::before_feed_forward = std::move(before); }
  ~Watch() { WatchedHost::before_feed_forward = {}; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};

struct Divided {
  models::Model model;
  models::HostWeights host;
  WatchedHost processor = {};

  layers::HostPart part() const { return {.weights = &host, .device = &processor, .threads = 2}; }
};

Divided divide(const std::filesystem::path& path, const kernels::Device& device, const Shares& shares);

// Every layer's block whole on the host.
Shares all_of(const models::Model& model);

}  // namespace fovea::tests
