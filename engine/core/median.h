// The middle of measured values.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace fovea {

// The value in the middle, or the mean of the two there. Not of an empty list.
inline double median(std::vector<double> values) {
  const std::ptrdiff_t half = std::ssize(values) / 2;
  std::ranges::nth_element(values, values.begin() + half);
  const double upper = values[static_cast<std::size_t>(half)];
  if (values.size() % 2 != 0) return upper;
  return std::midpoint(*std::max_element(values.begin(), values.begin() + half), upper);
}

}  // namespace fovea
