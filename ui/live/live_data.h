// What the parts of the live panel draw. Plain data; what it says was judged by whoever made it.
#pragma once

#include <QString>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/api/snapshot.h"

namespace fovea::ui {

// Why there is nothing to see yet.
struct NothingToSee {
  enum class Why : std::uint8_t { no_model, opening, no_experts, no_answer_yet };
  Why why = Why::no_model;
  QString model = {};
  bool can_choose_precision = false;  // experts could be kept otherwise than the file has them
};

// What is shown of the model beside what moves.
struct ShownModel {
  std::vector<std::int64_t> layer_numbers = {};  // in the model, of layers that have experts; empty: 0, 1, …
  std::vector<std::int64_t> experts_per_layer = {};  // empty: all the same
  std::int64_t experts_used = 0;                     // top-k
  bool moves_experts = false;                        // a policy is at work
  // What the experts that are open could be kept as instead.
  enum class Other : std::uint8_t { none, fixed, adaptive };
  Other other = Other::none;
};

// The moment in view, and how it stands to the others that are held.
struct ShownMoment {
  enum class State : std::uint8_t { live, idle, frozen, replayed };
  State state = State::live;
  bool playing = false;
  QString recording = {};                       // of State::replayed
  std::int64_t first = 0, last = 0, index = 0;  // moments are numbered from the start of the recording
  double seconds_in = 0;                        // since the first moment
  double seconds_back = 0;                      // before the last one
  double seconds_behind_live = 0;               // before the newest that the engine gave
  // Of the uses: what the highest tier served, beside lower ones, and what the processor did.
  std::optional<double> high_share = {}, host_share = {};
};

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

struct FollowedExpert {
  struct Point {
    double seconds;
    std::uint8_t tier;
    float hotness;
  };
  std::int64_t unit = 0;
  int letter = 0;  // of its mark: 0 is A
  std::deque<Point> points = {};
};

inline constexpr double followed_seconds = 120;

struct FollowedExperts {
  std::vector<FollowedExpert> experts;
  double until = 0;  // time of the moment in view
};

// One expert by itself.
struct ExpertStory {
  FollowedExpert line;
  double until = 0;                      // time of the moment in view
  std::int64_t uses = 0;                 // tokens, since the start
  std::int64_t layer_uses = 0;           // of all experts of its layer
  std::int64_t rank = 0;                 // among them, by uses: 1 is the most used
  std::vector<UnitChange> changes = {};  // what is still known, the newest first
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

struct Traffic {
  TrafficSeries series;
  TokenPercentiles between_tokens;
  double link_bytes_per_s = 0;  // measured: what versions can be read with; 0: not known
};

// One part of the budget bar.
struct BudgetPart {
  enum class Kind : std::uint8_t { dense, kv, activations, tier, in_flight, free, unplanned };
  Kind kind = Kind::dense;
  int tier = -1;  // of Kind::tier
  double bytes = 0;
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
};

// Which experts a conversation used.
struct ConversationUse {
  QString key, title;
  std::int64_t uses = 0;     // by tokens
  std::int64_t experts = 0;  // that it used at all
  // Share of its busiest experts that are the current one's busiest too; none before that one has any.
  std::optional<double> overlap = {};
  bool current = false;
};

enum class GainVerdict : std::uint8_t {
  no_policy,     // every expert stays as the file has it
  tiers_stay,    // the policy does not change them
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
  bool fixed_mix_would_do = false;
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
    QString words;          // its first ones
  };
  std::vector<Question> questions = {};  // oldest first
};

// What happened among the experts since a question was asked, until the next one.
struct Chapter {
  QString question;         // its first words
  std::int64_t token = 0;   // of the session, when it was asked
  std::int64_t woke = 0;    // experts that are more precise than when it was asked
  std::int64_t rested = 0;  // … less
  std::int64_t waits = 0;   // uses that waited for the disk
};

struct Judgement {
  RouterHealth routers;
  std::vector<ConversationUse> conversations;  // most uses first
  PolicyGain gain;
};

struct Alarms {
  std::int64_t collapsed_layers = 0;
  std::optional<double> device_full;  // the share that is used
  bool experts_over_budget = false;
};

}  // namespace fovea::ui
