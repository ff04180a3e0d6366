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

void add(const SwapCounters& more, SwapCounters& sum) {
  sum.promotions += more.promotions;
  sum.demotions += more.demotions;
  sum.bytes_promoted += more.bytes_promoted;
  sum.bytes_demoted += more.bytes_demoted;
  sum.bytes_read += more.bytes_read;
  sum.cancelled += more.cancelled;
  sum.io_errors += more.io_errors;
  sum.checksum_errors += more.checksum_errors;
  sum.refused += more.refused;
  sum.stalls += more.stalls;
  sum.stall_seconds += more.stall_seconds;
}

// Of the same tokens, by other units.
void add(const QualityState& more, QualityState& sum) {
  for (double QualityState::* loss :
       {&QualityState::loss, &QualityState::all_high, &QualityState::all_low, &QualityState::calibrated,
        &QualityState::loss_since, &QualityState::low_since, &QualityState::high_since,
        &QualityState::calibrated_since, &QualityState::start_since})
    sum.*loss += more.*loss;
  sum.hindsight.loss += more.hindsight.loss;
  sum.hindsight.low += more.hindsight.low;
  sum.hindsight.high += more.hindsight.high;
}

}  // namespace

precision::Handles handles_of(models::Model& model, const precision::UnitTable& units) {
  precision::Handles handles;
  for (const precision::Unit& unit : units.units()) {
    models::LayerWeights& layer = model.handles()[static_cast<std::size_t>(unit.layer)];
    if (unit.layer < model.range().first || unit.layer >= model.range().end) {
      handles.push_back({nullptr, nullptr, nullptr});  // another's
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
      version_bytes_(precision::version_sizes(*parts_.units, *parts_.tiers, *parts_.cards.back().device)) {
  for (const precision::Unit& unit : parts_.units->units())
    file_bits_.push_back(precision::bits_per_weight({"file", {}}, unit));
  chosen_.reserve(static_cast<std::size_t>(parts_.units->size()));
  for (CardPrecision& card : parts_.cards) {
    card.residency->on_event = [this](const precision::SwapEvent& event) {
      if (parts_.log) parts_.log->write(event, *parts_.units, *parts_.tiers, tokens_);
      if (event.outcome == precision::SwapOutcome::published) remember(event.decision, event.from);
    };
  }
}

layers::PassObserver::Needs PrecisionControl::needs() const {
  using Needs = layers::PassObserver::Needs;
  const bool chosen =
      std::ranges::any_of(parts_.cards, [](const CardPrecision& card) { return card.residency->may_need(); });
  return chosen ? Needs::choices : Needs::history;
}

bool PrecisionControl::serve(UnitId first, std::span<const std::int32_t> chosen) {
  CardPrecision& card = card_of(first);
  const std::span<const TierId> tiers = card.residency->tiers();
  for (const std::int32_t index : chosen)
    count_hit(first + index, tiers[static_cast<std::size_t>(first + index)], 1);
  if (!card.residency->may_need()) return true;
  // Those, too, that are there: else one of them could make the room of another.
  chosen_.clear();
  for (const std::int32_t index : chosen) chosen_.push_back(first + index);
  if (auto present = card.residency->need(chosen_); !present) {
    error_ = std::move(present).error();
    return false;
  }
  return true;
}

std::span<const precision::FirstToken::Weights> PrecisionControl::first_token(
    std::int64_t layer, std::span<const std::int32_t> chosen) {
  const CardPrecision& card = card_of(parts_.units->first(layer));
  const auto weights = card.first_token->weights(layer, chosen, card.residency->tiers());
  if (weights) return *weights;
  log::warning("runtime", "a first token has coarser experts: ", weights.error().message());
  return {};
}

// False: nothing is left to do.
bool PrecisionControl::propose(CardPrecision& card) {
  decisions_.clear();
  card.policy->propose(card.residency->tiers_or_target(), card.residency->queues().sum(), decisions_);
  for (const precision::Decision& decision : decisions_) card.residency->request(decision);
  return !decisions_.empty();
}

// A version that cannot be read stays where it is; its failure is counted.
void PrecisionControl::begin_prompt() {
  for (CardPrecision& card : parts_.cards) {
    if (!card.policy->begin_prompt()) continue;
    const SwapCounters& swaps = card.residency->counters();
    for (std::int64_t before = -1; swaps.promotions + swaps.demotions != before;) {
      card.residency->drain();
      before = swaps.promotions + swaps.demotions;
      if (!propose(card)) break;
      card.residency->drain();
    }
  }
}

void PrecisionControl::end_pass(bool completed, std::span<const precision::Observation> observations) {
  use_bits_.clear();
  if (completed) count(observations);
  for (CardPrecision& card : parts_.cards) card.residency->end_pass();
  if (!completed) return;
  for (const precision::Observation& observation : observations) {
    tokens_ += observation.tokens;
    for (CardPrecision& card : parts_.cards) card.policy->observe(observation);
  }
  for (CardPrecision& card : parts_.cards) propose(card);
  if (!std::ranges::all_of(observations, &precision::Observation::prefill)) return;
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> pass = now - began_;
  for (CardPrecision& card : parts_.cards) {
    const std::chrono::duration<double> waited = Clock::now() - now;
    const double left = card.policy->prompt_wait_share() * pass.count() - waited.count();
    if (left > 0) card.residency->settle(left);
  }
}

// With the tiers that the pass met.
void PrecisionControl::count(std::span<const precision::Observation> observations) {
  for (const precision::Observation& observation : observations) {
    for (CardPrecision& card : parts_.cards) card.quality->observe(observation, card.residency->tiers());
    use_bits_.push_back(bits_of(observation));
    if (parts_.units->scope() != models::UnitScope::experts) count_hits(observation.tokens);
    if (observation.prefill) continue;
    answer_tokens_ += observation.tokens;
    answer_bits_ += static_cast<double>(observation.tokens) * mean_bits_per_weight();
  }
}

UseBits PrecisionControl::bits_of(const precision::Observation& observation) const {
  if (parts_.units->scope() != models::UnitScope::experts)
    return {.bits = static_cast<double>(observation.tokens) * mean_bits_per_weight(),
            .uses = observation.tokens};
  UseBits sum;
  for (const precision::ExpertUse& use : observation.uses) {
    const CardPrecision& card = card_of(use.unit);
    const auto& tiers = card.plan.plan.parts.experts;
    const auto unit = static_cast<std::size_t>(use.unit);
    const std::size_t tier = std::min<std::size_t>(card.residency->tiers()[unit], tiers.size() - 1);
    const double bits = card.residency->on_host(use.unit) ? file_bits_[unit] : tiers[tier].bits_per_weight;
    sum.add({.bits = use.tokens * bits, .uses = use.tokens});
  }
  return sum;
}

// The host's place stands behind the tiers.
std::uint8_t PrecisionControl::shown(TierId tier) const {
  return tier == parts_.tiers->size() ? host_tier : tier;
}

std::uint8_t PrecisionControl::tier_met(UnitId unit) const {
  if (card_of(unit).residency->on_host(unit)) return host_tier;
  return std::min(published(unit), static_cast<TierId>(parts_.tiers->size() - 1));
}

bool PrecisionControl::rest() {
  bool under_way = false;
  for (CardPrecision& card : parts_.cards) {
    if (card.policy->is_recalling()) propose(card);
    under_way = card.residency->rest() || card.policy->is_recalling() || under_way;
  }
  return under_way;
}

// Every linear layer serves every token.
void PrecisionControl::count_hits(std::int64_t tokens) {
  for (UnitId unit = 0; unit < static_cast<UnitId>(parts_.units->size()); ++unit)
    count_hit(unit, published(unit), tokens);
}

void PrecisionControl::count_hit(UnitId unit, TierId tier, std::int64_t tokens) {
  const std::size_t known = parts_.tiers->size();
  const std::size_t away = card_of(unit).residency->on_host(unit) ? known + 1 : known;
  hits_[tier < known ? tier : away] += tokens;
}

std::span<const float> PrecisionControl::of_units(std::span<const float> (precision::Policy::*what)() const,
                                                  std::vector<float>& both) const {
  const std::span<const float> last = (*parts_.cards.back().policy.*what)();
  if (parts_.cards.size() == 1 || last.empty()) return last;
  both.assign(last.begin(), last.end());
  const auto own = static_cast<std::size_t>(parts_.units->first(parts_.cards.front().layers.end));
  const std::span<const float> first = (*parts_.cards.front().policy.*what)();
  std::ranges::copy(first.first(own), both.begin());
  return both;
}

void PrecisionControl::recall(std::span<const float> profile) {
  for (CardPrecision& card : parts_.cards) card.policy->recall(profile);
}

bool PrecisionControl::wants_entropy() const {
  return std::ranges::any_of(parts_.cards,
                             [](const CardPrecision& card) { return card.policy->wants_entropy(); });
}

std::int64_t PrecisionControl::prompt_pass_tokens(std::int64_t most) const {
  std::int64_t tokens = most;
  for (const CardPrecision& card : parts_.cards)
    tokens = std::min(tokens, card.policy->prompt_pass_tokens(most));
  return tokens;
}

std::int64_t PrecisionControl::prompt_tokens_watched() const {
  std::int64_t tokens = 0;
  for (const CardPrecision& card : parts_.cards)
    tokens = std::max(tokens, card.policy->prompt_tokens_watched());
  return tokens;
}

std::int64_t PrecisionControl::transfer_bytes() const {
  std::int64_t bytes = 0;
  for (const CardPrecision& card : parts_.cards) bytes += card.residency->transfer_bytes();
  return bytes;
}

std::int64_t PrecisionControl::cached_bytes() const {
  std::int64_t bytes = 0;
  for (const CardPrecision& card : parts_.cards)
    bytes += card.cache != nullptr ? card.cache->use().held_bytes : 0;
  return bytes;
}

const std::optional<Error>& PrecisionControl::not_cached() const {
  const auto without = std::ranges::find_if(
      parts_.cards, [](const CardPrecision& card) { return card.not_cached.has_value(); });
  return without == parts_.cards.end() ? parts_.cards.back().not_cached : without->not_cached;
}

QualityState PrecisionControl::quality() const {
  QualityState sum = parts_.cards.front().quality->state();
  for (const CardPrecision& card : std::span(parts_.cards).subspan(1)) add(card.quality->state(), sum);
  return sum;
}

// Of the units that each has published.
double PrecisionControl::mean_bits_per_weight() const {
  if (parts_.cards.size() == 1) return parts_.cards.front().residency->mean_bits_per_weight();
  double bits = 0, weights = 0;
  for (const CardPrecision& card : parts_.cards) {
    double own = 0;
    for (UnitId unit = parts_.units->first(card.layers.first); unit < parts_.units->first(card.layers.end);
         ++unit)
      if (published(unit) < parts_.tiers->size())
        own += static_cast<double>((*parts_.units)[unit].parameters());
    bits += own * card.residency->mean_bits_per_weight();
    weights += own;
  }
  return weights > 0 ? bits / weights : 0;
}

std::optional<Error> PrecisionControl::take_error() {
  return std::exchange(error_, std::nullopt);
}

PrecisionUse PrecisionControl::use() const {
  const QualityState all = quality();
  const TokensLoss met{all.tokens, all.all_low, all.all_high, all.in_nats};
  const auto uses = std::accumulate(hits_.begin(), hits_.end(), std::int64_t{0});
  std::vector<TierState> tiers;
  for (const PlanTier& tier : parts_.cards.back().plan.plan.parts.experts) {
    TierState& state = tiers.emplace_back();
    state.bits_per_weight = tier.bits_per_weight;
    state.hits = hits_[tiers.size() - 1];
  }
  PrecisionUse use{
      .uses = uses,
      .hit_rate = uses > 0 ? static_cast<double>(hits_.front()) / static_cast<double>(uses) : 0,
      .mean_bits_per_weight = mean_bits_per_weight(),
      .bits_per_use = bits_per_use(tiers, hits_[tiers.size()]),
      .answer_bits_per_weight = answer_tokens_ > 0 ? answer_bits_ / static_cast<double>(answer_tokens_) : 0,
      .quality_kept = met.tokens > 0 ? std::optional(kept_share(met, all.loss)) : std::nullopt,
      .foresight = parts_.cards.back().policy->foresight(),
      .log_failure = parts_.log ? parts_.log->failure() : Phrase()};
  for (const CardPrecision& card : parts_.cards) {
    const SwapCounters& swaps = card.residency->counters();
    const precision::FirstToken::Reads& reads = card.first_token->reads();
    use.budget_bytes += card.plan.plan.budget_bytes;
    use.accounted_bytes += card.residency->arena().bytes() + card.plan.plan.parts.safety;
    use.promotions += swaps.promotions;
    use.demotions += swaps.demotions;
    use.swaps_refused += swaps.refused;
    use.swaps_failed += swaps.io_errors + swaps.checksum_errors + reads.failures;
    use.bytes_read += swaps.bytes_read + reads.bytes;
    use.bytes_found += card.cache != nullptr ? card.cache->use().bytes_found : 0;
    use.stalls += swaps.stalls;
    use.stall_seconds += swaps.stall_seconds + reads.seconds;
  }
  return use;
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
  for (const PlanTier& tier : parts_.cards.back().plan.plan.parts.experts)
    snapshot.tiers.push_back({.name = tier.name, .bits_per_weight = tier.bits_per_weight});
  std::size_t pools = 0;
  for (const CardPrecision& card : parts_.cards) {
    pools += card.residency->arena().pools().size();
    snapshot.budget_bytes += card.plan.plan.budget_bytes;
    snapshot.arena_bytes += card.residency->arena().bytes();
  }
  snapshot.pools.resize(pools);
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
  snapshot.host_units = 0;
  for (std::size_t unit = 0; unit < indices.size(); ++unit) {
    const precision::Residency& residency = *card_of(static_cast<UnitId>(unit)).residency;
    const TierId tier = residency.tiers()[unit], target = residency.tiers_or_target()[unit];
    UnitState& state = snapshot.units[static_cast<std::size_t>(indices[unit])];
    state.tier = shown(tier);
    state.target = target == tier ? no_tier : shown(target);
    if (residency.on_host(static_cast<UnitId>(unit))) {
      state.tier = host_tier;
      ++snapshot.host_units;
    }
    if (state.tier >= host_tier) continue;
    ++snapshot.tiers[state.tier].units;
    snapshot.tiers[state.tier].bytes += version_bytes_[unit * parts_.tiers->size() + state.tier];
  }
}

// One card's behind the other's.
void PrecisionControl::show_pools(Snapshot& snapshot) const {
  std::size_t shown = 0;
  snapshot.arena_used_bytes = 0;
  for (const CardPrecision& card : parts_.cards) {
    const precision::Arena& arena = card.residency->arena();
    for (std::size_t p = 0; p < arena.pools().size(); ++p, ++shown) {
      const auto& pool = arena.pools()[p];
      snapshot.pools[shown] = {.block_bytes = pool.block_bytes, .blocks = arena.reach(p), .used = pool.used};
    }
    snapshot.arena_used_bytes += arena.used_bytes();
  }
}

void PrecisionControl::show_swaps(Snapshot& snapshot) const {
  show_pools(snapshot);
  snapshot.swaps = {};
  snapshot.queued = snapshot.reading = snapshot.ready = 0;
  for (const CardPrecision& card : parts_.cards) {
    add(card.residency->counters(), snapshot.swaps);
    const auto queues = card.residency->queues();
    snapshot.queued += queues.queued;
    snapshot.reading += queues.reading;
    snapshot.ready += queues.ready;
  }
  snapshot.decisions = last_decisions_;
  snapshot.mean_bits_per_weight = mean_bits_per_weight();
  snapshot.quality = quality();
  snapshot.calibration_part = parts_.cards.back().policy->calibration_part();
}

}  // namespace fovea::runtime
