// The layers that the processor, or another card, computes before a device goes on: with attention, and keys
// and values in that one's memory, as llama.cpp's -ngl leaves them to the processor. Only the residual stream
// crosses, once for each pass.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/core/result.h"
#include "engine/layers/forward.h"
#include "engine/layers/host_experts.h"
#include "kernels/api/device.h"

namespace fovea::layers {

class FirstLayers {
 public:
  // For passes within these limits that `device` goes on with. ErrorKind::memory.
  static Result<std::unique_ptr<FirstLayers>> create(const HostPart& host, const kernels::Device& device,
                                                     const PassLimits& limits);
  ~FirstLayers();
  FirstLayers(const FirstLayers&) = delete;
  FirstLayers& operator=(const FirstLayers&) = delete;

  // Computes them for the pass, whose pages of these layers lie where they are computed, and brings what they
  // give to x [rows, d] on the device, in its stream's order. False: the pass was stopped, or the other card
  // has failed, which its stream says.
  bool run(const Pass& pass, float* x, kernels::Stream& stream);
  kernels::Stream& stream() const { return *stream_; }
  const kernels::Device& place() const { return place_; }
  const Forward& forward() const { return forward_; }
  // Without weights and cache: of main memory, and of another card's.
  Forward::Bytes bytes() const;

 private:
  FirstLayers(const kernels::Device& place, const kernels::Device& device, Forward forward,
              std::unique_ptr<kernels::Stream> stream, std::int64_t floats);

  const kernels::Device& place_;
  const kernels::Device& device_;
  Forward forward_;
  std::unique_ptr<kernels::Stream> stream_;  // the place's
  std::int64_t floats_;
  std::byte* crossing_;  // pinned: [T, d]; null where there is no memory
};

}  // namespace fovea::layers
