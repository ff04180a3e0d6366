#include "engine/api/expert_load.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace fovea {

double entropy_of(std::span<const double> shares) {
  double entropy = 0;
  for (const double share : shares) entropy -= share > 0 ? share * std::log(share) : 0;
  return entropy;
}

double evenness(std::span<const double> shares) {
  return shares.size() > 1 ? entropy_of(shares) / std::log(static_cast<double>(shares.size())) : 1;
}

double max_violation(std::span<const double> shares) {
  const double most = *std::ranges::max_element(shares);
  return most > 0 ? most * static_cast<double>(shares.size()) - 1 : 0;
}

double top_share(std::vector<double> shares, std::size_t count) {
  count = std::min(count, shares.size());
  const auto end = shares.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::partial_sort(shares, end, std::greater<>());
  return std::accumulate(shares.begin(), end, 0.0);
}

double apart(std::span<const double> a, std::span<const double> b) {
  double more = 0;
  for (std::size_t i = 0; i < a.size(); ++i) more += std::max(0.0, a[i] - b[i]);
  return more;
}

double balance_loss(std::span<const double> f, std::span<const double> p) {
  return static_cast<double>(f.size()) * std::inner_product(f.begin(), f.end(), p.begin(), 0.0);
}

}  // namespace fovea
