// Operations that read weight matrices.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "kernels/formats/formats.h"
#include "kernels/reference/functions.h"
#include "kernels/reference/operations.h"

namespace fovea::kernels::reference {
namespace {

double dot(const float* a, const double* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

double activated(Activation activation, double g, double u) {
  switch (activation) {
    case Activation::gelu_tanh:
      return gelu(g) * u;
    case Activation::clamped_silu:
      g = std::min<double>(g, clamped_silu_limit);
      u = std::clamp<double>(u, -clamped_silu_limit, clamped_silu_limit);
      return g * sigmoid(clamped_silu_alpha * g) * (u + 1);
    case Activation::silu:
      break;
  }
  return g * sigmoid(g) * u;
}

// W · x + bias for one x.   [weight.rows]
std::vector<double> product(const Weight& weight, const float* bias, const std::vector<double>& x) {
  assert(weight.columns == static_cast<std::int64_t>(x.size()));
  std::vector<double> result;
  for (std::int64_t row = 0; row < weight.rows; ++row) {
    result.push_back(dot(weight_row(weight, row).data(), x.data(), weight.columns) + (bias ? bias[row] : 0));
  }
  return result;
}

// sum += factor · down(activation(gate(x), up(x)))
void add_expert(const Expert& expert, const std::vector<double>& x, double factor, std::vector<double>& sum) {
  const std::vector<double> gate = product(expert.gate, expert.gate_bias, x);
  const std::vector<double> up = product(expert.up, expert.up_bias, x);
  std::vector<double> hidden(gate.size());
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = activated(expert.activation, gate[i], up[i]);
  const std::vector<double> out = product(expert.down, expert.down_bias, hidden);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * out[i];
}

// Ordered by the logits themselves, which order as the probabilities do and do not depend on their rounding.
void choose_experts(const Router& a, std::int64_t token) {
  const float* const logits = a.logits + token * a.weight.rows;
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.weight.rows));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [logits](std::int32_t i, std::int32_t j) { return logits[i] > logits[j]; });
  const double largest = logits[order[0]];
  double all = 0;
  for (std::int64_t i = 0; i < a.weight.rows; ++i) all += std::exp(logits[i] - largest);
  double chosen = 0;
  for (std::int64_t j = 0; j < a.used; ++j)
    chosen += std::exp(logits[order[static_cast<std::size_t>(j)]] - largest);
  for (std::int64_t j = 0; j < a.used; ++j) {
    const std::int32_t id = order[static_cast<std::size_t>(j)];
    a.ids[token * a.used + j] = id;
    a.weights[token * a.used + j] =
        static_cast<float>(std::exp(logits[id] - largest) / (a.normalise ? chosen : all) * a.scale *
                           (a.expert_scales ? a.expert_scales[id] : 1));
  }
}

}  // namespace

std::vector<float> weight_row(const Weight& weight, std::int64_t row) {
  assert(weight.packing == Packing::rows && row >= 0 && row < weight.rows);
  std::vector<float> result(static_cast<std::size_t>(weight.columns));
  formats::dequantize(weight.type, weight.data + row * row_bytes(weight.type, weight.columns), weight.columns,
                      result.data());
  return result;
}

void embed_rows(const EmbedRows& a, Stream&) {
  for (std::int64_t t = 0; t < a.tokens; ++t) {
    const std::vector<float> row = weight_row(a.table, a.ids[t]);
    for (std::int64_t i = 0; i < a.table.columns; ++i)
      a.out[t * a.table.columns + i] = a.scale * row[static_cast<std::size_t>(i)];
  }
}

void linear(const Linear& a, Stream& stream) {
  const std::vector<double> x(a.x, a.x + a.tokens * a.columns);
  for (const Projection& projection : a.projections) {
    assert(projection.weight.columns == a.columns && projection.out_stride >= projection.weight.rows);
    for (std::int64_t row = 0; row < projection.weight.rows; ++row) {
      const std::vector<float> weight = weight_row(projection.weight, row);
      const double bias = projection.bias ? projection.bias[row] : 0;
      for (std::int64_t t = 0; t < a.tokens; ++t) {
        const double sum = dot(weight.data(), x.data() + t * a.columns, a.columns);
        projection.out[t * projection.out_stride + row] = static_cast<float>(sum + bias);
      }
    }
  }
  if (a.then) rms_norm(a.then, stream);
}

void router(const Router& a, Stream&) {
  assert(a.used <= a.weight.rows);
  const std::int64_t d = a.weight.columns;
  for (std::int64_t t = 0; t < a.tokens; ++t) {
    const std::vector<double> x(a.x + t * d, a.x + (t + 1) * d);
    std::ranges::transform(product(a.weight, a.bias, x), a.logits + t * a.weight.rows,
                           [](double logit) { return static_cast<float>(logit); });
    choose_experts(a, t);
    if (a.shared_gate)
      a.shared_weights[t] = static_cast<float>(sigmoid(product(a.shared_gate, nullptr, x).front()));
  }
}

void feed_forward(const FeedForward& a, Stream& stream) {
  for (std::int64_t t = 0; t < a.tokens; ++t) {
    const std::vector<double> x(a.x + t * a.d, a.x + (t + 1) * a.d);
    std::vector<double> sum(x.size(), 0.0);
    for (std::int64_t j = 0; j < a.used; ++j) {
      const std::int32_t id = a.ids[t * a.used + j];
      assert(id >= 0 && static_cast<std::size_t>(id) < a.experts.size());
      const Expert& expert = a.experts[static_cast<std::size_t>(id)];
      if (expert.gate) add_expert(expert, x, a.weights[t * a.used + j], sum);
    }
    if (a.shared) add_expert(*a.shared, x, a.shared_weights ? a.shared_weights[t] : 1, sum);
    for (std::int64_t i = 0; i < a.d; ++i)
      a.out[t * a.d + i] = static_cast<float>(sum[static_cast<std::size_t>(i)]);
  }
  if (a.then) rms_norm(a.then, stream);
}

}  // namespace fovea::kernels::reference
