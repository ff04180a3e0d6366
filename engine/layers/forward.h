// The forward pass: tokens in, logits out, keys and values into the sequences' pages. It ties the model's
// mathematics (transformer.h) to a device: what goes there and comes back (staging.h), decoding as graphs
// (graphs.h), the layers that the host computes before (first_layers.h) and the experts (host_experts.h), and
// who watches (observation.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "engine/layers/graphs.h"
#include "engine/layers/host_experts.h"
#include "engine/layers/pass.h"
#include "engine/layers/staging.h"
#include "engine/models/model.h"
#include "kernels/api/device.h"

namespace fovea::layers {

class Forward {
 public:
  // Allocates all activations for passes within these limits; nothing is allocated on the device afterwards.
  // `host` computes what the model was loaded without.
  static Result<Forward> create(const models::Model&, const kernels::Device&, const PassLimits&,
                                const HostPart& host = {});
  Forward(Forward&&) noexcept;
  Forward& operator=(Forward&&) noexcept;
  ~Forward();

  // Logits [wanted rows of all segments, vocabulary] in host memory, valid until the next run; empty for
  // none, where top_k() has them, where the model's layers end before the last one, and when stopped. Ids
  // must be in the vocabulary. What the device could not do is the stream's failure().
  std::span<const float> run(const Pass&, kernels::Stream&);
  // Of a wanted row, valid until the next run; none where that has given all logits, or no such row.
  std::optional<TopKLogits> top_k(std::int64_t row = 0) const;
  // All logits [vocabulary] of a row behind such a run after all; valid until the next call.
  std::span<const float> all_logits(kernels::Stream&, std::int64_t row = 0);
  // Of the segments that wanted it, [their tokens, d] behind each other: the last layer's output behind the
  // final norm. Valid until the next run; nothing when stopped.
  std::span<const float> hidden() const;
  // Of a model whose layers end before the last one, in the device's memory: what they give, [rows, d]. Valid
  // until the next run; nothing when stopped.
  std::span<const float> residual() const;
  // Of who computes the first layers: its order, and the failures; null where the device does.
  kernels::Stream* first_stream() const;
  // The layer whose answer by the processor the last run did not wait for any longer: what it gave is worth
  // nothing. Told once.
  std::optional<std::int64_t> take_late() const;
  bool stopped() const;  // the last run, by the stop token or the observer
  GraphUse graphs() const;
  void use_graphs(bool graphs);  // from now on; they are, where the device captures
  // The device's operations do something else from now on: what is captured is captured again.
  void forget_graphs();
  // Of the activations, and where the device's memory is out of the host's reach of what passes exchange with
  // it: there, and pinned in main memory.
  struct Bytes {
    std::int64_t device = 0, host = 0;
  };
  Bytes bytes() const;
  std::int64_t first_bytes() const;  // of another card, that computes the first layers
  // Layers that passes have computed with experts brought from main memory, and from how many tokens on one
  // does (0: none).
  std::int64_t streamed_layers() const;
  std::int64_t streams_from() const;
  // Why none does although some might, where that was left to what there is.
  std::optional<Error> not_streamed() const;
  // The same before there are weights: all on one side, or apart.
  static std::int64_t activation_bytes(const models::ModelConfig& config, std::int64_t max_tokens) {
    return Activations::bytes(config, max_tokens, Activations::Place::host);
  }
  // Of main memory, where the processor computes the first layers.
  static std::int64_t first_layers_bytes(const models::ModelConfig& config, const PassLimits& limits) {
    return Activations::bytes(config, limits.tokens, Activations::Place::host_before) +
           4 * limits.tokens * config.hidden;
  }
  static Bytes bytes_apart(const models::ModelConfig&, const PassLimits&, bool host_computes);
  // Of another card that computes the first layers, and of main memory for it.
  static Bytes first_bytes_apart(const models::ModelConfig&, const PassLimits&, bool host_computes);

 private:
  struct State;
  explicit Forward(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

}  // namespace fovea::layers
