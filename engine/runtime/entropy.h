// How undecided the model's output is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

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

// The mean over rows of `vocabulary` logits; −1 without any.
inline float mean_entropy(std::span<const float> logits, std::int64_t vocabulary) {
  if (logits.empty()) return -1;
  const auto width = static_cast<std::size_t>(vocabulary);
  double sum = 0;
  for (std::size_t at = 0; at < logits.size(); at += width) sum += entropy(logits.subspan(at, width));
  return static_cast<float>(sum / static_cast<double>(logits.size() / width));
}

}  // namespace fovea::runtime
