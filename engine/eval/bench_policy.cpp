#include "engine/eval/bench_policy.h"

namespace fovea::eval {

using precision::Decision;

BenchPolicy::BenchPolicy(const precision::PolicyWorld& world, std::unique_ptr<precision::Policy> live,
                         std::shared_ptr<std::atomic<BenchMode>> mode, int in_flight)
    : initial_(live->initial()),
      live_(std::move(live)),
      storm_control_(std::make_shared<precision::StormControl>()),
      storm_(world, initial_, storm_control_, in_flight),
      mode_(std::move(mode)) {}

void BenchPolicy::observe(const precision::Observation& observation) {
  const BenchMode mode = *mode_;
  if (mode == BenchMode::idle || mode == BenchMode::live) live_->observe(observation);
}

void BenchPolicy::propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                          std::vector<Decision>& decisions) {
  switch (*mode_) {
    case BenchMode::quiet:
      return;
    case BenchMode::idle:
      dropped_.clear();
      return live_->propose(tiers, in_flight, dropped_);
    case BenchMode::live:
      return live_->propose(tiers, in_flight, decisions);
    case BenchMode::storm:
      storm_control_->mode = precision::StormMode::storm;
      return storm_.propose(tiers, in_flight, decisions);
    case BenchMode::flood:
      storm_control_->mode = precision::StormMode::flood;
      return storm_.propose(tiers, in_flight, decisions);
  }
}

}  // namespace fovea::eval
