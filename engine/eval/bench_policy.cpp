#include "engine/eval/bench_policy.h"

#include <algorithm>

namespace fovea::eval {

using precision::Decision;

BenchPolicy::BenchPolicy(const precision::PolicyWorld& world, std::unique_ptr<precision::Policy> dynaexq,
                         std::shared_ptr<std::atomic<BenchMode>> mode, int in_flight)
    : initial_(dynaexq->initial()),
      dynaexq_(std::move(dynaexq)),
      mode_(std::move(mode)),
      lowest_(static_cast<std::uint8_t>(world.tiers() - 1)),
      // A swap down and one up need one spare block each.
      most_in_flight_(static_cast<std::int32_t>(
          std::max<std::int64_t>(2, std::min<std::int64_t>(in_flight, 2 * world.spare_blocks)))) {}

void BenchPolicy::observe(const precision::Observation& observation) {
  const BenchMode mode = *mode_;
  if (mode == BenchMode::idle || mode == BenchMode::live) dynaexq_->observe(observation);
}

// The next unit of that tier; five steps on, so that neighbours come late.
std::int32_t BenchPolicy::next(std::span<const std::uint8_t> tiers, std::uint8_t wanted) {
  for (std::size_t tried = 0; tried < tiers.size(); ++tried) {
    last_ = (last_ + 5) % static_cast<std::int32_t>(tiers.size());
    if (tiers[static_cast<std::size_t>(last_)] == wanted) break;
  }
  return last_;
}

void BenchPolicy::propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                          std::vector<Decision>& decisions) {
  switch (*mode_) {
    case BenchMode::quiet:
      return;
    case BenchMode::idle:
      dropped_.clear();
      return dynaexq_->propose(tiers, in_flight, dropped_);
    case BenchMode::live:
      return dynaexq_->propose(tiers, in_flight, decisions);
    case BenchMode::storm:
      return exchange(tiers, decisions);
    case BenchMode::flood:
      for (std::int32_t under_way = in_flight; under_way + 2 <= most_in_flight_; under_way += 2)
        exchange(tiers, decisions);
      return;
  }
}

void BenchPolicy::exchange(std::span<const std::uint8_t> tiers, std::vector<Decision>& decisions) {
  const std::int32_t up = next(tiers, lowest_), down = next(tiers, 0);
  decisions.push_back({.unit = up, .target = 0, .reason = SwapReason::requested});
  decisions.push_back({.unit = down, .target = lowest_, .reason = SwapReason::requested});
}

}  // namespace fovea::eval
