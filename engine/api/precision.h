// How precise a model's weights are kept: what a user asks for, and what the planner answers. Plain data.
//
// The vocabulary: a weight unit is one expert or one linear layer; a tier is a storage format ("q4"); a
// version is a unit at a tier; the store holds all versions on disk; the arena is the device's memory for the
// published ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "engine/api/error.h"

namespace fovea {

enum class PolicyKind : std::uint8_t {
  none,          // every weight as the file has it, no store
  static_tiers,  // a fixed map from units to tiers
  dynaexq,       // hot experts in the high tier, cold ones in the low tier (DynaExq §3)
  fovea,         // units of all layers and tiers change places by what the coming tokens will use
  offload,       // some experts live in the slower place
  flexquant,     // linear layers go down one by one while an answer is certain (FlexQuant §4)
  pmpd,          // all linear layers go down at once, by the tokens of an answer
  automatic,     // in a request: what its other settings mean, see precision::chosen_policy
};

// Whether its units are experts and change their tiers.
constexpr bool moves_experts(PolicyKind policy) {
  return policy == PolicyKind::dynaexq || policy == PolicyKind::fovea;
}

// Whether it manages the linear layers, also those of a mixture beside its experts, and begins each prompt
// with all of them in the highest tier.
constexpr bool lowers_layers(PolicyKind policy) {
  return policy == PolicyKind::flexquant || policy == PolicyKind::pmpd;
}

// DynaExq's settings with the published defaults. "paper": arXiv 2511.15015; "later": its later versions.
// There is no prefetch from correlation: on recorded routing it gained 0.1 points of the router's weight in
// the high tier, for five times the promotions.
struct DynaExqSettings {
  double smoothing = 0.9;  // α of S ← α S + (1 − α) g            (Eq. 2; later: 0.9)
  // Tokens that one α stands for, so that a prefill chunk weighs as its tokens would; 0: one pass, as Eq. 2
  // is written (ours). In replays 20 to 50 serve best; less only moves more
  std::int64_t smoothing_tokens = 50;
  std::int64_t interval_tokens = 200;  // between two updates of the targets  (later: 200)
  double threshold = 0;                // τ: least hotness of a high-tier expert (Algorithm 1; 0: none)
  double hysteresis = 0.1;  // an outsider must beat the weakest insider by this share of the layer's
                            // mean hotness (later: 0.01 absolute, which exceeds 1 / 128: ours)
  // At most, for each interval, in each layer; a promotion with its demotion is one (later: 4, which for the
  // whole model would follow changing work so slowly that the best static mix beats it)
  int transitions = 4;
  // Swaps at once (later: 4). They are published between two passes, and a prefill chunk is one pass: with 4
  // a chunk of 128 tokens sees two promotions. On synthetic routing of 48 × 128 with prompts of 2,048 tokens
  // 64 serve 72.7 % of the uses from the high tier instead of 62.6 %, for 3 % more traffic (ours)
  int in_flight = 64;
  std::int64_t warm_up_tokens = 64;  // hotness of so many tokens ranks the first set (§3.5; ours)
  // Of the papers alone, see dynaexq_as_published():
  bool threshold_of_warm_up = false;    // each layer's τ is its n_hot-th hotness behind the warm-up (§3.5)
  bool hysteresis_is_absolute = false;  // in units of hotness
  bool transitions_of_model = false;    // they count in the whole model

  bool operator==(const DynaExqSettings&) const = default;
};

// The paper without our additions, and its later versions with their limits. What neither gives is ours: how
// long the warm-up is; and in the first, which gives no number at all, α, the interval and the swaps at once.
enum class DynaExqVersion : std::uint8_t { v1, later };
constexpr DynaExqSettings dynaexq_as_published(DynaExqVersion version) {
  DynaExqSettings settings{.smoothing_tokens = 0,
                           .hysteresis = 0,
                           .transitions = std::numeric_limits<int>::max(),
                           .threshold_of_warm_up = true};
  if (version == DynaExqVersion::v1) return settings;
  settings.hysteresis = 0.01;
  settings.hysteresis_is_absolute = true;
  settings.transitions = 4;
  settings.transitions_of_model = true;
  settings.in_flight = 4;
  return settings;
}

// Fovea's own policy. How far back it looks is learnt from the conversation itself, beginning with these
// values.
struct FoveaSettings {
  // Tokens after which a use counts half: the time scales that the expected use is mixed from …
  std::vector<std::int64_t> half_lives = {48, 384};
  // … and what the calibration's profile and each of them count at first; empty: all alike.
  std::vector<double> weights = {};
  // Tokens that the weights are learnt from; 0: they stay; below 0: 4,096, and 256 of experts that change
  // places with the processor's, which nothing is read for.
  std::int64_t weights_half_life = -1;
  // Between two decisions; 0: 32, and 4 of those.
  std::int64_t interval_tokens = 0;
  // … and between two changes of how many experts each tier holds, where three or more tiers share the
  // memory.
  std::int64_t numbers_interval_tokens = 256;
  // An exchange must lower the expected loss by more than this share of what the promotion alone would; below
  // 0: 0.4, and 0.1 of those.
  double margin = -1;
  int in_flight = 0;                // swaps at once; 0: one for each 96 units, from 64 to 1,024
  double prompt_wait_share = 0.05;  // of a prompt's time, that it may wait for its swaps
  // A prompt's next pass is cut to a quarter where what moves lowers the expected loss by more than this
  // share; 1: never; below 0: 0.1, and never for those, which long passes bring to the card once.
  double cut_share = -1;

