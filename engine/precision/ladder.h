// The way down that FlexQuant and PMPD let linear layers go: each step takes one unit a tier lower, all units
// one rung of the ladder before anyone goes on to the next.
//
// Units go down in one order and up again in the opposite one, and the blocks of their first versions are
// taken in that order as well, so that slabs empty one after the other: the room of the highest tier is
// enough for every state between, with a few blocks beside it (MixPath::needs).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

// Swaps at once, and spare blocks for them.
inline constexpr std::int32_t ladder_swaps_at_once = 4;

// The units on the device, those first whose weights the lowest tier changes least
// (PolicyWorld::weight_divergence); all alike, by number.
std::vector<std::int32_t> ladder_order(const PolicyWorld& world);

// ErrorKind::invalid for a single tier.
Result<void> check_ladder(std::int64_t tiers);

class Ladder {
 public:
  explicit Ladder(const PolicyWorld& world);

  std::int64_t units() const { return std::ssize(order_); }  // on the device: steps of one rung
  std::int64_t steps() const { return units() * rungs_; }
  std::vector<std::uint8_t> top() const;  // [units] nobody has gone a step
  // Appends moves to where `steps` steps lead, as many as may be in flight; `why` is theirs who go down.
  // True: all are there or on their way, and nothing was appended.
  bool propose(std::int64_t steps, std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               const Decision& why, std::vector<Decision>& decisions) const;

  // Appends the steps from `begin` on, below `end`, to be brought ahead; as many as may be in flight.
  void bring(std::int64_t begin, std::int64_t end, std::vector<Decision>& decisions) const;

 private:
  std::vector<std::int32_t> order_;
  std::int64_t rungs_ = 0;
  std::int64_t all_units_ = 0;
};

}  // namespace fovea::precision
