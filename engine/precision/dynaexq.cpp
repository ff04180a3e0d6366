#include "engine/precision/dynaexq.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <tuple>

#include "engine/precision/errors.h"
#include "engine/precision/hotness.h"

namespace fovea::precision {
namespace {

constexpr std::uint8_t high = 0, low = 1;
constexpr std::int32_t nobody = -1;

// A unit that goes up, one that goes down, or both: the second then makes the first one's room.
struct Transition {
  std::int32_t up = nobody, down = nobody;
  double margin =
      0;  // by which the one that goes up is hotter; for one alone, its distance from the threshold
};

// A layer's units on the device, the most used first.
std::vector<std::int32_t> units_by_use(const PolicyWorld& world, std::int64_t layer) {
  const auto l = static_cast<std::size_t>(layer);
  std::vector<std::int32_t> order;
  for (std::int32_t unit = world.first_unit[l]; unit < world.first_unit[l + 1]; ++unit) {
    if (!world.is_on_host(unit)) order.push_back(unit);
  }
  if (world.uses.empty()) return order;
  std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) {
    const float of_a = world.uses[static_cast<std::size_t>(a)];
    const float of_b = world.uses[static_cast<std::size_t>(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  });
  return order;
}

// n_hot of each layer. One more where the next unit's low tier would cost most, as far as a profile of
// use and the measured damage tell.
std::vector<std::int64_t> hot_units_of(const PolicyWorld& world) {
  std::vector<std::int64_t> hot_units;
  std::vector<std::pair<double, std::int64_t>> gains;  // of one more, and the layer
  for (std::int64_t layer = 0; layer < world.layers(); ++layer) {
    const std::vector<std::int32_t> order = units_by_use(world, layer);
    hot_units.push_back(std::min<std::int64_t>(world.high_per_layer, std::ssize(order)));
    if (hot_units.back() == std::ssize(order)) continue;
    const auto next = static_cast<std::size_t>(order[static_cast<std::size_t>(hot_units.back())]);
    double gain = world.uses.empty() ? 0 : static_cast<double>(world.uses[next]);
    if (!world.damage.empty())
      gain *= static_cast<double>(world.damage[2 * next + low] - world.damage[2 * next + high]);
    gains.emplace_back(-gain, layer);
  }
  std::ranges::sort(gains);
  const auto more = std::min<std::size_t>(static_cast<std::size_t>(world.layers_with_more), gains.size());
  for (std::size_t i = 0; i < more; ++i) ++hot_units[static_cast<std::size_t>(gains[i].second)];
  return hot_units;
}

class DynaExq final : public Policy {
 public:
  DynaExq(const PolicyWorld& world, const DynaExqSettings& settings)
      : world_(world),
        settings_(settings),
        hotness_(world.first_unit,
                 {.smoothing = settings.smoothing, .smoothing_tokens = settings.smoothing_tokens},
                 world.uses),
        hot_units_(hot_units_of(world)),
        thresholds_(index(world.layers()), settings.threshold) {}

  std::string_view name() const override { return "dynaexq"; }
  std::vector<std::uint8_t> initial() const override;
  void observe(const Observation& observation) override {
    hotness_.observe(observation);
    tokens_ += observation.tokens;
  }
  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<Decision>& decisions) override;
  std::span<const float> hotness() const override { return hotness_.all(); }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::int64_t hot_units(std::int64_t layer) const { return hot_units_[index(layer)]; }
  void fix_thresholds();
  void update(std::span<const std::uint8_t> tiers, std::int64_t limit);
  void choose(std::int64_t layer, std::span<const std::uint8_t> tiers, std::int64_t limit);
  void hand_out(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                std::vector<Decision>& decisions);
  Decision decision(std::int32_t unit, std::uint8_t target, double margin) const {
    return {.unit = unit,
            .target = target,
            .reason = target == high ? SwapReason::hotter : SwapReason::colder,
            .score = static_cast<float>(hotness_.of(unit)),
            .margin = static_cast<float>(margin)};
  }

