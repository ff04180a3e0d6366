// The policy under which bench measures what moving experts costs: quiet, deciding without moving, or a
// storm.
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
};

class BenchPolicy final : public precision::Policy {
 public:
  BenchPolicy(const precision::PolicyWorld& world, std::unique_ptr<precision::Policy> dynaexq,
              std::shared_ptr<std::atomic<BenchMode>> mode);
  std::string_view name() const override { return "bench"; }
  std::vector<std::uint8_t> initial() const override { return initial_; }
  void observe(const precision::Observation& observation) override;
  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<precision::Decision>& decisions) override;
  std::span<const float> hotness() const override { return dynaexq_->hotness(); }

 private:
  std::int32_t next(std::span<const std::uint8_t> tiers, std::uint8_t wanted);

  std::vector<std::uint8_t> initial_;  // [units]
  std::unique_ptr<precision::Policy> dynaexq_;
  std::shared_ptr<std::atomic<BenchMode>> mode_;
  std::vector<precision::Decision> dropped_;
  std::uint8_t lowest_;
  std::int32_t last_ = 0;
};

}  // namespace fovea::eval
