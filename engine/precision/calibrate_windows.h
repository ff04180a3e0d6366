// Runs a model over windows of tokens, each a sequence of its own, with one sequence's KV pages.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/api/text.h"
#include "engine/core/result.h"
#include "engine/layers/forward.h"
#include "engine/models/model.h"
#include "kernels/api/device.h"

namespace fovea::precision {

using Windows = std::vector<std::vector<TokenId>>;

// At most `tokens` of the text's tokens as windows of `window`, spread evenly over it; a text shorter than
// one window is one window. `begin`: put in the place of each window's first token; −1: nothing is.
Windows cut_windows(std::span<const TokenId> text, std::int64_t tokens, std::int64_t window, TokenId begin);

class WindowRunner {
 public:
  // For windows of up to `window` tokens, on a device whose memory is the host's. ErrorKind::memory.
  static Result<WindowRunner> create(const models::Model& model, const kernels::Device& device,
                                     std::int64_t window, int threads);
  WindowRunner(WindowRunner&&) noexcept;
  WindowRunner& operator=(WindowRunner&&) noexcept;
  ~WindowRunner();

  // Every position's logits are computed, so that the last layer sees all tokens too.
  // logits(first position, [tokens, vocabulary]) once for each pass. ErrorKind::cancelled when stopped.
  using LogitsSink = std::function<void(std::int64_t first, std::span<const float> logits)>;
  Result<void> run(std::span<const TokenId> window, layers::PassObserver* observer, const LogitsSink& logits,
                   const std::stop_token& stop);
  kernels::Stream& stream();

 private:
  struct State;
  explicit WindowRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fovea::precision
