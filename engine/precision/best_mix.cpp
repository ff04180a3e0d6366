#include "engine/precision/best_mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

// From one point of a unit's hull to the next larger one.
struct Step {
  std::int32_t unit = 0;
  std::uint8_t tier = 0;  // reached
  std::int64_t bytes = 0;
  double gain = 0;
  double rate = 0;  // gain per byte
};

struct Choice {
  std::uint8_t tier = 0;
  std::int64_t bytes = 0;
  double loss = 0;
};

// A unit's choices that no mixture of two others beats, from small to large.
void lower_hull(std::vector<Choice>& choices) {
  std::ranges::sort(choices, [](const Choice& a, const Choice& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.loss < b.loss;
  });
  const auto rate = [](const Choice& from, const Choice& to) {
    return (from.loss - to.loss) / static_cast<double>(to.bytes - from.bytes);
  };
  std::size_t kept = 0;
  for (const Choice& choice : choices) {
    if (kept > 0 && choice.loss >= choices[kept - 1].loss) continue;  // larger and no better
    while (kept > 1 && rate(choices[kept - 2], choices[kept - 1]) <= rate(choices[kept - 1], choice)) --kept;
    choices[kept++] = choice;
  }
  choices.resize(kept);
}

class Knapsack {
 public:
  explicit Knapsack(const MixProblem& problem)
      : problem_(problem), units_(std::ssize(problem.bytes) / problem.tiers) {}

  Result<TierMix> solve() {
    begin();
    if (mix_.bytes > problem_.budget_bytes)
      return fail(phrases::option_place("tiers"),
                  errors::smallest_mix_too_large(Bytes{mix_.bytes}, Bytes{problem_.budget_bytes},
                                                 Bytes{mix_.bytes - problem_.budget_bytes}));
    std::ranges::sort(steps_, [](const Step& a, const Step& b) {
      if (a.rate != b.rate) return a.rate > b.rate;
      return a.unit != b.unit ? a.unit < b.unit : a.bytes < b.bytes;
    });
    walk();
    fill();
    return std::move(mix_);
  }

 private:
  std::size_t at(std::int64_t unit, std::int64_t tier) const {
    return static_cast<std::size_t>(unit * problem_.tiers + tier);
  }

  void begin() {
    mix_.tiers.resize(static_cast<std::size_t>(units_));
    std::vector<Choice> choices;
    for (std::int32_t unit = 0; unit < units_; ++unit) {
      choices.clear();
      for (std::int64_t tier = 0; tier < problem_.tiers; ++tier)
        choices.push_back(
            {static_cast<std::uint8_t>(tier), problem_.bytes[at(unit, tier)], problem_.loss[at(unit, tier)]});
      lower_hull(choices);
      mix_.tiers[static_cast<std::size_t>(unit)] = choices.front().tier;
      mix_.bytes += choices.front().bytes;
      mix_.loss += choices.front().loss;
      for (std::size_t i = 1; i < choices.size(); ++i) {
        const std::int64_t bytes = choices[i].bytes - choices[i - 1].bytes;
        const double gain = choices[i - 1].loss - choices[i].loss;
        steps_.push_back({unit, choices[i].tier, bytes, gain, gain / static_cast<double>(bytes)});
      }
    }
    mix_.bound = mix_.loss;
  }

  // Takes the steps in their order while they fit. A unit's steps lie on its hull, so that they come in
  // order.
  void walk() {
    bool whole = true;
    for (const Step& step : steps_) {
      const std::int64_t left = problem_.budget_bytes - mix_.bytes;
      if (whole && step.bytes > left) {
        mix_.bound = mix_.loss - step.rate * static_cast<double>(left);
        whole = false;
      }
      // Behind the first that does not fit, a later step of another unit may; one of the same unit may not
      // leave its predecessor out, which fill() looks at.
      if (step.bytes > left || !follows(step)) continue;
      take(step.unit, step.tier);
    }
    if (whole) mix_.bound = mix_.loss;
  }

  bool follows(const Step& step) const {
    const std::uint8_t now = mix_.tiers[static_cast<std::size_t>(step.unit)];
    return problem_.bytes[at(step.unit, step.tier)] - problem_.bytes[at(step.unit, now)] == step.bytes;
  }

