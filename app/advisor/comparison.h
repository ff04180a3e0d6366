// Two settings of one model beside each other: with either it reads the same text and writes for some
// seconds. One after the other, so that never both are in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/advisor/calibration.h"
#include "engine/api/engine.h"
#include "engine/api/evaluate.h"
#include "engine/api/tasks.h"

namespace fovea::app {

// Of the text windows of so many tokens are read, the second half of each is scored
// (engine/api/evaluate.h). At least two, since one alone says nothing of chance.
inline constexpr std::int64_t comparison_window = 128;
inline constexpr std::int64_t least_comparison_windows = 2;
inline constexpr std::int64_t most_comparison_windows = 32;
// Of so many of them it is compared which experts are chosen.
inline constexpr std::int64_t routed_windows = 4;

struct ComparisonRequest {
  LoadOptions first = {}, second = {};
  std::string text = {};
  CalibrationSettings speed = {.max_seconds = 20, .rounds = 5, .round_seconds = 0.6};
};

// That the routers chose for the text's beginning.
struct ChosenExperts {
  std::size_t used = 0;                // for a token
  std::vector<std::int32_t> ids = {};  // [tokens, layers, used], ascending; empty: the model has no experts
};

struct ComparedSetting {
  PerplexityResult reading;
  CalibrationResult writing;
  ChosenExperts experts = {};
  std::int64_t bytes = 0;  // that it holds, without what is kept free: on the device and beside it
};

struct SettingsComparison {
  ComparedSetting first, second;
  std::int64_t tokens = 0;  // of the text, that were scored
  // ln p of a token of the text: mean nats, over windows of the text.
  PairedDifference log_likelihood;
  // Of the experts that the first one's routers chose, the share that the second one's chose for the same
  // tokens (routing fidelity, where the first is the model as its file has it); nothing: it has no experts.
  std::optional<double> same_experts = {};

  // Of the probability that the first gives to the text's tokens, what the second gives: the geometric mean.
  double kept() const;
  // Beyond two standard errors.
  bool quality_differs() const;
  // The rounds of one were all faster than those of the other.
  bool speed_differs() const;
};

struct ComparisonProgress {
  int setting = 0;          // 0: the first
  Progress part = {};       // of loading, reading or writing
  double seconds_left = 0;  // of all, at the speed so far; 0: not known yet
};

// How an engine is made.
using ComparisonLoader = std::function<Result<std::unique_ptr<Engine>>(
    const LoadOptions&, const ProgressSink&, const std::stop_token&)>;

// ErrorKind::cancelled when stopped; ErrorKind::invalid: the text is no UTF-8 or too short; else those of
// loading. Swap logs of the settings are not written.
Result<SettingsComparison> compare_settings(
    const ComparisonRequest& request, const ComparisonLoader& load,
    const std::function<void(const ComparisonProgress&)>& progress = {}, std::stop_token stop = {});

}  // namespace fovea::app
