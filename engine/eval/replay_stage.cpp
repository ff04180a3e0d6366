#include "engine/eval/replay_stage.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "engine/checkpoint/store.h"
#include "engine/eval/errors.h"
#include "engine/precision/plan_inputs.h"
#include "engine/precision/fingerprint.h"
#include "engine/precision/offload.h"
#include "engine/precision/static_plan.h"
#include "engine/precision/store_profile.h"
#include "engine/precision/tiers.h"
#include "kernels/api/types.h"

namespace fovea::eval {
namespace {

using precision::PolicyWorld;
using precision::UnitGroup;

struct NamedBits {
  std::string name;
  std::optional<double> bits;  // none: as the file has it
};

std::unexpected<Error> wrong(const char* option, Error error) {
  return fail(phrases::option_place(option), std::move(error));
}

Result<NamedBits> parse_tier(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    FOVEA_TRY(const precision::Tier tier, precision::parse_tier(text));
    return NamedBits{text, tier.type ? std::optional(kernels::bits_per_weight(*tier.type)) : std::nullopt};
  }
  double bits = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, bits);
  if (error != std::errc() || rest != end || !(bits > 0 && bits <= 32))
    return wrong("tiers", errors::replay_tier_bits(text));
  return NamedBits{text.substr(0, equals), bits};
}

Result<std::optional<checkpoint::Store>> open_store(const ReplayRequest& request, const TraceShape& shape) {
  if (request.store.empty()) return std::nullopt;
  FOVEA_TRY(checkpoint::Store store, checkpoint::Store::open(request.store));
  const checkpoint::StoreIdentity& identity = store.identity();
  if (identity.scope != precision::scope_name(precision::UnitScope::experts) ||
      identity.units != shape.units())
    return fail(phrases::file_place(request.store),
                errors::replay_store_of_other_model(identity.units, identity.scope, shape.units()));
  return store;
}

std::vector<std::string> tiers_of(const ReplayRequest& request,
                                  const std::optional<checkpoint::Store>& store) {
  if (!request.tiers.empty()) return request.tiers;
  if (request.policy == PolicyKind::offload) return {"file"};
  if (store) return store->identity().tiers;
  return {"file", "q2=2.25"};
}

// The number of each tier in the store.
Result<std::vector<std::int64_t>> store_tiers(const checkpoint::Store& store,
                                              const std::vector<std::string>& names) {
  const std::vector<std::string>& held = store.identity().tiers;
  std::vector<std::int64_t> numbers;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(held, name);
    if (found == held.end())
      return fail(phrases::file_place(store.path()), errors::replay_store_without_tier(name));
    numbers.push_back(found - held.begin());
  }
  return numbers;
}

std::int64_t version_bytes(double parameters, double bits) {
  const auto bytes = static_cast<std::int64_t>(std::ceil(parameters * bits / 8));
  return (bytes + precision::version_alignment - 1) / precision::version_alignment *
         precision::version_alignment;
}

// Bits of each tier over all experts; [units, tiers] bytes as they follow from them.
Result<void> set_tiers(const std::vector<NamedBits>& named, const TraceShape& shape, PolicyWorld& world) {
  std::vector<double> bits(named.size());
  double parameters = 0;
  for (const ExpertLayer& layer : shape.layers) {
    const auto of_expert = static_cast<double>(layer.parameters);
    std::vector<std::int64_t> bytes;
    for (std::size_t tier = 0; tier < named.size(); ++tier) {
      const double per_weight =
          named[tier].bits.value_or(8 * static_cast<double>(layer.file_bytes) / of_expert);
      if (!(per_weight > 0)) return wrong("tiers", errors::replay_file_tier());
      bytes.push_back(version_bytes(of_expert, per_weight));
      bits[tier] += per_weight * of_expert * layer.experts;
    }
    parameters += of_expert * layer.experts;
    for (std::int32_t expert = 0; expert < layer.experts; ++expert)
      world.unit_bytes.insert(world.unit_bytes.end(), bytes.begin(), bytes.end());
  }
  for (double& each : bits) each /= parameters;
  for (std::size_t tier = 1; tier < bits.size(); ++tier) {
    if (bits[tier] >= bits[tier - 1])
      return wrong("tiers", errors::replay_tiers_out_of_order(named[tier].name, named[tier - 1].name));
  }
  world.bits_per_weight = bits;
  return {};
}

Result<void> take_from_store(const checkpoint::Store& store, const std::vector<std::string>& tier_names,
                             PolicyWorld& world) {
  FOVEA_TRY(const auto tiers, store_tiers(store, tier_names));
  world.unit_bytes.clear();
  for (std::int64_t unit = 0; unit < world.units(); ++unit) {
    for (const std::int64_t tier : tiers) world.unit_bytes.push_back(store.extent(unit, tier).bytes);
  }
  precision::StoreProfile profile = precision::store_profile(store, world.first_unit, tiers);
  world.damage = std::move(profile.damage);
  world.damage_is_divergence = profile.damage_is_divergence;
  world.uses = std::move(profile.uses);
  return {};
}

