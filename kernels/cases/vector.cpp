// Cases of rms_norm, rotary, route, sigmoid and add.
#include <cmath>
#include <limits>

#include "kernels/cases/case.h"

namespace fovea::kernels::cases {

namespace {

constexpr double unit = 0x1p-24;  // relative rounding of a float
constexpr double smallest = 1e-37;

class RmsNormCase final : public Case {
 public:
  RmsNormCase(const std::string& what, std::vector<float> x, std::vector<float> residual,
              std::vector<float> weight, bool in_place)
      : x_(std::move(x)), residual_(std::move(residual)), weight_(std::move(weight)), in_place_(in_place) {
    name = "rms_norm " + what;
    work.bytes = 4.0 * static_cast<double>(x_.size() * (residual_.empty() ? 2 : 4));
    work.operations = 4.0 * static_cast<double>(x_.size());
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    RmsNorm a;
    a.columns = static_cast<std::int64_t>(weight_.size());
    a.rows = static_cast<std::int64_t>(x_.size()) / a.columns;
    a.x = memory.in_out(x_);
    if (!residual_.empty()) a.residual = memory.input(residual_);
    a.weight = memory.input(weight_);
    a.eps = 1e-6F;
    a.out = in_place_ ? a.x : memory.output<float>(a.rows * a.columns);
    return [&memory, a](Stream& stream) { memory.device().operations().rms_norm(a, stream); };
  }

  // x + residual is one float addition: exact. The norm's sum of squares is off by at most √n roundings in
  // effect, halved by the root; a few more for the products.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result(reference.size(), 0.0);
    const double relative = unit * (std::sqrt(static_cast<double>(weight_.size())) + 6);
    for (std::size_t i = in_place_ ? 0 : x_.size(); i < reference.size(); ++i) {
      result[i] = relative * std::fabs(reference[i]) + smallest;
    }
    return result;
  }

 private:
  std::vector<float> x_;
  std::vector<float> residual_;
  std::vector<float> weight_;
  bool in_place_;
};

class RotaryCase final : public Case {
 public:
  RotaryCase(Random& random, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
             std::int64_t rotary, std::int64_t padding, RotaryStyle style, std::int32_t first) {
    name = "rotary " + std::to_string(tokens) + " tokens, " + std::to_string(heads) + " heads, " +
           std::to_string(rotary) + " of " + std::to_string(head_dim) +
           (style == RotaryStyle::half_split ? ", half split" : ", interleaved");
    shape_.tokens = tokens;
    shape_.heads = heads;
    shape_.head_dim = head_dim;
    shape_.rotary = rotary;
    shape_.stride = heads * head_dim + padding;
    shape_.style = style;
    shape_.magnitude = 1.25F;
    x_ = normals(random, tokens * shape_.stride);
    for (std::int64_t t = 0; t < tokens; ++t) positions_.push_back(first + static_cast<std::int32_t>(t * t));
    for (std::int64_t i = 0; i < rotary / 2; ++i) {
      frequency_.push_back(
          static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(rotary))));
    }
    work.bytes = 8.0 * static_cast<double>(tokens * heads * rotary);
    work.operations = 3.0 * static_cast<double>(tokens * heads * rotary);
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    Rotary a = shape_;
    a.x = memory.in_out(x_);
    a.positions = memory.input(positions_);
    a.inverse_frequency = memory.input(frequency_);
    return [&memory, a](Stream& stream) { memory.device().operations().rotary(a, stream); };
  }

  // Each result is a rotated pair: both its elements' size, times the roundings of sine, cosine and two
  // products. The angle itself must be exact: positions reach 10^6, where a float angle would be wrong by
  // 0.06.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result(reference.size(), 0.0);
    for (std::int64_t t = 0; t < shape_.tokens; ++t) {
      for (std::int64_t head = 0; head < shape_.heads; ++head) {
        for (std::int64_t i = 0; i < shape_.rotary / 2; ++i) {
          const bool split = shape_.style == RotaryStyle::half_split;
          const std::int64_t start = t * shape_.stride + head * shape_.head_dim;
          const auto a = static_cast<std::size_t>(start + (split ? i : 2 * i));
          const auto b = static_cast<std::size_t>(start + (split ? i + shape_.rotary / 2 : 2 * i + 1));
          result[a] = result[b] = 8 * unit * std::hypot(reference[a], reference[b]) + smallest;
        }
      }
    }
    return result;
  }

 private:
  Rotary shape_;
  std::vector<float> x_;
  std::vector<std::int32_t> positions_;
  std::vector<float> frequency_;
};

