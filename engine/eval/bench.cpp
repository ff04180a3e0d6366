#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "engine/api/evaluate.h"
#include "engine/core/result.h"
#include "engine/eval/errors.h"
#include "engine/eval/statistics.h"

namespace fovea {
namespace {

std::int64_t steps(const BenchSettings& settings) {
  return settings.repetitions + 1;
}

Result<void> check(const Engine& engine, const BenchSettings& settings) {
  const std::int64_t context = engine.settings().context;
  if (settings.repetitions < 1) return fail(phrases::option_place("repetitions"), errors::bench_needs_one());
  if (settings.prompt_tokens < 0 || settings.generated_tokens < 0 ||
      settings.prompt_tokens + settings.generated_tokens == 0)
    return fail(phrases::option_place("tokens"), errors::bench_without_tokens());
  const std::int64_t most = settings.depth + std::max(settings.prompt_tokens, settings.generated_tokens);
  if (most > context) {
    return fail(phrases::option_place("tokens"), errors::bench_beyond_context(most, context));
  }
  return {};
}

// Prefill and decode take turns, so that a disturbance of the machine meets both. The first round warms up.
struct Rounds {
  std::vector<double> prefill_seconds;              // [repetitions]
  std::vector<std::vector<double>> decode_seconds;  // [repetitions, generated]
};

Result<Rounds> measure(Engine& engine, const BenchSettings& settings, const ProgressSink& progress,
                       const std::stop_token& stop) {
  Rounds rounds;
  for (std::int64_t round = 0; round < steps(settings); ++round) {
    if (progress)
      progress({.stage = Progress::Stage::bench,
                .done = round,
                .total = steps(settings),
                .unit = Progress::Unit::rounds,
                .item = {}});
    if (stop.stop_requested()) return fail(phrases::stage_bench(), errors::stopped_on_request());
    if (settings.prompt_tokens > 0) {
      FOVEA_TRY(const double seconds,
                engine.time_prefill(settings.prompt_tokens, settings.depth, settings.depth > 0));
      if (round > 0) rounds.prefill_seconds.push_back(seconds);
    }
    if (stop.stop_requested()) return fail(phrases::stage_bench(), errors::stopped_on_request());
    if (settings.generated_tokens > 0) {
      FOVEA_TRY(auto seconds,
                engine.time_decode(settings.depth, settings.generated_tokens, settings.depth > 0));
      if (round > 0) rounds.decode_seconds.push_back(std::move(seconds));
    }
  }
  return rounds;
}

double share(double used, double ceiling) {
  return ceiling > 0 ? used / ceiling : 0;  // 0 where it could not be measured
}

SpeedResult speed(std::int64_t tokens, const std::vector<double>& seconds) {
  std::vector<double> per_second;
  for (const double each : seconds) per_second.push_back(static_cast<double>(tokens) / each);
  return {.tokens = tokens, .tokens_per_second = spread(per_second)};
}

std::vector<double> milliseconds(std::vector<double> seconds) {
  for (double& each : seconds) each *= 1000;
  return seconds;
}

}  // namespace

Result<BenchResult> bench(Engine& engine, const BenchSettings& settings, const ProgressSink& progress,
                          std::stop_token stop) {
  FOVEA_CHECK(check(engine, settings));
  if (stop.stop_requested()) return fail(phrases::stage_bench(), errors::stopped_on_request());
  BenchResult result;
  result.depth = settings.depth;
  const TokenCost cost = engine.cost();
  const Ceiling ceiling = engine.measure_ceiling();
  result.bandwidth_gb_per_s = ceiling.read_gb_per_s;
  result.peak_gop_per_s = ceiling.peak_gop_per_s;
  FOVEA_TRY(const Rounds rounds, measure(engine, settings, progress, stop));

  if (settings.prompt_tokens > 0) {
    result.prefill = speed(settings.prompt_tokens, rounds.prefill_seconds);
    result.ttft_ms = eval::percentiles(milliseconds(rounds.prefill_seconds));
    // The output layer runs once for a prompt, for its last token.
    const double operations =
        2 * (static_cast<double>(cost.multiply_adds) +
             static_cast<double>(cost.output_multiply_adds) / static_cast<double>(settings.prompt_tokens));
    result.prefill.ceiling_share =
        share(operations * result.prefill.tokens_per_second.median, ceiling.peak_gop_per_s * 1e9);
  }
  if (settings.generated_tokens > 0) {
    std::vector<double> totals;
    std::vector<double> each;
    for (const std::vector<double>& run : rounds.decode_seconds) {
      totals.push_back(std::accumulate(run.begin(), run.end(), 0.0));
      each.insert(each.end(), run.begin(), run.end());
    }
    result.decode = speed(settings.generated_tokens, totals);
    result.tpot_ms = eval::percentiles(milliseconds(each));
    const std::int64_t mean_context = settings.depth + (settings.generated_tokens + 1) / 2;
    const auto bytes =
        static_cast<double>(cost.weight_bytes - cost.host_weight_bytes + cost.kv_bytes(mean_context));
    result.decode.ceiling_share =
        share(bytes * result.decode.tokens_per_second.median, ceiling.read_gb_per_s * 1e9);
  }
  return result;
}

}  // namespace fovea