  // Any tier off the hull that still fits and gains, the largest gain first.
  void fill() {
    struct Candidate {
      double gain;
      std::int32_t unit;
      std::uint8_t tier;
    };
    std::vector<Candidate> candidates;
    for (std::int32_t unit = 0; unit < units_; ++unit) {
      const std::uint8_t now = mix_.tiers[static_cast<std::size_t>(unit)];
      for (std::int64_t tier = 0; tier < problem_.tiers; ++tier) {
        const double gain = problem_.loss[at(unit, now)] - problem_.loss[at(unit, tier)];
        const std::int64_t bytes = problem_.bytes[at(unit, tier)] - problem_.bytes[at(unit, now)];
        if (gain > 0 && bytes <= problem_.budget_bytes - mix_.bytes)
          candidates.push_back({gain, unit, static_cast<std::uint8_t>(tier)});
      }
    }
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
      if (a.gain != b.gain) return a.gain > b.gain;
      return a.unit != b.unit ? a.unit < b.unit : a.tier < b.tier;
    });
    for (const Candidate& c : candidates) {
      const std::uint8_t now = mix_.tiers[static_cast<std::size_t>(c.unit)];
      const std::int64_t bytes = problem_.bytes[at(c.unit, c.tier)] - problem_.bytes[at(c.unit, now)];
      if (bytes <= problem_.budget_bytes - mix_.bytes &&
          problem_.loss[at(c.unit, c.tier)] < problem_.loss[at(c.unit, now)])
        take(c.unit, c.tier);
    }
  }

  void take(std::int32_t unit, std::uint8_t tier) {
    std::uint8_t& now = mix_.tiers[static_cast<std::size_t>(unit)];
    mix_.bytes += problem_.bytes[at(unit, tier)] - problem_.bytes[at(unit, now)];
    mix_.loss += problem_.loss[at(unit, tier)] - problem_.loss[at(unit, now)];
    now = tier;
  }

  const MixProblem& problem_;
  std::int64_t units_;
  TierMix mix_;
  std::vector<Step> steps_;
};

}  // namespace

Result<TierMix> best_mix(const MixProblem& problem) {
  return Knapsack(problem).solve();
}

std::vector<std::uint8_t> best_fill(const PolicyWorld& world, std::span<const double> loss) {
  const auto units = static_cast<std::size_t>(world.units()), tiers = static_cast<std::size_t>(world.tiers());
  std::vector<std::int32_t> order(units);
  std::iota(order.begin(), order.end(), 0);
  const auto stake = [&](std::int32_t unit) {  // what the lowest instead of the highest tier costs
    const std::size_t row = static_cast<std::size_t>(unit) * tiers;
    return loss[row + tiers - 1] - loss[row];
  };
  std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) {
    return stake(a) != stake(b) ? stake(a) > stake(b) : a < b;
  });
  std::vector<std::uint8_t> result(units, no_tier);
  std::size_t tier = 0;
  std::int64_t placed = 0;
  for (const std::int32_t unit : order) {
    if (world.is_on_host(unit)) continue;
    while (tier < tiers && placed >= world.capacity[tier]) {
      ++tier;
      placed = 0;
    }
    if (tier == tiers) break;  // the rest is on disk alone
    result[static_cast<std::size_t>(unit)] = static_cast<std::uint8_t>(tier);
    ++placed;
  }
  return result;
}

std::vector<double> damage_of_use(const PolicyWorld& world) {
  if (!world.damage.empty()) return {world.damage.begin(), world.damage.end()};
  const auto tiers = static_cast<std::size_t>(world.tiers());
  std::vector<double> damage(static_cast<std::size_t>(world.units()) * tiers);
  for (std::size_t i = 0; i < damage.size(); ++i)
    damage[i] = std::pow(4.0, -world.bits_per_weight[i % tiers]);
  return damage;
}

std::vector<double> expected_loss(const PolicyWorld& world, std::span<const double> uses) {
  const auto tiers = static_cast<std::size_t>(world.tiers());
  std::vector<double> loss = damage_of_use(world);
  for (std::size_t i = 0; i < world.time_cost.size(); ++i) loss[i] += static_cast<double>(world.time_cost[i]);
  for (std::size_t i = 0; i < loss.size(); ++i) loss[i] *= uses[i / tiers];
  return loss;
}

std::vector<double> expected_loss(const PolicyWorld& world) {
  std::vector<double> uses(world.uses.begin(), world.uses.end());
  uses.resize(static_cast<std::size_t>(world.units()), 1);
  return expected_loss(world, uses);
}

}  // namespace fovea::precision
