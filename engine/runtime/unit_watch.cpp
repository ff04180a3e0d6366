#include "engine/runtime/unit_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fovea::runtime {
namespace {

using precision::UnitId;

constexpr auto snapshot_interval = std::chrono::milliseconds(100);
constexpr auto watch_interval = std::chrono::seconds(2);  // after a reader's last question
constexpr float recent_decay = 0.7F;                      // of the token counts, at each snapshot
constexpr double speed_seconds = 1;                       // that a shown speed looks back

std::vector<UnitId> first_units(const precision::UnitTable& units) {
  std::vector<UnitId> first;
  for (std::int64_t layer = 0; layer <= units.layers(); ++layer) first.push_back(units.first(layer));
  return first;
}

std::vector<UnitId> first_units(std::int64_t layers, const std::vector<ExpertLayer>& experts) {
  std::vector<UnitId> first(static_cast<std::size_t>(layers) + 1);
  for (const ExpertLayer& each : experts) first[static_cast<std::size_t>(each.layer) + 1] = each.experts;
  for (std::size_t layer = 1; layer < first.size(); ++layer) first[layer] += first[layer - 1];
  return first;
}

}  // namespace

// Layers without units have no row.
Snapshot UnitWatch::empty_snapshot(const std::vector<UnitId>& first_unit) {
  Snapshot snapshot;
  for (std::size_t layer = 0; layer + 1 < first_unit.size(); ++layer) {
    const std::int64_t units = first_unit[layer + 1] - first_unit[layer];
    snapshot.layers += units > 0 ? 1 : 0;
    snapshot.units_per_layer = std::max(snapshot.units_per_layer, units);
  }
  snapshot.units.resize(static_cast<std::size_t>(snapshot.layers * snapshot.units_per_layer));
  snapshot.skew.resize(static_cast<std::size_t>(snapshot.layers));
  return snapshot;
}

UnitWatch::UnitWatch(Snapshot empty, PrecisionControl* control, std::vector<UnitId> first_unit,
                     std::int64_t experts_used)
    : control_(control), experts_used_(experts_used), first_unit_(std::move(first_unit)), snapshots_(empty) {
  const auto units = static_cast<std::size_t>(first_unit_.back());
  for (std::size_t layer = 0; layer + 1 < first_unit_.size(); ++layer) {
    const Row row{.first = first_unit_[layer], .end = first_unit_[layer + 1]};
    for (UnitId unit = row.first; unit < row.end; ++unit)
      indices_.push_back(std::ssize(rows_) * empty.units_per_layer + unit - row.first);
    if (row.first < row.end) rows_.push_back(row);
  }
  row_of_layer_.assign(first_unit_.size() - 1, -1);
  for (std::size_t layer = 0, row = 0; layer + 1 < first_unit_.size(); ++layer)
    if (first_unit_[layer + 1] > first_unit_[layer]) row_of_layer_[layer] = static_cast<std::int64_t>(row++);
  recent_.resize(units);
  uses_since_start_.resize(units);
}

UnitWatch::UnitWatch(PrecisionControl& control, std::int64_t experts_used)
    : UnitWatch(
          [&] {
            Snapshot snapshot = empty_snapshot(first_units(control.units()));
            control.describe(snapshot);
            return snapshot;
          }(),
          &control, first_units(control.units()), experts_used) {}

UnitWatch::UnitWatch(std::int64_t layers, const std::vector<ExpertLayer>& experts, std::int64_t experts_used,
                     const std::vector<models::HostShare>& host, bool seldom)
    : UnitWatch(
          [&] {
            Snapshot snapshot = empty_snapshot(first_units(layers, experts));
            TierState& file = snapshot.tiers.emplace_back();
            file.name = "file";
            double parameters = 0, bytes = 0;
            std::int64_t row = 0;
            for (const ExpertLayer& each : experts) {
              parameters += static_cast<double>(each.parameters) * each.experts;
              bytes += static_cast<double>(each.file_bytes) * each.experts;
              for (std::int64_t i = 0; i < each.experts; ++i) {
                const bool away =
                    !host.empty() && !host[static_cast<std::size_t>(each.layer)].experts.empty() &&
                    host[static_cast<std::size_t>(each.layer)].experts[static_cast<std::size_t>(i)];
                snapshot.units[static_cast<std::size_t>(row * snapshot.units_per_layer + i)].tier =
                    away ? host_tier : std::uint8_t{0};
                snapshot.host_units += away ? 1 : 0;
                file.units += away ? 0 : 1;
                file.bytes += away ? 0 : each.file_bytes;
              }
              ++row;
            }
            file.bits_per_weight = snapshot.mean_bits_per_weight =
                parameters > 0 ? 8 * bytes / parameters : 0;
            return snapshot;
          }(),
          nullptr, first_units(layers, experts), experts_used) {
  seldom_ = seldom;
  hotness_.emplace(first_unit_, precision::HotnessSettings{});
}

