#include "engine/precision/plan_inputs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "engine/models/placement.h"
#include "engine/precision/dynaexq.h"
#include "engine/precision/errors.h"
#include "engine/precision/first_token.h"
#include "engine/precision/ladder.h"
#include "engine/precision/offload.h"
#include "engine/precision/token_cost.h"

namespace fovea::precision {
namespace {

// Of the units, at the other of two tiers: fewer leave a policy little to move.
constexpr double enough_to_move = 1.0 / 8;
constexpr double enough_for_three = 0.5;  // of the units, at the upper of two tiers
constexpr double high_enough_bits = 7;    // above this a file's own format is no sensible upper tier

// Bits per weight of all units at one tier; nothing when the name is unknown or a row is not whole blocks.
std::optional<double> bits_at(const std::string& name, const UnitTable& units) {
  const auto tiers = parse_tiers(std::vector{name}, units);
  if (!tiers) return std::nullopt;
  double bits = 0, weights = 0;
  for (const Unit& unit : units.units()) {
    for (const models::MatrixSource& matrix : unit.matrices()) {
      if (matrix.columns % kernels::block_shape(type_of(tiers->front(), matrix)).elements != 0)
        return std::nullopt;
    }
    const auto parameters = static_cast<double>(unit.parameters());
    bits += bits_per_weight(tiers->front(), unit) * parameters;
    weights += parameters;
  }
  return weights > 0 ? std::optional(bits / weights) : std::nullopt;
}

Result<void> check_rows(const TierSet& tiers, const UnitTable& units) {
  for (const Tier& tier : tiers) {
    for (UnitId id = 0; id < static_cast<UnitId>(units.size()); ++id) {
      for (const models::MatrixSource& matrix : units[id].matrices()) {
        const std::int64_t block = kernels::block_shape(type_of(tier, matrix)).elements;
        if (matrix.columns % block == 0) continue;
        return fail(phrases::option_place("tiers"),
                    errors::tier_needs_rows(tier.name, block, units.name(id), matrix.columns));
      }
    }
  }
  return {};
}

// A version's block; without a policy, what the unit's weights take where the model's others lie.
std::int64_t unit_bytes(PolicyKind policy, const Tier& tier, const Unit& unit,
                        const kernels::Device& device) {
  if (policy != PolicyKind::none) return version_layout(tier, unit, device).bytes;
  std::int64_t bytes = 0;
  for (const models::MatrixSource& matrix : unit.matrices()) {
    const kernels::Type type = type_of(tier, matrix);
    bytes += models::aligned(device.packed_bytes(device.preferred_packing(type, matrix.rows, matrix.columns),
                                                 type, matrix.rows, matrix.columns));
  }
  return bytes;
}

// Groups of layers with equal units. Within a layer, units of different sizes are in different groups.
void add_groups(const kernels::Device& device, UnitPlan& plan) {
  using Sizes = std::vector<std::int64_t>;
  struct InLayer {
    std::int64_t units = 0, absent = 0;
  };
  std::map<std::tuple<Sizes, std::int64_t, std::int64_t, std::int64_t>, std::size_t> index;
  plan.group.resize(static_cast<std::size_t>(plan.units.size()));
  for (std::int64_t layer = 0; layer < plan.units.layers(); ++layer) {
    const UnitId first = plan.units.first(layer), end = plan.units.first(layer + 1);
    std::map<std::pair<Sizes, std::int64_t>, InLayer> kinds;
    std::vector<std::pair<Sizes, std::int64_t>> kind_of;
    for (UnitId id = first; id < end; ++id) {
      Sizes sizes;
      for (const Tier& tier : plan.tiers)
        sizes.push_back(unit_bytes(plan.policy, tier, plan.units[id], device));
      kind_of.emplace_back(std::move(sizes), plan.units[id].parameters());
      InLayer& kind = kinds[kind_of.back()];
      ++kind.units;
      if (plan.absent[static_cast<std::size_t>(id)]) ++kind.absent;
    }
    for (UnitId id = first; id < end; ++id) {
      const auto& kind = kind_of[static_cast<std::size_t>(id - first)];
      const InLayer& in_layer = kinds[kind];
      const auto [at, is_new] = index.try_emplace(
          std::tuple(kind.first, kind.second, in_layer.units, in_layer.absent), plan.inputs.groups.size());
      if (is_new) {
        UnitGroup& group = plan.inputs.groups.emplace_back();
        group.units = in_layer.units;
        group.absent = in_layer.absent;
        group.parameters = kind.second;
        group.bytes = kind.first;
        for (const Tier& tier : plan.tiers) group.bits.push_back(bits_per_weight(tier, plan.units[id]));
      }
      plan.group[static_cast<std::size_t>(id)] = at->second;
    }
    for (const auto& [kind, in_layer] : kinds)
      ++plan.inputs.groups[index[std::tuple(kind.first, kind.second, in_layer.units, in_layer.absent)]]
            .layers;
  }
}

// A file of 8 bits has nothing to lose on the way from 16 to 8.
void note_free_step(UnitPlan& plan) {
  const auto bits = [&](const std::string& tier) { return bits_at(tier, plan.units).value_or(0); };
  const std::string &high = plan.tiers[0].name, &low = plan.tiers[1].name;
  const double file = bits("file");
  if (high != "file" && bits(low) >= file) plan.notes.push_back(phrases::first_step_is_free(file, high, low));
}

// Of what may come to the device.
std::int64_t largest_version(const PlanInputs& inputs) {
  std::int64_t largest = 0;
  for (const UnitGroup& group : inputs.groups) {
    if (group.absent < group.units || inputs.changes_places)
      largest = std::max(largest, std::ranges::max(group.bytes));
  }
  return largest;
}

// Whole versions, as the residency divides it.
std::int64_t transfer_bytes(const PrecisionRequest& request, const UnitPlan& plan) {
  const std::int64_t largest = largest_version(plan.inputs);
  constexpr std::int64_t usual_bytes = 512 << 20, min_versions = 4;
  if (largest == 0) return 0;
  const std::int64_t versions = request.transfer_bytes > 0 ? request.transfer_bytes / largest
                                                           : std::max(usual_bytes / largest, min_versions);
  return std::min<std::int64_t>(
             versions, swaps_at_once(plan.policy, request.dynaexq, request.fovea, plan.units.size())) *
         largest;
}

// Of a layer that the device computes.
bool any_away(const UnitPlan& plan) {
  const auto first = plan.absent.begin() + plan.units.first(plan.layers.first),
             end = plan.absent.begin() + plan.units.first(plan.layers.end);
  return std::find(first, end, true) != end;
}

// For prompts, to the card.
bool brings_experts(const UnitPlan& plan, const Surroundings& around) {
  return around.stream_bytes > 0 && plan.units.scope() == UnitScope::experts && any_away(plan);
}

// What may go to the other place and back: whatever is not where somebody said, or cannot be brought.
std::vector<bool> changing_places(const Surroundings& around, const UnitPlan& plan,
                                  const std::vector<bool>& named) {
  if (!around.changes_places || plan.units.scope() != UnitScope::experts || !any_away(plan)) return {};
  const auto can_bring = [&](const models::MatrixSource& matrix) {
    return !plan.takes_from_host() || !around.can_bring || around.can_bring(matrix);
  };
  std::vector<bool> changes(plan.absent.size());
  bool any_goes = false;
  for (std::int64_t layer = plan.layers.first; layer < plan.layers.end; ++layer) {
    const UnitId first = plan.units.first(layer), end = plan.units.first(layer + 1);
    bool all = true;  // what is read where its file lies keeps its layer's others from coming
    for (UnitId id = first; id < end; ++id)
      all = all && std::ranges::all_of(plan.units[id].matrices(), can_bring);
    for (UnitId id = first; id < end; ++id) {
      const auto unit = static_cast<std::size_t>(id);
      changes[unit] = all && !named[unit];
      any_goes = any_goes || (changes[unit] && plan.absent[unit]);
    }
  }
  // Of what the host has no copy nobody could bring it, so that all that the device has must be free to go.
  bool all_free = true;
  for (UnitId id = plan.units.first(plan.layers.first); id < plan.units.first(plan.layers.end); ++id)
    all_free =
        all_free && (changes[static_cast<std::size_t>(id)] || plan.absent[static_cast<std::size_t>(id)]);
  if (!any_goes || (plan.takes_from_host() && !all_free)) return {};
  return changes;
}

bool is_on_host(const UnitPlan& plan, std::size_t unit) {
  return plan.absent[unit] || (!plan.changes_places.empty() && plan.changes_places[unit]);
}

Plan::HostParts host_parts(const PrecisionRequest& request, const Surroundings& around,
                           const UnitPlan& plan) {
  Plan::HostParts host{.weights = around.host_layer_bytes,
                       .kv = around.host_kv_bytes,
                       .transfer = 0,
                       .exchange = around.exchange_bytes};
  for (UnitId id = 0; id < static_cast<UnitId>(plan.units.size()); ++id) {
    if (!is_on_host(plan, static_cast<std::size_t>(id)) || plan.is_elsewhere(id)) continue;
    for (const models::MatrixSource& matrix : plan.units[id].matrices())
      host.weights += around.host_bytes(matrix);
    for (const models::VectorSource& bias : plan.units[id].biases)
      if (bias) host.weights += models::aligned(bias.count * 4);
  }
  if (any_away(plan)) host.exchange = around.exchange_with_host_bytes;
  if (brings_experts(plan, around)) host.exchange += around.stream_host_bytes;
  if (plan.policy != PolicyKind::none && !plan.comes_from_host())
    host.transfer = transfer_bytes(request, plan);
  return host;
}

// On the card, where a unit lies as the host has it until it is unpacked.
std::int64_t largest_of_host(const Surroundings& around, const UnitPlan& plan) {
  std::int64_t largest = 0;
  if (!plan.comes_from_host()) return largest;
  for (UnitId id = 0; id < static_cast<UnitId>(plan.changes_places.size()); ++id) {
    if (!plan.changes_places[static_cast<std::size_t>(id)]) continue;
    std::int64_t bytes = 0;
    for (const models::MatrixSource& matrix : plan.units[id].matrices()) bytes += around.host_bytes(matrix);
    largest = std::max(largest, bytes);
  }
  return largest;
}

// Nothing without a profile. Of the layers that the device computes.
std::optional<HostCost> host_cost(const UnitPlan& plan, const Surroundings& around) {
  const UnitTable& units = plan.units;
  if (!around.host_bytes || around.uses.empty() || around.host_gb_per_s <= 0) return std::nullopt;
  HostCost cost{.chances = chances(units, around.experts_used, around.uses),
                .bytes = {},
                .gb_per_s = around.host_gb_per_s,
                .layers = plan.layers};
  for (const Unit& unit : units.units()) {
    std::int64_t& bytes = cost.bytes.emplace_back();
    for (const models::MatrixSource& matrix : unit.matrices()) bytes += around.host_bytes(matrix);
  }
  return cost;
}

void set_inputs(const kernels::Device& device, const PrecisionRequest& request, const Surroundings& around,
                UnitPlan& plan) {
  plan.inputs = {};
  for (const Tier& tier : plan.tiers) plan.inputs.tier_names.push_back(tier.name);
  add_groups(device, plan);
  PlanInputs& in = plan.inputs;
  in.dense_bytes = around.dense_bytes;
  if (plan.policy == PolicyKind::none) {
    for (const UnitGroup& group : in.groups)
      in.dense_bytes -= group.layers * group.units * group.bytes.front();
  }
  in.kv_bytes = around.kv_bytes;
  in.window_bytes = around.window_bytes;
  in.state_bytes = around.state_bytes;
  in.activation_bytes = around.activation_bytes;
  if (!around.host_bytes) {  // no card, be it here or another machine's
    const FirstToken::Scope scope =
        FirstToken::scope(request, plan.policy, plan.units, plan.tiers, device, around.experts_used);
    in.activation_bytes += FirstToken::bytes(scope, plan.units, plan.tiers, device);
  }
  in.safety_bytes = around.safety_bytes;
  in.safety_share = around.safety_share;
  in.max_safety_bytes = around.max_safety_bytes;
  in.budget_bytes = request.budget_bytes;
  in.time_counts = request.nats_per_ms > 0;
  in.host_computes_absent = static_cast<bool>(around.host_bytes);
  in.changes_places = !plan.changes_places.empty();
  in.units_elsewhere = plan.units_elsewhere();
  in.activation_bytes += largest_of_host(around, plan);
  if (around.host_bytes) in.host = host_parts(request, around, plan);
  plan.brings_experts = brings_experts(plan, around);
  if (plan.brings_experts) in.activation_bytes += around.stream_bytes;
  in.pass_units = around.experts_used > 0 ? around.experts_used * std::max<std::int64_t>(around.chunk, 1) : 0;
  const std::int64_t in_flight =
      swaps_at_once(plan.policy, request.dynaexq, request.fovea, plan.units.size());
  in.spare_blocks = min_spare_blocks(in_flight, plan.units.size() - plan.units_elsewhere());
  in.uneven_layers = true;
  in.max_spare_blocks = max_spare_blocks(in_flight);
}

}  // namespace

std::vector<bool> UnitPlan::stays_away() const {
  std::vector<bool> stays = absent;
  for (std::size_t unit = 0; unit < changes_places.size(); ++unit)
    if (changes_places[unit]) stays[unit] = false;
  return stays;
}

bool UnitPlan::takes_from_host() const {
  return tiers.size() == 1 && !tiers.front().type;
}

bool UnitPlan::comes_from_host() const {
  return takes_from_host() && !changes_places.empty();
}

bool asks_for_places(const PrecisionRequest& request) {
  return moves_experts(request.policy) && request.offload.any() &&
         request.tiers == std::vector<std::string>{"file"};
}

PolicyKind chosen_policy(const PrecisionRequest& request, bool has_experts, bool host_computes) {
  if (request.policy != PolicyKind::automatic) return request.policy;
  if (request.offload.any()) {
    if (host_computes && request.tiers.empty()) return PolicyKind::none;
    const bool moves = host_computes && has_experts && request.tiers.size() > 1;
    return moves ? PolicyKind::fovea : PolicyKind::offload;
  }
  if (!request.tier_map.empty()) return PolicyKind::static_tiers;
  if (request.budget_bytes == 0 && request.tiers.empty()) return PolicyKind::none;
  if (request.tiers.size() == 1 || !has_experts) return PolicyKind::static_tiers;
  return PolicyKind::fovea;
}

UnitScope unit_scope(PolicyKind policy, bool has_experts) {
  if (policy == PolicyKind::none) return UnitScope::none;
  return has_experts && !lowers_layers(policy) ? UnitScope::experts : UnitScope::linear_layers;
}

std::vector<std::string> default_tiers(PolicyKind policy, bool has_budget, const UnitTable& units) {
  const double file = bits_at("file", units).value_or(0);
  std::vector<std::string> tiers{"file"};
  if (moves_experts(policy)) {
    if (file > high_enough_bits && bits_at("q4", units)) tiers = {"q4"};
    const double high = bits_at(tiers.front(), units).value_or(file);
    for (const char* low : {"q2", "q3", "q4", "q8"}) {
      const auto bits = bits_at(low, units);
      if (!bits || *bits >= high) continue;
      tiers.emplace_back(low);
      break;
    }
  } else if (lowers_layers(policy)) {
    const double eight = bits_at("q8", units).value_or(file);
    if (eight < file) tiers = {"q8"};
    for (const char* low : {"q4", "q3", "q2"}) {
      const auto bits = bits_at(low, units);
      if (!bits || *bits >= std::min(file, eight)) continue;
      tiers.emplace_back(low);
      break;
    }
  } else if (policy == PolicyKind::static_tiers && has_budget) {
    double above = file;
    for (const char* name : {"q8", "q4", "q3", "q2"}) {
      const auto bits = bits_at(name, units);
      if (!bits || *bits >= above) continue;
      tiers.emplace_back(name);
      above = *bits;
    }
  }
  return tiers;
}

Result<UnitPlan> plan_units(const models::WeightPlan& weights, const kernels::Device& device,
                            const PrecisionRequest& request, const Surroundings& around) {
  const bool has_experts =
      std::ranges::any_of(weights.layers, [](const models::LayerPlan& l) { return !l.experts.empty(); });
  const bool host_computes = static_cast<bool>(around.host_bytes);
  const PolicyKind policy = chosen_policy(request, has_experts, host_computes);
  if (moves_experts(policy) && !has_experts)
    return fail(phrases::option_place(policy == PolicyKind::fovea ? "--policy fovea" : "--policy dynaexq"),
                errors::policy_without_experts());
  if (lowers_layers(policy) && request.offload.any())
    return fail(phrases::option_place("--policy"), errors::offload_flags_of_another_policy());
  const UnitScope with_policy = unit_scope(policy, has_experts);
  UnitPlan plan{.policy = policy,
                .units = UnitTable(weights, with_policy != UnitScope::none ? with_policy
                                            : has_experts                  ? UnitScope::experts
                                                                           : UnitScope::linear_layers),
                .layers = around.layers,
                .others_on_card = around.others_on_card};
  if (plan.layers.end == 0) plan.layers = {0, plan.units.layers()};
  const std::vector<std::string> names =
      request.tiers.empty() ? default_tiers(policy, request.budget_bytes > 0, plan.units) : request.tiers;
  if (moves_experts(policy) && request.policy == PolicyKind::automatic && names.size() < 2) {
    PrecisionRequest fixed = request;
    fixed.policy = PolicyKind::static_tiers;
    FOVEA_TRY(UnitPlan one_tier, plan_units(weights, device, fixed, around));
    one_tier.notes.push_back(phrases::no_tier_below_file());
    return one_tier;
  }
  FOVEA_TRY(plan.tiers, parse_tiers(names, plan.units));
  FOVEA_CHECK(check_rows(plan.tiers, plan.units));
  if (lowers_layers(policy)) {
    FOVEA_CHECK(check_ladder(std::ssize(plan.tiers)));
    note_free_step(plan);
  }
  // Its cold ones may be the processor's instead.
  if (policy == PolicyKind::dynaexq && std::ssize(plan.tiers) != dynaexq_tiers && !around.changes_places)
    return fail(phrases::option_place("--tiers"),
                errors::dynaexq_needs_two_tiers(plan.tiers.size(), names, names.front(),
                                                names.size() > 1 ? names.back() : "q2"));

  OffloadSettings offload = request.offload;
  if (policy == PolicyKind::offload && !offload.any() && request.budget_bytes > 0 && has_experts)
    offload.cpu_moe_layers = -1;
  if (offload.any() && !host_computes && policy != PolicyKind::offload)
    return fail(phrases::option_place("--policy"), errors::offload_flags_of_another_policy());
  const std::vector<bool> nobody(static_cast<std::size_t>(plan.units.size()));
  const auto leave_others_out = [&] {
    std::fill(plan.absent.begin(), plan.absent.begin() + plan.units.first(plan.layers.first), true);
    std::fill(plan.absent.begin() + plan.units.first(plan.layers.end), plan.absent.end(), true);
  };
  const auto fits = [&](const std::vector<bool>& absent) {
    plan.absent = absent;
    leave_others_out();
    plan.changes_places = changing_places(around, plan, nobody);
    set_inputs(device, request, around, plan);
    return plan_precision_anyway(plan.inputs, policy).plan.fits;
  };
  const std::optional<HostCost> cost = host_cost(plan, around);
  FOVEA_TRY(OffloadChoice choice,
            choose_offloaded(plan.units, offload, fits, host_computes ? SlowerPlace::host : SlowerPlace::disk,
                             cost ? &*cost : nullptr,
                             around.changes_places ? Taken::of_each_layer : Taken::first_layers,
                             plan.others_on_card ? 0 : plan.layers.first));
  plan.absent = std::move(choice.absent);
  for (std::size_t unit = 0; unit < around.to_host.size(); ++unit)
    if (around.to_host[unit]) plan.absent[unit] = true;
  if (plan.layers.first > 0 && !plan.others_on_card) {
    const std::int64_t away = plan.layers.first;
    const auto end = plan.absent.begin() + plan.units.first(away);
    const bool overruled = !offload.override_tensors.empty() && plan.units.scope() == UnitScope::experts &&
                           std::find(plan.absent.begin(), end, false) != end;
    std::erase_if(choice.notes, [](const Phrase& note) {
      return note.is(phrases::gpu_layers_leave_experts.code) ||
             note.is(phrases::gpu_layers_leave_feed_forward.code);
    });
    const bool by_number = offload.gpu_layers >= 0 && plan.units.layers() + 1 - offload.gpu_layers >= away;
    choice.notes.push_back(!by_number ? phrases::override_leaves_layers(away)
                           : offload.gpu_layers > 1
                               ? phrases::gpu_layers_leave_layers(offload.gpu_layers, away)
                               : phrases::gpu_layers_leave_nearly_all(offload.gpu_layers));
    if (overruled) choice.notes.push_back(phrases::override_overruled(away));
  }
  if (host_computes) {
    FOVEA_TRY(const auto patterns,
              patterns_of_attention(offload.override_tensors, plan.others_on_card ? 0 : plan.layers.first,
                                    plan.units.layers()));
    for (const std::string& pattern : patterns)
      choice.notes.push_back(phrases::override_keeps_attention(pattern));
  }
  leave_others_out();
  plan.changes_places = changing_places(around, plan, choice.named);
  if (!plan.changes_places.empty()) {
    std::erase_if(choice.notes, [](const Phrase& note) {
      return note.is(phrases::cpu_moe_auto_layers.code) || note.is(phrases::cpu_moe_auto_coldest.code);
    });
    std::int64_t away = 0;
    for (std::size_t unit = 0; unit < plan.absent.size(); ++unit)
      away += plan.absent[unit] && plan.changes_places[unit] ? 1 : 0;
    choice.notes.push_back(
        phrases::experts_change_places(away, std::ranges::count(plan.changes_places, true)));
  }
  plan.cpu_moe_layers = choice.cpu_moe_layers;
  plan.cold_experts = choice.cold_experts;
  std::ranges::move(choice.notes, std::back_inserter(plan.notes));
  set_inputs(device, request, around, plan);
  if (plan.brings_experts) plan.notes.push_back(phrases::prompts_bring_experts(Bytes{around.stream_bytes}));
  const std::int64_t present = std::ranges::count(plan.absent, false);
  if (!moves_experts(policy) || !request.tiers.empty() || request.budget_bytes == 0 || present == 0 ||
      names.size() < 2 || names.front() == "file")
    return plan;
  // Where everything fits at a quantised upper tier, the rest of the budget holds the file's own format.
  const auto at_the_highest = [&](const UnitPlan& of) {
    return plan_precision_anyway(of.inputs, policy).capacity.front();
  };
  const std::int64_t upper = at_the_highest(plan);
  PrecisionRequest higher = request;
  higher.tiers = {"file", names.front()};
  if (upper == present) {
    FOVEA_TRY(UnitPlan raised, plan_units(weights, device, higher, around));
    if (policy == PolicyKind::dynaexq ||
        at_the_highest(raised) >= enough_to_move * static_cast<double>(present))
      return raised;
    plan = std::move(raised);  // unless three fit
  }
  if (policy != PolicyKind::fovea) return plan;
  // Three leave more to move, where their numbers follow the work; if they do not, then where nearly all are
  // at one of two tiers. Below, the file's format gains little for what its versions take on the disk.
  higher.tiers.push_back(names.back());
  FOVEA_TRY(UnitPlan three, plan_units(weights, device, higher, around));
  const PrecisionPlan of_three = plan_precision_anyway(three.inputs, policy);
  const double least = of_three.arena.any_mix ? enough_for_three : 1 - enough_to_move;
  const bool enough = static_cast<double>(upper) >= least * static_cast<double>(present);
  return enough && of_three.plan.fits ? std::move(three) : std::move(plan);
}

TierCounts counts_of(const UnitPlan& plan, std::span<const TierId> tiers) {
  return counts_of(plan.inputs, plan.group, tiers);
}

TierCounts counts_of(const PlanInputs& inputs, std::span<const std::size_t> group,
                     std::span<const TierId> tiers) {
  TierCounts counts(inputs.groups.size(), std::vector<std::int64_t>(inputs.tier_names.size()));
  for (std::size_t unit = 0; unit < tiers.size(); ++unit) {
    if (tiers[unit] < inputs.tier_names.size()) ++counts[group[unit]][tiers[unit]];
  }
  return counts;
}

}  // namespace fovea::precision
