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

namespace {

TokenRecord begin_record(TokenId token, const TokenUses& uses) {
  return {.token = token, .pass_end = uses.pass_end, .uses = {uses.uses.begin(), uses.uses.end()}};
}

}  // namespace

// Two passes over the logits, and none of them is moved: few exceed the least of the largest so far.
TokenRecord token_record(std::span<const float> logits, TokenId token, const TokenUses& uses) {
  TokenRecord record = begin_record(token, uses);
  std::size_t count = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const float logit = logits[id];
    if (std::isnan(logit) || (count == TokenRecord::most_likely && logit <= record.likeliest.back().logprob))
      continue;
    std::size_t at = count < TokenRecord::most_likely ? count++ : count - 1;
    for (; at > 0 && logit > record.likeliest[at - 1].logprob; --at)
      record.likeliest[at] = record.likeliest[at - 1];
    record.likeliest[at] = {.token = static_cast<TokenId>(id), .logprob = logit};
  }
  const float top = record.likeliest.front().logprob;
  double sum = 0, weighted = 0;
  for (const float logit : logits) {
    const float below = logit - top;
    if (!(below >= -40)) continue;  // would not change the sums
    const auto p = static_cast<double>(std::exp(below));
    sum += p;
    weighted += p * static_cast<double>(below);
  }
  const double log_sum = std::log(sum);
  const auto logprob = [&](float logit) {
    return static_cast<float>(static_cast<double>(logit - top) - log_sum);
  };
  record.logprob = logprob(logits[static_cast<std::size_t>(token)]);
  record.entropy = static_cast<float>(log_sum - weighted / sum);
  for (std::size_t i = 0; i < count; ++i) record.likeliest[i].logprob = logprob(record.likeliest[i].logprob);
  return record;
}

TokenRecord token_record(const layers::TopKLogits& largest, TokenId token, const TokenUses& uses) {
  TokenRecord record = begin_record(token, uses);
  const float top = largest.logits.front();
  const double log_sum = std::log(largest.sum);
  const auto logprob = [&](std::size_t i) {
    return static_cast<float>(static_cast<double>(largest.logits[i] - top) - log_sum);
  };
  for (std::size_t i = 0; i < std::min(largest.ids.size(), TokenRecord::most_likely); ++i)
    record.likeliest[i] = {.token = largest.ids[i], .logprob = logprob(i)};
  record.logprob =
      logprob(static_cast<std::size_t>(std::ranges::find(largest.ids, token) - largest.ids.begin()));
  record.entropy = static_cast<float>(largest.entropy);
  return record;
}

}  // namespace fovea::runtime
