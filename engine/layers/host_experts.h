// The host's part of a layer's feed-forward, on a device whose memory the host cannot reach: the block's
// input and the router's choices come down, the processor's kernels compute the experts whose weights the
// host keeps, and their sum goes up. Activations cross, weights do not.
//
// Up to eight rows, as in decoding: the device asks where one has chosen an expert of the host's, goes on
// with its own, and waits for the answer where it is added (kernels/api/operations.h: HostQuestion). The host
// looks for each layer's question in turn while the device is at work.
//
// More rows, as of prompts, and devices that cannot ask: copies, between which the host waits for the device.
// Its own experts are given to its stream before, so that both compute at the same time. From some number of
// rows on it takes less time to bring the experts to the device, which computes all (streamed_experts.h); it
// is measured when a model is loaded, where nobody has said it.
//
// The order in which the two sums are added is fixed: the device's first.
//
// A prompt's copies are not hidden behind the host's work: 512 tokens of Qwen3-30B-A3B are 4 MB each way, 0.2
// ms over 25 GB/s, where a processor of 1 TFLOP/s needs 38 ms for such a layer's experts. Two halves in turns
// would save at most 1 % and read each expert's weights twice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/result.h"
#include "engine/layers/graphs.h"
#include "engine/layers/layout.h"
#include "engine/layers/steps.h"
#include "engine/layers/streamed_experts.h"
#include "engine/models/host_weights.h"
#include "kernels/api/device.h"

namespace fovea::layers {

// Who computes what the device was loaded without.
struct HostPart {
  // The layers before the device's (first_layers.h), or null, and who computes them where it is not the
  // processor: another card, with what its streams need.
  const models::Model* first_layers = nullptr;
  const kernels::Device* first_device = nullptr;
  kernels::StreamOptions first_stream = {};
  const models::HostWeights* first_weights = nullptr;  // as below, beside that card
  double first_uses_per_token = 0;
  StreamSettings first_streams = {};
  const models::HostWeights* weights = nullptr;  // null: nobody, the device has everything
  const kernels::Device* device = nullptr;       // the processor
  int threads = 0;
  // Of its experts in all layers, that a token is expected to use; 0: as if all were used alike.
  double uses_per_token = 0;
  StreamSettings stream = {};
};

class HostExperts {
 public:
  // For passes of up to max_tokens on `device`, where `rounds` [layers] lie. ErrorKind::memory.
  static Result<std::unique_ptr<HostExperts>> create(const models::ModelConfig& config,
                                                     const kernels::Device& device, const HostPart& host,
                                                     std::int64_t max_tokens, kernels::HostRound* rounds);
  ~HostExperts();
  // Of pinned memory, without what streaming takes.
  static std::int64_t host_bytes(const models::ModelConfig& config, std::int64_t max_tokens);
  StreamedExperts::Bytes streaming_bytes() const {
    return streamed_ ? streamed_->bytes() : StreamedExperts::Bytes{};
  }
  HostExperts(const HostExperts&) = delete;
  HostExperts& operator=(const HostExperts&) = delete;

  const models::HostWeights::Layer& layer(std::int64_t index) const { return weights_.layer(index); }

  // Whether the device asks, of few tokens.
  bool asks() const { return device_.operations().ask_host != nullptr; }
  // Why none does although it might, where nobody asked for it.
  const std::optional<Error>& not_streamed() const { return not_streamed_; }
  // From how many tokens on a pass brings the experts to the device; 0: none does.
  std::int64_t streams_from() const { return streamed_ ? stream_from_ : 0; }
  // Layers that were computed so.
  std::int64_t streamed_layers() const { return streamed_layers_; }
  // Whether the device has waited for an answer in vain since this was asked last, and in which layer.
  std::optional<std::int64_t> take_late();

  // A pass in which the host takes part. What it does is beside the graphs. `h` [tokens, d] is the
  // blocks' input, which nobody reads behind one.
  class PassSteps final : public WrappedSteps {
   public:
    PassSteps(Steps& inner, HostExperts& host, float* h, Staging& staging, Graphs& graphs,
              kernels::Stream& stream)
        : WrappedSteps(inner), host_(host), h_(h), staging_(staging), graphs_(graphs), stream_(stream) {
      if (host.streamed_) host.streamed_->begin_pass();
    }
    // False, too: the stream has failed, and nothing was computed.
    bool feed_forward(std::int64_t layer, const Rows& rows, kernels::FeedForward block) override;

   private:
    bool ask(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block, const Choices& chosen,
             const kernels::RmsNorm& then);
    bool cross(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block,
               const kernels::RmsNorm& then);
    bool bring(std::int64_t layer, const Rows& rows, const kernels::FeedForward& block, const Choices& chosen,
               const kernels::RmsNorm& then);

    HostExperts& host_;
    float* const h_;
    Staging& staging_;
    Graphs& graphs_;
    kernels::Stream& stream_;
  };

 private:
  // Of pinned memory. The device reads `out` until it has asked again.
  struct Shared {
    float* x = nullptr;              // [max_tokens, d]
    float* out = nullptr;            // [max_tokens, d]
    std::int32_t* ids = nullptr;     // of a question, [max_quantised_rows, used]
    float* weights = nullptr;        // likewise
    std::uint32_t* asked = nullptr;  // [layers], and these are, too
    std::uint32_t* answered = nullptr;
    std::uint32_t* late = nullptr;  // [1]: 1 + a layer
    void each(const models::ModelConfig& config, std::int64_t max_tokens, Layout& layout);
  };

  HostExperts(const models::ModelConfig& config, const kernels::Device& device, const HostPart& host,
              std::int64_t max_tokens, kernels::HostRound* rounds);
  bool allocate();
  bool begin_rounds();
  Result<void> begin_streaming(const StreamSettings& settings);
  std::int64_t measured_stream_from();
  double seconds_for_an_expert(std::int64_t layer, std::int64_t tokens);
  void compute(std::int64_t layer, std::int64_t tokens, const Choices& choices);
  // Waits for the question. False: the stream has failed.
  bool answer(std::int64_t layer, std::int64_t tokens, kernels::Stream& stream);
  // Waits for the input of a crossing, likewise.
  bool wait(const kernels::Stream& stream) const;

  const models::ModelConfig& config_;
  const kernels::Device& device_;
  const kernels::Device& host_;
  const models::HostWeights& weights_;
  const std::int64_t max_tokens_;
  const double uses_per_token_;
  std::unique_ptr<kernels::Stream> threads_;  // the host's
  std::unique_ptr<kernels::Event> event_;     // behind the device's work so far
  std::byte* pinned_ = nullptr;
  Shared shared_;
  kernels::HostRound* const device_rounds_;
  std::vector<std::uint32_t> rounds_;          // of each layer, those that are over
  std::unique_ptr<StreamedExperts> streamed_;  // null: nothing is brought
  std::optional<Error> not_streamed_;
  std::int64_t stream_from_ = 0;
  std::int64_t streamed_layers_ = 0;
};

}  // namespace fovea::layers
