// The policy under which bench measures what moving experts costs.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/policy.h"
#include "engine/precision/swap_storm.h"

namespace fovea::eval {

enum class BenchMode : std::uint8_t {
  quiet,  // nothing is observed, nothing moves
  idle,   // the policy observes and decides as ever; what it decides is dropped
  storm,  // SwapStorm's: in each pass a pair of experts changes tiers
  live,   // the policy, as it is
  flood,  // SwapStorm's: as many pairs as may be under way
};

class BenchPolicy final : public precision::Policy {
 public:
  // At most `in_flight` swaps at once in a flood.
  BenchPolicy(const precision::PolicyWorld& world, std::unique_ptr<precision::Policy> live,
              std::shared_ptr<std::atomic<BenchMode>> mode, int in_flight);
  std::string_view name() const override { return "bench"; }
  std::vector<std::uint8_t> initial() const override { return initial_; }
  void observe(const precision::Observation& observation) override;
  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<precision::Decision>& decisions) override;
  std::span<const float> hotness() const override { return live_->hotness(); }

 private:
  std::vector<std::uint8_t> initial_;  // [units]
  std::unique_ptr<precision::Policy> live_;
  std::shared_ptr<precision::StormControl> storm_control_;
  precision::SwapStorm storm_;
  std::shared_ptr<std::atomic<BenchMode>> mode_;
  std::vector<precision::Decision> dropped_;
};

}  // namespace fovea::eval
