// Ties the parts of engine/precision to the forward pass: it tells the policy between two passes what was
// used, hands the policy's decisions to the pipeline and lets finished swaps be published.
//
// All of it runs on the engine's thread, between passes: a policy's update takes microseconds, and so the
// same tokens give the same decisions. Only reading and uploading have threads of their own.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/api/precision.h"
#include "engine/api/progress.h"
#include "engine/api/snapshot.h"
#include "engine/checkpoint/store.h"
#include "engine/layers/forward.h"
#include "engine/models/model.h"
#include "engine/precision/first_token.h"
#include "engine/precision/planner.h"
#include "engine/precision/policy.h"
#include "engine/precision/quality_meter.h"
#include "engine/precision/residency.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "engine/precision/version_cache.h"
#include "engine/runtime/swap_log.h"

namespace fovea::runtime {

// A unit's matrices in the model, whose handles the pipeline writes.
precision::Handles handles_of(models::Model& model, const precision::UnitTable& units);

// Of the experts, or layers, that served tokens: Σ of the bits per weight at which they did, and how often.
struct UseBits {
  double bits = 0;
  std::int64_t uses = 0;
  void add(const UseBits& more) {
    bits += more.bits;
    uses += more.uses;
  }
  double mean() const { return uses > 0 ? bits / static_cast<double>(uses) : 0; }
};

// On one card or processor: what it has of the units, and what moves them there.
struct CardPrecision {
  models::LayerRange layers;  // whose units it has
  const kernels::Device* device = nullptr;
  precision::PrecisionPlan plan = {};
  std::unique_ptr<precision::VersionSource> source = nullptr;
  const precision::VersionCache* cache = nullptr;  // the source, where it is one
  std::optional<Error> not_cached = {};            // why it is none
  std::int64_t packed_bytes = 0;                   // of the device, where the source unpacks there
  std::unique_ptr<precision::FirstToken> first_token = nullptr;
  std::unique_ptr<precision::Residency> residency = nullptr;
  std::unique_ptr<precision::Policy> policy = nullptr;
  std::unique_ptr<precision::QualityMeter> quality = nullptr;

  // On the device, beside the residency's.
  std::int64_t own_bytes() const { return first_token->bytes() + packed_bytes; }
};

class PrecisionControl final {
 public:
  struct Parts {
    std::unique_ptr<precision::UnitTable> units;
    std::unique_ptr<precision::TierSet> tiers;  // of each card
    // One, or two cards of which the first has the first layers: nothing crosses, and each moves its own.
    std::vector<CardPrecision> cards;
    std::vector<float> calibrated_uses = {};  // [units]: precision::StoreProfile::uses
    std::optional<SwapLog> log;
  };
  explicit PrecisionControl(Parts parts);

  // A prompt begins: what the policy wants published for it is, before this returns.
  void begin_prompt();
  void begin_pass() {
    error_.reset();
    began_ = Clock::now();
  }
  // A layer is about to read these units, from `first` on; one stands there for each token that chose it.
  // False: one that was on disk alone could not be read.
  bool serve(precision::UnitId first, std::span<const std::int32_t> chosen);
  // See layers::PassObserver. Of a version that cannot be read the failure is counted, and the token has the
  // experts that are there.
  std::span<const precision::FirstToken::Weights> first_token(std::int64_t layer,
                                                              std::span<const std::int32_t> chosen);
  // One observation for each sequence.
  void end_pass(bool completed, std::span<const precision::Observation> observations);
  // See Residency; what the policy still wants of a profile that it was given is asked for, too.
  bool rest();
  // Of the last pass, one for each observation; none where it was stopped.
  std::span<const UseBits> use_bits() const { return use_bits_; }
  // That a pass which has just run met: as in a snapshot, on disk alone as the lowest.
  std::uint8_t tier_met(precision::UnitId unit) const;
  QualityState quality() const;
  // See Policy; of this model, [units] …
  std::span<const float> profile() const { return of_units(&precision::Policy::profile, profile_); }
  void recall(std::span<const float> profile);
  // … and of two cards what either wants.
  bool wants_entropy() const;
  std::int64_t prompt_pass_tokens(std::int64_t most) const;
  std::int64_t prompt_tokens_watched() const;
  // Why the last pass was stopped by serve(), if it was.
  std::optional<Error> take_error();

  // Only a unit on disk alone must be known before it is read.
  layers::PassObserver::Needs needs() const;

  const precision::UnitTable& units() const { return *parts_.units; }
  const std::vector<CardPrecision>& cards() const { return parts_.cards; }
  std::int64_t transfer_bytes() const;
  std::int64_t cached_bytes() const;
  // Why nothing is kept in main memory although the plan has room for it.
  const std::optional<Error>& not_cached() const;
  // accounted_bytes: of what this and the residencies hold, with the plans' safety.
  PrecisionUse use() const;

  std::span<const float> calibrated_uses() const { return parts_.calibrated_uses; }
  // The policy's, [units]; empty: it measures none.
  std::span<const float> hotness() const { return of_units(&precision::Policy::hotness, hotness_); }
  // Gives a snapshot its tiers, its pools and the budget, …
  void describe(Snapshot& snapshot) const;
  // … and what they hold now; a unit stands at `indices` [units] in it.
  void show(Snapshot& snapshot, std::span<const std::int64_t> indices) const;

 private:
  const CardPrecision& card_of(precision::UnitId unit) const {
    const std::vector<CardPrecision>& cards = parts_.cards;
    return unit < parts_.units->first(cards.front().layers.end) ? cards.front() : cards.back();
  }
  CardPrecision& card_of(precision::UnitId unit) {
    return const_cast<CardPrecision&>(std::as_const(*this).card_of(unit));
  }
  precision::TierId published(precision::UnitId unit) const {
    return card_of(unit).residency->tiers()[static_cast<std::size_t>(unit)];
  }
  std::span<const float> of_units(std::span<const float> (precision::Policy::*what)() const,
                                  std::vector<float>& both) const;
  double mean_bits_per_weight() const;
  bool propose(CardPrecision& card);
  UseBits bits_of(const precision::Observation& observation) const;
  void count(std::span<const precision::Observation> observations);
  void count_hits(std::int64_t tokens);
  void count_hit(precision::UnitId unit, precision::TierId tier, std::int64_t tokens);
  void remember(const precision::Decision& decision, precision::TierId from);
  std::uint8_t shown(precision::TierId tier) const;
  void show_units(Snapshot& snapshot, std::span<const std::int64_t> indices) const;
  void show_swaps(Snapshot& snapshot) const;
  void show_pools(Snapshot& snapshot) const;

  using Clock = std::chrono::steady_clock;

  Parts parts_;
  Clock::time_point began_;                // the pass
  std::vector<precision::UnitId> chosen_;  // by one layer, each as often as tokens chose it
  std::vector<precision::Decision> decisions_;
  std::int64_t tokens_ = 0;
  std::int64_t answer_tokens_ = 0;
  double answer_bits_ = 0;                   // Σ of the mean bits that served them
  std::vector<UseBits> use_bits_;            // of the last pass
  std::vector<std::int64_t> hits_;           // [tiers + 2], the last: on disk alone, on the host
  std::vector<std::int64_t> version_bytes_;  // [units, tiers]
  std::vector<double> file_bits_;            // [units] for each weight, which the host computes with
  decltype(Snapshot::decisions) last_decisions_{};
  mutable std::vector<float> profile_, hotness_;  // [units], of two cards
  std::optional<Error> error_;
};

}  // namespace fovea::runtime
