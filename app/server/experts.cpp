#include "app/server/experts.h"

namespace fovea::app {
namespace {

int tier_index(std::uint8_t tier) {
  return tier == no_tier ? -1 : tier == host_tier ? -2 : tier;
}

Json swaps_json(const SwapCounters& swaps) {
  return {{"promotions", swaps.promotions},         {"demotions", swaps.demotions},
          {"bytes_promoted", swaps.bytes_promoted}, {"bytes_demoted", swaps.bytes_demoted},
          {"bytes_read", swaps.bytes_read},         {"stalls", swaps.stalls},
          {"stall_seconds", swaps.stall_seconds}};
}

}  // namespace

Json snapshot_json(const Snapshot& snapshot) {
  Json tiers = Json::array();
  for (const TierState& tier : snapshot.tiers)
    tiers.push_back({{"name", tier.name},
                     {"bits_per_weight", tier.bits_per_weight},
                     {"units", tier.units},
                     {"bytes", tier.bytes},
                     {"hits", tier.hits}});
  Json layers = Json::array();
  const auto width = static_cast<std::size_t>(snapshot.units_per_layer);
  for (std::size_t first = 0; width > 0 && first + width <= snapshot.units.size(); first += width) {
    Json unit_tiers = Json::array(), recent = Json::array(), uses = Json::array();
    for (std::size_t i = first; i < first + width; ++i) {
      unit_tiers.push_back(tier_index(snapshot.units[i].tier));
      recent.push_back(snapshot.units[i].recent_tokens);
      uses.push_back(snapshot.units[i].uses);
    }
    layers.push_back(
        {{"tiers", std::move(unit_tiers)}, {"recent_tokens", std::move(recent)}, {"uses", std::move(uses)}});
  }
  return {{"tokens", snapshot.tokens},
          {"tokens_per_second", snapshot.tokens_per_second},
          {"prefill_tokens_per_second", snapshot.prefill_tokens_per_second},
          {"mean_bits_per_weight", snapshot.mean_bits_per_weight},
          {"budget_bytes", snapshot.budget_bytes},
          {"arena_bytes", snapshot.arena_bytes},
          {"arena_used_bytes", snapshot.arena_used_bytes},
          {"misses", snapshot.misses},
          {"host_hits", snapshot.host_hits},
          {"swaps", swaps_json(snapshot.swaps)},
          {"tiers", std::move(tiers)},
          {"layers", std::move(layers)}};
}

}  // namespace fovea::app
