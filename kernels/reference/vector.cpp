// Operations on activations alone: norm, rotary embedding, routing, elementwise.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "kernels/reference/operations.h"

namespace fovea::kernels::reference {

void rms_norm(const RmsNorm& a, Stream&) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    float* x = a.x + row * a.columns;
    double squares = 0;
    for (std::int64_t i = 0; i < a.columns; ++i) {
      if (a.residual) x[i] += a.residual[row * a.columns + i];
      squares += static_cast<double>(x[i]) * x[i];
    }
    const double factor = 1 / std::sqrt(squares / static_cast<double>(a.columns) + a.eps);
    for (std::int64_t i = 0; i < a.columns; ++i) {
      a.out[row * a.columns + i] = static_cast<float>(x[i] * factor * a.weight[i]);
    }
  }
}

void rotary(const Rotary& a, Stream&) {
  assert(a.rotary % 2 == 0 && a.rotary <= a.head_dim);
  const std::int64_t half = a.rotary / 2;
  for (std::int64_t t = 0; t < a.tokens; ++t) {
    for (std::int64_t head = 0; head < a.heads; ++head) {
      float* x = a.x + t * a.stride + head * a.head_dim;
      for (std::int64_t i = 0; i < half; ++i) {
        float& first = a.style == RotaryStyle::half_split ? x[i] : x[2 * i];
        float& second = a.style == RotaryStyle::half_split ? x[i + half] : x[2 * i + 1];
        const double angle = static_cast<double>(a.positions[t]) * a.inverse_frequency[i];
        const double cosine = std::cos(angle) * a.magnitude;
        const double sine = std::sin(angle) * a.magnitude;
        const double real = first * cosine - second * sine;
        const double imaginary = first * sine + second * cosine;
        first = static_cast<float>(real);
        second = static_cast<float>(imaginary);
      }
    }
  }
}

// Ordered by the logits themselves, which order as the probabilities do and do not depend on their rounding.
void route(const Route& a, Stream&) {
  assert(a.used <= a.experts);
  for (std::int64_t t = 0; t < a.tokens; ++t) {
    const float* logits = a.logits + t * a.experts;
    std::vector<std::int32_t> order(static_cast<std::size_t>(a.experts));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [logits](std::int32_t i, std::int32_t j) { return logits[i] > logits[j]; });
    const double largest = logits[order[0]];
    double all = 0;
    for (std::int64_t i = 0; i < a.experts; ++i) all += std::exp(logits[i] - largest);
    double chosen = 0;
    for (std::int64_t j = 0; j < a.used; ++j)
      chosen += std::exp(logits[order[static_cast<std::size_t>(j)]] - largest);
    for (std::int64_t j = 0; j < a.used; ++j) {
      const std::int32_t id = order[static_cast<std::size_t>(j)];
      a.ids[t * a.used + j] = id;
      a.weights[t * a.used + j] =
          static_cast<float>(std::exp(logits[id] - largest) / (a.normalise ? chosen : all) * a.scale);
    }
  }
}

void sigmoid(const Sigmoid& a, Stream&) {
  for (std::int64_t i = 0; i < a.count; ++i)
    a.x[i] = static_cast<float>(1 / (1 + std::exp(-static_cast<double>(a.x[i]))));
}

void add(const Add& a, Stream&) {
  for (std::int64_t i = 0; i < a.count; ++i) a.x[i] += a.y[i];
}

}  // namespace fovea::kernels::reference
