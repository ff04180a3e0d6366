// A replay's moments as the live panel draws them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/api/snapshot.h"
#include "engine/core/result.h"
#include "engine/eval/replay.h"
#include "engine/eval/replay_residency.h"
#include "engine/eval/trace.h"
#include "engine/precision/policy.h"
#include "engine/precision/quality_meter.h"

namespace fovea::eval {

class ReplaySnapshots {
 public:
  // All must outlive it.
  ReplaySnapshots(const precision::PolicyWorld& world, const ReplaySettings& settings,
                  const ReplayResidency& residency);

  void count(const precision::ExpertUse& use, std::uint8_t tier);
  void serve(const TracePass& pass) { quality_.observe(pass.observation(), residency_.versions().tiers()); }
  void hear(const precision::SwapEvent& event);
  // Gives the sink a snapshot when it is time for one.
  Result<void> end_pass(const TracePass& pass, precision::Policy& policy);

 private:
  void fill(precision::Policy& policy);
  void fill_units(std::span<const float> hotness);

  const precision::PolicyWorld& world_;
  const ReplaySettings& settings_;
  const ReplayResidency& residency_;
  Snapshot snapshot_;
  precision::QualityMeter quality_;
  std::vector<std::int64_t> index_;  // [units] in snapshot_.units
  std::vector<float> recent_;        // [units] tokens, decaying
  std::vector<float> scratch_;
  double next_ = 0, last_ = 0;  // seconds
  std::int64_t last_tokens_ = 0;
};

}  // namespace fovea::eval