void UnitWatch::begin_prompt() {
  if (control_) control_->begin_prompt();
}

layers::PassObserver* UnitWatch::begin_pass(std::span<const Share> shares) {
  shares_.assign(shares.begin(), shares.end());
  if (sums_.size() < shares.size()) sums_.resize(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sums_[i].gates.resize(indices_.size());
    sums_[i].chosen.resize(indices_.size());
    sums_[i].routed.assign(first_unit_.size() - 1, 0);
    const bool records = shares[i].record && units_are_experts();
    sums_[i].recorded.assign(records ? rows_.size() * static_cast<std::size_t>(experts_used_) : 0, {});
  }
  chosen_.clear();
  pass_begun_ = Clock::now();
  if (control_) control_->begin_pass();
  const bool records = std::ranges::any_of(shares, &Share::record);
  return seldom_ && !records && !was_asked(pass_begun_) ? nullptr : this;
}

bool UnitWatch::routed(const Where& where, const float*, const std::int32_t* ids, const float* weights) {
  if (!units_are_experts()) return true;
  const auto layer = static_cast<std::size_t>(where.layer);
  Sums& sums = sums_[where.segment];
  sums.routed[layer] += static_cast<std::int32_t>(where.tokens);
  const UnitId first = first_unit_[layer];
  const std::int64_t count = where.tokens * experts_used_;
  for (std::int64_t i = 0; i < count; ++i) {
    const UnitId unit = first + ids[i];
    const auto at = static_cast<std::size_t>(unit);
    if (sums.chosen[at]++ == 0) sums.touched.push_back(unit);
    sums.gates[at] += weights[i];
  }
  if (!sums.recorded.empty()) record(where, ids, weights);
  if (!control_) return true;
  chosen_.insert(chosen_.end(), ids, ids + count);
  if (!where.last) return true;
  const bool served = control_->serve(first, chosen_);
  chosen_.clear();
  return served;
}

// Of the last token that the layer's router saw.
void UnitWatch::record(const Where& where, const std::int32_t* ids, const float* weights) {
  const std::int64_t last = (where.tokens - 1) * experts_used_;
  const std::int64_t row = row_of_layer_[static_cast<std::size_t>(where.layer)];
  TokenUse* const uses =
      sums_[where.segment].recorded.data() + static_cast<std::ptrdiff_t>(row * experts_used_);
  float sum = 0;
  for (std::int64_t i = 0; i < experts_used_; ++i) sum += std::abs(weights[last + i]);
  for (std::int64_t i = 0; i < experts_used_; ++i) {
    const float share = sum > 0 ? std::abs(weights[last + i]) / sum : 0;
    uses[i] = {.expert = static_cast<std::uint16_t>(ids[last + i]),
               .tier = 0,
               .share = static_cast<std::uint8_t>(std::lround(255 * share))};
  }
}

// As the pass met them: before anything is published behind it.
void UnitWatch::record_tiers() {
  const Snapshot& shown = snapshots_.back();
  for (std::size_t share = 0; share < shares_.size(); ++share) {
    std::vector<TokenUse>& uses = sums_[share].recorded;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      TokenUse& use = uses[i];
      const auto row = static_cast<std::int64_t>(i) / experts_used_;
      const UnitId unit = rows_[static_cast<std::size_t>(row)].first + use.expert;
      use.tier = control_
                     ? control_->tier_met(unit)
                     : shown.units[static_cast<std::size_t>(indices_[static_cast<std::size_t>(unit)])].tier;
    }
  }
}

TokenUses UnitWatch::recorded(std::size_t share) const {
  if (share >= shares_.size() || !shares_[share].record) return {};
  return {.uses = sums_[share].recorded, .pass_end = tokens_};
}

precision::Observation UnitWatch::observe(const Share& share, Sums& sums, std::span<const float> entropies) {
  std::ranges::sort(sums.touched);
  sums.uses.clear();
  for (const UnitId unit : sums.touched) {
    const auto at = static_cast<std::size_t>(unit);
    sums.uses.push_back({.unit = unit, .tokens = sums.chosen[at], .gate_sum = sums.gates[at]});
    recent_[at] += static_cast<float>(sums.chosen[at]);
    uses_since_start_[at] += static_cast<std::uint32_t>(sums.chosen[at]);
    sums.chosen[at] = 0;
    sums.gates[at] = 0;
  }
  sums.touched.clear();
  return {.sequence = share.sequence,
          .tokens = share.tokens,
          .prefill = share.is_prompt || share.tokens > 1,
          .entropies = entropies,
          .uses = sums.uses,
          .routed = sums.routed};
}

