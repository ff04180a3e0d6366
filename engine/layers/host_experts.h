// The host's part of a layer's feed-forward, on a device whose memory the host cannot reach: the block's
// input and the router's choices come down, the processor's kernels compute the experts whose weights the
// host keeps, and their sum goes up. Activations cross, weights do not.
//
// The device's own experts are given to its stream before the host waits for anything, so that both compute
// at the same time. The order in which the two sums are added is fixed: the device's first.
//
// A pass that is captured is cut where the host takes part (graphs.h).
//
// A prompt's copies are not hidden behind the host's work: 512 tokens of Qwen3-30B-A3B are 4 MB each way, 0.2
// ms over 25 GB/s, where a processor of 1 TFLOP/s needs 38 ms for such a layer's experts. Two halves in turns
// would save at most 1 % and read each expert's weights twice.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/core/result.h"
#include "engine/layers/graphs.h"
#include "engine/layers/steps.h"
#include "engine/models/host_weights.h"
#include "kernels/api/device.h"

namespace fovea::layers {

// Who computes what the device was loaded without.
struct HostPart {
  const models::HostWeights* weights = nullptr;  // null: nobody, the device has everything
  const kernels::Device* device = nullptr;       // the processor
  int threads = 0;
};

class HostExperts {
 public:
  // For passes of up to max_tokens on `device`. ErrorKind::memory.
  static Result<std::unique_ptr<HostExperts>> create(const models::ModelConfig& config,
                                                     const kernels::Device& device, const HostPart& host,
                                                     std::int64_t max_tokens);
  ~HostExperts();
  // Of pinned memory.
  static std::int64_t host_bytes(const models::ModelConfig& config, std::int64_t max_tokens) {
    return 2 * max_tokens * config.hidden * static_cast<std::int64_t>(sizeof(float));
  }
  HostExperts(const HostExperts&) = delete;
  HostExperts& operator=(const HostExperts&) = delete;

  const models::HostWeights::Layer& layer(std::int64_t index) const { return weights_.layer(index); }

  // A pass in which the host takes part. What it does is aside from the graphs. `h` [tokens, d] is the
  // blocks' input, which nobody reads behind one.
  class PassSteps final : public WrappedSteps {
   public:
    PassSteps(Steps& inner, HostExperts& host, float* h, Staging& staging, Graphs& graphs,
              kernels::Stream& stream)
        : WrappedSteps(inner), host_(host), h_(h), staging_(staging), graphs_(graphs), stream_(stream) {}
    // False, too: the stream has failed, and nothing was computed.
    bool feed_forward(std::int64_t layer, const Rows& rows, kernels::FeedForward block) override;

   private:
    HostExperts& host_;
    float* const h_;
    Staging& staging_;
    Graphs& graphs_;
    kernels::Stream& stream_;
  };

 private:
  HostExperts(const kernels::Device& device, const HostPart& host, std::int64_t d, std::int64_t used,
              std::int64_t max_tokens);
  bool allocate();
  // Waits for the input and computes the host's part of it.
  bool compute(std::int64_t layer, std::int64_t tokens, const Staging& staging,
               const kernels::Stream& stream);
  std::int64_t bytes() const { return max_tokens_ * d_ * static_cast<std::int64_t>(sizeof(float)); }

  const kernels::Device& device_;
  const kernels::Device& host_;
  const models::HostWeights& weights_;
  std::int64_t d_, used_, max_tokens_;
  std::unique_ptr<kernels::Stream> threads_;  // the host's
  std::unique_ptr<kernels::Event> input_is_here_;
  float* x_ = nullptr;    // [max_tokens, d], pinned
  float* out_ = nullptr;  // [max_tokens, d], pinned; read by the copy up until the next input is here
};

}  // namespace fovea::layers
