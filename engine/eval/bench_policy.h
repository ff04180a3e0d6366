// The policy under which bench measures what moving experts costs.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::eval {

enum class BenchMode : std::uint8_t {
  quiet,  // nothing is observed, nothing moves
  idle,   // DynaExq observes and decides as ever; what it decides is dropped
  storm,  // in each pass an expert of the lowest tier and one of the highest change places
  live,   // DynaExq, as it is
  flood,  // in each pass as many change places as may be under way
};

class BenchPolicy final : public precision::Policy {
 public:
  // At most `in_flight` swaps at once in a flood.
  BenchPolicy(const precision::PolicyWorld& world, std::unique_ptr<precision::Policy> dynaexq,
              std::shared_ptr<std::atomic<BenchMode>> mode, int in_flight);
  std::string_view name() const override { return "bench"; }
  std::vector<std::uint8_t> initial() const override { return initial_; }
  void observe(const precision::Observation& observation) override;
  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<precision::Decision>& decisions) override;
  std::span<const float> hotness() const override { return dynaexq_->hotness(); }

 private:
  std::int32_t next(std::span<const std::uint8_t> tiers, std::uint8_t wanted);
  void exchange(std::span<const std::uint8_t> tiers, std::vector<precision::Decision>& decisions);

  std::vector<std::uint8_t> initial_;  // [units]
  std::unique_ptr<precision::Policy> dynaexq_;
  std::shared_ptr<std::atomic<BenchMode>> mode_;
  std::vector<precision::Decision> dropped_;
  std::uint8_t lowest_;
  std::int32_t last_ = 0;
  std::int32_t most_in_flight_;
};

}  // namespace fovea::eval
