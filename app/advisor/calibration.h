// Half a minute of real work: how fast a loaded model writes, beside what was predicted.
#pragma once

#include <cstdint>
#include <stop_token>

#include "engine/api/engine.h"
#include "engine/api/progress.h"

namespace fovea::app {

// Of the prompt behind which the first token is predicted and measured, where the context holds as many.
inline constexpr std::int64_t usual_prompt_tokens = 512;

struct CalibrationSettings {
  double max_seconds = 30;
  int rounds = 8;  // of about a second; the first one warms up
  double round_seconds = 1;
};

struct CalibrationResult {
  double seconds = 0;
  std::int64_t tokens = 0;                                 // that were written
  double tokens_per_second = 0, slowest = 0, fastest = 0;  // median, of the rounds
  double first_token_seconds = 0;                          // behind a prompt of usual_prompt_tokens
  double read_gb_per_s = 0;                                // memory, measured now
  std::int64_t bytes_per_token = 0;                        // that the engine reads
  // Both without what is kept free of the budget: the plan's (0: none was made), and the engine's counters.
  std::int64_t planned_bytes = 0, accounted_bytes = 0;
  std::int64_t resident_bytes = 0;  // of the whole program, as the system counts it
};

// Progress counts milliseconds. ErrorKind::cancelled when stopped before a round was measured.
Result<CalibrationResult> calibrate(Engine& engine, const CalibrationSettings& settings,
                                    const ProgressSink& progress = {}, std::stop_token stop = {});

// Of this process; 0 where the system does not tell.
std::int64_t resident_bytes();

}  // namespace fovea::app
