// How evenly a layer's experts are used, and how far one use is from another. Shares are of a layer's uses
// and add up to 1, or are all 0 where it has none.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace fovea {

// Of each expert. [experts]
template <class Number>
std::vector<double> shares_of(std::span<const Number> uses) {
  std::vector<double> shares(uses.begin(), uses.end());
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share = total > 0 ? share / total : 0;
  return shares;
}

// −Σ s ln s, in nats.
double entropy_of(std::span<const double> shares);
// The entropy ÷ its largest value: 1 when all experts get the same, 0 when one gets all.
double evenness(std::span<const double> shares);
// By which part of the even share the busiest expert gets more (MaxVio, arXiv 2408.15664, eq. 4): 0 when all
// get the same, experts − 1 when one gets all.
double max_violation(std::span<const double> shares);
// Of the `count` most used ones together.
double top_share(std::vector<double> shares, std::size_t count);
// Share of the uses that would have to go to other experts to make one of the other: their total variation.
double apart(std::span<const double> a, std::span<const double> b);
// E Σ f p, the auxiliary loss without its factor α (arXiv 2101.03961, eq. 4): 1 when f or p is even, E when
// one expert has all of both. f: shares of the choices; p: shares of the router's weight.
double balance_loss(std::span<const double> f, std::span<const double> p);

}  // namespace fovea
