// What a policy would have done: recorded or synthetic routing, with the policy and the engine's own rules
// for swaps on a virtual clock, beside fixed tiers of the same bytes. No model is loaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/precision.h"
#include "engine/api/progress.h"
#include "engine/api/snapshot.h"
#include "engine/api/trace.h"

namespace fovea {

// Synthetic routing with the properties that are known of real models: a skew over experts, hot experts that
// differ between kinds of work, locality in time.
struct SyntheticRouting {
  enum class Skew : std::uint8_t { uniform, zipf, exponential };

  std::int64_t layers = 48;
  std::int32_t experts = 128;
  std::int32_t used = 8;  // for a token
  // An expert of rank r (from 0) is drawn with weight 1, (r + 1)^−s or e^(−s r / experts).
  Skew skew = Skew::zipf;
  double skew_strength = 1.2;  // s
  std::int64_t tokens = 100'000;
  std::int32_t kinds = 3;   // kinds of work, each with ranks of its own
  std::int32_t phases = 4;  // stretches of equal length, whose kinds take turns
  // Share of a layer's 16 hottest experts that two kinds have in common: one value for all pairs, or one for
  // each pair in the order (0,1), (0,2), …, (1,2), …
  std::vector<double> overlap = {0.12};
  double repeat = 0;        // chance that a choice repeats one of the token before
  double drift = 0;         // changes of place in a layer's ranks for each token, on average
  std::int64_t prompt = 0;  // tokens of prefill at the beginning of each phase
  std::int64_t chunk = 128;
  std::int64_t parameters = 4'718'592;  // of one expert (Qwen3-30B-A3B: 3 · 2048 · 768)
  double file_bits = 4.5;               // per weight
  std::uint64_t seed = 1;               // of the model: who is hot for which work; and of …
  std::uint64_t text = 0;               // … another text for the same model; 0: the first one
};
inline constexpr std::int32_t synthetic_hottest = 16;  // that `overlap` speaks of

// What is published of real models: "qwen3-30b-a3b" (48 × 128; prose, mathematics, code with overlaps of 12
// %, 11 % and 47 %; 2,048 tokens touch 81 % of the experts) and "qwen3-next-80b-a3b" (48 × 512; nearly
// uniform in the long run, local in time). ErrorKind::invalid lists the names.
Result<SyntheticRouting> synthetic_like(const std::string& model);

struct ReplayClock {
  double read_gb_per_s = 1;    // store → transient buffer, one version after the other
  double read_latency_ms = 0;  // … before the bytes of each
  double upload_gb_per_s = 0;  // transient buffer → block; 0: at once
  double decode_tok_per_s = 20;
  double prefill_tok_per_s = 200;
  std::int64_t transfer_bytes = 0;  // of the transient buffer; 0: the largest version for each in flight
  // Exactly so many passes after the decision, as the engine counts them; the clock waits for the bytes.
  std::int64_t publish_after_passes = -1;
};

// The policy's world at one moment of the simulated clock. It lives for the call.
using SnapshotSink = std::function<Result<void>(const Snapshot& snapshot, double seconds)>;

struct ReplayRequest {
  std::filesystem::path trace = {};                // that `fovea trace` recorded, unless …
  std::optional<SyntheticRouting> synthetic = {};  // … the routing is synthetic
  PolicyKind policy = PolicyKind::dynaexq;         // fovea, offload, or static_tiers: the references alone
  DynaExqSettings dynaexq = {};
  FoveaSettings fovea = {};
  OffloadSettings offload = {};  // without any of them and with a budget: as few layers as fit
  // The model's: sizes, how much each tier hurts each unit, and how often the calibration used it.
  std::filesystem::path store = {};
  // High to low; "q2=2.25" gives the bits per weight itself. Empty: the store's, else file and q2; for
  // offload the file's alone.
  std::vector<std::string> tiers = {};
  // Room for the experts, one of both (offload: bytes, or 0): bytes with spare blocks and slabs as the
  // planner cuts them, or the share of each layer's experts that are in the high tier.
  std::int64_t budget_bytes = 0;
  double high_share = 0;
  ReplayClock clock = {};
  // A prompt's passes are put together up to so many tokens, or fewer where the policy cuts them; 0: as they
  // were recorded.
  std::int64_t prompt_pass_tokens = 0;
  std::int64_t profile_tokens = 2048;  // that choose the mix that is fixed at start
  SnapshotSink snapshots = {};         // of the policy, as a panel would have seen them; empty: none
  double snapshot_seconds = 0.1;       // simulated, between two of them
  std::string tier_map = {};           // the row of fixed tiers that is wanted as a tier map; empty: none
};

// The references, by their names in every table.
inline constexpr const char* reference_static = "static";         // the best fixed mix of the calibration
inline constexpr const char* reference_start = "fixed at start";  // … of the first profile_tokens
inline constexpr const char* reference_hindsight = "fixed hindsight";  // … of exactly these tokens
// Exchanges by what 200 or 2,000 coming tokens will use, with the policy's swaps at once: strong, but no
// bound.
inline constexpr const char* reference_look_ahead = "look-ahead";
// Each pass by itself with the best tiers for it, as if every version could be anywhere at once: nothing that
// keeps to the bytes can lose less.
inline constexpr const char* reference_ceiling = "ceiling";

// One way to serve the routing.
struct ReplayRow {
  std::string name;                 // the policy's, a reference's with its tokens, "all high" or "all low"
  std::int64_t bytes = 0;           // of the experts' versions that are held
  double mean_bits_per_weight = 0;  // of the experts, mean over tokens
  std::vector<double> hit_rate;     // [tiers] share of the tokens' uses
  std::vector<double> gate_share;   // [tiers] share of the router's weight
  double absent_share = 0;          // share of the tokens' uses that waited for a unit on disk alone
  // What the tiers cost: Σ gate × damage, 0 for all high and 1 for all low. Damage is the store's, or
  // 4^−bits.
  double loss = 0;
  // … for a token, in nats from the model as the file has it: the expected KL divergence; below 0: nobody
  // knows, since no divergence was measured.
  double divergence = -1;
  double way = 0;  // from static (0) to the better look-ahead (1) by loss; 0 where there is none
};

struct ReplayReport {
  std::string model;
  std::int64_t layers = 0, units = 0, used = 0;
  std::int64_t passes = 0, tokens = 0, layer_steps = 0;
  std::vector<PlanTier> tiers;  // with the units that the capacities hold, without spare blocks
  std::int64_t high_per_layer = 0;
  std::vector<ReplayRow> rows;  // the policy first
  // Of the policy:
  SwapCounters swaps;
  double simulated_seconds = 0;  // stalls included
  double traffic_share = 0;      // of that time in which versions were read
  std::int64_t visits = 0;       // of units on disk alone: for each unit and pass; swaps.stalls had to wait
  double wall_seconds = 0;       // that its replay took
  Foresight foresight = {};      // at the end
  std::int64_t cpu_moe_layers = 0;  // of offload
  std::vector<Phrase> notes;        // what the user should know: one sentence each
  std::string tier_map;             // the text of the one that was asked for
};

Result<ReplayReport> replay(const ReplayRequest& request, const ProgressSink& progress = {},
                            std::stop_token stop = {});

// Writes synthetic routing as a trace.
Result<void> write_synthetic_trace(const SyntheticRouting& routing, const ByteSink& out,
                                   std::stop_token stop = {});

}  // namespace fovea
