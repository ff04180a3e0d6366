// Chooses the next token from logits. The order is Hugging Face's, for which models publish their settings:
//   1. repetition penalty, then frequency and presence penalties, over the last `penalty_window` tokens
//   2. temperature (0: the largest logit, ties to the lowest id, and nothing below applies)
//   3. top-k, 4. top-p, 5. min-p
//   6. a draw from what is left, renormalised
// Among equal logits lower ids come first everywhere, so exactly k tokens pass top-k.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/request.h"
#include "engine/layers/likely_tokens.h"
#include "engine/runtime/random.h"

namespace fovea::runtime {

struct Candidate {
  TokenId token = 0;
  float logit = 0;         // after penalties
  double probability = 0;  // of being drawn; they sum to 1
};

class Sampler {
 public:
  // ErrorKind::invalid names the setting that is out of range. A seed of 0 draws one.
  static Result<Sampler> create(SamplingSettings settings, std::int64_t vocabulary);

  // The token enters the window of the penalties: the prompt's as well as the answer's.
  void accept(TokenId token);
  // logits [vocabulary]. Not-a-number counts as minus infinity.
  TokenId sample(std::span<const float> logits);
  // The same choice without the other logits, where the likeliest tokens decide it; else nothing is drawn.
  // Their weight is for the settings' temperature (1 where that is 0).
  std::optional<TokenId> sample(const layers::LikelyTokens& likely);
  // Whether they can: not where a penalty may bring other tokens forward, or all of them may be drawn.
  bool may_need_few() const;
  // What sample() draws from (greedy: one candidate), in an order that depends on nothing but the arguments.
  // Valid until the next call.
  std::span<const Candidate> filter(std::span<const float> logits);
  // Empty where the likeliest tokens do not decide it.
  std::span<const Candidate> filter(const layers::LikelyTokens& likely);

  std::uint64_t seed() const { return settings_.seed; }

 private:
  Sampler(SamplingSettings settings, std::int64_t vocabulary);
  std::span<const float> penalise(std::span<const float> logits);
  TokenId draw(std::span<const Candidate> left);
  std::span<const Candidate> finish();
  bool keeps_top_k() const;
  void keep_top_k(std::span<const float> logits);
  double weigh(double sum);
  void keep_likely(std::span<const float> logits);
  void keep_top_p();
  void keep_min_p();

  SamplingSettings settings_;
  std::size_t vocabulary_;
  Random random_;
  std::deque<TokenId> window_;
  std::unordered_map<TokenId, std::int32_t> counts_;  // of the window's tokens
  std::vector<float> penalised_;                      // [vocabulary], only when a penalty is on
  std::vector<float> weights_;                        // softmax before division by its sum
  std::vector<Candidate> candidates_, ranked_;
};

}  // namespace fovea::runtime