// Layers whose experts have the same sizes, and of which equally many are away.
void add_groups(const TraceShape& shape, Stage& stage) {
  using Sizes = std::vector<std::int64_t>;
  using Kind = std::tuple<Sizes, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Kind, std::size_t> index;
  stage.plan.groups.clear();
  stage.group.resize(static_cast<std::size_t>(stage.world.units()));
  const auto tiers = static_cast<std::size_t>(stage.world.tiers());
  for (std::size_t layer = 0; layer < shape.layers.size(); ++layer) {
    std::map<Sizes, std::vector<std::size_t>> kinds;
    for (auto unit = static_cast<std::size_t>(stage.world.first_unit[layer]);
         unit < static_cast<std::size_t>(stage.world.first_unit[layer + 1]); ++unit) {
      const auto first = stage.world.unit_bytes.begin() + static_cast<std::ptrdiff_t>(unit * tiers);
      kinds[Sizes(first, first + static_cast<std::ptrdiff_t>(tiers))].push_back(unit);
    }
    for (const auto& [sizes, units] : kinds) {
      const auto absent = std::ranges::count_if(units, [&](std::size_t unit) { return stage.absent[unit]; });
      const Kind kind(sizes, shape.layers[layer].parameters, std::ssize(units), absent);
      const auto [at, is_new] = index.try_emplace(kind, stage.plan.groups.size());
      if (is_new)
        stage.plan.groups.push_back({.units = std::ssize(units),
                                     .parameters = shape.layers[layer].parameters,
                                     .bytes = sizes,
                                     .absent = absent});
      ++stage.plan.groups[at->second].layers;
      for (const std::size_t unit : units) stage.group[unit] = at->second;
    }
  }
}

// llama.cpp's flags speak of the model's layers, so the table has also those without experts.
precision::UnitTable table_of(const TraceShape& shape) {
  std::vector<std::int32_t> experts;
  for (const ExpertLayer& layer : shape.layers) {
    experts.resize(static_cast<std::size_t>(layer.layer));
    experts.push_back(layer.experts);
  }
  return precision::UnitTable(experts);
}

Result<void> check_layers(const TraceShape& shape) {
  std::int64_t before = -1;
  for (const ExpertLayer& layer : shape.layers) {
    if (layer.layer <= before || layer.layer >= max_trace_layers)
      return fail(phrases::trace_place(), errors::replay_layer_order(layer.layer, before));
    before = layer.layer;
  }
  return {};
}

Result<void> choose_absent(const ReplayRequest& request, const TraceShape& shape, Stage& stage) {
  stage.absent.assign(static_cast<std::size_t>(stage.world.units()), false);
  if (request.policy != PolicyKind::offload) return {};
  OffloadSettings settings = request.offload;
  const bool chosen =
      settings.cpu_moe_layers != 0 || !settings.override_tensors.empty() || settings.gpu_layers >= 0;
  if (!chosen && request.budget_bytes == 0) return wrong("offload", errors::replay_nothing_offloaded());
  if (!chosen) settings.cpu_moe_layers = -1;
  if (settings.cpu_moe_layers < 0 && request.budget_bytes == 0)
    return wrong("--n-cpu-moe", errors::replay_auto_without_budget());
  const auto fits = [&](const std::vector<bool>& absent) {
    stage.absent = absent;
    add_groups(shape, stage);
    return precision::plan_precision_anyway(stage.plan, PolicyKind::offload).plan.fits;
  };
  FOVEA_TRY(precision::OffloadChoice choice, precision::choose_offloaded(stage.units, settings, fits));
  stage.absent = std::move(choice.absent);
  stage.cpu_moe_layers = choice.cpu_moe_layers;
  stage.notes = std::move(choice.notes);
  return {};
}

