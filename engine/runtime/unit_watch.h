// Watches the passes: counts what the routers chose and how fast tokens come, tells it to whoever moves
// units, and makes the snapshots. A model whose experts stay as the file has them is watched as well.
//
// All of it runs on the engine's thread, between passes; only read_snapshot() may come from another.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/api/snapshot.h"
#include "engine/api/token_record.h"
#include "engine/api/trace.h"
#include "engine/core/triple_buffer.h"
#include "engine/layers/forward.h"
#include "engine/models/plan.h"
#include "engine/precision/hotness.h"
#include "engine/precision/policy.h"
#include "engine/precision/units.h"
#include "engine/runtime/precision_control.h"

namespace fovea::runtime {

// What a pass used for one token.
struct TokenUses {
  std::span<const TokenUse> uses = {};  // [rows of a snapshot, used]
  std::int64_t pass_end = 0;            // tokens of all passes until then
};

class UnitWatch final : public layers::PassObserver {
 public:
  // Units that `control` moves; it must outlive this.
  UnitWatch(PrecisionControl& control, std::int64_t experts_used);
  // The experts of a model that has `layers` layers, of them these with experts, as the file has them; `host`
  // [layers] says which the processor computes beside a card, empty: none. `seldom`: they are counted only
  // while somebody looks, since a device has to send the choices over.
  UnitWatch(std::int64_t layers, const std::vector<ExpertLayer>& experts, std::int64_t experts_used,
            const std::vector<models::HostShare>& host, bool seldom);

  // A prompt follows, and an answer behind it.
  void begin_prompt();
  // What a pass has of one sequence.
  struct Share {
    std::uint64_t sequence = 0;
    std::int64_t tokens = 0;
    bool is_prompt = false;
    std::int64_t wanted = 0;  // of the last of them the logits
    bool record = false;      // what the last of them uses
  };
  // A pass of these segments begins, which is to be told what this gives, if anything. Ended whether it was
  // stopped or not.
  layers::PassObserver* begin_pass(std::span<const Share> shares);
  // `entropies` of what was wanted, in nats, one share's behind the other's; none where nobody asks.
  void end_pass(bool completed, std::span<const float> entropies);
  // Of the pass that ended last, of its i-th share's last token; empty where it was not recorded. Valid until
  // the next pass.
  TokenUses recorded(std::size_t share) const;
  // Nothing follows for a while: whoever looks later sees what was last.
  void rest();

  Needs needs() const override { return control_ ? control_->needs() : Needs::history; }
  bool routed(const Where& where, const float* x, const std::int32_t* ids, const float* weights) override;
  std::span<const ExpertWeights> first_token(std::int64_t layer, std::span<const std::int32_t> ids) override {
    return control_ ? control_->first_token(layer, ids) : std::span<const ExpertWeights>();
  }

  // From any one other thread. False: nothing new since the last call.
  bool read_snapshot(Snapshot& snapshot);

 private:
  using Clock = std::chrono::steady_clock;
  struct Row {  // of the snapshot
    precision::UnitId first = 0, end = 0;
  };

  UnitWatch(Snapshot empty, PrecisionControl* control, std::vector<precision::UnitId> first_unit,
            std::int64_t experts_used);
  static Snapshot empty_snapshot(const std::vector<precision::UnitId>& first_unit);
  bool was_asked(Clock::time_point now) const;
  void publish_snapshot();
  void show_units(Snapshot& snapshot);
  void show_file_tier(Snapshot& snapshot) const;

  // Tokens and the seconds that they took, those of long ago forgotten.
  struct Speed {
    double tokens = 0, seconds = 0;
    void add(double more_tokens, double more_seconds);
    double per_second() const { return seconds > 0 ? tokens / seconds : 0; }
  };
  void count_speed(Clock::time_point now);

  // The pass's sums of one sequence, [units]; `touched` lists those that are not zero.
  struct Sums {
    std::vector<float> gates;
    std::vector<std::int32_t> chosen;
    std::vector<precision::UnitId> touched;
    std::vector<std::int32_t> routed;  // [layers] tokens that the router saw
    std::vector<precision::ExpertUse> uses;
    std::vector<TokenUse> recorded;  // [rows, used]
  };
  bool units_are_experts() const {
    return !control_ || control_->units().scope() == models::UnitScope::experts;
  }
  void record(const Where& where, const std::int32_t* ids, const float* weights);
  void record_tiers();
  precision::Observation observe(const Share& share, Sums& sums, std::span<const float> entropies);

  PrecisionControl* control_ = nullptr;        // null: the units stay as the file has them …
  std::optional<precision::Hotness> hotness_;  // … and nobody else measures it
  bool seldom_ = false;
  std::int64_t experts_used_ = 0;
  std::vector<precision::UnitId> first_unit_;  // [layers + 1]
  std::vector<Row> rows_;
  std::vector<std::int64_t> row_of_layer_;  // [layers]; −1: it has none
  std::vector<std::int64_t> indices_;       // [units] in a snapshot's

  std::vector<Share> shares_;         // of the pass
  std::vector<Sums> sums_;            // of each of them
  std::vector<std::int32_t> chosen_;  // of the layer by all segments so far, each as often as tokens chose it
  std::vector<precision::Observation> observations_;
  std::int64_t tokens_ = 0;

  TripleBuffer<Snapshot> snapshots_;
  std::atomic<std::int64_t> asked_at_ = 0;       // of the clock; 0: long ago
  std::vector<float> recent_;                    // [units], decaying token counts
  std::vector<std::uint32_t> uses_since_start_;  // [units] tokens
  Clock::time_point snapshot_at_;
  Clock::time_point pass_begun_, pass_ended_;
  Speed decode_, prefill_;
  std::vector<float> scratch_;
};

}  // namespace fovea::runtime
