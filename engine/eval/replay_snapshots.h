// A replay's moments as the live panel draws them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/api/snapshot.h"
#include "engine/core/result.h"
#include "engine/eval/replay.h"
#include "engine/eval/simulated_pipeline.h"
#include "engine/eval/trace.h"
#include "engine/precision/policy.h"

namespace fovea::eval {

class ReplaySnapshots {
 public:
  // Both must outlive it.
  ReplaySnapshots(const precision::PolicyWorld& world, const ReplaySettings& settings);

  void count(const precision::ExpertUse& use, std::uint8_t tier);
  void remember(std::span<const precision::Decision> decisions);
  // Gives the sink a snapshot when it is time for one.
  Result<void> end_pass(const TracePass& pass, double now, const SimulatedPipeline& pipeline,
                        precision::Policy& policy);

 private:
  void fill(double now, const SimulatedPipeline& pipeline, precision::Policy& policy);
  void note_change(std::int32_t unit, std::uint8_t from, std::uint8_t to);

  const precision::PolicyWorld& world_;
  const ReplaySettings& settings_;
  Snapshot snapshot_;
  std::vector<std::int64_t> place_;                // [units] in snapshot_.units
  std::vector<precision::Decision> last_request_;  // [units]
  std::vector<float> recent_;                      // [units] tokens, decaying
  std::vector<std::uint8_t> shown_tier_;           // [units] of the last snapshot
  double next_ = 0, last_ = 0;                     // seconds
  std::int64_t last_tokens_ = 0;
};

}  // namespace fovea::eval
