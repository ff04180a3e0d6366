// Cases of rms_norm and add.
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
