// What a pass moves between the host and the device that computes it. Tokens, positions, lists of pages and
// experts' handles go there; the routers' choices come back, and the logits or only the largest of them.
//
// Where the device's memory is the host's own there is nothing to move: the operations read and write what is
// there. Elsewhere everything on the device lies at addresses that stay, host memory is pinned and is written
// again by the next pass, so that a pass must have ended before the next one begins.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/layers/activations.h"
#include "engine/layers/pass.h"
#include "engine/models/model.h"
#include "kernels/api/device.h"

namespace fovea::layers {

// The largest logits of the next token, where a device has sorted them and keeps the others to itself.
struct TopKLogits {
  std::span<const TokenId> ids;   // in descending order of their logits (ties: lower id first)
  std::span<const float> logits;  // theirs
  // Of the whole vocabulary: Σ e^((logit − largest) / temperature), and the entropy of softmax(logits) in
  // nats. Worth nothing where a logit is infinite.
  double weight = 0;
  double sum = 0;  // the same for a temperature of 1
  double entropy = 0;
};

// What a layer's router chooses for the last `tokens` of a pass, ids and gate weights [tokens, experts_used]:
// where it writes them, and what the host reads of it.
struct Routed {
  std::int32_t* ids = nullptr;
  float* weights = nullptr;
};
struct Choices {
  const std::int32_t* ids = nullptr;
  const float* weights = nullptr;
};

// The most that passes have.
struct PassLimits {
  std::int64_t tokens = 0;
  std::int64_t pages = 0;  // of each sequence
  std::int64_t segments = 1;
};

class Staging {
 public:
  // For passes on this device. Of the activations it keeps logits and, where it needs no others, positions
  // and choices. ErrorKind::memory.
  static Result<std::unique_ptr<Staging>> create(const models::Model& model, const kernels::Device& device,
                                                 const PassLimits& limits, const Activations& activations);
  virtual ~Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // What it takes, pinned on the host; also before there are weights. Nothing where there is nothing to move.
  struct Bytes {
    std::int64_t device = 0, host = 0;
  };
  static Bytes bytes(const models::ModelConfig& config, const PassLimits& limits);
  virtual Bytes bytes() const { return {}; }

  // --- to the operations, in the stream's order ---
  virtual const Batch& begin(const Pass& pass, kernels::Stream& stream) = 0;
  virtual void rotary(std::span<const float> values, kernels::Stream& stream) = 0;
  // The layer's handles as they are now; null where the operations read the host's.
  virtual const kernels::Expert* experts(std::int64_t layer, kernels::Stream& stream) = 0;
  virtual Routed routed(std::int64_t layer, std::int64_t tokens) = 0;
  // Where a device counts what it asks the host, [layers].
  virtual kernels::HostRound* rounds() { return nullptr; }

  // --- back: what is read may be looked at when the stream has been synchronised ---
  // Whether looking at what a pass computes means waiting for the device.
  virtual bool comes_late() const = 0;
  // The choices of all layers from `first` to `last`, which has so many tokens.
  virtual void read_choices(std::int64_t first, std::int64_t last, std::int64_t tokens,
                            kernels::Stream& stream) = 0;
  virtual Choices choices(std::int64_t layer, std::int64_t tokens) const = 0;
  // Waits for the stream. Valid until the next call.
  virtual const float* read(const float* values, std::int64_t count, kernels::Stream& stream) = 0;

  // --- logits ---
  // Row `first` of those that are wanted, and so many at most behind it, are computed here; then read_logits.
  struct LogitsRoom {
    float* values = nullptr;  // [rows, vocabulary]
    std::int64_t rows = 0;
  };
  virtual LogitsRoom logits_room(std::int64_t first) = 0;
  virtual void read_logits(std::int64_t first, std::int64_t count, kernels::Stream& stream) = 0;
  // All rows that were wanted, [rows, vocabulary], when the stream has been synchronised.
  virtual std::span<const float> logits(kernels::Stream& stream) = 0;
  // What a pass gives in place of rows of logits. `finds`: it does, for this pass.
  virtual bool finds_top_k() const { return false; }
  virtual void find_top_k(const kernels::OperationTable&, kernels::Stream&) {}
  virtual std::optional<TopKLogits> top_k(std::int64_t /*row*/) const { return std::nullopt; }
  // A row after all, behind a pass that gave the largest.
  virtual std::span<const float> logits_behind_top_k(std::int64_t /*row*/, kernels::Stream&) { return {}; }

 protected:
  Staging() = default;
};

}  // namespace fovea::layers