class RouteCase final : public Case {
 public:
  RouteCase(const std::string& what, std::vector<float> logits, std::int64_t experts, std::int64_t used,
            bool normalise, float scale)
      : logits_(std::move(logits)) {
    shape_.tokens = static_cast<std::int64_t>(logits_.size()) / experts;
    shape_.experts = experts;
    shape_.used = used;
    shape_.normalise = normalise;
    shape_.scale = scale;
    name = "route " + what + " " + std::to_string(shape_.tokens) + " tokens, " + std::to_string(used) +
           " of " + std::to_string(experts) + (normalise ? ", normalised" : "");
    work.bytes = 4.0 * static_cast<double>(logits_.size());
    work.operations = 4.0 * static_cast<double>(logits_.size());
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    Route a = shape_;
    a.logits = memory.input(logits_);
    a.ids = memory.output<std::int32_t>(a.tokens * a.used);
    a.weights = memory.output<float>(a.tokens * a.used);
    return [&memory, a](Stream& stream) { memory.device().operations().route(a, stream); };
  }

  // The ids are exact. A weight is a quotient of exponentials: the rounding of logit − max (up to 200 here),
  // of the function and of the sum.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result(reference.size(), 0.0);
    for (std::size_t i = reference.size() / 2; i < reference.size(); ++i) {
      const double argument = std::fabs(std::log(std::fabs(reference[i]) + 1e-30));
      result[i] =
          unit * (12 + argument + std::sqrt(static_cast<double>(shape_.experts))) * std::fabs(reference[i]) +
          smallest;
    }
    return result;
  }

 private:
  Route shape_;
  std::vector<float> logits_;
};

class ElementwiseCase final : public Case {
 public:
  ElementwiseCase(const std::string& what, std::vector<float> x, std::vector<float> y)
      : x_(std::move(x)), y_(std::move(y)) {
    name = (y_.empty() ? "sigmoid " : "add ") + what;
    work.bytes = 4.0 * static_cast<double>(x_.size() * (y_.empty() ? 2 : 3));
    work.operations = static_cast<double>(x_.size());
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    float* x = memory.in_out(x_);
    const float* y = y_.empty() ? nullptr : memory.input(y_);
    const auto count = static_cast<std::int64_t>(x_.size());
    return [&memory, x, y, count](Stream& stream) {
      if (y) {
        memory.device().operations().add({x, y, count}, stream);
      } else {
        memory.device().operations().sigmoid({x, count}, stream);
      }
    };
  }

  // A float addition is exact; the sigmoid has the roundings of exp, a sum and a quotient. What lies below
  // the normal floats may be flushed.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result(reference.size(), 0.0);
    for (std::size_t i = 0; y_.empty() && i < result.size(); ++i)
      result[i] = 6 * unit * std::fabs(reference[i]) + 2e-38;
    return result;
  }

 private:
  std::vector<float> x_;
  std::vector<float> y_;
};

void add_norms(Cases& cases, Random& random) {
  for (const std::int64_t columns : {1, 7, 8, 33, 64, 100, 576, 2048}) {
    for (const std::int64_t rows : {1, 5}) {
      const std::string what = std::to_string(rows) + "x" + std::to_string(columns);
      const auto x = [&] { return normals(random, rows * columns, 3); };
      cases.push_back(
          std::make_unique<RmsNormCase>(what, x(), std::vector<float>{}, normals(random, columns), false));
      cases.push_back(
          std::make_unique<RmsNormCase>(what + " residual", x(), x(), normals(random, columns), false));
      cases.push_back(std::make_unique<RmsNormCase>(what + " in place", x(), std::vector<float>{},
                                                    normals(random, columns), true));
    }
  }
  std::vector<float> odd = normals(random, 4 * 40);
  for (std::size_t i = 0; i < 40; ++i) {
    odd[i] = 0;             // a zero row
    odd[40 + i] *= 1e-41F;  // denormals
    odd[80 + i] *= 1e15F;   // large
  }
  odd[3 * 40] = 1e9F;  // one outlier
  cases.push_back(
      std::make_unique<RmsNormCase>("awkward rows", odd, std::vector<float>{}, normals(random, 40), false));
  cases.push_back(std::make_unique<RmsNormCase>("many rows", normals(random, 700 * 24), std::vector<float>{},
                                                normals(random, 24), false));
}

