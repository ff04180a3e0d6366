// Ties the parts of engine/precision to the forward pass: it counts what the router chose, tells the policy
// between two passes, hands the policy's decisions to the pipeline and lets finished swaps be published.
//
// All of it runs on the engine's thread, between passes: a policy's update takes microseconds, and so the
// same tokens give the same decisions. Only reading and uploading have threads of their own.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/api/precision.h"
#include "engine/api/progress.h"
#include "engine/api/snapshot.h"
#include "engine/checkpoint/store.h"
#include "engine/core/triple_buffer.h"
#include "engine/layers/forward.h"
#include "engine/models/model.h"
#include "engine/precision/planner.h"
#include "engine/precision/policy.h"
#include "engine/precision/residency.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "engine/runtime/swap_log.h"

namespace fovea::runtime {

// A unit's matrices in the model, whose handles the pipeline writes.
precision::Handles handles_of(models::Model& model, const precision::UnitTable& units);

class PrecisionControl final : public layers::PassObserver {
 public:
  struct Parts {
    const kernels::Device* device = nullptr;
    std::unique_ptr<precision::UnitTable> units;
    std::unique_ptr<precision::TierSet> tiers;
    precision::PrecisionPlan plan;
    std::unique_ptr<precision::VersionSource> source;
    std::unique_ptr<precision::Residency> residency;
    std::unique_ptr<precision::Policy> policy;
    std::optional<SwapLog> log;
    std::int64_t experts_used = 0;
  };
  explicit PrecisionControl(Parts parts);

  // A pass of `tokens` begins; it is told with observer(). Ended whether it was stopped or not.
  void begin_pass(std::int64_t tokens);
  // `entropy` of the pass's output, in nats, where the policy wants_entropy(); −1: none was asked for.
  void end_pass(bool completed, float entropy);
  bool wants_entropy() const;
  // Why the observer stopped the last pass, if it did.
  std::optional<Error> take_error();

  // Only a unit on disk alone must be known before it is read.
  Needs needs() const override { return parts_.residency->may_need() ? Needs::choices : Needs::history; }
  bool routed(std::int64_t layer, const float* x, std::int64_t tokens, const std::int32_t* ids,
              const float* weights) override;

  const precision::PrecisionPlan& plan() const { return parts_.plan; }
  std::int64_t transfer_bytes() const { return parts_.residency->transfer_bytes(); }
  // accounted_bytes: of what this and the residency hold, with the plan's safety.
  PrecisionUse use() const;
  // From any one other thread. False: nothing new since the last call.
  bool read_snapshot(Snapshot& snapshot);

 private:
  using Clock = std::chrono::steady_clock;

  static Snapshot empty_snapshot(const Parts& parts);
  void count_hits(std::int64_t tokens);
  void remember(const precision::Decision& decision, precision::TierId from);
  bool is_watched(Clock::time_point now) const;
  void publish_snapshot();
  void show_units(Snapshot& snapshot);
  void show_tiers(Snapshot& snapshot) const;
  void show_swaps(Snapshot& snapshot) const;

  // Tokens and the seconds that they took, those of long ago forgotten.
  struct Speed {
    double tokens = 0, seconds = 0;
    void add(double more_tokens, double more_seconds);
    double per_second() const { return seconds > 0 ? tokens / seconds : 0; }
  };
  void count_speed();

  Parts parts_;
  // The pass's sums, [units]; `touched_` lists those that are not zero.
  std::vector<float> gate_sum_;
  std::vector<std::int32_t> chosen_;
  std::vector<std::int32_t> touched_;
  std::vector<precision::ExpertUse> uses_;
  std::vector<precision::UnitId> absent_;
  std::vector<std::int32_t> routed_;  // [layers] tokens that its router saw
  std::vector<precision::Decision> decisions_;
  std::int64_t pass_tokens_ = 0;
  std::int64_t tokens_ = 0;
  std::vector<std::int64_t> hits_;  // [tiers + 2], the last: on disk alone, on the host
  void count_hit(precision::UnitId unit, precision::TierId tier, std::int64_t tokens);
  std::optional<Error> error_;

  // What the snapshot shows.
  std::vector<std::int64_t> version_bytes_;  // [units, tiers]
  TripleBuffer<Snapshot> snapshots_;
  std::atomic<std::int64_t> asked_at_ = Clock::time_point::min().time_since_epoch().count();
  std::vector<float> recent_;                    // [units], decaying token counts
  std::vector<std::uint32_t> uses_since_start_;  // [units] tokens
  decltype(Snapshot::decisions) last_decisions_{};
  Clock::time_point snapshot_at_;
  Clock::time_point pass_begun_, pass_ended_;
  Speed decode_, prefill_;
  std::vector<float> scratch_;
};

}  // namespace fovea::runtime