  PolicyWorld world_;
  DynaExqSettings settings_;
  Hotness hotness_;
  std::vector<std::int64_t> hot_units_;  // [layers] in the high tier
  std::vector<double> thresholds_;       // [layers] τ
  std::int64_t tokens_ = 0;              // since the last update
  bool warm_ = false;                    // the first set has been ranked
  bool settled_ = false;                 // … and stands
  std::vector<Transition> pending_, forced_;
  std::vector<std::int32_t> insiders_, outsiders_;  // of one layer, while it is looked at
};

std::vector<std::uint8_t> DynaExq::initial() const {
  std::vector<std::uint8_t> tiers(index(world_.units()), no_tier);
  for (std::int64_t layer = 0; layer < world_.layers(); ++layer) {
    const std::vector<std::int32_t> order = units_by_use(world_, layer);
    for (std::int64_t i = 0; i < std::ssize(order); ++i)
      tiers[index(order[index(i)])] = i < hot_units(layer) ? high : low;
  }
  return tiers;
}

void DynaExq::propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                      std::vector<Decision>& decisions) {
  if (!warm_) {
    if (tokens_ < settings_.warm_up_tokens) return;
    warm_ = true;
    tokens_ = 0;
    if (settings_.threshold_of_warm_up) fix_thresholds();
    update(tiers, world_.units());
  } else if (const std::int64_t intervals = tokens_ / settings_.interval_tokens; intervals > 0) {
    tokens_ %= settings_.interval_tokens;
    // The first set may take what the pipeline can carry; later ones keep to the limit. Who only goes down
    // may wait for room for ever.
    settled_ = settled_ || std::ranges::all_of(pending_, [](const Transition& t) { return t.up == nobody; });
    update(tiers, settled_ ? settings_.transitions * intervals : world_.units());
  }
  if (!pending_.empty()) hand_out(tiers, in_flight, decisions);
}

// τ = top(n_hot, S) of each layer, and then fixed (§3.5).
void DynaExq::fix_thresholds() {
  std::vector<double> scores;
  for (std::int64_t layer = 0; layer < world_.layers(); ++layer) {
    if (hot_units(layer) == 0) continue;  // nobody is hot
    scores.clear();
    for (std::int32_t unit = world_.first_unit[index(layer)]; unit < world_.first_unit[index(layer) + 1];
         ++unit) {
      if (!world_.is_on_host(unit)) scores.push_back(hotness_.of(unit));
    }
    const auto nth = scores.begin() + hot_units(layer) - 1;
    std::ranges::nth_element(scores, nth, std::greater<>());
    thresholds_[index(layer)] = *nth;
  }
}

// Algorithm 1 for every layer; the largest margins of all of them come first.
void DynaExq::update(std::span<const std::uint8_t> tiers, std::int64_t limit) {
  pending_.clear();
  forced_.clear();
  for (std::int64_t layer = 0; layer < world_.layers(); ++layer) choose(layer, tiers, limit);
  std::ranges::sort(pending_, [](const Transition& a, const Transition& b) {
    return std::tuple(-a.margin, a.up, a.down) < std::tuple(-b.margin, b.up, b.down);
  });
  if (settings_.transitions_of_model && std::ssize(pending_) > limit) pending_.resize(index(limit));
  pending_.insert(pending_.begin(), forced_.begin(), forced_.end());
}

void DynaExq::choose(std::int64_t layer, std::span<const std::uint8_t> tiers, std::int64_t limit) {
  insiders_.clear();
  outsiders_.clear();
  for (std::int32_t unit = world_.first_unit[index(layer)]; unit < world_.first_unit[index(layer) + 1];
       ++unit) {
    if (!world_.is_on_host(unit)) (tiers[index(unit)] == high ? insiders_ : outsiders_).push_back(unit);
  }
  const std::int64_t room = hot_units(layer) - std::ssize(insiders_);
  const auto colder = [&](std::int32_t a, std::int32_t b) {
    const double of_a = hotness_.of(a), of_b = hotness_.of(b);
    return of_a != of_b ? of_a < of_b : a > b;
  };
  const auto hotter = [&](std::int32_t a, std::int32_t b) { return colder(b, a); };
  const auto sort_first = [&](std::vector<std::int32_t>& units, const auto& order) {
    const std::int64_t wanted = std::min<std::int64_t>(limit + std::abs(room), std::ssize(units));
    std::ranges::partial_sort(units, units.begin() + wanted, order);
    units.resize(index(wanted));
  };
  sort_first(insiders_, colder);
  sort_first(outsiders_, hotter);

  std::size_t in = 0, out = 0;
  for (std::int64_t excess = room; excess < 0; ++excess)  // a demotion failed before
    forced_.push_back({.down = insiders_[in++]});
  const double threshold = thresholds_[index(layer)];
  const auto is_hot = [&](std::int32_t unit) {
    const double s = hotness_.of(unit);
    return s > 0 && s >= threshold;
  };
  std::int64_t left = limit;
  for (std::int64_t free = room; free > 0 && left > 0 && out < outsiders_.size() && is_hot(outsiders_[out]);
       --free, --left, ++out)
    pending_.push_back({.up = outsiders_[out], .margin = hotness_.of(outsiders_[out]) - threshold});
  const double margin_wanted =
      settings_.hysteresis * (settings_.hysteresis_is_absolute ? 1 : hotness_.layer_mean(layer));
  for (; left > 0 && in < insiders_.size() && out < outsiders_.size() && is_hot(outsiders_[out]);
       ++in, ++out, --left) {
    const double margin = hotness_.of(outsiders_[out]) - hotness_.of(insiders_[in]);
    if (!(margin > margin_wanted)) break;
    pending_.push_back({.up = outsiders_[out], .down = insiders_[in], .margin = margin});
  }
  for (; left > 0 && in < insiders_.size() && hotness_.of(insiders_[in]) < threshold; ++in, --left)
    pending_.push_back({.down = insiders_[in], .margin = threshold - hotness_.of(insiders_[in])});
}

