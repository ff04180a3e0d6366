#include "kernels/cases/normed.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fovea::kernels::cases {

namespace {

constexpr float residual_eps = 3e-2F;
constexpr float eps = 1e-6F;

double mean_square(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return squares / static_cast<double>(values.size());
}

// A norm's values, and what is left in them of their inputs' tolerances: the root of the mean square is off by
// at most that of the tolerances.
void norm(std::vector<double>& values, std::vector<double>& tolerances, const std::vector<float>& weight,
          double epsilon) {
  const double factor = 1 / std::sqrt(mean_square(values) + epsilon);
  const double common = factor * std::sqrt(mean_square(tolerances));
  const double rounding = 0x1p-24 * (std::sqrt(static_cast<double>(values.size())) + 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double each = std::fabs(weight[i]) * factor;
    tolerances[i] = each * (tolerances[i] + std::fabs(values[i]) * (common + rounding)) + 1e-36;
    values[i] *= weight[i] * factor;
  }
}

}  // namespace

NormedOutput::NormedOutput(Random& random, std::int64_t rows, std::int64_t columns, NormedForm form)
    : rows_(rows), columns_(columns), form_(form), x_(normals(random, rows * columns, 3)) {
  if (form.residual_norm) residual_weight_ = normals(random, columns);
  if (form.out) weight_ = normals(random, columns);
}

std::string NormedOutput::what() const {
  return std::string(form_.residual_norm ? ", normed" : "") + ", added" +
         (form_.scale == 1 ? "" : ", scaled") + (form_.out ? ", norm" : "") +
         (form_.quantised ? ", quantised" : "");
}

NormedOutput::Built NormedOutput::build(Memory& memory, const float* output,
                                        const std::vector<float>* in_place) const {
  Built built;
  RmsNorm& a = built.norm;
  a.rows = rows_;
  a.columns = columns_;
  a.x = memory.in_out(x_);
  a.residual = output;
  if (form_.residual_norm) a.residual_weight = memory.input(residual_weight_);
  a.residual_eps = residual_eps;
  a.scale = form_.scale;
  a.eps = eps;
  if (!form_.out) return built;
  a.weight = memory.input(weight_);
  a.out = in_place ? memory.in_out(*in_place) : memory.output<float>(rows_ * columns_);
  if (!form_.quantised) return built;
  built.reader.emplace(memory, rows_, columns_);
  a.quantised = built.reader->quantised();
  return built;
}

void NormedOutput::add_tolerances(const std::vector<float>& reference,
                                  std::vector<double>& tolerances) const {
  const auto count = static_cast<std::size_t>(rows_ * columns_), width = static_cast<std::size_t>(columns_);
  std::vector<double> sums, normed;
  for (std::size_t at = 0; at < count; at += width) {
    const auto first = static_cast<std::ptrdiff_t>(at);
    std::vector<double> values(reference.begin() + first, reference.begin() + first + columns_);
    std::vector<double> errors(tolerances.begin() + first, tolerances.begin() + first + columns_);
    if (form_.residual_norm) norm(values, errors, residual_weight_, residual_eps);
    for (std::size_t i = 0; i < width; ++i) {
      const double x = x_[at + i], scale = form_.scale;
      errors[i] = std::fabs(scale) * (errors[i] + 0x1p-22 * (std::fabs(x) + std::fabs(values[i])));
      values[i] = scale * (x + values[i]);
    }
    sums.insert(sums.end(), errors.begin(), errors.end());
    if (!form_.out) continue;
    norm(values, errors, weight_, eps);
    normed.insert(normed.end(), errors.begin(), errors.end());
  }
  tolerances.insert(tolerances.end(), sums.begin(), sums.end());
  tolerances.insert(tolerances.end(), normed.begin(), normed.end());
  if (!form_.quantised) return;
  const std::vector<float> read(reference.end() - static_cast<std::ptrdiff_t>(count), reference.end());
  std::ranges::copy(QuantisedReader::tolerance(read, normed, columns_), std::back_inserter(tolerances));
}

}  // namespace fovea::kernels::cases
