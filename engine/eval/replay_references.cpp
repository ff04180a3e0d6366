#include "engine/eval/replay_references.h"

#include <algorithm>
#include <deque>
#include <numeric>

#include "engine/eval/errors.h"
#include "engine/precision/best_mix.h"
#include "engine/precision/exchanges.h"
#include "engine/precision/static_policy.h"

namespace fovea::eval {
namespace {

using precision::ExpertUse;
using precision::PolicyWorld;

constexpr std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// For each unit, the steps of its lower convex hull from the lowest tier up: bytes and the damage they save.
class Hulls {
 public:
  struct Step {
    double bytes = 0, saved = 0;
  };

  explicit Hulls(const PolicyWorld& world) {
    const std::vector<double> damage = precision::damage_of_use(world);
    const std::int64_t tiers = world.tiers();
    first_.push_back(0);
    for (std::int64_t unit = 0; unit < world.units(); ++unit) {
      const std::size_t row = index(unit * tiers);
      least_.push_back(damage[row + index(tiers) - 1]);
      lowest_bytes_ += world.unit_bytes[row + index(tiers) - 1];
      const std::size_t begin = steps_.size();
      for (std::int64_t tier = tiers - 1, from = tier; --tier >= 0;) {
        const Step step{
            static_cast<double>(world.unit_bytes[row + index(tier)] - world.unit_bytes[row + index(from)]),
            damage[row + index(from)] - damage[row + index(tier)]};
        if (!(step.bytes > 0 && step.saved > 0)) continue;
        from = tier;
        steps_.push_back(step);
        while (steps_.size() >= begin + 2 && rate(steps_.back()) >= rate(*(steps_.end() - 2))) {
          const Step last = steps_.back();
          steps_.pop_back();
          steps_.back().bytes += last.bytes;
          steps_.back().saved += last.saved;
        }
      }
      first_.push_back(steps_.size());
    }
  }

  static double rate(const Step& step) { return step.saved / step.bytes; }
  std::span<const Step> of(std::int32_t unit) const {
    return std::span(steps_).subspan(first_[index(unit)], first_[index(unit) + 1] - first_[index(unit)]);
  }
  double lowest_damage(std::int32_t unit) const { return least_[index(unit)]; }
  std::int64_t lowest_bytes() const { return lowest_bytes_; }

 private:
  std::vector<Step> steps_;
  std::vector<std::size_t> first_;  // [units + 1]
  std::vector<double> least_;       // [units]
  std::int64_t lowest_bytes_ = 0;
};

// Reads some tokens ahead of the passes that are served.
class LookAhead final : public precision::Policy {
 public:
  LookAhead(PassSource& source, const PolicyWorld& world, const LookAheadSettings& settings,
            std::vector<std::uint8_t> first)
      : source_(source),
        settings_(settings),
        first_(std::move(first)),
        exchanges_(world, first_, settings.in_flight),
        sums_(index(world.units())),
        uses_(index(world.units())) {
    source_.rewind();
    read_ahead();
  }

  std::string_view name() const override { return "look-ahead"; }
  std::vector<std::uint8_t> initial() const override { return first_; }
  double prompt_wait_share() const override { return settings_.prompt_wait_share; }

  void observe(const precision::Observation& observation) override {
    tokens_ += observation.tokens;
    // What passed may be several of the source's passes, and more than was known.
    for (std::int64_t left = observation.tokens; left > 0;) {
      if (known_.empty()) read_one();
      if (known_.empty()) break;
      const Known& passed = known_.front();
      for (const ExpertUse& use : passed.uses) sums_[index(use.unit)] -= static_cast<double>(use.gate_sum);
      known_tokens_ -= passed.tokens;
      left -= passed.tokens;
      known_.pop_front();
    }
    read_ahead();
  }

  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<precision::Decision>& decisions) override {
    if (tokens_ < settings_.interval_tokens && !(has_more_ && in_flight == 0)) return;
    tokens_ = 0;
    exchanges_.renumber();
    exchanges_.look(hotness(), tiers, 0, std::ssize(tiers));
    has_more_ = exchanges_.decide(settings_.margin, in_flight, decisions);
  }

  std::span<const float> hotness() const override {
    for (std::size_t unit = 0; unit < sums_.size(); ++unit)
      uses_[unit] = static_cast<float>(std::max(0.0, sums_[unit]));
    return uses_;
  }

 private:
  void read_ahead() {
    while (known_tokens_ < settings_.tokens && read_one()) {
    }
  }
  bool read_one() {
    TracePass pass;
    const auto more = source_.next(pass);
    if (!more || !*more) return false;
    for (const ExpertUse& use : pass.uses) sums_[index(use.unit)] += static_cast<double>(use.gate_sum);
    known_tokens_ += pass.tokens;
    known_.push_back({pass.tokens, std::move(pass.uses)});
    return true;
  }

  struct Known {
    std::int64_t tokens = 0;
    std::vector<ExpertUse> uses;
  };

  PassSource& source_;
  LookAheadSettings settings_;
  std::vector<std::uint8_t> first_;
  precision::Exchanges exchanges_;
  std::deque<Known> known_;  // the passes that come
  std::int64_t known_tokens_ = 0, tokens_ = 0;
  std::vector<double> sums_;  // [units] gates of what is known
  mutable std::vector<float> uses_;
  bool has_more_ = false;  // there was more to do than there was room for
};

}  // namespace

Result<double> ceiling_loss(PassSource& source, const PolicyWorld& world, std::int64_t bytes,
                            std::stop_token stop) {
  const Hulls hulls(world);
  const auto room = static_cast<double>(bytes - hulls.lowest_bytes());
  if (room < 0)
    return fail(phrases::stage_replay(),
                errors::replay_ceiling_room(Bytes{bytes}, Bytes{hulls.lowest_bytes()}));
  std::vector<Hulls::Step> steps;
  double loss = 0;
  TracePass pass;
  source.rewind();
  while (true) {
    if (stop.stop_requested()) return fail(phrases::stage_replay(), errors::stopped_on_request());
    FOVEA_TRY(const bool more, source.next(pass));
    if (!more) return std::max(0.0, loss);
    steps.clear();
    for (const ExpertUse& use : pass.uses) {
      const auto gate = static_cast<double>(use.gate_sum);
      loss += gate * hulls.lowest_damage(use.unit);
      for (const Hulls::Step& step : hulls.of(use.unit)) steps.push_back({step.bytes, gate * step.saved});
    }
    std::ranges::sort(steps, std::greater<>(), Hulls::rate);
    double left = room;
    for (const Hulls::Step& step : steps) {
      if (left <= 0) break;
      const double share = std::min(1.0, left / step.bytes);
      loss -= share * step.saved;
      left -= share * step.bytes;
    }
  }
}

Result<std::unique_ptr<precision::Policy>> make_look_ahead(PassSource& source, const PolicyWorld& world,
                                                           const LookAheadSettings& settings,
                                                           std::vector<std::uint8_t> first) {
  FOVEA_TRY(const auto fits, precision::make_static(world, first));
  return std::make_unique<LookAhead>(source, world, settings, std::move(first));
}

}  // namespace fovea::eval
