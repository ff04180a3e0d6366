// The forward pass: tokens in, logits out, keys and values into the sequence's pages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "engine/api/text.h"
#include "engine/layers/graphs.h"
#include "engine/layers/host_experts.h"
#include "engine/layers/likely_tokens.h"
#include "engine/models/model.h"
#include "kernels/api/device.h"

namespace fovea::layers {

// likely: of the last token, and where the device's memory is out of the host's reach only the likeliest
// tokens (Forward::likely), which saves the copy of a vocabulary's logits.
enum class LogitsWanted : std::uint8_t { none, last, likely, all };

// Learns what a pass does while it runs, on its thread. Tensors are valid during the call only.
class PassObserver {
 public:
  virtual ~PassObserver() = default;
  // What it needs. Where the device's memory is out of the host's reach, the rest comes late or not at all,
  // so that the pass need not wait for the device in each layer.
  enum class Needs : std::uint8_t {
    history,      // routed(), without x, may come when the pass has ended, not when it was stopped
    choices,      // routed(), without x, before the layer reads its experts
    activations,  // everything, and input() too
  };
  virtual Needs needs() const { return Needs::activations; }
  // A layer's feed-forward is about to read these experts: x [tokens, d], ids and gate weights [tokens,
  // used]. False: their weights cannot be had; the pass stops.
  virtual bool routed(std::int64_t layer, const float* x, std::int64_t tokens, const std::int32_t* ids,
                      const float* weights) = 0;
  // Inputs of the linear layers [tokens, columns]: of q, k and v; of the attention's output; of a dense layer
  // or shared expert.
  enum class Input : std::uint8_t { attention, attention_output, feed_forward };
  virtual void input(std::int64_t, Input, const float*, std::int64_t) {}
};

struct Pass {
  std::span<const TokenId> tokens;          // 1 … max_tokens
  std::int64_t first = 0;                   // position of tokens[0]
  std::span<const kernels::KvPages> cache;  // [layers], room for first + tokens.size() positions
  std::int64_t context = 0;                 // of this sequence, for dynamic rotary scaling
  LogitsWanted logits = LogitsWanted::last;
  float temperature = 1;      // above 0; of likely tokens' weight
  std::stop_token stop = {};  // asked between layers; a stopped pass leaves its positions undefined
  PassObserver* observer = nullptr;
  // [layers, tokens, experts_used] of host memory: these experts compute in place of those that the routers
  // choose. Only after allow_choices().
  const std::int32_t* choices = nullptr;
};

class Forward {
 public:
  // Allocates all activations for passes of up to max_tokens, in sequences of up to max_pages pages of the
  // cache; nothing is allocated on the device afterwards. `host` computes what the model was loaded without.
  static Result<Forward> create(const models::Model&, const kernels::Device&, std::int64_t max_tokens,
                                std::int64_t max_pages, const HostPart& host = {});
  Forward(Forward&&) noexcept;
  Forward& operator=(Forward&&) noexcept;
  ~Forward();

  // Logits [1 or tokens, vocabulary] in host memory, valid until the next run; empty for none, where likely()
  // has them, and when stopped. Ids must be in the vocabulary. What the device could not do is the stream's
  // failure().
  std::span<const float> run(const Pass&, kernels::Stream&);
  // Of a run that wanted them, valid until the next one; none where it has given all logits.
  std::optional<LikelyTokens> likely() const;
  // All logits [vocabulary] behind such a run after all, as run() gives them.
  std::span<const float> all_logits(kernels::Stream&);
  // From now on passes may bring choices of their own. ErrorKind::memory.
  Result<void> allow_choices();
  // For measuring what a part takes: from now on passes go without its operations, the host's among them with
  // what crosses for their sake, and their logits are worth nothing.
  enum class Part : std::uint8_t { none, experts, attention, linear };
  void leave_out(Part part);
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
  // The same before there are weights: all on one side, or apart.
  static std::int64_t activation_bytes(const models::ModelConfig& config, std::int64_t max_tokens) {
    return activation_bytes(config, max_tokens, false);
  }
  static Bytes bytes_apart(const models::ModelConfig&, std::int64_t max_tokens, std::int64_t max_pages,
                           bool host_computes);

 private:
  struct Buffers;
  class Runner;
  explicit Forward(std::unique_ptr<Buffers>);
  static std::int64_t activation_bytes(const models::ModelConfig&, std::int64_t max_tokens, bool apart);
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace fovea::layers
