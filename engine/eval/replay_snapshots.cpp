#include "engine/eval/replay_snapshots.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace fovea::eval {
namespace {

constexpr float recent_decay = 0.7F;  // at each snapshot, as the engine's

// Share of the layer's hotness that its hottest tenth holds.
float top_tenth(std::vector<float> hotness) {
  const float total = std::accumulate(hotness.begin(), hotness.end(), 0.0F);
  if (hotness.empty() || total <= 0) return 0;
  const auto top = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, hotness.size() / 10));
  std::ranges::nth_element(hotness, hotness.begin() + top - 1, std::greater<>());
  return std::accumulate(hotness.begin(), hotness.begin() + top, 0.0F) / total;
}

}  // namespace

ReplaySnapshots::ReplaySnapshots(const precision::PolicyWorld& world, const ReplaySettings& settings)
    : world_(world), settings_(settings) {
  const auto units = static_cast<std::size_t>(world.units());
  snapshot_.layers = world.layers();
  for (std::size_t layer = 0; layer + 1 < world.first_unit.size(); ++layer)
    snapshot_.units_per_layer = std::max<std::int64_t>(snapshot_.units_per_layer,
                                                       world.first_unit[layer + 1] - world.first_unit[layer]);
  for (std::int64_t layer = 0; layer < snapshot_.layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    for (std::int32_t unit = 0; unit < world.first_unit[at + 1] - world.first_unit[at]; ++unit)
      place_.push_back(layer * snapshot_.units_per_layer + unit);
  }
  snapshot_.units.resize(static_cast<std::size_t>(snapshot_.layers * snapshot_.units_per_layer));
  snapshot_.skew.resize(static_cast<std::size_t>(snapshot_.layers));
  const auto tiers = static_cast<std::size_t>(world.tiers());
  snapshot_.tiers.resize(tiers);
  snapshot_.pools.resize(tiers);
  for (std::size_t tier = 0; tier < tiers; ++tier) {
    if (tier < settings.tier_names.size()) snapshot_.tiers[tier].name = settings.tier_names[tier];
    snapshot_.tiers[tier].bits_per_weight = world.bits_per_weight[tier];
    PoolState& pool = snapshot_.pools[tier];
    pool.block_bytes = world.unit_bytes.empty() ? 0 : world.unit_bytes[tier];
    pool.blocks = world.capacity[tier] + world.spare_blocks;
    snapshot_.arena_bytes += pool.block_bytes * pool.blocks;
  }
  snapshot_.budget_bytes = snapshot_.arena_bytes;
  last_request_.resize(units);
  recent_.resize(units);
}

void ReplaySnapshots::count(const precision::ExpertUse& use, std::uint8_t tier) {
  const auto unit = static_cast<std::size_t>(use.unit);
  recent_[unit] += static_cast<float>(use.tokens);
  snapshot_.units[static_cast<std::size_t>(place_[unit])].uses += static_cast<std::uint32_t>(use.tokens);
  if (tier != no_tier) snapshot_.tiers[tier].hits += use.tokens;
}

void ReplaySnapshots::remember(std::span<const precision::Decision> decisions) {
  for (const precision::Decision& decision : decisions)
    last_request_[static_cast<std::size_t>(decision.unit)] = decision;
}

Result<void> ReplaySnapshots::end_pass(const TracePass& pass, double now, const SimulatedPipeline& pipeline,
                                       precision::Policy& policy) {
  snapshot_.tokens += pass.tokens;
  if (now < next_) return {};
  fill(now, pipeline, policy);
  next_ = now + settings_.snapshot_seconds;
  return settings_.snapshots(snapshot_, now);
}

void ReplaySnapshots::note_change(std::int32_t unit, std::uint8_t from, std::uint8_t to) {
  const precision::Decision& decision = last_request_[static_cast<std::size_t>(unit)];
  std::shift_right(snapshot_.decisions.begin(), snapshot_.decisions.end(), 1);
  snapshot_.decisions.front() = {.unit = unit,
                                 .from = from,
                                 .to = to,
                                 .reason = decision.reason,
                                 .score = decision.score,
                                 .margin = decision.margin,
                                 .token = snapshot_.tokens};
}

void ReplaySnapshots::fill(double now, const SimulatedPipeline& pipeline, precision::Policy& policy) {
  const auto tiers = pipeline.tiers();
  const auto targets = pipeline.tiers_or_target();
  const auto hotness = policy.hotness();
  const auto tier_count = static_cast<std::size_t>(world_.tiers());
  for (std::size_t tier = 0; tier < tier_count; ++tier)
    snapshot_.tiers[tier].units = snapshot_.tiers[tier].bytes = snapshot_.pools[tier].used = 0;
  snapshot_.arena_used_bytes = 0;
  const bool first = shown_tier_.empty();
  if (first) shown_tier_.assign(tiers.begin(), tiers.end());
  for (std::size_t unit = 0; unit < place_.size(); ++unit) {
    UnitState& state = snapshot_.units[static_cast<std::size_t>(place_[unit])];
    state.hotness = hotness.empty() ? 0 : hotness[unit];
    state.tier = tiers[unit];
    state.target = targets[unit] == tiers[unit] ? no_tier : targets[unit];
    state.recent_tokens = static_cast<std::uint16_t>(std::min(recent_[unit], 65535.0F));
    recent_[unit] *= recent_decay;
    for (const std::uint8_t held : {state.tier, state.target}) {
      if (held == no_tier) continue;
      snapshot_.arena_used_bytes += world_.unit_bytes[unit * tier_count + held];
      ++snapshot_.pools[held].used;
    }
    if (state.tier != no_tier) {
      ++snapshot_.tiers[state.tier].units;
      snapshot_.tiers[state.tier].bytes += world_.unit_bytes[unit * tier_count + state.tier];
    }
    if (shown_tier_[unit] != state.tier)
      note_change(static_cast<std::int32_t>(unit), shown_tier_[unit], state.tier);
    shown_tier_[unit] = state.tier;
  }
  for (std::size_t layer = 0; layer < snapshot_.skew.size() && !hotness.empty(); ++layer)
    snapshot_.skew[layer] = top_tenth(
        {hotness.begin() + world_.first_unit[layer], hotness.begin() + world_.first_unit[layer + 1]});
  snapshot_.swaps = pipeline.counters();
  snapshot_.queued = 0;
  snapshot_.reading = pipeline.in_flight();
  snapshot_.tokens_per_second =
      now > last_ ? static_cast<double>(snapshot_.tokens - last_tokens_) / (now - last_) : 0;
  last_ = now;
  last_tokens_ = snapshot_.tokens;
  snapshot_.mean_bits_per_weight =
      pipeline.held_bits() / static_cast<double>(std::max<std::size_t>(1, place_.size()));
}

}  // namespace fovea::eval
