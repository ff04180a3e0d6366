#include "engine/eval/replay_snapshots.h"

#include <algorithm>

#include "engine/precision/hotness.h"

namespace fovea::eval {
namespace {

constexpr float recent_decay = 0.7F;  // at each snapshot, as the engine's

}  // namespace

ReplaySnapshots::ReplaySnapshots(const precision::PolicyWorld& world, const ReplaySettings& settings,
                                 const ReplayResidency& residency)
    : world_(world), settings_(settings), residency_(residency), quality_(world) {
  const auto units = static_cast<std::size_t>(world.units());
  snapshot_.layers = world.layers();
  for (std::size_t layer = 0; layer + 1 < world.first_unit.size(); ++layer)
    snapshot_.units_per_layer = std::max<std::int64_t>(snapshot_.units_per_layer,
                                                       world.first_unit[layer + 1] - world.first_unit[layer]);
  for (std::int64_t layer = 0; layer < snapshot_.layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    for (std::int32_t unit = 0; unit < world.first_unit[at + 1] - world.first_unit[at]; ++unit)
      index_.push_back(layer * snapshot_.units_per_layer + unit);
  }
  snapshot_.units.resize(static_cast<std::size_t>(snapshot_.layers * snapshot_.units_per_layer));
  snapshot_.skew.resize(static_cast<std::size_t>(snapshot_.layers));
  const auto tiers = static_cast<std::size_t>(world.tiers());
  snapshot_.tiers.resize(tiers);
  for (std::size_t tier = 0; tier < tiers; ++tier) {
    if (tier < settings.tier_names.size()) snapshot_.tiers[tier].name = settings.tier_names[tier];
    snapshot_.tiers[tier].bits_per_weight = world.bits_per_weight[tier];
  }
  const precision::Arena& arena = residency.versions().arena();
  snapshot_.pools.resize(arena.pools().size());
  snapshot_.arena_bytes = snapshot_.budget_bytes = arena.bytes();
  recent_.resize(units);
}

void ReplaySnapshots::count(const precision::ExpertUse& use, std::uint8_t tier) {
  const auto unit = static_cast<std::size_t>(use.unit);
  recent_[unit] += static_cast<float>(use.tokens);
  snapshot_.units[static_cast<std::size_t>(index_[unit])].uses += static_cast<std::uint32_t>(use.tokens);
  (tier == no_tier ? snapshot_.misses : snapshot_.tiers[tier].hits) += use.tokens;
}

void ReplaySnapshots::hear(const precision::SwapEvent& event) {
  if (event.outcome != precision::SwapOutcome::published) return;
  const precision::Decision& decision = event.decision;
  std::shift_right(snapshot_.decisions.begin(), snapshot_.decisions.end(), 1);
  snapshot_.decisions.front() = {
      .unit = static_cast<std::int32_t>(index_[static_cast<std::size_t>(decision.unit)]),
      .from = event.from,
      .to = decision.target,
      .reason = decision.reason,
      .score = decision.score,
      .margin = decision.margin,
      .other = decision.other < 0
                   ? -1
                   : static_cast<std::int32_t>(index_[static_cast<std::size_t>(decision.other)]),
      .token = snapshot_.tokens};
}

Result<void> ReplaySnapshots::end_pass(const TracePass& pass, precision::Policy& policy) {
  snapshot_.tokens += pass.tokens;
  const double now = residency_.now();
  if (now < next_) return {};
  fill(policy);
  next_ = now + settings_.snapshot_seconds;
  return settings_.snapshots(snapshot_, now);
}

void ReplaySnapshots::fill_units(std::span<const float> hotness) {
  const precision::VersionTable& versions = residency_.versions();
  for (TierState& tier : snapshot_.tiers) tier.units = tier.bytes = 0;
  for (std::size_t unit = 0; unit < index_.size(); ++unit) {
    const auto id = static_cast<precision::UnitId>(unit);
    UnitState& state = snapshot_.units[static_cast<std::size_t>(index_[unit])];
    const std::uint8_t target = versions.targets()[unit];
    state.hotness = hotness.empty() ? 0 : hotness[unit];
    state.tier = versions.tier(id);
    state.target = target == state.tier ? no_tier : target;
    state.recent_tokens = static_cast<std::uint16_t>(std::min(recent_[unit], 65535.0F));
    recent_[unit] *= recent_decay;
    if (state.tier == no_tier) continue;
    ++snapshot_.tiers[state.tier].units;
    snapshot_.tiers[state.tier].bytes += versions.bytes_of(id, state.tier);
  }
}

void ReplaySnapshots::fill(precision::Policy& policy) {
  const auto hotness = policy.hotness();
  fill_units(hotness);
  for (std::size_t layer = 0; layer < snapshot_.skew.size() && !hotness.empty(); ++layer)
    snapshot_.skew[layer] = precision::top_tenth_share(
        {hotness.begin() + world_.first_unit[layer], hotness.begin() + world_.first_unit[layer + 1]},
        scratch_);
  const precision::Arena& arena = residency_.versions().arena();
  for (std::size_t p = 0; p < snapshot_.pools.size(); ++p) {
    const auto& pool = arena.pools()[p];
    snapshot_.pools[p] = {.block_bytes = pool.block_bytes, .blocks = arena.reach(p), .used = pool.used};
  }
  snapshot_.quality = quality_.state();
  snapshot_.arena_used_bytes = arena.used_bytes();
  snapshot_.swaps = residency_.counters();
  const auto lengths = residency_.swaps().lengths();
  snapshot_.queued = lengths.queued;
  snapshot_.reading = lengths.reading;
  snapshot_.ready = lengths.ready;
  const double now = residency_.now();
  snapshot_.tokens_per_second =
      now > last_ ? static_cast<double>(snapshot_.tokens - last_tokens_) / (now - last_) : 0;
  last_ = now;
  last_tokens_ = snapshot_.tokens;
  snapshot_.mean_bits_per_weight =
      residency_.held_bits() / static_cast<double>(std::max<std::size_t>(1, index_.size()));
}

}  // namespace fovea::eval
