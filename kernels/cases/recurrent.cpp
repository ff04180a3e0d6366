// Cases of gating, short_convolution and gated_delta.
#include <algorithm>
#include <cmath>

#include "kernels/cases/case.h"

namespace fovea::kernels::cases {

namespace {

constexpr double unit = 0x1p-24;  // relative rounding of a float
constexpr double smallest = 1e-37;

double silu(double x) {
  return x / (1 + std::exp(-x));
}

std::string text(std::int64_t number) {
  return std::to_string(number);
}

class GateCase final : public Case {
 public:
  GateCase(Random& random, GatingForm form, std::int64_t rows, std::int64_t columns, std::int64_t padding)
      : form_(form), rows_(rows), columns_(columns), stride_(columns + padding) {
    name = std::string("gating ") + (form == GatingForm::sigmoid ? "sigmoid " : "GELU ") + text(rows) + "x" +
           text(columns) + ", rows " + text(stride_) + " apart";
    x_ = normals(random, rows * columns, 3);
    gate_ = normals(random, rows * stride_, 10);
    work.bytes = 12.0 * static_cast<double>(x_.size());
    work.operations = 10.0 * static_cast<double>(x_.size());
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    const Gating a = {memory.in_out(x_), memory.input(gate_), stride_, rows_, columns_, form_};
    return [&memory, a](Stream& stream) { memory.device().operations().gating(a, stream); };
  }

  // An exponential to two units in the last place, and three more roundings. GELU's exponent is off by three
  // roundings of itself, far below 0 a share of the result that grows with it. Powers are cut off where
  // floats end, and what they are multiplied with multiplies what is left.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const double x = std::fabs(x_[i]);
      const double exponent = form_ == GatingForm::gelu_tanh ? 1.6 * (x + 0.045 * x * x * x) : 0;
      const auto row = static_cast<std::int64_t>(i) / columns_,
                 column = static_cast<std::int64_t>(i) % columns_;
      const double gate = std::fabs(gate_[static_cast<std::size_t>(row * stride_ + column)]);
      result.push_back((8 + 4 * exponent) * unit * std::fabs(reference[i]) + smallest * (1 + x) * (1 + gate));
    }
    return result;
  }

 private:
  GatingForm form_;
  std::int64_t rows_, columns_, stride_;
  std::vector<float> x_, gate_;
};

class ConvolutionCase final : public Case {
 public:
  ConvolutionCase(Random& random, std::int64_t tokens, std::int64_t channels, std::int64_t positions)
      : tokens_(tokens), channels_(channels), positions_(positions) {
    name = "short_convolution " + text(tokens) + "x" + text(channels) + ", " + text(positions) + " positions";
    x_ = normals(random, tokens * channels);
    weight_ = normals(random, channels * positions);
    state_ = normals(random, (positions - 1) * channels);
    work.bytes = 8.0 * static_cast<double>(x_.size());
    work.operations = 2.0 * static_cast<double>(x_.size()) * static_cast<double>(positions);
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    ShortConvolution a;
    a.x = memory.in_out(x_);
    a.state = memory.in_out(state_);
    a.weight = memory.input(weight_);
    a.tokens = tokens_;
    a.channels = channels_;
    a.positions = positions_;
    return [&memory, a](Stream& stream) { memory.device().operations().short_convolution(a, stream); };
  }

  // The sum's roundings are of its largest terms' size, and SiLU's slope is at most 1.1. The state is exact.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result(reference.size(), 0.0);
    const auto row = [&](std::int64_t t, std::int64_t channel) {
      const std::int64_t before = positions_ - 1;
      return t < before ? state_[static_cast<std::size_t>(t * channels_ + channel)]
                        : x_[static_cast<std::size_t>((t - before) * channels_ + channel)];
    };
    for (std::int64_t t = 0; t < tokens_; ++t) {
      for (std::int64_t channel = 0; channel < channels_; ++channel) {
        double terms = 0;
        for (std::int64_t i = 0; i < positions_; ++i)
          terms += std::fabs(double{weight_[static_cast<std::size_t>(channel * positions_ + i)]} *
                             row(t + i, channel));
        const auto at = static_cast<std::size_t>(t * channels_ + channel);
        result[at] =
            unit * (1.1 * static_cast<double>(positions_) * terms + 8 * std::fabs(reference[at])) + smallest;
      }
    }
    return result;
  }

 private:
  std::int64_t tokens_, channels_, positions_;
  std::vector<float> x_, weight_, state_;
};