void UnitWatch::end_pass(bool completed, std::span<const float> entropies) {
  record_tiers();
  observations_.clear();
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const std::size_t own = std::min(entropies.size(), static_cast<std::size_t>(shares_[i].wanted));
    observations_.push_back(observe(shares_[i], sums_[i], entropies.first(own)));
    entropies = entropies.subspan(own);
  }
  if (control_) {
    control_->end_pass(completed, observations_);
  } else if (completed) {
    for (const precision::Observation& observation : observations_) hotness_->observe(observation);
  }
  const Clock::time_point now = Clock::now();
  if (completed) {
    count_speed(now);
    for (const Share& share : shares_) tokens_ += share.tokens;
  }
  if (now - snapshot_at_ >= snapshot_interval && was_asked(now)) publish_snapshot();
}

void UnitWatch::rest() {
  publish_snapshot();
}

// A reader that comes seldom, because tokens do, gets one snapshot for each time that it asks.
bool UnitWatch::was_asked(Clock::time_point now) const {
  const Clock::time_point asked(Clock::duration(asked_at_.load(std::memory_order_relaxed)));
  return asked > snapshot_at_ || now - asked < watch_interval;
}

void UnitWatch::Speed::add(double more_tokens, double more_seconds) {
  const double kept = std::exp(-more_seconds / speed_seconds);
  tokens = kept * tokens + more_tokens;
  seconds = kept * seconds + more_seconds;
}

// One token of a sequence is its answer's. What happens between two passes, sampling, belongs to their time;
// a pause longer than the pass is somebody's thinking.
void UnitWatch::count_speed(Clock::time_point now) {
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  const double pass = seconds(now - pass_begun_), gap = seconds(pass_begun_ - pass_ended_);
  pass_ended_ = now;
  double read = 0, written = 0;
  for (const Share& share : shares_) (share.tokens > 1 ? read : written) += static_cast<double>(share.tokens);
  if (read > 0) prefill_.add(read, pass);
  if (written > 0) decode_.add(written, pass + (read == 0 && gap < pass ? gap : 0));
}

void UnitWatch::publish_snapshot() {
  snapshot_at_ = Clock::now();
  Snapshot& snapshot = snapshots_.back();
  show_units(snapshot);
  if (control_) {
    control_->show(snapshot, indices_);
  } else {
    show_file_tier(snapshot);
  }
  snapshot.tokens = tokens_;
  snapshot.tokens_per_second = decode_.per_second();
  snapshot.prefill_tokens_per_second = prefill_.per_second();
  snapshots_.publish();
}

void UnitWatch::show_units(Snapshot& snapshot) {
  const std::span<const float> hotness = control_ ? control_->hotness() : hotness_->all();
  for (std::size_t unit = 0; unit < indices_.size(); ++unit) {
    UnitState& state = snapshot.units[static_cast<std::size_t>(indices_[unit])];
    state.hotness = hotness.empty() ? 0 : hotness[unit];
    state.recent_tokens = static_cast<std::uint16_t>(std::min(recent_[unit], 65535.0F));
    recent_[unit] *= recent_decay;
    state.uses = uses_since_start_[unit];
  }
  if (hotness.empty()) return;
  for (std::size_t row = 0; row < rows_.size(); ++row)
    snapshot.skew[row] = precision::top_tenth_share(
        hotness.subspan(static_cast<std::size_t>(rows_[row].first),
                        static_cast<std::size_t>(rows_[row].end - rows_[row].first)),
        scratch_);
}

void UnitWatch::show_file_tier(Snapshot& snapshot) const {
  std::int64_t uses = 0, on_host = 0;
  for (const std::int64_t index : indices_) {
    const UnitState& state = snapshot.units[static_cast<std::size_t>(index)];
    (state.tier == host_tier ? on_host : uses) += state.uses;
  }
  snapshot.tiers.front().hits = uses;
  snapshot.host_hits = on_host;
}

bool UnitWatch::read_snapshot(Snapshot& snapshot) {
  asked_at_ = Clock::now().time_since_epoch().count();
  if (!snapshots_.update()) return false;
  snapshot = snapshots_.front();
  return true;
}

}  // namespace fovea::runtime
