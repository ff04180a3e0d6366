#include "engine/eval/replay.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>

#include "engine/eval/errors.h"
#include "engine/eval/replay_residency.h"
#include "engine/eval/replay_snapshots.h"
#include "engine/precision/best_mix.h"

namespace fovea::eval {
namespace {

constexpr std::int64_t passes_between_reports = 256;

Result<void> check_settings(const ReplaySettings& settings) {
  const ReplayClock& c = settings.clock;
  using namespace phrases;
  const auto wrong = [](Phrase setting, Phrase range) {
    return fail(std::move(setting), errors::setting_out_of_range(std::move(range)));
  };
  if (!(c.read_gb_per_s > 0)) return wrong(replay_bandwidth(), range_more_than_0());
  if (!(c.upload_gb_per_s >= 0)) return wrong(replay_upload_bandwidth(), range_0_at_once_or_more());
  if (!(c.decode_tok_per_s > 0)) return wrong(replay_decode_speed(), range_more_than_0());
  if (!(c.prefill_tok_per_s > 0)) return wrong(replay_prefill_speed(), range_more_than_0());
  if (c.transfer_bytes < 0) return wrong(replay_transfer_bytes(), range_0_or_more());
  if (!(c.read_latency_ms >= 0)) return wrong(replay_latency(), range_0_or_more());
  if (settings.prompt_pass_tokens < 0) return wrong(replay_prompt_pass_tokens(), range_0_or_more());
  if (settings.in_flight < 1) return wrong(replay_in_flight(), range_1_or_more());
  if (!(settings.snapshot_seconds > 0)) return wrong(replay_snapshot_seconds(), range_more_than_0());
  if (settings.on_demand_blocks < 0) return wrong(replay_on_demand_blocks(), range_0_or_more());
  return {};
}

// Passes of a prompt one behind the other, put together as far as they fit; none is divided.
class JoinedPasses {
 public:
  explicit JoinedPasses(PassSource& source) : source_(source) { source_.rewind(); }

  // Of at most so many tokens, or as the source has it. False: there are no more.
  Result<bool> next(TracePass& pass, std::int64_t most) {
    if (!has_ahead_) {
      FOVEA_TRY(has_ahead_, source_.next(ahead_));
      if (!has_ahead_) return false;
    }
    std::swap(pass, ahead_);
    FOVEA_TRY(has_ahead_, source_.next(ahead_));
    while (has_ahead_ && pass.prefill && ahead_.prefill && pass.tokens + ahead_.tokens <= most) {
      add_ahead(pass);
      FOVEA_TRY(has_ahead_, source_.next(ahead_));
    }
    return true;
  }

 private:
  void add_ahead(TracePass& pass) {
    pass.tokens += ahead_.tokens;
    pass.entropy = ahead_.entropy;
    std::ranges::transform(pass.routed, ahead_.routed, pass.routed.begin(), std::plus());
    sum_.clear();
    std::ranges::merge(pass.uses, ahead_.uses, std::back_inserter(sum_), {}, &precision::ExpertUse::unit,
                       &precision::ExpertUse::unit);
    pass.uses.clear();
    for (const precision::ExpertUse& use : sum_) {
      if (pass.uses.empty() || pass.uses.back().unit != use.unit) {
        pass.uses.push_back(use);
        continue;
      }
      pass.uses.back().tokens += use.tokens;
      pass.uses.back().gate_sum += use.gate_sum;
    }
  }

  PassSource& source_;
  TracePass ahead_;
  bool has_ahead_ = false;
  std::vector<precision::ExpertUse> sum_;
};

// The damage of each unit and tier in one array, and the sums over a replay.
class Meter {
 public:
  explicit Meter(const precision::PolicyWorld& world)
      : tiers_(world.tiers()), damage_(precision::damage_of_use(world)) {
    service_.hits.assign(static_cast<std::size_t>(tiers_), 0);
    service_.gate.assign(static_cast<std::size_t>(tiers_), 0);
  }

  void count(std::int32_t unit, std::uint8_t tier, std::int64_t tokens, double gate) {
    // What is on disk alone is read at the lowest tier.
    if (tier == no_tier) tier = static_cast<std::uint8_t>(tiers_ - 1);
    service_.hits[tier] += tokens;
    service_.gate[tier] += gate;
    service_.loss += gate * damage_[static_cast<std::size_t>(unit * tiers_ + tier)];
  }
  void count_absent(std::int64_t tokens) { service_.absent_hits += tokens; }
  Service take(double mean_bits) {
    service_.mean_bits_per_weight = mean_bits;
    return std::move(service_);
  }

 private:
  std::int64_t tiers_;
  std::vector<double> damage_;
  Service service_;
};

class Replay {
 public:
  Replay(const precision::PolicyWorld& world, precision::Policy& policy, const ReplaySettings& settings,
         std::unique_ptr<ReplayResidency> residency)
      : world_(world), policy_(policy), settings_(settings), residency_(std::move(residency)), meter_(world) {
    if (!settings.snapshots) return;
    snapshots_.emplace(world, settings, *residency_);
    residency_->recorder().on_event = [this](const precision::SwapEvent& event) { snapshots_->hear(event); };
  }

