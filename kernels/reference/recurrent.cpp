// What mixes positions by a state: the short convolution and the gated delta rule; and the gate of attention.
#include <cmath>

#include "kernels/reference/functions.h"
#include "kernels/reference/operations.h"

namespace fovea::kernels::reference {
namespace {

double softplus(double x) {
  return x > 30 ? x : std::log1p(std::exp(x));
}

// A head of q or k at length 1.
std::vector<double> unit(const float* head, std::int64_t dim) {
  std::vector<double> x(head, head + dim);
  double squares = 1e-6;
  for (const double value : x) squares += value * value;
  for (double& value : x) value /= std::sqrt(squares);
  return x;
}

// The state of one value head as it goes on in double.
class DeltaHead {
 public:
  DeltaHead(const GatedDelta& op, std::int64_t head)
      : op_(op), head_(head), stored_(op.state + head * op.key_dim * op.value_dim) {
    state_.assign(stored_, stored_ + op.key_dim * op.value_dim);
  }

  // out [value_dim], before the norm.
  std::vector<double> step(std::int64_t token) {
    const std::int64_t keys = op_.key_dim, values = op_.value_dim, all_keys = op_.key_heads * keys;
    const std::int64_t key_head = head_ / op_.sharing % op_.key_heads;
    const float* const row = op_.qkv + token * (2 * all_keys + op_.value_heads * values);
    const std::vector<double> q = unit(row + key_head * keys, keys);
    const std::vector<double> k = unit(row + all_keys + key_head * keys, keys);
    const float* const v = row + 2 * all_keys + head_ * values;
    const std::int64_t ab = token * op_.ab_stride + head_ + head_ / op_.ab_group * op_.ab_group;
    const double decay = std::exp(op_.rate[head_] * softplus(double{op_.a[ab]} + op_.step_bias[head_]));
    const double beta = sigmoid(op_.b[ab]);
    for (double& value : state_) value *= decay;
    std::vector<double> out;
    for (std::int64_t j = 0; j < values; ++j) {
      double recalled = 0;
      for (std::int64_t i = 0; i < keys; ++i) recalled += at(i, j) * k[static_cast<std::size_t>(i)];
      double sum = 0;
      for (std::int64_t i = 0; i < keys; ++i) {
        at(i, j) += k[static_cast<std::size_t>(i)] * beta * (v[j] - recalled);
        sum += at(i, j) * q[static_cast<std::size_t>(i)];
      }
      out.push_back(sum / std::sqrt(static_cast<double>(keys)));
    }
    return out;
  }

  void store() const {
    for (std::size_t i = 0; i < state_.size(); ++i) stored_[i] = static_cast<float>(state_[i]);
  }

 private:
  double& at(std::int64_t i, std::int64_t j) {
    return state_[static_cast<std::size_t>(i * op_.value_dim + j)];
  }

  const GatedDelta& op_;
  const std::int64_t head_;
  float* const stored_;
  std::vector<double> state_;
};

}  // namespace

void gating(const Gating& a, Stream&) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t i = 0; i < a.columns; ++i) {
      float& x = a.x[row * a.columns + i];
      const double gate = a.gate[row * a.gate_stride + i];
      x = static_cast<float>(a.form == GatingForm::sigmoid ? x * sigmoid(gate) : gelu(x) * gate);
    }
  }
}

void short_convolution(const ShortConvolution& a, Stream&) {
  const std::int64_t before = a.positions - 1;
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    std::vector<float> rows;
    for (std::int64_t i = 0; i < before; ++i) rows.push_back(a.state[i * a.channels + channel]);
    for (std::int64_t t = 0; t < a.tokens; ++t) {
      float& x = a.x[t * a.channels + channel];
      rows.push_back(x);
      double sum = 0;
      for (std::int64_t i = 0; i < a.positions; ++i) {
        sum += double{a.weight[channel * a.positions + i]} * rows[static_cast<std::size_t>(t + i)];
      }
      x = static_cast<float>(silu(sum));
    }
    for (std::int64_t i = 0; i < before; ++i)
      a.state[i * a.channels + channel] = rows[static_cast<std::size_t>(a.tokens + i)];
  }
}

void gated_delta(const GatedDelta& a, Stream&) {
  for (std::int64_t head = 0; head < a.value_heads; ++head) {
    DeltaHead delta(a, head);
    for (std::int64_t t = 0; t < a.tokens; ++t) {
      const std::vector<double> o = delta.step(t);
      double squares = 0;
      for (const double value : o) squares += value * value;
      const double factor = 1 / std::sqrt(squares / static_cast<double>(a.value_dim) + a.eps);
      const std::int64_t row = (t * a.value_heads + head) * a.value_dim;
      for (std::int64_t j = 0; j < a.value_dim; ++j) {
        a.out[row + j] =
            static_cast<float>(o[static_cast<std::size_t>(j)] * factor * a.norm[j] * silu(a.z[row + j]));
      }
    }
    delta.store();
  }
}

}  // namespace fovea::kernels::reference