  bool operator==(const FoveaSettings&) const = default;
};

// FlexQuant's settings (arXiv 2506.12024). PPLE: the exponential of the entropy of a token's distribution.
struct FlexQuantSettings {
  // Mean PPLE of an answer's last tokens below which a layer goes down; 0: that of the prompt's last
  // window_tokens (§4.5; Table 2 has constants from 1.3 to 2.5).
  double threshold = 0;
  std::int64_t window_tokens = 20;  // of the mean (§4.4)
  std::int64_t wait_tokens =
      20;                   // at the new precision before the next one goes (§4.5; Fig. 3 has 20 and 10)
  std::int64_t layers = 1;  // that go at once (Fig. 3)

  bool operator==(const FlexQuantSettings&) const = default;
};

struct PmpdSettings {
  // Tokens of an answer behind which all layers go to the next tier: a number for each tier below the
  // highest.
  std::vector<std::int64_t> schedule = {};

  bool operator==(const PmpdSettings&) const = default;
};

// llama.cpp's flags: which experts (of a model without experts: feed-forward layers; with -ngl, or named
// in all their parts, whole layers)
// stay in the slower place. Beside a card that is main memory, and the processor computes them as the file
// has them; else the disk, where experts alone can stay.
struct OffloadSettings {
  std::int64_t cpu_moe_layers = 0;            // --n-cpu-moe N: of the first N layers; -1: the planner chooses
  std::vector<std::string> override_tensors;  // --override-tensor PATTERN=PLACE
  std::int64_t gpu_layers = -1;               // -ngl N: the last N layers are on the device; -1: all
  // --stream-experts: beside a card, from how many tokens of a pass on the processor's experts are brought to
  // it; 0: from where that takes less time, which loading measures; -1: never.
  std::int64_t stream_from = 0;

  bool any() const { return cpu_moe_layers != 0 || !override_tensors.empty() || gpu_layers >= 0; }
  bool operator==(const OffloadSettings&) const = default;
};

// What PrecisionRequest::nats_per_ms is called: time counts nothing, a hundredth of a nat for ten
// milliseconds, or for one.
inline constexpr double nats_per_ms_exact = 0, nats_per_ms_balanced = 0.001, nats_per_ms_fast = 0.01;

struct PrecisionRequest {
  PolicyKind policy = PolicyKind::none;
  // "file", "bf16", "q8", "q4", "q4e", "q3", "q2", from high to low; empty: the policy's default.
  std::vector<std::string> tiers = {};
  std::int64_t budget_bytes = 0;        // of everything on the device; 0: what the highest tier needs
  std::int64_t first_budget_bytes = 0;  // of two cards, of the first; 0: as the other's
  // What a millisecond of a token's time is worth, as the KL divergence from the full model that it may cost;
  // static_tiers and fovea, with a store whose divergences were measured. 0: time counts nothing.
  double nats_per_ms = 0;
  // Beside a card, for policies that move units: main memory for versions that swaps have read, pinned as it
  // fills; -1: half of what is left, and no more than all versions take; 0: none.
  std::int64_t host_cache_bytes = -1;
  std::filesystem::path stores_folder = {};  // where the store is sought, and built, when `store` is empty
  std::filesystem::path store = {};          // the file that holds all versions; built when it is missing
  std::filesystem::path tier_map = {};  // static_tiers: lines "unit tier"; empty: the best mix of the budget
  DynaExqSettings dynaexq = {};
  FoveaSettings fovea = {};
  FlexQuantSettings flexquant = {};
  PmpdSettings pmpd = {};
  OffloadSettings offload = {};
  // Where experts move: in so many of the model's first layers a sequence's first token is computed with its
  // experts at the highest tier, which are read for it, since attention of all later tokens rests on what
  // becomes of it (attention sinks, arXiv 2309.17453; kept exact by IntactKV, arXiv 2403.01241). On a
  // processor. 0: in none, as with dynaexq_as_published(); −1: in as many as 128 MiB are read for, four at
  // least.
  std::int64_t first_token_layers = -1;
  // Of the transient buffer; 0: all that may be in flight at once, up to 512 MiB, but four versions.
  std::int64_t transfer_bytes = 0;
  double traffic_gb_per_s = 0;  // limit of the swap traffic, of all cards together; 0: 5 % of what is
                                // measured
  std::int64_t publish_after_passes = -1;  // deterministic: publish exactly so many passes after the decision
  std::filesystem::path events = {};       // the swap log, JSON lines; empty: none

