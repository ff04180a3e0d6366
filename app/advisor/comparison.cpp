#include "app/advisor/comparison.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <span>

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
    read_again_ = 0;
    seconds_ = 0;
  }

  // So many of the text's tokens are read once more behind the reading.
  void expect_again(std::int64_t tokens) { read_again_ = tokens; }

  void tell(const Progress& part) {
    if (part.stage == Progress::Stage::perplexity) {
      if (!before_reading_) before_reading_ = elapsed();
      if (part.done > 0) {
        const double reading = elapsed() - *before_reading_;
        seconds_ = *before_reading_ +
                   reading * static_cast<double>(part.total + std::min(part.total, read_again_)) /
                       static_cast<double>(part.done) +
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
  std::int64_t read_again_ = 0;
  double seconds_ = 0;        // that this setting will have taken; 0: not known
  double other_seconds_ = 0;  // that the first one took
};

// What its routers choose for the text's first windows.
Result<ChosenExperts> chosen_experts(Engine& engine, std::string_view text, std::int64_t window,
                                     const std::stop_token& stop) {
  ChosenExperts chosen{.used = static_cast<std::size_t>(engine.info().experts_used)};
  const std::size_t layers = engine.expert_layers().size();
  if (layers == 0) return chosen;
  const auto keep = [&](const PassRouting& pass) -> Result<void> {
    const std::size_t before = chosen.ids.size(), row = layers * chosen.used;
    chosen.ids.resize(before + static_cast<std::size_t>(pass.tokens) * row);
    for (std::size_t token = 0; token < static_cast<std::size_t>(pass.tokens); ++token) {
      for (std::size_t layer = 0; layer < layers; ++layer) {
        const auto to =
            std::span(chosen.ids).subspan(before + token * row + layer * chosen.used, chosen.used);
        std::ranges::copy(pass.layers[layer].ids.subspan(token * chosen.used, chosen.used), to.begin());
        std::ranges::sort(to);
      }
    }
    return {};
  };
  const std::vector<TokenId> tokens = engine.text()->encode(text, {.add_special = true});
  const auto last = std::min<std::int64_t>(std::ssize(tokens), routed_windows * window);
  for (std::int64_t at = 0; at < last; at += window) {
    const std::int64_t count = std::min(window, last - at);
    const auto part =
        std::span(tokens).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
    FOVEA_CHECK(engine.routing(part, window, keep, stop));
  }
  return chosen;
}

std::optional<double> share_of_same(const ChosenExperts& first, const ChosenExperts& second) {
  if (first.ids.empty() || first.ids.size() != second.ids.size()) return std::nullopt;
  std::vector<std::int32_t> both;
  for (std::size_t at = 0; at < first.ids.size(); at += first.used)
    std::ranges::set_intersection(std::span(first.ids).subspan(at, first.used),
                                  std::span(second.ids).subspan(at, first.used), std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(first.ids.size());
}

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
  if (!engine->expert_layers().empty()) clock.expect_again(routed_windows * reading.context);
  FOVEA_TRY(found.reading, perplexity(*engine, request.text, reading, tell, stop));
  if (found.reading.chunks < least_comparison_windows)
    return fail(phrases::compared_text(),
                errors::compared_text_too_short(least_comparison_windows * reading.context));
  FOVEA_TRY(found.experts, chosen_experts(*engine, request.text, reading.context, stop));
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
  found.same_experts = share_of_same(found.first.experts, found.second.experts);
  found.log_likelihood = difference_of(found.first.reading.windows, found.second.reading.windows);
  return found;
}

}  // namespace fovea::app
