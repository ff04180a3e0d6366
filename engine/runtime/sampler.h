// Chooses the next token from logits. The order is Hugging Face's, for which models publish their settings:
//   0. the tokens that an answer's form allows; what follows sees no others
//   1. repetition penalty, then frequency and presence penalties, over the last `penalty_window` tokens
//   2. DRY over the last `dry_window` tokens, where llama.cpp has it too
//   3. temperature (0: the largest logit, ties to the lowest id, and nothing below applies)
//   4. top-k, 5. top-p, 6. min-p
//   7. a draw from what is left, renormalised
// Among equal logits lower ids come first everywhere, so exactly k tokens pass top-k.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/request.h"
#include "engine/layers/staging.h"
#include "engine/runtime/random.h"

namespace fovea::text {
class Tokenizer;
}

namespace fovea::runtime {

// Tokens at which DRY begins anew: with a newline, colon, double quote or asterisk in them, llama.cpp's four,
// and control tokens, so that an answer's end never becomes less likely for having been said.
std::unordered_set<TokenId> sequence_breakers(const text::Tokenizer& tokenizer);

struct Candidate {
  TokenId token = 0;
  float logit = 0;         // after penalties
  double probability = 0;  // of being drawn; they sum to 1
};

class Sampler {
 public:
  // ErrorKind::invalid names the setting that is out of range. A seed of 0 draws one. At the breakers DRY
  // begins anew; they outlive the sampler, null: there are none.
  static Result<Sampler> create(SamplingSettings settings, std::int64_t vocabulary,
                                const std::unordered_set<TokenId>* breakers = nullptr);

  // The token enters the windows of the penalties and of DRY: the prompt's as well as the answer's.
  void accept(TokenId token);
  // From now on only tokens whose bit (bits[id / 32] >> (id % 32) & 1) is set are drawn; at least one is.
  // Empty: all. The bits outlive the draws.
  void allow(std::span<const std::uint32_t> bits) { allowed_ = bits; }
  // logits [vocabulary]. Not-a-number counts as minus infinity.
  TokenId sample(std::span<const float> logits);
  // The same choice without the other logits, where the likeliest tokens decide it; else nothing is drawn.
  // Their weight is for the settings' temperature (1 where that is 0).
  std::optional<TokenId> sample(const layers::TopKLogits& likely);
  // Whether they can: not where a penalty may bring other tokens forward, or all of them may be drawn.
  bool may_need_few() const;
  // What sample() draws from (greedy: one candidate), in an order that depends on nothing but the arguments.
  // Valid until the next call.
  std::span<const Candidate> filter(std::span<const float> logits);
  // Empty where the likeliest tokens do not decide it.
  std::span<const Candidate> filter(const layers::TopKLogits& likely);

  std::uint64_t seed() const { return settings_.seed; }

 private:
  Sampler(SamplingSettings settings, std::int64_t vocabulary, const std::unordered_set<TokenId>* breakers);
  bool allows(TokenId token) const;
  std::span<const float> mask(std::span<const float> logits);
  std::span<const float> penalise(std::span<const float> logits);
  void penalise_repeats();
  bool breaks(TokenId token) const { return breakers_ != nullptr && breakers_->contains(token); }
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
  const std::unordered_set<TokenId>* breakers_;
  std::span<const std::uint32_t> allowed_;             // bits by id; empty: all tokens
  std::vector<float> masked_;                          // [vocabulary], only where not all are allowed
  std::vector<TokenId> history_;                       // only when a penalty or DRY is on
  std::unordered_map<TokenId, std::int32_t> counts_;   // of the tokens in the penalties' window
  std::vector<std::int32_t> repeats_;                  // as penalise_repeats() has them
  std::unordered_map<TokenId, std::int32_t> longest_;  // passage that the token would go on with
  std::vector<float> penalised_;                       // [vocabulary], only when a penalty or DRY is on
  std::vector<float> weights_;                         // softmax before division by its sum
  std::vector<Candidate> candidates_, ranked_;
};

}  // namespace fovea::runtime
