#include "app/top/top_model.h"

#include <algorithm>

#include "app/live/measures/memory_parts.h"
#include "app/live/measures/policy_gain.h"
#include "app/live/measures/quality_line.h"
#include "app/live/measures/router_health.h"

namespace fovea::app {
namespace {

constexpr double health_seconds = 60;  // of uses that the routers are judged by
constexpr const char* last_question = "the last question";

}  // namespace

void TopModel::add(const ExpertsEvent& event, double seconds) {
  if (event.model != model_) {
    ring_.clear();
    model_ = event.model;
  }
  const std::int64_t moments = ring_.end();
  const bool is_asked = !ring_.empty() && event.questions > questions_;
  // What it changed already in this moment is its own.
  if (is_asked) story_.begin(last_question, ring_.last_frame(), ring_.last().numbers);
  questions_ = event.questions;
  ring_.add(event.snapshot, seconds);
  if (ring_.end() <= moments || moments == 0) {  // it began anew
    story_.clear();
    story_.begin({}, ring_.last_frame(), ring_.last().numbers);
  }
  story_.go_on(ring_.last_frame(), ring_.last().numbers);
}

ui::PolicyGain TopModel::gain() const {
  ui::PolicyGain gain = policy_gain(model_.policy, numbers().tiers.size(), numbers().quality);
  gain.bits_per_use = bits_per_use(numbers().tiers, numbers().misses);
  return gain;
}

ui::QualityLine TopModel::quality_line() const {
  return app::quality_line(model_.policy, ring_, ring_.end() - 1, story_.chapters());
}

ui::RouterHealth TopModel::routers() const {
  std::vector<std::uint32_t> lately = frame().uses;
  FrameCursor before;
  if (before.seek(ring_, std::max(ring_.first(), ring_.at(seconds() - health_seconds))))
    for (std::size_t unit = 0; unit < lately.size(); ++unit) lately[unit] -= before.frame().uses[unit];
  return router_health({.lately = lately,
                        .since_start = frame().uses,
                        .units_per_layer = frame().units_per_layer,
                        .experts = model_.experts_per_layer,
                        .used = model_.experts_used});
}

std::vector<ui::CardMemory> TopModel::cards() const {
  std::vector<CardPlan> plans;
  for (const WatchedModel::Card& card : model_.cards)
    plans.push_back({.name = card.name,
                     .layers = card.layers,
                     .rows = plans.empty() ? model_.rows_of_first() : 0,
                     .parts = card.memory,
                     .budget_bytes = card.budget_bytes});
  return card_memories(plans, numbers(), frame());
}

std::vector<ui::BudgetPart> TopModel::memory() const {
  if (const auto both = cards(); !both.empty()) return sum_of(both);
  Plan plan;
  plan.parts = model_.memory;
  return budget_parts(plan, numbers());
}

std::vector<ui::FreshChange> TopModel::fresh(double now) const {
  return fresh_changes(ring_, seconds(), now);
}

std::int64_t TopModel::layer_number(std::int64_t layer) const {
  const auto at = static_cast<std::size_t>(layer);
  return at < model_.layer_numbers.size() ? model_.layer_numbers[at] : layer;
}

std::int64_t TopModel::experts_of(std::int64_t layer) const {
  const auto at = static_cast<std::size_t>(layer);
  return at < model_.experts_per_layer.size() ? model_.experts_per_layer[at] : frame().units_per_layer;
}

}  // namespace fovea::app