// As many pending moves as may be in flight. A transition leaves the list when both its units are where they
// shall be, so that what the pipeline refused comes again.
void DynaExq::hand_out(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                       std::vector<Decision>& decisions) {
  const auto there = [&](const Transition& t) {
    return (t.up == nobody || tiers[index(t.up)] == high) &&
           (t.down == nobody || tiers[index(t.down)] != high);
  };
  std::erase_if(pending_, there);
  std::array<std::int64_t, 2> published = {std::ranges::count(tiers, high), 0};
  published[low] = std::ranges::count(tiers, low);
  const auto most =
      static_cast<std::int32_t>(std::min<std::int64_t>(settings_.in_flight, 2 * world_.spare_blocks));
  std::int32_t room = most - in_flight;
  for (const Transition& t : pending_) {
    const bool goes_up = t.up != nobody && tiers[index(t.up)] != high;
    const bool goes_down = t.down != nobody && tiers[index(t.down)] == high;
    const int moves = int{goes_up} + int{goes_down};
    if (room < std::min(moves, most)) return;  // a pair waits for room for both
    const std::int64_t spare = goes_up && goes_down ? 1 : 0;
    if (goes_up && published[high] >= world_.capacity[high] + spare) continue;
    if (!goes_up && goes_down && published[low] >= world_.capacity[low]) continue;
    if (goes_up) {
      decisions.push_back(decision(t.up, high, t.margin));
      ++published[high];
      if (tiers[index(t.up)] == low) --published[low];
      --room;
    }
    if (goes_down && room > 0) {
      decisions.push_back(decision(t.down, low, t.margin));
      ++published[low];
      --published[high];
      --room;
    }
  }
}

Result<void> check_settings(const DynaExqSettings& s) {
  const auto wrong = [](const char* name, auto value, Phrase range) {
    return fail(phrases::policy_setting_place("dynaexq", name),
                errors::policy_setting(value, std::move(range)));
  };
  const Phrase from_0 = phrases::range_0_or_more(), from_1 = phrases::range_1_or_more();
  if (!(s.smoothing >= 0 && s.smoothing < 1))
    return wrong("smoothing", s.smoothing, phrases::range_0_to_below_1());
  if (s.smoothing_tokens < 0) return wrong("smoothing_tokens", s.smoothing_tokens, from_0);
  if (s.interval_tokens < 1) return wrong("interval_tokens", s.interval_tokens, from_1);
  if (!(s.threshold >= 0)) return wrong("threshold", s.threshold, from_0);
  if (!(s.hysteresis >= 0)) return wrong("hysteresis", s.hysteresis, from_0);
  if (s.transitions < 0) return wrong("transitions", s.transitions, from_0);
  if (s.in_flight < 1) return wrong("in_flight", s.in_flight, from_1);
  if (s.warm_up_tokens < 0) return wrong("warm_up_tokens", s.warm_up_tokens, from_0);
  return {};
}

Result<void> check_capacity(const PolicyWorld& world) {
  if (world.tiers() != dynaexq_tiers)
    return fail(phrases::name_place("dynaexq"), errors::dynaexq_tiers(world.tiers()));
  const bool counts = world.high_per_layer >= 0 && world.layers_with_more >= 0;
  const std::vector<std::int64_t> hot_units = counts ? hot_units_of(world) : std::vector<std::int64_t>();
  const std::int64_t hot = std::reduce(hot_units.begin(), hot_units.end());
  const std::int64_t cold = world.units_on_device() - hot;
  if (counts && hot <= world.capacity[high] && cold <= world.capacity[low]) return {};
  return fail(phrases::name_place("dynaexq"),
              errors::dynaexq_room(hot, cold, world.capacity[high], world.capacity[low]));
}

}  // namespace

Result<std::unique_ptr<Policy>> make_dynaexq(const PolicyWorld& world, const DynaExqSettings& settings) {
  FOVEA_CHECK(check(world));
  FOVEA_CHECK(check_settings(settings));
  FOVEA_CHECK(check_capacity(world));
  return std::make_unique<DynaExq>(world, settings);
}

}  // namespace fovea::precision
