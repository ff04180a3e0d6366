#include "engine/runtime/precision_control.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/core/log.h"
#include "engine/precision/fingerprint.h"

namespace fovea::runtime {
namespace {

using precision::TierId;
using precision::UnitId;

}  // namespace

precision::Handles handles_of(models::Model& model, const precision::UnitTable& units) {
  precision::Handles handles;
  for (const precision::Unit& unit : units.units()) {
    models::LayerWeights& layer = model.handles()[static_cast<std::size_t>(unit.layer)];
    if (unit.layer < model.range().first) {
      handles.push_back({nullptr, nullptr, nullptr});  // the processor's, who publishes nothing
    } else if (units.scope() == models::UnitScope::experts) {
      kernels::Expert& expert = layer.experts[static_cast<std::size_t>(unit.index)];
      handles.push_back({&expert.gate, &expert.up, &expert.down});
    } else {
      const auto role = static_cast<precision::LinearRole>(unit.index);
      handles.push_back({&precision::linear_weight(layer, role), nullptr, nullptr});
    }
  }
  return handles;
}

PrecisionControl::PrecisionControl(Parts parts)
    : parts_(std::move(parts)),
      hits_(parts_.tiers->size() + 2),
      version_bytes_(precision::version_sizes(*parts_.units, *parts_.tiers, *parts_.device)) {
  for (const precision::Unit& unit : parts_.units->units())
    file_bits_.push_back(precision::bits_per_weight({"file", {}}, unit));
  chosen_.reserve(static_cast<std::size_t>(parts_.units->size()));
  parts_.residency->on_event = [this](const precision::SwapEvent& event) {
    if (parts_.log) parts_.log->write(event, *parts_.units, *parts_.tiers, tokens_);
    if (event.outcome == precision::SwapOutcome::published) remember(event.decision, event.from);
  };
}

layers::PassObserver::Needs PrecisionControl::needs() const {
  using Needs = layers::PassObserver::Needs;
  return parts_.residency->may_need() ? Needs::choices : Needs::history;
}

bool PrecisionControl::serve(UnitId first, std::span<const std::int32_t> chosen) {
  const std::span<const TierId> tiers = parts_.residency->tiers();
  for (const std::int32_t index : chosen)
    count_hit(first + index, tiers[static_cast<std::size_t>(first + index)], 1);
  if (!parts_.residency->may_need()) return true;
  // Those, too, that are there: else one of them could make the room of another.
  chosen_.clear();
  for (const std::int32_t index : chosen) chosen_.push_back(first + index);
  if (auto present = parts_.residency->need(chosen_); !present) {
    error_ = std::move(present).error();
    return false;
  }
  return true;
}

std::span<const precision::FirstToken::Weights> PrecisionControl::first_token(
    std::int64_t layer, std::span<const std::int32_t> chosen) {
  const auto weights = parts_.first_token->weights(layer, chosen, parts_.residency->tiers());
  if (weights) return *weights;
  log::warning("runtime", "a first token has coarser experts: ", weights.error().message());
  return {};
}

// False: nothing is left to do.
bool PrecisionControl::propose() {
  decisions_.clear();
  parts_.policy->propose(parts_.residency->tiers_or_target(), parts_.residency->queues().sum(), decisions_);
  for (const precision::Decision& decision : decisions_) parts_.residency->request(decision);
  return !decisions_.empty();
}

// A version that cannot be read stays where it is; its failure is counted.
void PrecisionControl::begin_prompt() {
  if (!parts_.policy->begin_prompt()) return;
  const SwapCounters& swaps = parts_.residency->counters();
  for (std::int64_t before = -1; swaps.promotions + swaps.demotions != before;) {
    parts_.residency->drain();
    before = swaps.promotions + swaps.demotions;
    if (!propose()) return;
    parts_.residency->drain();
  }
}

void PrecisionControl::end_pass(bool completed, std::span<const precision::Observation> observations) {
  use_bits_.clear();
  if (completed) count(observations);
  parts_.residency->end_pass();
  if (!completed) return;
  for (const precision::Observation& observation : observations) {
    tokens_ += observation.tokens;
    parts_.policy->observe(observation);
  }
  propose();
  const double share = parts_.policy->prompt_wait_share();
  if (share > 0 && std::ranges::all_of(observations, &precision::Observation::prefill))
    parts_.residency->settle(share * std::chrono::duration<double>(Clock::now() - began_).count());
}

// With the tiers that the pass met.
void PrecisionControl::count(std::span<const precision::Observation> observations) {
  for (const precision::Observation& observation : observations) {
    parts_.quality->observe(observation, parts_.residency->tiers());
    use_bits_.push_back(bits_of(observation));
    if (parts_.units->scope() != models::UnitScope::experts) count_hits(observation.tokens);
    if (observation.prefill) continue;
    answer_tokens_ += observation.tokens;
    answer_bits_ += static_cast<double>(observation.tokens) * parts_.residency->mean_bits_per_weight();
  }
}

UseBits PrecisionControl::bits_of(const precision::Observation& observation) const {
  if (parts_.units->scope() != models::UnitScope::experts)
    return {.bits = static_cast<double>(observation.tokens) * parts_.residency->mean_bits_per_weight(),
            .uses = observation.tokens};
  const auto& tiers = parts_.plan.plan.parts.experts;
  const std::span<const TierId> met = parts_.residency->tiers();
  UseBits sum;
  for (const precision::ExpertUse& use : observation.uses) {
    const auto unit = static_cast<std::size_t>(use.unit);
    const std::size_t tier = std::min<std::size_t>(met[unit], tiers.size() - 1);
    const double bits = parts_.residency->on_host(use.unit) ? file_bits_[unit] : tiers[tier].bits_per_weight;
    sum.add({.bits = use.tokens * bits, .uses = use.tokens});
  }
  return sum;
}

// The host's place stands behind the tiers.
std::uint8_t PrecisionControl::shown(TierId tier) const {
  return tier == parts_.tiers->size() ? host_tier : tier;
}

std::uint8_t PrecisionControl::tier_met(UnitId unit) const {
  if (parts_.residency->on_host(unit)) return host_tier;
  return std::min(parts_.residency->tiers()[static_cast<std::size_t>(unit)],
                  static_cast<TierId>(parts_.tiers->size() - 1));
}

bool PrecisionControl::rest() {
  if (parts_.policy->is_recalling()) propose();
  return parts_.residency->rest() || parts_.policy->is_recalling();
}

// Every linear layer serves every token.
void PrecisionControl::count_hits(std::int64_t tokens) {
  const std::span<const TierId> tiers = parts_.residency->tiers();
  for (UnitId unit = 0; unit < static_cast<UnitId>(tiers.size()); ++unit)
    count_hit(unit, tiers[static_cast<std::size_t>(unit)], tokens);
}

void PrecisionControl::count_hit(UnitId unit, TierId tier, std::int64_t tokens) {
  const std::size_t known = parts_.tiers->size();
  const std::size_t away = parts_.residency->on_host(unit) ? known + 1 : known;
  hits_[tier < known ? tier : away] += tokens;
}

std::optional<Error> PrecisionControl::take_error() {
  return std::exchange(error_, std::nullopt);
}

PrecisionUse PrecisionControl::use() const {
  const SwapCounters& swaps = parts_.residency->counters();
  const QualityState& quality = parts_.quality->state();
  const TokensLoss met{quality.tokens, quality.all_low, quality.all_high, quality.in_nats};
  const auto uses = std::accumulate(hits_.begin(), hits_.end(), std::int64_t{0});
  std::vector<TierState> tiers;
  for (const PlanTier& tier : parts_.plan.plan.parts.experts) {
    TierState& state = tiers.emplace_back();
    state.bits_per_weight = tier.bits_per_weight;
    state.hits = hits_[tiers.size() - 1];
  }
  return {
      .budget_bytes = parts_.plan.plan.budget_bytes,
      .accounted_bytes = parts_.residency->arena().bytes() + parts_.plan.plan.parts.safety,
      .promotions = swaps.promotions,
      .demotions = swaps.demotions,
      .swaps_refused = swaps.refused,
      .swaps_failed = swaps.io_errors + swaps.checksum_errors + parts_.first_token->reads().failures,
      .bytes_read = swaps.bytes_read + parts_.first_token->reads().bytes,
      .bytes_found = parts_.cache != nullptr ? parts_.cache->use().bytes_found : 0,
      .stalls = swaps.stalls,
      .stall_seconds = swaps.stall_seconds + parts_.first_token->reads().seconds,
      .uses = uses,
      .hit_rate = uses > 0 ? static_cast<double>(hits_.front()) / static_cast<double>(uses) : 0,
      .mean_bits_per_weight = parts_.residency->mean_bits_per_weight(),
      .bits_per_use = bits_per_use(tiers, hits_[tiers.size()]),
      .answer_bits_per_weight = answer_tokens_ > 0 ? answer_bits_ / static_cast<double>(answer_tokens_) : 0,
      .quality_kept = met.tokens > 0 ? std::optional(kept_share(met, quality.loss)) : std::nullopt,
      .foresight = parts_.policy->foresight(),
      .log_failure = parts_.log ? parts_.log->failure() : Phrase()};
}

void PrecisionControl::remember(const precision::Decision& decision, TierId from) {
  std::shift_right(last_decisions_.begin(), last_decisions_.end(), 1);
  last_decisions_.front() = {.unit = decision.unit,
                             .from = shown(from),
                             .to = shown(decision.target),
                             .reason = decision.reason,
                             .score = decision.score,
                             .margin = decision.margin,
                             .other = decision.other,
                             .token = tokens_};
}

void PrecisionControl::describe(Snapshot& snapshot) const {
  for (const PlanTier& tier : parts_.plan.plan.parts.experts)
    snapshot.tiers.push_back({.name = tier.name, .bits_per_weight = tier.bits_per_weight});
  snapshot.pools.resize(parts_.residency->arena().pools().size());
  snapshot.budget_bytes = parts_.plan.plan.budget_bytes;
  snapshot.arena_bytes = parts_.residency->arena().bytes();
}

void PrecisionControl::show(Snapshot& snapshot, std::span<const std::int64_t> indices) const {
  for (std::size_t t = 0; t < snapshot.tiers.size(); ++t) {
    TierState& tier = snapshot.tiers[t];
    tier.units = tier.bytes = 0;  // show_units() counts them
    tier.hits = hits_[t];
  }
  snapshot.misses = hits_[hits_.size() - 2];
  snapshot.host_hits = hits_.back();
  show_units(snapshot, indices);
  show_swaps(snapshot);
  for (DecisionState& decision : snapshot.decisions) {
    for (std::int32_t* const unit : {&decision.unit, &decision.other})
      if (*unit >= 0) *unit = static_cast<std::int32_t>(indices[static_cast<std::size_t>(*unit)]);
  }
}

void PrecisionControl::show_units(Snapshot& snapshot, std::span<const std::int64_t> indices) const {
  const auto tiers = parts_.residency->tiers();
  const auto targets = parts_.residency->tiers_or_target();
  snapshot.host_units = 0;
  for (std::size_t unit = 0; unit < indices.size(); ++unit) {
    UnitState& state = snapshot.units[static_cast<std::size_t>(indices[unit])];
    state.tier = shown(tiers[unit]);
    state.target = targets[unit] == tiers[unit] ? no_tier : shown(targets[unit]);
    if (parts_.residency->on_host(static_cast<UnitId>(unit))) {
      state.tier = host_tier;
      ++snapshot.host_units;
    }
    if (state.tier >= host_tier) continue;
    ++snapshot.tiers[state.tier].units;
    snapshot.tiers[state.tier].bytes += version_bytes_[unit * parts_.tiers->size() + state.tier];
  }
}

void PrecisionControl::show_swaps(Snapshot& snapshot) const {
  const precision::Arena& arena = parts_.residency->arena();
  for (std::size_t p = 0; p < snapshot.pools.size(); ++p) {
    const auto& pool = arena.pools()[p];
    snapshot.pools[p] = {.block_bytes = pool.block_bytes, .blocks = arena.reach(p), .used = pool.used};
  }
  snapshot.arena_used_bytes = arena.used_bytes();
  snapshot.swaps = parts_.residency->counters();
  const auto queues = parts_.residency->queues();
  snapshot.queued = queues.queued;
  snapshot.reading = queues.reading;
  snapshot.ready = queues.ready;
  snapshot.decisions = last_decisions_;
  snapshot.mean_bits_per_weight = parts_.residency->mean_bits_per_weight();
  snapshot.quality = parts_.quality->state();
  snapshot.calibration_part = parts_.policy->calibration_part();
}

}  // namespace fovea::runtime
