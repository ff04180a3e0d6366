#include "app/advisor/comparison.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "app/advisor/errors.h"
#include "app/files/files.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// How far a comparison is, and how long it will take: the other setting about as long as this one.
class ComparisonClock {
 public:
  ComparisonClock(const std::function<void(const ComparisonProgress&)>& sink, double writing_seconds)
      : sink_(sink), writing_seconds_(writing_seconds) {}

  void begin(int setting) {
    if (setting > 0) other_seconds_ = elapsed();
    setting_ = setting;
    start_ = Clock::now();
    before_reading_.reset();
    seconds_ = 0;
  }

  void tell(const Progress& part) {
    if (part.stage == Progress::Stage::perplexity) {
      if (!before_reading_) before_reading_ = elapsed();
      if (part.done > 0) {
        const double reading = elapsed() - *before_reading_;
        seconds_ = *before_reading_ +
                   reading * static_cast<double>(part.total) / static_cast<double>(part.done) +
                   writing_seconds_;
      }
    }
    if (!sink_) return;
    const double own = seconds_ > 0 ? seconds_ : other_seconds_;
    const double left = std::max(0.0, own - elapsed()) + (setting_ == 0 ? own : 0);
    sink_({.setting = setting_, .part = part, .seconds_left = left});
  }

 private:
  using Clock = std::chrono::steady_clock;
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const std::function<void(const ComparisonProgress&)>& sink_;
  double writing_seconds_;
  int setting_ = 0;
  Clock::time_point start_ = Clock::now();
  std::optional<double> before_reading_;
  double seconds_ = 0;        // that this setting will have taken; 0: not known
  double other_seconds_ = 0;  // that the first one took
};

Result<ComparedSetting> try_setting(LoadOptions options, const ComparisonRequest& request,
                                    const ComparisonLoader& load, ComparisonClock& clock,
                                    const std::stop_token& stop) {
  options.precision.events.clear();
  const ProgressSink tell = [&clock](const Progress& part) { clock.tell(part); };
  tell({});
  FOVEA_TRY(const std::unique_ptr<Engine> engine, load(options, tell, stop));
  const PerplexitySettings reading{.context = std::min(comparison_window, engine->settings().context),
                                   .chunks = most_comparison_windows};
  ComparedSetting found;
  FOVEA_TRY(found.reading, perplexity(*engine, request.text, reading, tell, stop));
  if (found.reading.chunks < least_comparison_windows)
    return fail(phrases::compared_text(),
                errors::compared_text_too_short(least_comparison_windows * reading.context));
  FOVEA_TRY(found.writing, calibrate(*engine, request.speed, tell, stop));
  const MemoryUse memory = engine->memory();
  found.bytes = found.writing.accounted_bytes + memory.host_weights + memory.host_cache + memory.host_buffers;
  return found;
}

PairedDifference difference_of(const std::vector<WindowScore>& first,
                               const std::vector<WindowScore>& second) {
  const auto count = static_cast<double>(first.size());
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < first.size(); ++i) sum += first[i].nll - second[i].nll;
  const double mean = sum / count;
  for (std::size_t i = 0; i < first.size(); ++i) squares += std::pow(first[i].nll - second[i].nll - mean, 2);
  return {.value = mean, .standard_error = std::sqrt(squares / (count * (count - 1)))};
}

}  // namespace

double SettingsComparison::kept() const {
  return std::exp(log_likelihood.value);
}

bool SettingsComparison::quality_differs() const {
  return std::abs(log_likelihood.value) > 2 * log_likelihood.standard_error.value_or(0);
}

bool SettingsComparison::speed_differs() const {
  return first.writing.fastest < second.writing.slowest || second.writing.fastest < first.writing.slowest;
}

Result<SettingsComparison> compare_settings(const ComparisonRequest& request, const ComparisonLoader& load,
                                            const std::function<void(const ComparisonProgress&)>& progress,
                                            std::stop_token stop) {
  if (invalid_utf8(request.text) != std::string_view::npos)
    return fail(phrases::compared_text(), errors::compared_text_not_utf8());
  // A round more warms up; a prompt is read and the memory measured behind them.
  ComparisonClock clock(progress, request.speed.round_seconds * (request.speed.rounds + 1) + 2);
  SettingsComparison found;
  clock.begin(0);
  FOVEA_TRY(found.first, try_setting(request.first, request, load, clock, stop));
  clock.begin(1);
  FOVEA_TRY(found.second, try_setting(request.second, request, load, clock, stop));
  if (found.first.reading.tokens != found.second.reading.tokens)
    return fail(phrases::compared_text(),
                errors::compared_otherwise(found.first.reading.tokens, found.second.reading.tokens));
  found.tokens = found.first.reading.tokens;
  found.log_likelihood = difference_of(found.first.reading.windows, found.second.reading.windows);
  return found;
}

}  // namespace fovea::app
