// Cases of rms_norm, add and soft_cap.
#include <cmath>

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

// x = scale · (x + norm(residual)), with a norm behind it or without.
class ResidualNormCase final : public Case {
 public:
  ResidualNormCase(Random& random, std::int64_t rows, std::int64_t columns, float scale, bool with_out,
                   bool in_place)
      : rows_(rows), columns_(columns), scale_(scale), with_out_(with_out), in_place_(in_place) {
    name = "rms_norm " + std::to_string(rows) + "x" + std::to_string(columns) + " normed residual" +
           (scale == 1 ? "" : ", scaled") + (with_out ? in_place ? ", in place" : "" : ", sum alone");
    x_ = normals(random, rows * columns, 3);
    residual_ = normals(random, rows * columns, 3);
    residual_weight_ = normals(random, columns);
    weight_ = normals(random, columns);
    work.bytes = 4.0 * static_cast<double>(x_.size() * (with_out ? 4 : 3));
    work.operations = 8.0 * static_cast<double>(x_.size());
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    RmsNorm a;
    a.columns = columns_;
    a.rows = rows_;
    a.x = memory.in_out(x_);
    a.residual = memory.input(residual_);
    a.residual_weight = memory.input(residual_weight_);
    a.residual_eps = 3e-2F;
    a.scale = scale_;
    a.eps = 1e-6F;
    if (with_out_) {
      a.weight = memory.input(weight_);
      a.out = in_place_ ? a.x : memory.output<float>(a.rows * a.columns);
    }
    return [&memory, a](Stream& stream) { memory.device().operations().rms_norm(a, stream); };
  }

  // The residual's norm is off as a norm is, of its own size; the norm behind it divides by the row's root
  // mean square and multiplies by its weight.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    const double relative = unit * (std::sqrt(static_cast<double>(columns_)) + 8);
    std::vector<double> result(reference.size(), 0.0);
    std::vector<double> sums;   // scale · (x + norm(residual))
    std::vector<double> sizes;  // of its terms
    for (std::int64_t at = 0; at < rows_ * columns_; at += columns_) {
      double squares = 0;
      for (std::int64_t i = at; i < at + columns_; ++i) squares += square(residual_, i);
      const double factor = 1 / std::sqrt(squares / static_cast<double>(columns_) + 3e-2);
      for (std::int64_t i = 0; i < columns_; ++i) {
        const auto k = static_cast<std::size_t>(at + i);
        const double added = residual_[k] * factor * residual_weight_[static_cast<std::size_t>(i)];
        sums.push_back(double{scale_} * (x_[k] + added));
        sizes.push_back(std::fabs(scale_) * (std::fabs(x_[k]) + std::fabs(added)));
      }
    }
    const bool keeps_sum = !(with_out_ && in_place_);
    for (std::size_t i = 0; keeps_sum && i < sums.size(); ++i) result[i] = relative * sizes[i] + smallest;
    const std::size_t out = keeps_sum ? sums.size() : 0;
    for (std::int64_t at = 0; with_out_ && at < rows_ * columns_; at += columns_) {
      double squares = 0;
      for (std::int64_t i = at; i < at + columns_; ++i)
        squares += sums[static_cast<std::size_t>(i)] * sums[static_cast<std::size_t>(i)];
      const double factor = 1 / std::sqrt(squares / static_cast<double>(columns_) + 1e-6);
      for (std::int64_t i = 0; i < columns_; ++i) {
        const auto k = static_cast<std::size_t>(at + i);
        const double weight = std::fabs(weight_[static_cast<std::size_t>(i)]);
        result[out + k] = 3 * relative * factor * weight * (sizes[k] + std::fabs(sums[k])) + smallest;
      }
    }
    return result;
  }

 private:
  static double square(const std::vector<float>& x, std::int64_t i) {
    return double{x[static_cast<std::size_t>(i)]} * x[static_cast<std::size_t>(i)];
  }

  std::int64_t rows_, columns_;
  float scale_;
  bool with_out_, in_place_;
  std::vector<float> x_, residual_, residual_weight_, weight_;
};

class SoftCapCase final : public Case {
 public:
  SoftCapCase(Random& random, std::int64_t count, float cap) : x_(normals(random, count, 40)), cap_(cap) {
    name = "soft_cap " + std::to_string(count) + ", at " + std::to_string(static_cast<int>(cap));
    if (count > 3) {
      x_[0] = 0;
      x_[1] = 1e6F;
      x_[2] = -1e6F;
    }
    work.bytes = 8.0 * static_cast<double>(count);
    work.operations = 10.0 * static_cast<double>(count);
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    const SoftCap a = {memory.in_out(x_), static_cast<std::int64_t>(x_.size()), cap_};
    return [&memory, a](Stream& stream) { memory.device().operations().soft_cap(a, stream); };
  }

  // As a difference of 1 and at most 2 it is exact to some roundings of the cap.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    return std::vector<double>(reference.size(), 6 * unit * static_cast<double>(cap_));
  }

 private:
  std::vector<float> x_;
  float cap_;
};

class AddCase final : public Case {
 public:
  AddCase(const std::string& what, std::vector<float> x, std::vector<float> y)
      : x_(std::move(x)), y_(std::move(y)) {
    name = "add " + what;
    work.bytes = 12.0 * static_cast<double>(x_.size());
    work.operations = static_cast<double>(x_.size());
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    const Add a = {memory.in_out(x_), memory.input(y_), static_cast<std::int64_t>(x_.size())};
    return [&memory, a](Stream& stream) { memory.device().operations().add(a, stream); };
  }

  // A float addition is exact.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    return std::vector<double>(reference.size(), 0.0);
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
  for (const std::int64_t columns : {1, 7, 33, 576, 5376}) {
    for (const std::int64_t rows : {1, 3}) {
      cases.push_back(std::make_unique<ResidualNormCase>(random, rows, columns, 1.0F, true, false));
      cases.push_back(std::make_unique<ResidualNormCase>(random, rows, columns, 0.7F, true, false));
      cases.push_back(std::make_unique<ResidualNormCase>(random, rows, columns, 1.0F, true, true));
      cases.push_back(std::make_unique<ResidualNormCase>(random, rows, columns, 0.5F, false, false));
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

}  // namespace

void add_vector_sweep(Cases& cases, Random& random) {
  add_norms(cases, random);
  for (const std::int64_t count : {1, 7, 16, 33, 1000, 40000}) {
    cases.push_back(
        std::make_unique<AddCase>(std::to_string(count), normals(random, count), normals(random, count)));
    cases.push_back(std::make_unique<SoftCapCase>(random, count, 30.0F));
  }
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
    add(std::make_unique<AddCase>(what, x(), x()));
  }
}

}  // namespace fovea::kernels::cases