  bool operator==(const PrecisionRequest&) const = default;
};

// Where the device's bytes go. The parts add up to the plan's total.
struct PlanTier {
  std::string name;  // "q4"
  double bits_per_weight = 0;
  std::int64_t units = 0;
  std::int64_t bytes = 0;
  std::int64_t unit_bytes = 0;  // of one unit at this tier, the mean where they differ
  bool operator==(const PlanTier&) const = default;
};
struct Plan {
  bool fits = false;
  std::int64_t budget_bytes = 0;  // where none was given: the total
  std::int64_t total_bytes = 0;
  std::int64_t min_bytes = 0;    // the smallest budget that would do …
  std::int64_t whole_bytes = 0;  // … and the one that holds everything at the highest tier
  struct Parts {
    std::int64_t dense = 0;         // everything that is not a unit
    std::vector<PlanTier> experts;  // by tier, high to low, with slab rounding and spare blocks
    std::int64_t kv = 0;            // at the plan's context, of the layers that see all of it
    // What some layers keep instead; on a processor with what there is to return to, which a card has in
    // main memory: keys and values of those with a window, and recurrent states.
    std::int64_t windows = 0;
    std::int64_t states = 0;
    std::int64_t activations = 0;
    std::int64_t safety = 0;  // kept free of a budget; none where none was given
    bool operator==(const Parts&) const = default;
  } parts;
  std::int64_t arena_bytes = 0;  // of parts.experts together
  std::int64_t slab_bytes = 0;
  std::int64_t units_on_disk = 0;  // below the lowest tier: used with a stall, …
  std::int64_t units_cached = 0;   // … but as many as memory keeps at a time
  std::int64_t units_on_host = 0;  // computed by the processor beside a card
  // Main memory beside a card, no part of the total; these add up to host_bytes.
  struct HostParts {
    std::int64_t weights = 0;   // that the processor computes with
    std::int64_t kv = 0;        // of the layers that it computes whole
    std::int64_t transfer = 0;  // pinned: the transient buffer of versions that are read or swapped
    std::int64_t exchange = 0;  // pinned: what passes send and receive
    std::int64_t sum() const { return weights + kv + transfer + exchange; }
    bool operator==(const HostParts&) const = default;
  } host;
  // Of two cards the one that has the first layers, no part of the total either; what it has in main memory
  // is counted with the other's.
  struct FirstCard {
    std::int64_t layers = 0;  // 0: there is one card
    std::int64_t budget_bytes = 0, total_bytes = 0, min_bytes = 0;
    std::int64_t arena_bytes = 0;
    Parts parts;
    bool fits = false;
    bool operator==(const FirstCard&) const = default;
  } first_card;
  std::int64_t host_bytes = 0;
  std::int64_t host_available_bytes = 0;  // that the machine has for it; 0: not looked at
  // On top of host_bytes, taken as it is needed: versions that swaps have read are kept in so much of main
  // memory.
  std::int64_t host_cache_bytes = 0;
  std::int64_t high_per_layer = 0;  // n_hot of dynaexq
  double mean_bits_per_weight = 0;  // of the units
  // What an extra gigabyte buys, or what to change when it does not fit: one sentence each, with numbers.
  std::vector<Phrase> advice;
  // What became of the request that the user should know, one sentence each.
  std::vector<Phrase> notes;
  bool operator==(const Plan&) const = default;
};

// How a policy that expects foretells, as it has learnt until now.
struct Foresight {
  // What counts in its expectation: the calibration's profile, then each time scale; their sum is 1. Empty:
  // it expects nothing.
  std::vector<double> weights = {};
  // Mean of ln p, by the router's weights, that it gave beforehand to what was chosen; 0: nothing was yet.
  double log_likelihood = 0;
};

// What a loaded engine has done with it, for --json and the status line.
struct PrecisionUse {
  std::int64_t budget_bytes = 0;
  // On the device: allocated for the arena, the other weights, the KV cache and activations, and kept free
  // for safety. The plan's total, counted again.
  std::int64_t accounted_bytes = 0;
  std::int64_t promotions = 0, demotions = 0;
  std::int64_t swaps_refused = 0, swaps_failed = 0;  // no room; a read or checksum error
  std::int64_t bytes_read = 0;
  std::int64_t bytes_found = 0;  // in main memory, where swaps would have read them
  std::int64_t stalls = 0;
  double stall_seconds = 0;
  std::int64_t uses = 0;            // of units, by tokens
  double hit_rate = 0;              // share of them that the highest tier served
  double mean_bits_per_weight = 0;  // of the published versions …
  double bits_per_use = 0;          // … of those that served the uses, on disk alone as the lowest tier …
  // … and of those that served the answers, mean over their tokens; 0: there was none yet.
  double answer_bits_per_weight = 0;
  std::optional<double> quality_kept = {};  // kept_share() of all tokens; nothing: no expert served any
  Foresight foresight = {};
  Phrase log_failure;  // why the swap log ends early; empty: it does not
};

}  // namespace fovea
