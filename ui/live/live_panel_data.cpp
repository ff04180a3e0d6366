// What the live panel makes of its snapshots for each of its parts.
#include <QStackedWidget>
#include <QTableView>

#include "ui/live/expert_table.h"
#include "ui/live/expert_text.h"
#include "ui/live/follow_view.h"
#include "ui/live/gain_view.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/legend_view.h"
#include "ui/live/live_panel.h"
#include "ui/live/pools_view.h"
#include "ui/live/router_view.h"
#include "ui/live/traffic_view.h"

namespace fovea::ui {
namespace {

constexpr double kFreshSeconds = 1.2;          // that a change is marked
constexpr double kHealthSeconds = 60;          // of uses that the routers are judged by
constexpr std::int64_t kProfileTokens = 2048;  // that a fixed mix from the session's start is chosen by

}  // namespace

std::int64_t LivePanel::shown_index() const {
  return viewed_ ? viewed_index_ : live_.end() - 1;
}

bool LivePanel::has_moment() const {
  return !shown_ring().empty();
}

const MapFrame& LivePanel::shown_frame() {
  if (!viewed_) return live_.last_frame();
  cursor_.seek(*viewed_, viewed_index_);
  return cursor_.frame();
}

void LivePanel::apply_model() {
  const LiveModel& model = shown_model();
  heatmap_->set_layer_numbers(model.layer_numbers);
  heatmap_->set_experts(model.experts_per_layer);
  heatmap_->set_lit({});
  lit_conversation_.clear();
  routers_->set_lit_conversation({});
  routers_->set_layer_numbers(model.layer_numbers);
  pools_->set_plan(model.plan);
  traffic_->set_link(model.link_bytes_per_s);
  traffic_->set_swaps(model.policy != PolicyKind::none);
  legend_->set_swaps(model.policy != PolicyKind::none);
  table_->set_model(model);
}

void LivePanel::take(const Snapshot& snapshot, double seconds) {
  before_ = live_.last_frame();
  const bool was_empty = live_.empty();
  live_.add(snapshot, seconds);
  if (!was_empty && live_.end() - live_.first() > 1) conversations_.add(before_, live_.last_frame());
  keep_profile();
  if (was_empty) {
    update_empty_page();
    if (isVisible()) refresh();  // not parts of it now and the others within a second
  }
  if (!viewed_) follow_->advance(live_, live_.end() - 1, live_.last_frame());
}

// The uses of the session's first tokens, if the panel saw them.
void LivePanel::keep_profile() {
  const Snapshot& numbers = live_.last().numbers;
  if (!profile_uses_.empty() || numbers.tokens < kProfileTokens || numbers.tokens > 2 * kProfileTokens)
    return;
  profile_uses_ = live_.last_frame().uses;
  for (const TierState& tier : numbers.tiers) profile_hits_.push_back(tier.hits);
}

double LivePanel::shown_seconds() const {
  return viewed_ || !source_ ? shown_moment().seconds : static_cast<double>(clock_.elapsed()) / 1000;
}

void LivePanel::refresh_map() {
  if (!has_moment()) return;
  const Moment& moment = shown_moment();
  const SnapshotRing& ring = shown_ring();
  HeatmapView::Scene scene;
  scene.frame = &shown_frame();
  for (const TierState& tier : moment.numbers.tiers) {
    scene.tiers.push_back(tier.name);
    scene.bits.push_back(tier.bits_per_weight);
  }
  const auto& changes = ring.changes();
  const double now = shown_seconds();
  for (auto each = changes.rbegin(); each != changes.rend() && now - each->seconds < kFreshSeconds; ++each) {
    if (each->seconds <= moment.seconds && each->decision.unit >= 0)
      scene.recent.emplace_back(each->decision.unit, 1 - (now - each->seconds) / kFreshSeconds);
  }
  follow_->set_tiers(scene.tiers, scene.bits);
  heatmap_->set_scene(scene);
  if (viewed_) update_timeline();
}

void LivePanel::refresh_strips() {
  if (!has_moment()) return;
  update_header();
  update_timeline();
  const Moment& moment = shown_moment();
  const MapFrame& frame = shown_frame();
  traffic_->set_series(traffic_series(shown_ring(), shown_seconds()), moment.numbers);
  traffic_->set_intervals(replaying_ ? TokenIntervals::Percentiles{} : intervals_.percentiles());
  pools_->set_kv_used(static_cast<double>(kv_used_));
  pools_->set_numbers(moment.numbers,
                      static_cast<double>(std::ranges::count_if(
                          frame.target, [](std::uint8_t target) { return target != no_tier; })));
  std::int64_t units = 0, published = 0;
  for (const std::int64_t experts : shown_model().experts_per_layer) units += experts;
  if (units == 0) units = static_cast<std::int64_t>(frame.size());
  for (const TierState& tier : moment.numbers.tiers) published += tier.units;
  published += moment.numbers.host_units;
  legend_->set_numbers(moment.numbers, units - published, frame.hot_is_recent_use);
}

void LivePanel::refresh_judgements() {
  if (!has_moment()) return;
  const SnapshotRing& ring = shown_ring();
  const Moment& moment = shown_moment();
  const MapFrame& frame = shown_frame();
  const LiveModel& model = shown_model();
  std::vector<std::uint32_t> window = frame.uses;
  if (window_cursor_.seek(ring, std::max(ring.first(), ring.at(moment.seconds - kHealthSeconds))) &&
      window_cursor_.frame().size() == frame.size() && window_cursor_.index() < shown_index()) {
    for (std::size_t unit = 0; unit < window.size(); ++unit)
      window[unit] -= window_cursor_.frame().uses[unit];
  }
  const RouterHealth health = router_health({.lately = window,
                                             .since_start = frame.uses,
                                             .calibrated = model.calibrated_uses,
                                             .units_per_layer = frame.units_per_layer,
                                             .experts = model.experts_per_layer,
                                             .used = model.experts_used});
  routers_->set_health(health, model.experts_used);
  collapsed_layers_ = health.collapsed;
  routers_->set_conversations(replaying_ ? std::vector<ConversationUses::Row>() : conversations_.rows());

  std::vector<std::int64_t> hits, most;
  std::vector<double> bits;
  for (const TierState& tier : moment.numbers.tiers) {
    hits.push_back(tier.hits);
    bits.push_back(tier.bits_per_weight);
  }
  most.resize(hits.size());
  for (std::int64_t index = ring.first(); index <= shown_index(); ++index) {
    const auto& tiers = ring.moment(index).numbers.tiers;
    for (std::size_t tier = 0; tier < most.size() && tier < tiers.size(); ++tier)
      most[tier] = std::max(most[tier], tiers[tier].units);
  }
  const bool profiled = !replaying_ && moment.numbers.tokens > kProfileTokens;
  // The policy does not choose for units that are the processor's, and their hits count for no tier.
  std::vector<std::uint32_t> uses = frame.uses;
  for (std::size_t unit = 0; unit < uses.size(); ++unit)
    if (frame.tier[unit] == host_tier) uses[unit] = 0;
  gain_->set_gain(policy_gain({.uses = uses,
                               .hits = hits,
                               .units_at_tier = most,
                               .bits_per_weight = bits,
                               .calibrated_uses = model.calibrated_uses,
                               .profile_uses = profiled ? std::span<const std::uint32_t>(profile_uses_)
                                                        : std::span<const std::uint32_t>(),
                               .profile_hits = profiled ? std::span<const std::int64_t>(profile_hits_)
                                                        : std::span<const std::int64_t>()}),
                  model.policy);
  update_alarms();
}

void LivePanel::refresh_table() {
  if (!has_moment() || map_pages_->currentWidget() != table_view_) return;
  table_->show(shown_ring(), shown_moment(), shown_frame());
}

}  // namespace fovea::ui
