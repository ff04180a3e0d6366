// From a model's tensors and what the user asks for to the planner's inputs: the policy and tiers that are
// meant, the units' sizes as the device packs them, and which units are offloaded. Reads no weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/api/precision.h"
#include "engine/core/result.h"
#include "engine/models/plan.h"
#include "engine/precision/fovea_policy.h"
#include "engine/precision/ladder.h"
#include "engine/precision/planner.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "kernels/api/device.h"

namespace fovea::precision {

// The policy that a request means. For automatic: offload when an offload setting is there; with tiers or a
// budget fovea for a model with experts, static_tiers for another or for a single tier; else none.
// (plan_units takes static_tiers where fovea would find no second tier.) Where the host computes what is
// offloaded, that needs no store: none, unless there are tiers; with several of them and experts fovea.
PolicyKind chosen_policy(const PrecisionRequest& request, bool has_experts, bool host_computes);

// Whose weights Model::load leaves to the policy: the experts of a model that has some, unless the policy
// lowers layers; else the linear layers.
UnitScope unit_scope(PolicyKind policy, bool has_experts);

// When the user names none: for fovea and dynaexq the file's format (q4 when it has more than 7 bits) above
// q2; where layers are lowered q8, or the file's format where it has fewer bits, above the next lower one of
// q4, q3, q2; for fixed tiers with a budget all that stand below the file's; else the file's alone.
// (plan_units takes the file's format above q4 where a budget holds everything at q4 and an eighth in the
// file's; for fovea all three where it holds half at q4.)
std::vector<std::string> default_tiers(PolicyKind policy, bool has_budget, const UnitTable& units);

// Swaps at once, by the settings of the policy that moves so many units.
constexpr std::int32_t swaps_at_once(PolicyKind policy, const DynaExqSettings& dynaexq,
                                     const FoveaSettings& fovea, std::int64_t units) {
  if (lowers_layers(policy)) return ladder_swaps_at_once;
  return policy == PolicyKind::fovea ? fovea_swaps_at_once(fovea, units) : dynaexq.in_flight;
}
// A promotion and its demotion use a spare block of each tier while they are in flight, so that the spare
// blocks are how many may change in one pass: one for each 256 units at least (of 6,144 experts 24, under one
// per cent of their bytes; MixPath has more of few), and as many as may be in flight where a budget leaves
// room.
constexpr std::int64_t max_spare_blocks(std::int64_t in_flight) {
  return std::max<std::int64_t>(1, in_flight / 2);
}
constexpr std::int64_t min_spare_blocks(std::int64_t in_flight, std::int64_t units) {
  return std::min(std::max<std::int64_t>(2, units / 256), max_spare_blocks(in_flight));
}

// How much of a budget is kept free, when nothing else is said: 2 %, at most 1 GiB.
inline constexpr double default_safety_share = 0.02;
inline constexpr std::int64_t default_max_safety_bytes = std::int64_t{1} << 30;

// What the units share the device with. Bytes.
// What is kept free of a card's memory (DynaExq's reserve).
inline constexpr std::int64_t card_safety_bytes = std::int64_t{1} << 30;

struct Surroundings {
  // models::Placement::measure(…).resident() with unit_scope(policy); without a policy the units included.
  std::int64_t dense_bytes = 0;
  std::int64_t kv_bytes = 0;
  std::int64_t window_bytes = 0;
  std::int64_t state_bytes = 0;
  std::int64_t activation_bytes = 0;
  std::int64_t safety_bytes = 0;  // on top of the share of the budget
  double safety_share = default_safety_share;
  std::int64_t max_safety_bytes = default_max_safety_bytes;
  std::int64_t experts_used = 0;  // by a token
  std::int64_t chunk = 0;         // tokens of the longest pass
  // Bytes that a matrix takes where the host computes with it. Empty: the host computes nothing beside the
  // device, and what is offloaded lives on disk.
  std::function<std::int64_t(const models::MatrixSource&)> host_bytes = {};
  // Whether the device can make its own of what the host computes with; empty: of everything.
  std::function<bool(const models::MatrixSource&)> can_bring = {};
  // Beside a card, in main memory: what its passes send and receive, with states to return to, and, where the
  // processor computes units.
  std::int64_t exchange_bytes = 0, exchange_with_host_bytes = 0;
  // Where it computes experts: what brings them to the card for prompts, there and pinned here.
  std::int64_t stream_bytes = 0, stream_host_bytes = 0;
  // With both, --n-cpu-moe auto may leave the coldest experts of each layer to the host instead of whole
  // layers: a store's profile of use [units], and how fast main memory is read.
  std::span<const float> uses = {};
  double host_gb_per_s = 0;
  // [units] that are left to the host beside what the request says; empty: none.
  std::vector<bool> to_host = {};
  // What is the host's, by whatever was said, may change places with the rest.
  bool changes_places = false;
  // That the device computes; {}: all. Those before are the host's as a whole, with the bytes of their
  // weights that are no units and of their cache; or the others are another card's.
  models::LayerRange layers = {};
  bool others_on_card = false;
  std::int64_t host_layer_bytes = 0, host_kv_bytes = 0;
};

struct UnitPlan {
  PolicyKind policy = PolicyKind::none;
  UnitTable units;
  TierSet tiers = {};
  std::vector<bool> absent = {};  // [units]: offloaded, to the host or to disk; and elsewhere
  // Whose units another card has: in the layers before and behind these.
  models::LayerRange layers = {};
  bool others_on_card = false;
  // [units]: the host has it, whoever computes it to begin with, so that it may go from one to the other
  // while the model runs. Empty: none.
  std::vector<bool> changes_places = {};
  std::int64_t cpu_moe_layers = 0;      // that --n-cpu-moe auto found …
  std::int64_t cold_experts = 0;        // … or so many of each layer
  bool brings_experts = false;          // that the host has, to the card for prompts
  PlanInputs inputs = {};               // for plan_precision
  std::vector<std::size_t> group = {};  // [units]: index into inputs.groups
  std::vector<Phrase> notes = {};       // what the user should know

  bool is_elsewhere(UnitId unit) const {
    return others_on_card && (unit < units.first(layers.first) || unit >= units.first(layers.end));
  }
  std::int64_t units_elsewhere() const {
    return others_on_card ? units.size() - (units.first(layers.end) - units.first(layers.first)) : 0;
  }
  // [units]: the host's for ever, on disk, or another card's.
  std::vector<bool> stays_away() const;
  // Whether the only tier is what the host has, too …
  bool takes_from_host() const;
  // … and what changes places is copied from there: no store is needed.
  bool comes_from_host() const;
};

// Whether experts shall change places between a card and the processor: what fovea and dynaexq move where
// they are given the file's format alone and something is left to the processor.
bool asks_for_places(const PrecisionRequest& request);

// ErrorKind::invalid or ::unsupported names the flag, tier or pattern that is wrong. The weights and their
// checkpoint must outlive what comes back.
Result<UnitPlan> plan_units(const models::WeightPlan& weights, const kernels::Device& device,
                            const PrecisionRequest& request, const Surroundings& around);

// The counts of a fixed map [units], for inputs.counts; no_tier is counted nowhere.
TierCounts counts_of(const UnitPlan& plan, std::span<const TierId> tiers);
TierCounts counts_of(const PlanInputs& inputs, std::span<const std::size_t> group,
                     std::span<const TierId> tiers);

}  // namespace fovea::precision
