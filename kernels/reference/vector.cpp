// Operations on activations alone.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "kernels/reference/functions.h"
#include "kernels/reference/operations.h"

namespace fovea::kernels::reference {

void rms_norm(const RmsNorm& a, Stream&) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    float* x = a.x + row * a.columns;
    const float* const residual = a.residual ? a.residual + row * a.columns : nullptr;
    const double inner = a.residual_weight ? norm_factor(residual, a.columns, a.residual_eps) : 1;
    for (std::int64_t i = 0; residual && i < a.columns; ++i) {
      const double added = a.residual_weight ? residual[i] * inner * a.residual_weight[i] : residual[i];
      x[i] = static_cast<float>(a.scale * (x[i] + added));
    }
    if (a.out == nullptr) continue;
    const double factor = norm_factor(x, a.columns, a.eps);
    for (std::int64_t i = 0; i < a.columns; ++i) {
      a.out[row * a.columns + i] = static_cast<float>(x[i] * factor * a.weight[i]);
    }
  }
}

void add(const Add& a, Stream&) {
  for (std::int64_t i = 0; i < a.count; ++i) a.x[i] += a.y[i];
}

void soft_cap(const SoftCap& a, Stream&) {
  const double cap = a.cap;
  for (std::int64_t i = 0; i < a.count; ++i) a.x[i] = static_cast<float>(cap * std::tanh(a.x[i] / cap));
}

void top_k(const TopK& a, Stream&) {
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  std::vector<double> logits(a.logits, a.logits + a.count);
  for (double& logit : logits) logit = std::isnan(logit) ? lowest : logit;
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&logits](std::int32_t id) { return logits[static_cast<std::size_t>(id)]; };
  std::ranges::stable_sort(order, std::greater<>(), logit);
  for (std::int64_t i = 0; i < a.listed; ++i) {
    a.ids[i] = order[static_cast<std::size_t>(i)];
    a.values[i] = static_cast<float>(logit(a.ids[i]));
  }
  const double largest = logit(order.front());
  double scaled = 0, plain = 0, weighted = 0;
  for (const double each : logits) {
    if (std::isinf(largest) || each == lowest) continue;
    const double d = each - largest;
    scaled += std::exp(static_cast<double>(*a.inverse_temperature) * d);
    plain += std::exp(d);
    weighted += d * std::exp(d);
  }
  a.sums[0] = static_cast<float>(scaled);
  a.sums[1] = static_cast<float>(plain);
  a.sums[2] = static_cast<float>(weighted);
}

}  // namespace fovea::kernels::reference