struct DeltaShape {
  std::int64_t tokens = 1;
  std::int64_t key_heads = 1, value_heads = 1;
  std::int64_t key_dim = 1, value_dim = 1;
  bool tiled = false;
  bool joined = false;  // a and b come from one matrix, key head by key head
  double forgetting = 1;
};

class DeltaCase final : public Case {
 public:
  DeltaCase(Random& random, const DeltaShape& shape) : s_(shape) {
    name = "gated_delta " + text(s_.tokens) + " tokens, " + text(s_.key_heads) + "x" + text(s_.key_dim) +
           " to " + text(s_.value_heads) + "x" + text(s_.value_dim) + (s_.tiled ? ", tiled" : "") +
           (s_.joined ? ", joined" : "") + (s_.forgetting != 1 ? ", forgetful" : "");
    qkv_ = normals(random, s_.tokens * (2 * s_.key_heads * s_.key_dim + s_.value_heads * s_.value_dim));
    z_ = normals(random, s_.tokens * s_.value_heads * s_.value_dim, 2);
    ab_ = normals(random, s_.tokens * 2 * s_.value_heads, 2);
    for (const float value : normals(random, s_.value_heads))
      rate_.push_back(static_cast<float>(-s_.forgetting * std::exp(value)));
    step_bias_ = normals(random, s_.value_heads);
    norm_ = normals(random, s_.value_dim);
    state_ = normals(random, s_.value_heads * s_.key_dim * s_.value_dim);
    // Twice through the state for each token.
    work.operations = 6.0 * static_cast<double>(s_.tokens) * static_cast<double>(state_.size());
    work.bytes = 4.0 * static_cast<double>(2 * state_.size() + qkv_.size() + 2 * z_.size());
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    GatedDelta a;
    a.qkv = memory.input(qkv_);
    a.z = memory.input(z_);
    const float* const ab = memory.input(ab_);
    a.ab_group = s_.joined ? s_.value_heads / s_.key_heads : s_.value_heads;
    a.ab_stride = 2 * s_.value_heads;
    a.b = ab;
    a.a = ab + a.ab_group;
    a.rate = memory.input(rate_);
    a.step_bias = memory.input(step_bias_);
    a.norm = memory.input(norm_);
    a.eps = 1e-6F;
    a.tokens = s_.tokens;
    a.key_heads = s_.key_heads;
    a.value_heads = s_.value_heads;
    a.key_dim = s_.key_dim;
    a.value_dim = s_.value_dim;
    a.sharing = s_.tiled ? 1 : s_.value_heads / s_.key_heads;
    a.state = memory.in_out(state_);
    a.out = memory.output<float>(s_.tokens * s_.value_heads * s_.value_dim);
    return [&memory, a](Stream& stream) { memory.device().operations().gated_delta(a, stream); };
  }

