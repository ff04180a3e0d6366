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
  gate_sum_.resize(units);
  chosen_.resize(units);
  recent_.resize(units);
  uses_since_start_.resize(units);
  touched_.reserve(units);
  uses_.reserve(units);
  routed_.resize(first_unit_.size() - 1);
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

void UnitWatch::begin_prompt(std::int64_t tokens) {
  prompt_left_ = tokens;
  if (control_) control_->begin_prompt();
}

layers::PassObserver* UnitWatch::begin_pass(std::int64_t tokens) {
  pass_tokens_ = tokens;
  std::ranges::fill(routed_, 0);
  pass_begun_ = Clock::now();
  if (control_) control_->begin_pass();
  return seldom_ && !was_asked(pass_begun_) ? nullptr : this;
}

bool UnitWatch::routed(const Where& where, const float*, const std::int32_t* ids, const float* weights) {
  if (control_ && control_->units().scope() != models::UnitScope::experts) return true;
  const auto layer = static_cast<std::size_t>(where.layer);
  routed_[layer] += static_cast<std::int32_t>(where.tokens);
  const UnitId first = first_unit_[layer];
  const std::int64_t count = where.tokens * experts_used_;
  for (std::int64_t i = 0; i < count; ++i) {
    const UnitId unit = first + ids[i];
    const auto at = static_cast<std::size_t>(unit);
    if (chosen_[at]++ == 0) touched_.push_back(unit);
    gate_sum_[at] += weights[i];
  }
  return !control_ || control_->serve(first, {ids, static_cast<std::size_t>(count)});
}

void UnitWatch::end_pass(bool completed, std::span<const float> entropies) {
  std::ranges::sort(touched_);
  uses_.clear();
  for (const UnitId unit : touched_) {
    const auto at = static_cast<std::size_t>(unit);
    uses_.push_back({.unit = unit, .tokens = chosen_[at], .gate_sum = gate_sum_[at]});
    recent_[at] += static_cast<float>(chosen_[at]);
    uses_since_start_[at] += static_cast<std::uint32_t>(chosen_[at]);
    chosen_[at] = 0;
    gate_sum_[at] = 0;
  }
  touched_.clear();
  const precision::Observation observation{.tokens = pass_tokens_,
                                           .prefill = pass_tokens_ > 1 || prompt_left_ > 0,
                                           .entropies = entropies,
                                           .uses = uses_,
                                           .routed = routed_};
  if (control_) {
    control_->end_pass(completed, observation);
  } else if (completed) {
    hotness_->observe(observation);
  }
  prompt_left_ -= std::min(prompt_left_, pass_tokens_);
  const Clock::time_point now = Clock::now();
  if (completed) {
    count_speed(now);
    tokens_ += pass_tokens_;
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

// A pass of one token writes an answer. What happens between two of them, sampling, belongs to its time; a
// pause longer than the pass is somebody's thinking.
void UnitWatch::count_speed(Clock::time_point now) {
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  const double pass = seconds(now - pass_begun_), gap = seconds(pass_begun_ - pass_ended_);
  pass_ended_ = now;
  if (pass_tokens_ > 1) {
    prefill_.add(static_cast<double>(pass_tokens_), pass);
  } else {
    decode_.add(1, pass + (gap < pass ? gap : 0));
  }
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
