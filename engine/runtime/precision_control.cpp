#include "engine/runtime/precision_control.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/precision/fingerprint.h"
#include "engine/precision/hotness.h"

namespace fovea::runtime {
namespace {

using precision::TierId;
using precision::UnitId;

constexpr auto snapshot_interval = std::chrono::milliseconds(100);
constexpr auto watch_interval = std::chrono::seconds(2);  // after a reader's last question
constexpr float recent_decay = 0.7F;                      // of the token counts, at each snapshot
constexpr double speed_seconds = 1;                       // that a shown speed looks back

}  // namespace

std::vector<std::int64_t> version_bytes(const PrecisionControl::Parts& parts) {
  return precision::version_sizes(*parts.units, *parts.tiers, *parts.device);
}

precision::Handles handles_of(models::Model& model, const precision::UnitTable& units) {
  precision::Handles handles;
  for (const precision::Unit& unit : units.units()) {
    models::LayerWeights& layer = model.handles()[static_cast<std::size_t>(unit.layer)];
    if (units.scope() == models::UnitScope::experts) {
      kernels::Expert& expert = layer.experts[static_cast<std::size_t>(unit.index)];
      handles.push_back({&expert.gate, &expert.up, &expert.down});
    } else {
      kernels::Weight* const linear[] = {&layer.attention.q,      &layer.attention.k, &layer.attention.v,
                                         &layer.attention.output, &layer.shared.gate, &layer.shared.up,
                                         &layer.shared.down};
      handles.push_back({linear[unit.index], nullptr, nullptr});
    }
  }
  return handles;
}

Snapshot PrecisionControl::empty_snapshot(const Parts& parts) {
  Snapshot snapshot;
  snapshot.layers = parts.units->layers();
  for (std::int64_t layer = 0; layer < snapshot.layers; ++layer)
    snapshot.units_per_layer = std::max<std::int64_t>(
        snapshot.units_per_layer, parts.units->first(layer + 1) - parts.units->first(layer));
  snapshot.units.resize(static_cast<std::size_t>(snapshot.layers * snapshot.units_per_layer));
  snapshot.skew.resize(static_cast<std::size_t>(snapshot.layers));
  for (const PlanTier& tier : parts.plan.plan.parts.experts)
    snapshot.tiers.push_back({.name = tier.name, .bits_per_weight = tier.bits_per_weight});
  snapshot.pools.resize(parts.residency->arena().pools().size());
  snapshot.budget_bytes = parts.plan.plan.budget_bytes;
  snapshot.arena_bytes = parts.residency->arena().bytes();
  return snapshot;
}

PrecisionControl::PrecisionControl(Parts parts)
    : parts_(std::move(parts)), version_bytes_(version_bytes(parts_)), snapshots_(empty_snapshot(parts_)) {
  const auto units = static_cast<std::size_t>(parts_.units->size());
  gate_sum_.resize(units);
  chosen_.resize(units);
  recent_.resize(units);
  uses_since_start_.resize(units);
  touched_.reserve(units);
  uses_.reserve(units);
  absent_.reserve(units);
  routed_.resize(static_cast<std::size_t>(parts_.units->layers()));
  hits_.resize(parts_.tiers->size() + 2);
  parts_.residency->on_event = [this](const precision::SwapEvent& event) {
    if (parts_.log) parts_.log->write(event, parts_.units->name(event.decision.unit), *parts_.tiers, tokens_);
    if (event.outcome == precision::SwapOutcome::published) remember(event.decision, event.from);
  };
}

void PrecisionControl::begin_pass(std::int64_t tokens) {
  pass_tokens_ = tokens;
  std::ranges::fill(routed_, 0);
  error_.reset();
  pass_begun_ = Clock::now();
}

bool PrecisionControl::routed(std::int64_t layer, const float*, std::int64_t tokens, const std::int32_t* ids,
                              const float* weights) {
  if (parts_.units->scope() != models::UnitScope::experts) return true;
  routed_[static_cast<std::size_t>(layer)] = static_cast<std::int32_t>(tokens);
  const UnitId first = parts_.units->first(layer);
  const std::span<const TierId> tiers = parts_.residency->tiers();
  absent_.clear();
  for (std::int64_t i = 0; i < tokens * parts_.experts_used; ++i) {
    const UnitId unit = first + ids[i];
    const auto at = static_cast<std::size_t>(unit);
    const TierId tier = tiers[at];
    count_hit(unit, tier, 1);
    if (chosen_[at]++ == 0) {
      touched_.push_back(unit);
      if (tier == no_tier) absent_.push_back(unit);
    }
    gate_sum_[at] += weights[i];
  }
  if (absent_.empty()) return true;
  if (auto present = parts_.residency->need(absent_); !present) {
    error_ = std::move(present).error();
    return false;
  }
  return true;
}

bool PrecisionControl::wants_entropy() const {
  return parts_.policy->wants_entropy();
}

void PrecisionControl::end_pass(bool completed, float entropy) {
  parts_.residency->end_pass();
  std::ranges::sort(touched_);
  uses_.clear();
  for (const std::int32_t unit : touched_) {
    const auto at = static_cast<std::size_t>(unit);
    uses_.push_back({.unit = unit, .tokens = chosen_[at], .gate_sum = gate_sum_[at]});
    recent_[at] += static_cast<float>(chosen_[at]);
    uses_since_start_[at] += static_cast<std::uint32_t>(chosen_[at]);
    chosen_[at] = 0;
    gate_sum_[at] = 0;
  }
  touched_.clear();
  if (completed) {
    count_speed();
    tokens_ += pass_tokens_;
    if (parts_.units->scope() != models::UnitScope::experts) count_hits(pass_tokens_);
    parts_.policy->observe({.tokens = pass_tokens_,
                            .prefill = pass_tokens_ > 1,
                            .entropy = entropy,
                            .uses = uses_,
                            .routed = routed_});
    decisions_.clear();
    const auto queues = parts_.residency->queues();
    parts_.policy->propose(parts_.residency->tiers_or_target(), queues.queued + queues.reading + queues.ready,
                           decisions_);
    for (const precision::Decision& decision : decisions_) parts_.residency->request(decision);
  }
  if (is_watched(Clock::now())) publish_snapshot();
}

// A reader that comes seldom, because tokens do, gets one snapshot for each time that it asks.
bool PrecisionControl::is_watched(Clock::time_point now) const {
  if (now - snapshot_at_ < snapshot_interval) return false;
  const Clock::time_point asked(Clock::duration(asked_at_.load(std::memory_order_relaxed)));
  return asked > snapshot_at_ || now - asked < watch_interval;
}

void PrecisionControl::Speed::add(double more_tokens, double more_seconds) {
  const double kept = std::exp(-more_seconds / speed_seconds);
  tokens = kept * tokens + more_tokens;
  seconds = kept * seconds + more_seconds;
}

// A pass of one token writes an answer. What happens between two of them, sampling, belongs to its time; a
// pause longer than the pass is somebody's thinking.
void PrecisionControl::count_speed() {
  const Clock::time_point now = Clock::now();
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  const double pass = seconds(now - pass_begun_), gap = seconds(pass_begun_ - pass_ended_);
  pass_ended_ = now;
  if (pass_tokens_ > 1) {
    prefill_.add(static_cast<double>(pass_tokens_), pass);
  } else {
    decode_.add(1, pass + (gap < pass ? gap : 0));
  }
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
  const auto uses = std::accumulate(hits_.begin(), hits_.end(), std::int64_t{0});
  return {.budget_bytes = parts_.plan.plan.budget_bytes,
          .accounted_bytes = parts_.residency->arena().bytes() + parts_.plan.plan.parts.safety,
          .promotions = swaps.promotions,
          .demotions = swaps.demotions,
          .swaps_refused = swaps.refused,
          .swaps_failed = swaps.io_errors + swaps.checksum_errors,
          .bytes_read = swaps.bytes_read,
          .stalls = swaps.stalls,
          .stall_seconds = swaps.stall_seconds,
          .uses = uses,
          .hit_rate = uses > 0 ? static_cast<double>(hits_.front()) / static_cast<double>(uses) : 0,
          .mean_bits_per_weight = parts_.residency->mean_bits_per_weight(),
          .log_failure = parts_.log ? parts_.log->failure() : std::string()};
}

void PrecisionControl::remember(const precision::Decision& decision, TierId from) {
  std::shift_right(last_decisions_.begin(), last_decisions_.end(), 1);
  last_decisions_.front() = {.unit = decision.unit,
                             .from = from,
                             .to = decision.target,
                             .reason = decision.reason,
                             .score = decision.score,
                             .margin = decision.margin,
                             .token = tokens_};
}

void PrecisionControl::publish_snapshot() {
  snapshot_at_ = Clock::now();
  Snapshot& snapshot = snapshots_.back();
  show_tiers(snapshot);
  show_units(snapshot);
  show_swaps(snapshot);
  snapshot.tokens = tokens_;
  snapshot.tokens_per_second = decode_.per_second();
  snapshot.prefill_tokens_per_second = prefill_.per_second();
  snapshots_.publish();
}

void PrecisionControl::show_tiers(Snapshot& snapshot) const {
  for (std::size_t t = 0; t < snapshot.tiers.size(); ++t) {
    TierState& tier = snapshot.tiers[t];
    tier.units = tier.bytes = 0;  // show_units() counts them
    tier.hits = hits_[t];
  }
  snapshot.misses = hits_[hits_.size() - 2];
  snapshot.host_hits = hits_.back();
}

void PrecisionControl::show_units(Snapshot& snapshot) {
  const auto tiers = parts_.residency->tiers();
  const auto targets = parts_.residency->tiers_or_target();
  const auto hotness = parts_.policy->hotness();
  snapshot.host_units = 0;
  for (std::int64_t layer = 0; layer < snapshot.layers; ++layer) {
    const UnitId first = parts_.units->first(layer), end = parts_.units->first(layer + 1);
    for (UnitId unit = first; unit < end; ++unit) {
      const auto u = static_cast<std::size_t>(unit);
      UnitState& state =
          snapshot.units[static_cast<std::size_t>(layer * snapshot.units_per_layer + unit - first)];
      state.hotness = hotness.empty() ? 0 : hotness[u];
      state.tier = tiers[u];
      state.target = targets[u] == tiers[u] ? no_tier : targets[u];
      state.recent_tokens = static_cast<std::uint16_t>(std::min(recent_[u], 65535.0F));
      recent_[u] *= recent_decay;
      state.uses = uses_since_start_[u];
      if (state.tier == no_tier && parts_.residency->on_host(unit)) {
        state.tier = host_tier;
        ++snapshot.host_units;
      }
      if (state.tier >= host_tier) continue;
      ++snapshot.tiers[state.tier].units;
      snapshot.tiers[state.tier].bytes += version_bytes_[u * parts_.tiers->size() + state.tier];
    }
    if (!hotness.empty())
      snapshot.skew[static_cast<std::size_t>(layer)] = precision::top_tenth_share(
          hotness.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)), scratch_);
  }
}

void PrecisionControl::show_swaps(Snapshot& snapshot) const {
  const precision::Arena& arena = parts_.residency->arena();
  for (std::size_t p = 0; p < snapshot.pools.size(); ++p) {
    const auto& pool = arena.pools()[p];
    snapshot.pools[p] = {.block_bytes = pool.block_bytes, .blocks = pool.blocks, .used = pool.used};
  }
  snapshot.arena_used_bytes = arena.used_bytes();
  snapshot.swaps = parts_.residency->counters();
  const auto queues = parts_.residency->queues();
  snapshot.queued = queues.queued;
  snapshot.reading = queues.reading;
  snapshot.ready = queues.ready;
  snapshot.decisions = last_decisions_;
  snapshot.mean_bits_per_weight = parts_.residency->mean_bits_per_weight();
}

bool PrecisionControl::read_snapshot(Snapshot& snapshot) {
  asked_at_ = Clock::now().time_since_epoch().count();
  if (!snapshots_.update()) return false;
  snapshot = snapshots_.front();
  return true;
}

}  // namespace fovea::runtime