  // What a token changes of the state depends on the state before: errors go on, but what is forgotten takes
  // its errors with it. A rounding of each of √(2 key_dim) terms in effect and some of the gates, and a few
  // tokens that live on: of the largest element of the head's state, and, as the norm makes of it, of the
  // largest of its output.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    const double roundings = 16 * (std::sqrt(2.0 * static_cast<double>(s_.key_dim)) + 8);
    std::vector<double> result;
    const std::int64_t size = s_.key_dim * s_.value_dim;
    for (std::int64_t head = 0; head < s_.value_heads; ++head) {
      const float* const state = reference.data() + head * size;
      const double most = largest(state, size);
      result.insert(result.end(), static_cast<std::size_t>(size), roundings * unit * most + smallest);
    }
    const std::size_t begin = state_.size();
    for (std::size_t row = 0; row < z_.size(); row += static_cast<std::size_t>(s_.value_dim)) {
      for (std::size_t j = 0; j < static_cast<std::size_t>(s_.value_dim); ++j) {
        // A normed element is at most √value_dim, and usually about 1.
        const double gate = std::fabs(norm_[j] * silu(z_[row + j]));
        result.push_back(roundings * unit * (2 * gate + std::fabs(reference[begin + row + j])) + smallest);
      }
    }
    return result;
  }

 private:
  static double largest(const float* values, std::int64_t count) {
    double most = 0;
    for (std::int64_t i = 0; i < count; ++i) most = std::max<double>(most, std::fabs(values[i]));
    return most;
  }

  DeltaShape s_;
  std::vector<float> qkv_, z_, ab_, rate_, step_bias_, norm_, state_;
};

}  // namespace

void add_recurrent_sweep(Cases& cases, Random& random) {
  for (const std::int64_t columns : {1, 7, 16, 33, 256}) {
    for (const GatingForm form : {GatingForm::sigmoid, GatingForm::gelu_tanh}) {
      cases.push_back(std::make_unique<GateCase>(random, form, 1, columns, 0));
      cases.push_back(std::make_unique<GateCase>(random, form, 5, columns, columns));
    }
  }
  cases.push_back(std::make_unique<GateCase>(random, GatingForm::sigmoid, 300, 130, 3));
  for (const std::int64_t positions : {1, 2, 3, 4, 8}) {
    for (const std::int64_t tokens : {1, 2, 3, 5, 70})
      cases.push_back(std::make_unique<ConvolutionCase>(random, tokens, 37, positions));
  }
  cases.push_back(std::make_unique<ConvolutionCase>(random, 1, 5000, 4));
  cases.push_back(std::make_unique<ConvolutionCase>(random, 9, 600, 4));

  const auto add = [&](const DeltaShape& shape) {
    cases.push_back(std::make_unique<DeltaCase>(random, shape));
  };
  for (const std::int64_t tokens : {1, 2, 7, 8, 13, 63, 64, 65, 150}) {
    add({tokens, 2, 4, 12, 10});
    add({tokens, 2, 4, 32, 16, true});
    add({tokens, 2, 6, 17, 33, false, true});
    add({tokens, 1, 1, 128, 128});
    add({.tokens = tokens,
         .key_heads = 1,
         .value_heads = 2,
         .key_dim = 20,
         .value_dim = 24,
         .forgetting = 40});
    add({.tokens = tokens,
         .key_heads = 1,
         .value_heads = 2,
         .key_dim = 20,
         .value_dim = 24,
         .forgetting = 1e-3});
  }
  add({3, 1, 1, 1, 1});
  add({20, 1, 2, 3, 1});
  add({70, 1, 1, 256, 256});
  add({70, 1, 2, 256, 40, true});
}

void add_recurrent_benchmarks(Benchmarks& all) {
  // Qwen3-Next and Qwen3.5-35B-A3B, decoding and one pass of prefill.
  for (const std::int64_t tokens : {1, 512}) {
    const DeltaShape shape = {tokens, 16, 32, 128, 128};
    Random random(7);
    all.push_back({DeltaCase(random, {tokens, 16, 32, 128, 128}).name, [shape] {
                     Random own(7);
                     return std::make_unique<DeltaCase>(own, shape);
                   }});
    all.push_back({ConvolutionCase(random, tokens, 8192, 4).name, [tokens] {
                     Random own(7);
                     return std::make_unique<ConvolutionCase>(own, tokens, 8192, 4);
                   }});
  }
}

}  // namespace fovea::kernels::cases
