#include "engine/eval/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fovea::eval {

double median(std::vector<double> values) {
  const std::ptrdiff_t half = std::ssize(values) / 2;
  std::ranges::nth_element(values, values.begin() + half);
  const double upper = values[static_cast<std::size_t>(half)];
  if (values.size() % 2 != 0) return upper;
  return std::midpoint(*std::max_element(values.begin(), values.begin() + half), upper);
}

double percentile(std::vector<double> values, double share) {
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + std::clamp<std::ptrdiff_t>(rank - 1, 0, std::ssize(values) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Percentiles percentiles(const std::vector<double>& values) {
  return {.median = median(values), .p90 = percentile(values, 0.9), .p99 = percentile(values, 0.99)};
}

}  // namespace fovea::eval

namespace fovea {

Spread spread(const std::vector<double>& values) {
  const auto [min, max] = std::ranges::minmax(values);
  return {.median = eval::median(values), .min = min, .max = max};
}

}  // namespace fovea