void add_routes(Cases& cases, Random& random) {
  for (const bool normalise : {false, true}) {
    const auto add = [&](const std::string& what, std::vector<float> logits, std::int64_t experts,
                         std::int64_t used) {
      cases.push_back(std::make_unique<RouteCase>(what, std::move(logits), experts, used, normalise,
                                                  normalise ? 2.5F : 1.0F));
    };
    add("random", normals(random, 1 * 8, 2), 8, 2);
    add("random", normals(random, 3 * 60, 2), 60, 4);
    add("random", normals(random, 70 * 128, 2), 128, 8);
    add("random", normals(random, 2 * 512, 2), 512, 10);
    add("odd", normals(random, 5 * 17, 2), 17, 17);
    add("one expert", normals(random, 2, 2), 1, 1);
    add("all equal", std::vector<float>(3 * 21, 0.25F), 21, 5);
    std::vector<float> ties = normals(random, 6 * 64, 2);
    for (float& value : ties) value = std::round(value);  // many equal logits
    add("ties", ties, 64, 9);
    add("far apart", normals(random, 4 * 32, 60), 32, 4);
  }
}

}  // namespace

void add_vector_sweep(Cases& cases, Random& random) {
  add_norms(cases, random);
  add_routes(cases, random);
  for (const RotaryStyle style : {RotaryStyle::half_split, RotaryStyle::interleaved}) {
    cases.push_back(std::make_unique<RotaryCase>(random, 1, 1, 2, 2, 0, style, 3));
    cases.push_back(std::make_unique<RotaryCase>(random, 5, 3, 64, 64, 0, style, 0));
    cases.push_back(std::make_unique<RotaryCase>(random, 3, 2, 256, 64, 7, style, 100));
    cases.push_back(std::make_unique<RotaryCase>(random, 4, 5, 10, 6, 3, style, 8190));
    cases.push_back(std::make_unique<RotaryCase>(random, 40, 4, 128, 128, 128, style, 1000000));
    cases.push_back(std::make_unique<RotaryCase>(random, 2, 1, 46, 46, 1, style, 131071));
  }
  for (const std::int64_t count : {1, 7, 16, 33, 1000, 40000}) {
    const std::string what = std::to_string(count);
    cases.push_back(std::make_unique<ElementwiseCase>(what, normals(random, count, 5), std::vector<float>{}));
    cases.push_back(std::make_unique<ElementwiseCase>(what, normals(random, count), normals(random, count)));
  }
  cases.push_back(std::make_unique<ElementwiseCase>(
      "far out",
      std::vector<float>{0, -0.0F, 1e-42F, 20, -20, 87, -87, 89, -89, 104, -104, 1e6F, -1e6F, 3e38F, -3e38F},
      std::vector<float>{}));
}

void add_vector_benchmarks(Benchmarks& all) {
  const auto add = [&all](std::unique_ptr<Case> one) {
    const std::shared_ptr<std::unique_ptr<Case>> kept =
        std::make_shared<std::unique_ptr<Case>>(std::move(one));
    all.push_back({(*kept)->name, [kept] { return std::move(*kept); }});
  };
  Random random(3);
  for (const std::int64_t tokens : {1, 512}) {
    const std::string what = std::to_string(tokens) + "x2048";
    const auto x = [&] { return normals(random, tokens * 2048); };
    add(std::make_unique<RmsNormCase>(what + " residual", x(), x(), normals(random, 2048), false));
    add(std::make_unique<RotaryCase>(random, tokens, 32, 128, 128, 0, RotaryStyle::half_split, 0));
    add(std::make_unique<RouteCase>("random", normals(random, tokens * 128), 128, 8, true, 1.0F));
    add(std::make_unique<ElementwiseCase>(what, x(), std::vector<float>{}));
    add(std::make_unique<ElementwiseCase>(what, x(), x()));
  }
}

}  // namespace fovea::kernels::cases
