// What is worked out of snapshots, for whoever shows it: the panel's parts, and the terminal. Plain data
// without Qt; words are UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/snapshot.h"

namespace fovea::ui {

// The last that is known of a unit's change before the moment in view.
struct UnitChange {
  double seconds_ago = 0;
  DecisionState decision = {};  // unit −1: none was seen
  bool explained = false;       // false: seen to have changed, the engine no longer had the reason
};

// A unit that changed just now: 1 for this moment, down to 0.
struct FreshChange {
  std::int64_t unit = 0;  // layer × units_per_layer + expert
  double freshness = 0;
  bool is_up = true;  // to more bits
};

inline constexpr double traffic_seconds = 60;
inline constexpr std::size_t traffic_buckets = 120;

// The last minute as strips: what happened in each short stretch of time.
struct TrafficSeries {
  // Per second, oldest first. A stretch in which nothing was recorded has zeros.
  using Strip = std::array<double, traffic_buckets>;
  Strip promotions{}, demotions{}, bytes{}, tokens{};
  Strip below_high{};  // share of the uses that the highest tier did not serve
  Strip queue{};       // the most swaps waiting or under way at once
};

// The times between tokens lately, in seconds.
struct TokenPercentiles {
  std::size_t count = 0;
  double p50 = 0, p95 = 0, p99 = 0;
};

// One part of the budget bar.
struct BudgetPart {
  enum class Kind : std::uint8_t { dense, kv, activations, tier, in_flight, free, unplanned };
  Kind kind = Kind::dense;
  int tier = -1;  // of Kind::tier
  double bytes = 0;
};

// One of two cards that hold a model together.
struct CardMemory {
  std::string name;                // "RTX 5090"
  std::vector<BudgetPart> budget;  // … to the card's; Kind::unplanned is what is left of it
  double budget_bytes = 0;         // 0: not known
  bool over_budget = false;
  double device_used_bytes = 0, device_total_bytes = 0;  // every program's; total 0: not known
  bool device_full = false;
};

struct MemoryParts {
  std::vector<BudgetPart> budget;
  bool over_budget = false;
  std::vector<int> tier_of_pool;  // [pools]; −1: of none, or of more than one
  std::int64_t units_in_flight = 0;
  std::int64_t units_on_disk = 0;                        // that neither the arena nor main memory holds
  double kv_used_bytes = -1;                             // that hold something; negative: not known
  double device_used_bytes = 0, device_total_bytes = 0;  // every program's; total 0: not known
  bool device_full = false;
  // Two, in the order of their layers, each by itself, where they hold the model together: `budget` is their
  // sum then. Else none.
  std::vector<CardMemory> cards = {};
  // What the processor computes beside a card.
  std::int64_t host_units = 0;
  double host_bytes = 0, host_total_bytes = 0;
};

struct LayerHealth {
  std::int64_t uses = 0;     // by tokens
  double evenness = 0;       // entropy of the load ÷ its largest value: 1 when all experts get the same
  double top_one = 0;        // share of the uses that the most used expert got
  double max_violation = 0;  // by which part of the even share that is more
  double top_tenth = 0;      // … the most used tenth
  double top_used = 0;       // … the k most used
  std::int32_t busiest = 0;  // expert
  double narrow = 1;         // top_used from which on it may have collapsed
  bool collapsed = false;
  bool one_subject = false;  // far from the calibration's uses, which were over many
  // Share of the uses that went to other experts than the calibration's; none without one or with too few.
  std::optional<double> elsewhere = {};
};

// Measured when two settings are compared.
struct RoutingFidelity {
  double share = 0;        // of the other's choices that are made here, too
  std::string other = {};  // what that was compared with
};

struct RouterHealth {
  std::vector<LayerHealth> layers;
  std::int64_t collapsed = 0;    // layers
  std::int64_t one_subject = 0;  // layers
  bool mostly_one_subject = false;
  double evenness = 0;                   // mean over the layers with uses
  double top_tenth = 0;                  // mean
  double top_used = 0;                   // the largest
  double narrow = 1;                     // the smallest
  double max_violation = 0;              // the largest
  std::optional<double> elsewhere = {};  // mean over the layers where it is known
  std::optional<RoutingFidelity> fidelity = {};
};

enum class GainVerdict : std::uint8_t {
  no_policy,     // every expert stays as the file has it
  tiers_stay,    // the policy does not change them
  nothing_lost,  // it changes nothing but where experts are computed
  not_compared,  // it changes layers, which every token uses, with the answer
  too_early,     // too few tokens to say
  ahead,         // of a fixed mix that could really be chosen
  as_good,       // as that one, within the margin
  loses,         // that one would have kept more
};

// What a fixed mix that one could really have is chosen by.
enum class FixedMix : std::uint8_t { none, calibration, session_start };

// What changing tiers gained over tiers that stay, by expected loss.
struct PolicyGain {
  GainVerdict verdict = GainVerdict::too_early;
  std::int64_t tokens = 0;  // that it is judged on
  bool in_nats = false;     // the divergence of the model's output is known: what is kept is quality
  // e^−KL of these tokens, from the model as its file has it; else the share of the lowest tier's loss that
  // is avoided.
  double kept = 0;
  double fixed_kept = 0;    // … by the fixed mix
  double low_kept = 0;      // … with every expert at the lowest tier
  double bits_per_use = 0;  // of a weight, the mean over the session's uses of experts; 0: none was used
  FixedMix chosen_by = FixedMix::none;
  // … by the fixed mix that knew what they would use, as nobody could beforehand; never below fixed_kept.
  std::optional<double> hindsight_kept = {};
  bool fixed_mix_would_do = false;
  // Of what is expected of the coming tokens, from the calibration instead of this session; below 0: nothing
  // is.
  double calibration_part = -1;
};

// What was kept in some stretch of the session's tokens, as shares (PolicyGain::kept).
struct QualityPoint {
  double kept = 0;
  std::optional<double> fixed = {};  // … by a fixed mix of the same size that one could really have
  double low = 0;                    // … with every expert at the lowest tier
};
struct QualityLine {
  bool in_nats = false;
  std::vector<QualityPoint> points = {};  // oldest first
  // Where questions were asked.
  struct Question {
    std::size_t point = 0;  // the first that its tokens are in
    std::string words;      // its first ones
  };
  std::vector<Question> questions = {};  // oldest first
};

// What happened among the experts since a question was asked, until the next one.
struct Chapter {
  std::string question;     // its first words
  std::int64_t token = 0;   // of the session, when it was asked
  std::int64_t woke = 0;    // experts that are more precise than when it was asked
  std::int64_t rested = 0;  // … less
  std::int64_t waits = 0;   // uses that waited for the disk
};

}  // namespace fovea::ui
