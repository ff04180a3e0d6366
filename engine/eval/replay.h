// A policy and the engine's own rules for versions, swaps and units on disk, on a virtual clock, over a
// recorded or synthetic routing: what a policy would have done to hit rates, traffic and stalls, and what
// fixed tiers of the same bytes would have done.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/api/progress.h"
#include "engine/api/replay.h"
#include "engine/core/result.h"
#include "engine/eval/trace.h"
#include "engine/precision/planner.h"
#include "engine/precision/policy.h"

namespace fovea::eval {

struct ReplaySettings {
  ReplayClock clock = {};
  // A prompt's passes are put together up to so many tokens, or fewer where the policy cuts them; 0: they are
  // as the source has them.
  std::int64_t prompt_pass_tokens = 0;
  std::int32_t in_flight = 4;         // swaps between the choice of their block and their publishing
  precision::ArenaPlan arena = {};    // the blocks that there are
  std::int64_t on_demand_blocks = 0;  // of these, for units on disk alone; 0: what the arena has left
  // What a panel would have seen; empty: nothing is made.
  SnapshotSink snapshots = {};
  double snapshot_seconds = 0.1;             // simulated
  std::vector<std::string> tier_names = {};  // [tiers] for the snapshots
};

// How well tiers served a routing.
struct Service {
  std::vector<std::int64_t> hits;   // [tiers] uses by tokens
  std::vector<double> gate;         // [tiers] of the router's weight
  std::int64_t absent_hits = 0;     // uses of a unit that had to be read first
  double loss = 0;                  // Σ gate × damage
  double mean_bits_per_weight = 0;  // of what is held, mean over tokens

  double hit_rate(std::size_t tier) const;  // of all uses
  double gate_share(std::size_t tier) const;
};

struct ReplayResult {
  Service service;
  SwapCounters swaps;
  std::int64_t passes = 0, tokens = 0, layer_steps = 0;
  std::int64_t visits = 0;       // of units on disk alone, one for each unit and pass; missed: swaps.stalls
  double simulated_seconds = 0;  // the stalls included
  double traffic_share = 0;      // of the simulated time that the reader was busy
};

// The policy's name for errors is its own. ErrorKind::invalid for settings out of range, ::memory when the
// arena has no room for the first tiers or for what a layer needs from the disk at once, ::cancelled.
Result<ReplayResult> replay_passes(PassSource& source, const precision::PolicyWorld& world,
                                   precision::Policy& policy, const ReplaySettings& settings,
                                   const ProgressSink& progress = {}, std::stop_token stop = {});

// How much each unit was used. [units]
struct Totals {
  std::vector<std::int64_t> tokens;
  std::vector<double> gate;
  std::int64_t passes = 0, pass_tokens = 0, largest_pass = 0;
};
// Of the first `tokens` tokens; 0: of all.
Result<Totals> count_uses(PassSource& source, std::int64_t tokens = 0, std::stop_token stop = {});

// What fixed tiers [units] would have done.
Service serve_fixed(const Totals& totals, const precision::PolicyWorld& world,
                    std::span<const std::uint8_t> tiers);

}  // namespace fovea::eval