  Result<void> pass(const TracePass& pass) {
    const double seconds =
        static_cast<double>(pass.tokens) /
        (pass.prefill ? settings_.clock.prefill_tok_per_s : settings_.clock.decode_tok_per_s);
    residency_->compute(seconds);
    auto use = pass.uses.begin();
    for (std::size_t layer = 0; use != pass.uses.end(); ++layer) {
      needed_.clear();
      for (; use != pass.uses.end() && use->unit < world_.first_unit[layer + 1]; ++use) serve(*use);
      if (!needed_.empty()) FOVEA_CHECK(residency_->cache().need(needed_));
    }
    if (snapshots_) snapshots_->serve(pass);
    bit_tokens_ += residency_->held_bits() * static_cast<double>(pass.tokens);
    precision::SwapQueue& swaps = residency_->swaps();
    swaps.end_pass();
    policy_.observe(pass.observation());
    decisions_.clear();
    policy_.propose(residency_->versions().targets(), swaps.lengths().sum(), decisions_);
    for (const precision::Decision& decision : decisions_) swaps.request(decision);
    if (const double share = policy_.prompt_wait_share(); pass.prefill && share > 0)
      swaps.settle(share * seconds);
    ++result_.passes;
    result_.tokens += pass.tokens;
    return snapshots_ ? snapshots_->end_pass(pass, policy_) : Result<void>();
  }

  ReplayResult finish() {
    const double unit_tokens = static_cast<double>(result_.tokens) * static_cast<double>(world_.units());
    result_.service = meter_.take(unit_tokens > 0 ? bit_tokens_ / unit_tokens : 0);
    result_.swaps = residency_->counters();
    result_.layer_steps = result_.passes * world_.layers();
    result_.simulated_seconds = residency_->now();
    result_.traffic_share =
        result_.simulated_seconds > 0 ? residency_->busy_seconds() / result_.simulated_seconds : 0;
    return std::move(result_);
  }

 private:
  // What is on disk alone is read before the layer goes on.
  void serve(const precision::ExpertUse& use) {
    const std::uint8_t tier = residency_->versions().tier(use.unit);
    meter_.count(use.unit, tier, use.tokens, static_cast<double>(use.gate_sum));
    if (snapshots_) snapshots_->count(use, tier);
    if (!residency_->cache().on_disk(use.unit)) return;
    ++result_.visits;
    needed_.push_back(use.unit);
    if (tier == no_tier) meter_.count_absent(use.tokens);
  }

  const precision::PolicyWorld& world_;
  precision::Policy& policy_;
  const ReplaySettings& settings_;
  std::unique_ptr<ReplayResidency> residency_;
  Meter meter_;
  ReplayResult result_;
  std::vector<precision::Decision> decisions_;
  std::vector<precision::UnitId> needed_;  // by a layer, of those on disk alone
  double bit_tokens_ = 0;
  std::optional<ReplaySnapshots> snapshots_;
};

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

double Service::hit_rate(std::size_t tier) const {
  return share(static_cast<double>(hits[tier]),
               static_cast<double>(std::reduce(hits.begin(), hits.end(), std::int64_t{0})));
}

double Service::gate_share(std::size_t tier) const {
  return share(gate[tier], std::reduce(gate.begin(), gate.end()));
}

Result<ReplayResult> replay_passes(PassSource& source, const precision::PolicyWorld& world,
                                   precision::Policy& policy, const ReplaySettings& settings,
                                   const ProgressSink& progress, std::stop_token stop) {
  FOVEA_CHECK(check_settings(settings));
  FOVEA_CHECK(precision::check(world));
  if (world.first_unit != source.shape().first_unit())
    return fail(phrases::stage_replay(), errors::replay_other_units());
  FOVEA_TRY(auto residency, ReplayResidency::create(world, settings, policy.initial()));
  Replay run(world, policy, settings, std::move(residency));
  TracePass pass;
  JoinedPasses passes(source);
  const std::int64_t most = settings.prompt_pass_tokens;
  for (std::int64_t count = 0;; ++count) {
    FOVEA_TRY(const bool more, passes.next(pass, most > 0 ? policy.prompt_pass_tokens(most) : 0));
    if (!more) return run.finish();
    FOVEA_CHECK(run.pass(pass));
    if (count % passes_between_reports != 0) continue;
    if (stop.stop_requested()) return fail(phrases::stage_replay(), errors::stopped_on_request());
    if (progress)
      progress({.stage = Progress::Stage::replay,
                .done = count,
                .total = 0,
                .unit = Progress::Unit::passes,
                .item = {}});
  }
}

Result<Totals> count_uses(PassSource& source, std::int64_t tokens, std::stop_token stop) {
  Totals totals;
  totals.tokens.assign(static_cast<std::size_t>(source.shape().units()), 0);
  totals.gate.assign(totals.tokens.size(), 0);
  TracePass pass;
  source.rewind();
  while (tokens == 0 || totals.pass_tokens < tokens) {
    if (stop.stop_requested()) return fail(phrases::stage_replay(), errors::stopped_on_request());
    FOVEA_TRY(const bool more, source.next(pass));
    if (!more) break;
    for (const precision::ExpertUse& use : pass.uses) {
      totals.tokens[static_cast<std::size_t>(use.unit)] += use.tokens;
      totals.gate[static_cast<std::size_t>(use.unit)] += static_cast<double>(use.gate_sum);
    }
    ++totals.passes;
    totals.pass_tokens += pass.tokens;
    totals.largest_pass = std::max(totals.largest_pass, pass.tokens);
  }
  return totals;
}

Service serve_fixed(const Totals& totals, const precision::PolicyWorld& world,
                    std::span<const std::uint8_t> tiers) {
  Meter meter(world);
  double bits = 0;
  for (std::size_t unit = 0; unit < tiers.size(); ++unit) {
    meter.count(static_cast<std::int32_t>(unit), tiers[unit], totals.tokens[unit], totals.gate[unit]);
    if (tiers[unit] == no_tier)
      meter.count_absent(totals.tokens[unit]);
    else
      bits += world.bits_per_weight[tiers[unit]];
  }
  return meter.take(bits / static_cast<double>(std::max<std::size_t>(1, tiers.size())));
}

}  // namespace fovea::eval
