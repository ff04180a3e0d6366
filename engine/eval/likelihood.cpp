#include "engine/eval/likelihood.h"

#include <algorithm>
#include <cmath>

namespace fovea::eval {

double log_sum(std::span<const float> logits) {
  const float top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) {
    const float below = logit - top;
    if (below > -40) sum += static_cast<double>(std::exp(below));  // less would not change the sum
  }
  return std::log(sum) + static_cast<double>(top);
}

double log_likelihood(std::span<const float> logits, TokenId token) {
  return static_cast<double>(logits[static_cast<std::size_t>(token)]) - log_sum(logits);
}

bool is_greedy(std::span<const float> logits, TokenId token) {
  return std::ranges::max_element(logits) - logits.begin() == token;
}

}  // namespace fovea::eval