// So many experts of each layer in the high tier, and blocks for them as the planner would cut them.
Result<void> share_room(double high_share, const TraceShape& shape, Stage& stage) {
  PolicyWorld& world = stage.world;
  if (!(high_share <= 1))
    return fail(phrases::replay_high_share(), errors::setting_out_of_range(phrases::range_0_to_1()));
  world.capacity.assign(static_cast<std::size_t>(world.tiers()), 0);
  for (const ExpertLayer& layer : shape.layers)
    world.high_per_layer =
        std::max<std::int64_t>(world.high_per_layer, std::llround(high_share * layer.experts));
  for (const ExpertLayer& layer : shape.layers)
    world.capacity.front() += std::min<std::int64_t>(layer.experts, world.high_per_layer);
  world.capacity.back() += world.units() - (world.tiers() > 1 ? world.capacity.front() : 0);
  std::map<std::int64_t, std::int64_t> blocks;  // of each size
  for (std::size_t layer = 0; layer < shape.layers.size(); ++layer) {
    const std::int64_t* const bytes = world.unit_bytes.data() + world.first_unit[layer] * world.tiers();
    const std::int64_t experts = shape.layers[layer].experts, high = std::min(experts, world.high_per_layer);
    blocks[bytes[0]] += high;
    blocks[bytes[world.tiers() - 1]] += experts - high;
  }
  std::vector<precision::PoolNeed> needs;
  for (const auto& [bytes, count] : blocks) needs.push_back({bytes, count + world.spare_blocks});
  stage.arena = precision::cut_arena(std::move(needs));
  return {};
}

// How many experts of each tier there is room for.
Result<void> give_room(const ReplayRequest& request, const TraceShape& shape, Stage& stage) {
  PolicyWorld& world = stage.world;
  if (request.high_share > 0 && request.budget_bytes == 0)
    return share_room(request.high_share, shape, stage);
  FOVEA_TRY(const precision::PrecisionPlan plan, precision::plan_precision(stage.plan, request.policy));
  precision::give_room(plan, world);
  stage.arena = plan.arena;
  stage.on_demand_blocks = plan.on_demand_blocks;
  return {};
}

}  // namespace

Result<Stage> set_stage(const ReplayRequest& request, const TraceShape& shape, std::int64_t largest_pass) {
  const bool offload = request.policy == PolicyKind::offload;
  if (!offload && (request.budget_bytes > 0) == (request.high_share > 0))
    return wrong("budget", errors::replay_budget_or_share());
  if (offload && request.high_share > 0)
    return fail(phrases::replay_high_share(), errors::replay_offload_by_share());
  FOVEA_CHECK(check_layers(shape));
  FOVEA_TRY(const auto store, open_store(request, shape));
  Stage stage{.units = table_of(shape)};
  std::vector<NamedBits> named;
  for (const std::string& text : tiers_of(request, store)) {
    FOVEA_TRY(NamedBits tier, parse_tier(text));
    stage.tier_names.push_back(tier.name);
    named.push_back(std::move(tier));
  }
  for (std::int64_t unit = 0; unit < stage.units.size(); ++unit)
    stage.names.push_back(stage.units.name(static_cast<precision::UnitId>(unit)));
  stage.world.first_unit = shape.first_unit();
  FOVEA_CHECK(set_tiers(named, shape, stage.world));
  if (store) FOVEA_CHECK(take_from_store(*store, stage.tier_names, stage.world));

  const std::int64_t in_flight =
      precision::swaps_at_once(request.policy, request.dynaexq, request.fovea, shape.units());
  stage.world.spare_blocks = precision::max_spare_blocks(in_flight);
  stage.plan.tier_names = stage.tier_names;
  stage.plan.budget_bytes = request.budget_bytes;
  stage.plan.spare_blocks = precision::min_spare_blocks(in_flight, shape.units());
  stage.plan.uneven_layers = true;
  stage.plan.max_spare_blocks = precision::max_spare_blocks(in_flight);
  stage.plan.pass_units = shape.used * std::max<std::int64_t>(1, largest_pass);
  FOVEA_CHECK(choose_absent(request, shape, stage));
  add_groups(shape, stage);
  FOVEA_CHECK(give_room(request, shape, stage));
  return stage;
}

std::int64_t held_bytes(const PolicyWorld& world, std::span<const std::uint8_t> tiers) {
  std::int64_t bytes = 0;
  for (std::size_t unit = 0; unit < tiers.size(); ++unit) {
    if (tiers[unit] != no_tier)
      bytes += world.unit_bytes[unit * static_cast<std::size_t>(world.tiers()) + tiers[unit]];
  }
  return bytes;
}

std::string tier_map_text(const Stage& stage, std::span<const std::uint8_t> tiers,
                          const std::string& comment) {
  std::vector<std::int64_t> units(stage.tier_names.size());
  for (const std::uint8_t tier : tiers) {
    if (tier != no_tier) ++units[tier];
  }
  const auto most = static_cast<std::size_t>(std::ranges::max_element(units) - units.begin());
  std::string text = "# " + comment + "\ndefault " + stage.tier_names[most] + "\n";
  for (std::size_t unit = 0; unit < tiers.size(); ++unit) {
    if (tiers[unit] != no_tier && tiers[unit] != most)
      text += stage.names[unit] + " " + stage.tier_names[tiers[unit]] + "\n";
  }
  return text;
}

}  // namespace fovea::eval
