#include "engine/runtime/log_probabilities.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace fovea::runtime {

TokenChoice token_choice(std::span<const float> logits, TokenId token, std::int32_t likeliest) {
  const float top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - top));
  const auto log_sum = static_cast<float>(std::log(sum));
  const auto logprob = [&](TokenId id) { return logits[static_cast<std::size_t>(id)] - top - log_sum; };

  std::vector<TokenId> order(logits.size());
  std::iota(order.begin(), order.end(), TokenId{0});
  const auto count = std::min(order.size(), static_cast<std::size_t>(std::max(likeliest, 0)));
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(count), [&](TokenId a, TokenId b) {
        const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
        return x > y || (x == y && a < b);
      });
  TokenChoice choice{.token = token, .logprob = logprob(token)};
  for (std::size_t i = 0; i < count; ++i) choice.likeliest.push_back({order[i], logprob(order[i])});
  return choice;
}

}  // namespace fovea::runtime
