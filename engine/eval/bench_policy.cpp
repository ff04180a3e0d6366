#include "engine/eval/bench_policy.h"

namespace fovea::eval {

using precision::Decision;

BenchPolicy::BenchPolicy(const precision::PolicyWorld& world, std::unique_ptr<precision::Policy> dynaexq,
                         std::shared_ptr<std::atomic<BenchMode>> mode)
    : initial_(dynaexq->initial()),
      dynaexq_(std::move(dynaexq)),
      mode_(std::move(mode)),
      lowest_(static_cast<std::uint8_t>(world.tiers() - 1)) {}

void BenchPolicy::observe(const precision::Observation& observation) {
  if (*mode_ == BenchMode::idle) dynaexq_->observe(observation);
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
    case BenchMode::storm:
      break;
  }
  const std::int32_t up = next(tiers, lowest_), down = next(tiers, 0);
  decisions.push_back({.unit = up, .target = 0, .reason = SwapReason::requested});
  decisions.push_back({.unit = down, .target = lowest_, .reason = SwapReason::requested});
}

}  // namespace fovea::eval
