#include "app/advisor/calibration.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>
#include <unistd.h>
#include <vector>

#include "app/advisor/errors.h"
#include "app/library/fit.h"
#include "engine/api/evaluate.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::int64_t accounted(const Engine& engine) {
  const Plan& plan = engine.plan().plan;
  if (const auto use = engine.precision())
    return use->accounted_bytes - plan.parts.safety - plan.first_card.parts.safety;
  const MemoryUse memory = engine.memory();
  return memory.on_device() + memory.first_card;
}

}  // namespace

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * ::sysconf(_SC_PAGESIZE);
}

Result<CalibrationResult> calibrate(Engine& engine, const CalibrationSettings& settings,
                                    const ProgressSink& progress, std::stop_token stop) {
  constexpr std::int64_t first_tokens = 2;
  const auto begin = Clock::now();
  const double expected = std::min(settings.max_seconds, settings.round_seconds * (settings.rounds + 1) + 1);
  const auto tell = [&] {
    if (!progress) return;
    progress({Progress::Stage::calibrating,
              static_cast<std::int64_t>(1000 * std::min(expected, seconds_since(begin))),
              static_cast<std::int64_t>(1000 * expected),
              Progress::Unit::milliseconds,
              {}});
  };
  tell();
  CalibrationResult result;
  std::vector<double> speeds;
  std::int64_t count = std::min(first_tokens, engine.settings().context);
  std::int64_t depth = 0;
  for (int round = 0; round <= settings.rounds; ++round) {
    if (stop.stop_requested() || (round > 1 && seconds_since(begin) > settings.max_seconds)) break;
    FOVEA_TRY(const std::vector<double> each, engine.time_decode(0, count));
    const double seconds = std::max(sum(each), 1e-9);
    tell();
    if (round > 0) {
      speeds.push_back(static_cast<double>(each.size()) / seconds);
      result.tokens += std::ssize(each);
      depth = count;
    }
    const double wanted = settings.round_seconds * static_cast<double>(count) / seconds;
    count = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), first_tokens,
                                     std::min<std::int64_t>(engine.settings().context, 512));
  }
  if (speeds.empty() || stop.stop_requested())
    return fail(phrases::speed_measurement(), errors::measurement_stopped());
  const Spread speed = spread(speeds);
  result.tokens_per_second = speed.median;
  result.slowest = speed.min;
  result.fastest = speed.max;
  FOVEA_TRY(result.first_token_seconds,
            engine.time_prefill(std::min(usual_prompt_tokens, engine.settings().context)));
  tell();
  result.read_gb_per_s = engine.measure_ceiling().read_gb_per_s;
  const TokenCost cost = engine.cost();
  result.bytes_per_token = cost.weight_bytes + cost.kv_bytes(depth / 2);
  if (engine.plan().policy() != PolicyKind::none) result.planned_bytes = taken_bytes(engine.plan().plan);
  result.accounted_bytes = accounted(engine);
  result.resident_bytes = resident_bytes();
  result.seconds = seconds_since(begin);
  return result;
}

}  // namespace fovea::app
