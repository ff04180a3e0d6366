// bench_policy: what a policy takes for one decoded token, what its updates and the best static mix take, and
// how fast a whole replay with pools and pipeline runs, at the sizes of today's models.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "engine/api/replay.h"
#include "engine/eval/synthetic_trace.h"
#include "engine/precision/best_mix.h"
#include "engine/precision/dynaexq.h"
#include "engine/precision/fovea_policy.h"

using namespace fovea;

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::duration time) {
  return std::chrono::duration<double, std::nano>(time).count();
}

precision::PolicyWorld world_of(const eval::TraceShape& shape) {
  precision::PolicyWorld world{.first_unit = shape.first_unit(),
                               .bits_per_weight = {4.5, 2.25},
                               .unit_bytes = {},
                               .damage = {},
                               .capacity = {},
                               .spare_blocks = 2,
                               .high_per_layer = shape.layers.front().experts / 4,
                               .uses = {}};
  for (std::int64_t unit = 0; unit < world.units(); ++unit)
    world.unit_bytes.insert(world.unit_bytes.end(), {2'654'208, 1'327'104});
  const std::int64_t high = world.high_per_layer * world.layers();
  world.capacity = {high, world.units() - high};
  return world;
}

// Four tiers, as many units at each to begin with, in memory for any mix, where these numbers follow the
// uses.
precision::PolicyWorld four_tiers(precision::PolicyWorld world) {
  world.bits_per_weight = {8.5, 4.25, 3.25, 2.25};
  world.unit_bytes.clear();
  for (std::int64_t unit = 0; unit < world.units(); ++unit)
    world.unit_bytes.insert(world.unit_bytes.end(), {5'013'504, 2'506'752, 1'916'928, 1'327'104});
  world.capacity.assign(4, world.units() / 4);
  for (std::size_t tier = 0; tier < 4; ++tier)
    world.any_mix_bytes += (world.capacity[tier] + world.spare_blocks) * world.unit_bytes[tier];
  return world;
}

// What a decoded token takes, in nanoseconds, sorted.
struct Times {
  std::vector<double> observing, proposing, both;
};

Times time_policy(precision::Policy& policy, const std::vector<eval::TracePass>& passes) {
  Times times;
  std::vector<std::uint8_t> tiers = policy.initial();
  std::vector<precision::Decision> decisions;
  for (int round = 0; round < 5; ++round) {
    for (const eval::TracePass& pass : passes) {
      const auto start = Clock::now();
      policy.observe(pass.observation());
      const auto observed = Clock::now();
      decisions.clear();
      policy.propose(tiers, 0, decisions);
      const auto end = Clock::now();
      times.observing.push_back(nanoseconds(observed - start));
      times.proposing.push_back(nanoseconds(end - observed));
      times.both.push_back(nanoseconds(end - start));
      for (const auto& d : decisions) tiers[static_cast<std::size_t>(d.unit)] = d.target;
    }
  }
  for (auto* each : {&times.observing, &times.proposing, &times.both}) std::ranges::sort(*each);
  return times;
}

double at(const std::vector<double>& sorted, double share) {  // in microseconds
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(sorted.size())))] /
         1e3;
}

int measure(const char* model) {
  auto routing = synthetic_like(model);
  routing->tokens = 2000;
  const auto passes = *eval::make_synthetic(*routing);
  std::vector<eval::TracePass> kept;
  for (eval::TracePass pass; passes->next(pass).value_or(false);) kept.push_back(pass);

  const precision::PolicyWorld world = world_of(passes->shape());
  auto policy = precision::make_dynaexq(world, {});
  if (!policy) return std::fprintf(stderr, "%s\n", policy.error().message().c_str()), 1;
  const Times dynaexq = time_policy(**policy, kept);
  const precision::PolicyWorld four = four_tiers(world);
  auto fovea = precision::make_fovea(four, {}, precision::best_fill(four, precision::expected_loss(four)));
  if (!fovea) return std::fprintf(stderr, "%s\n", fovea.error().message().c_str()), 1;
  const Times ours = time_policy(**fovea, kept);
  const std::vector<double> uses((*policy)->hotness().begin(), (*policy)->hotness().end());
  const auto loss = precision::expected_loss(world, uses);
  const auto start = Clock::now();
  const auto mix = precision::best_mix(
      {.tiers = 2, .bytes = world.unit_bytes, .loss = loss, .budget_bytes = world.units() * 1'700'000});
  const double mix_ms = nanoseconds(Clock::now() - start) / 1e6;
  const ReplayRequest request{
      .trace = {}, .synthetic = *routing, .tiers = {"file", "q2=2.25"}, .high_share = 0.25};
  const auto report = replay(request);
  if (!report) return std::fprintf(stderr, "%s\n", report.error().message().c_str()), 1;
  const double steps_per_minute = 60 * static_cast<double>(report->layer_steps) / report->wall_seconds;
  std::printf(
      "%-20s observe %6.1f us, propose %6.2f us (median), %6.1f us (longest of %zu), best mix %.2f ms, "
      "replay %.1f million layer steps a minute\n",
      model, at(dynaexq.observing, 0.5), at(dynaexq.proposing, 0.5), at(dynaexq.proposing, 0.999),
      dynaexq.proposing.size(), mix_ms, steps_per_minute / 1e6);
  std::printf(
      "%-20s fovea, four tiers: a token %6.1f us (median), %6.1f us (99th percentile), %6.1f us (longest)\n",
      model, at(ours.both, 0.5), at(ours.both, 0.99), at(ours.both, 1));
  return mix ? 0 : 1;
}

}  // namespace

int main() {
  return measure("qwen3-30b-a3b") + measure("qwen3-next-80b-a3b");
}
