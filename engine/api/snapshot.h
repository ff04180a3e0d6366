// What a panel or a terminal view draws: everything that goes on among the experts at one moment. Plain data
// whose vectors keep the sizes that they had at load, so that handing one over allocates nothing. A model
// without a policy has one tier, "file", no pools and no budget.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea {

inline constexpr std::uint8_t no_tier = 255;    // nothing in flight; or on disk alone
inline constexpr std::uint8_t host_tier = 254;  // in main memory, where the processor computes it

struct UnitState {
  float hotness = 0;
  std::uint8_t tier = no_tier;      // published; or host_tier
  std::uint8_t target = no_tier;    // in flight
  std::uint16_t recent_tokens = 0;  // routed here lately (since the last snapshot but one or so)
  std::uint32_t uses = 0;           // tokens routed here since the start
};

struct TierState {
  std::string name;
  double bits_per_weight = 0;
  std::int64_t units = 0;  // published at this tier
  std::int64_t bytes = 0;  // of their blocks
  std::int64_t hits =
      0;  // tokens' uses of units at this tier, since the start; `misses` and `host_hits` are the rest
};

struct PoolState {
  std::int64_t block_bytes = 0;
  std::int64_t blocks = 0;
  std::int64_t used = 0;
};

enum class SwapReason : std::uint8_t {
  initial,
  hotter,  // than the unit that gave way
  colder,  // than the unit that it gave way to
  requested,
  absent,     // it was on disk alone
  expected,   // to be used so much that it is worth the place of another one
  yields,     // its place to that one
  balanced,   // a tier holds too many or too few: for what is expected, or since a swap failed
  certain,    // the answer is certain enough; the score is its mean PPLE
  scheduled,  // the answer is long enough; the score is its tokens
  prompt,     // a prompt is read at the highest tier
};

// In files: "hotter".
inline const char* name_of(SwapReason reason) {
  switch (reason) {
    case SwapReason::initial:
      return "initial";
    case SwapReason::hotter:
      return "hotter";
    case SwapReason::colder:
      return "colder";
    case SwapReason::requested:
      return "requested";
    case SwapReason::absent:
      return "absent";
    case SwapReason::expected:
      return "expected";
    case SwapReason::yields:
      return "yields";
    case SwapReason::balanced:
      return "balanced";
    case SwapReason::certain:
      return "certain";
    case SwapReason::scheduled:
      return "scheduled";
    case SwapReason::prompt:
      return "prompt";
  }
  return "";
}

struct DecisionState {
  std::int32_t unit = -1;  // index in Snapshot::units
  std::uint8_t from = no_tier, to = no_tier;
  SwapReason reason = SwapReason::initial;
  float score =
      0;  // the unit's, at the time; expected and after: the share of its layer's work that it will do
  float margin =
      0;  // over the unit that gave way; expected and after: by which a token's expected loss falls
  std::int32_t other = -1;  // that it changes places with; −1: nobody, or it is not told
  std::int64_t token = 0;
};

struct SwapCounters {                          // since the start
  std::int64_t promotions = 0, demotions = 0;  // published
  std::int64_t bytes_promoted = 0, bytes_demoted = 0;
  std::int64_t bytes_read = 0;
  std::int64_t cancelled = 0, io_errors = 0, checksum_errors = 0, refused = 0;  // queue or pool full
  std::int64_t stalls = 0;  // uses of a unit on disk alone
  double stall_seconds = 0;
};

// What the tiers cost that the tokens met: the router's weight of each use × the damage of the tier that
// served it, summed up; and what others would have cost the same tokens.
struct QualityState {
  bool in_nats = false;          // of the model's output; else the damage is a relative error, squared
  bool has_calibration = false;  // it tells how much each unit is used
  std::int64_t tokens = 0;       // since the start
  double loss = 0;
  double all_high = 0, all_low = 0;  // every unit at the highest, at the lowest tier
  double calibrated = 0;             // the best fixed mix for the calibration's uses
  // Since the first tokens could choose a fixed mix:
  std::int64_t tokens_since = 0;
  double loss_since = 0, low_since = 0, high_since = 0, calibrated_since = 0;
  double start_since = 0;  // that mix
  // A fixed mix for exactly the tokens that it is told for, which nobody knew beforehand: those since the
  // start or, once a mix could be chosen, since then. Worked out from time to time, so that the last tokens
  // are not among them; tokens 0: not yet.
  struct Hindsight {
    std::int64_t tokens = 0;
    double loss = 0, low = 0, high = 0;  // of that mix; with every unit at the lowest, at the highest tier
  };
  Hindsight hindsight = {};
};

// What some tokens cost, of QualityState.
struct TokensLoss {
  std::int64_t tokens = 0;
  double low = 0, high = 0;  // with every expert at the lowest and at the highest tier
  bool in_nats = false;
};
// How much of the quality is kept where they cost so much: e^−KL of a token; where no divergence was
// measured, the share that is avoided of what the lowest tier would lose.
inline double kept_share(const TokensLoss& tokens, double loss) {
  if (tokens.in_nats) return std::exp(-loss / static_cast<double>(tokens.tokens));
  const double range = tokens.low - tokens.high;
  return range > 0 ? std::clamp(1 - (loss - tokens.high) / range, 0.0, 1.0) : 1;
}

// As many as the largest known model changes with one decision (48 × 512 experts), so that each is explained.
inline constexpr std::size_t kept_decisions = 256;

struct SnapshotNumbers {
  std::int64_t layers = 0;           // that have units
  std::int64_t units_per_layer = 0;  // the largest; a smaller layer's last ones have tier no_tier
  std::vector<TierState> tiers;      // high to low
  std::vector<PoolState> pools;      // small blocks first; of two cards the first one's, then the other's
  SwapCounters swaps;
  std::int32_t queued = 0, reading = 0, ready = 0;
  std::array<DecisionState, kept_decisions> decisions;  // the last, newest first
  std::int64_t tokens = 0;                              // since the start
  std::int64_t misses = 0;               // tokens' uses of units that were on disk alone, since the start
  std::int64_t host_hits = 0;            // of units that the processor computed beside a card
  std::int64_t host_units = 0;           // … that there are now
  double tokens_per_second = 0;          // of writing an answer, over about the last second of it
  double prefill_tokens_per_second = 0;  // of reading a prompt, likewise
  double mean_bits_per_weight = 0;       // of the published versions
  QualityState quality;
  double calibration_part = -1;  // of what a policy expects of the coming tokens; below 0: it expects nothing
  std::int64_t budget_bytes = 0;
  std::int64_t arena_bytes = 0, arena_used_bytes = 0;
};

struct Snapshot : SnapshotNumbers {
  std::vector<UnitState> units;  // [layers, units_per_layer]
  std::vector<float> skew;       // [layers] share of the layer's hotness that its top tenth holds
};

// Bits of a weight, the mean over the uses of units on the device: as the tier has them that served each, and
// as the lowest for the `misses`, which are read at it. 0: there was no use.
inline double bits_per_use(std::span<const TierState> tiers, std::int64_t misses) {
  std::int64_t uses = 0;
  double bits = 0;
  const auto count = [&](const TierState& tier, std::int64_t hits) {
    uses += hits;
    bits += static_cast<double>(hits) * tier.bits_per_weight;
  };
  for (const TierState& tier : tiers) count(tier, tier.hits);
  if (!tiers.empty()) count(tiers.back(), misses);
  return uses > 0 ? bits / static_cast<double>(uses) : 0;
}

}  // namespace fovea
