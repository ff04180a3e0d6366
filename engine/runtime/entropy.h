// How undecided the model's output is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace fovea::runtime {

// −Σ p ln p of softmax(logits), in nats.
inline double entropy(std::span<const float> logits) {
  const float top = *std::ranges::max_element(logits);
  double sum = 0, weighted = 0;
  for (const float logit : logits) {
    const float below = logit - top;
    if (below < -40) continue;  // would not change the sums
    const auto p = static_cast<double>(std::exp(below));
    sum += p;
    weighted += p * static_cast<double>(below);
  }
  return std::log(sum) - weighted / sum;
}

// Of each row of `vocabulary` logits.
inline std::vector<float> entropies(std::span<const float> logits, std::int64_t vocabulary) {
  const auto width = static_cast<std::size_t>(vocabulary);
  std::vector<float> rows;
  for (std::size_t at = 0; at < logits.size(); at += width)
    rows.push_back(static_cast<float>(entropy(logits.subspan(at, width))));
  return rows;
}

// Their mean; −1 without any.
inline float mean_entropy(std::span<const float> logits, std::int64_t vocabulary) {
  const std::vector<float> rows = entropies(logits, vocabulary);
  return rows.empty() ? -1 : std::reduce(rows.begin(), rows.end()) / static_cast<float>(rows.size());
}

}  // namespace fovea::runtime
