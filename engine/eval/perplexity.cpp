#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/evaluate.h"
#include "engine/core/result.h"

namespace fovea {
namespace {

// The token that the tokeniser puts before every text, if it does.
std::optional<TokenId> begin_of_text(const TextModel& text) {
  const auto plain = text.encode("a");
  const auto with_special = text.encode("a", {.add_special = true});
  if (with_special.size() <= plain.size() || plain.empty() || with_special.front() == plain.front())
    return {};
  return with_special.front();
}

// −ln softmax(logits)[token]
double negative_log_likelihood(std::span<const float> logits, TokenId token) {
  const float top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) {
    const float below = logit - top;
    if (below > -40) sum += static_cast<double>(std::exp(below));  // less would not change the sum
  }
  return std::log(sum) + static_cast<double>(top - logits[static_cast<std::size_t>(token)]);
}

// Mean and its standard error.
struct Sum {
  double value = 0;
  double squares = 0;
  std::int64_t count = 0;

  void add(double x) {
    value += x;
    squares += x * x;
    ++count;
  }
  double mean() const { return value / static_cast<double>(count); }
  double standard_error() const {
    const double variance = squares / static_cast<double>(count) - mean() * mean();
    return count > 1 && variance > 0 ? std::sqrt(variance / static_cast<double>(count - 1)) : 0;
  }
};

Result<void> check(const Engine& engine, const PerplexitySettings& settings) {
  if (engine.text() == nullptr)
    return fail(ErrorKind::unsupported, engine.info().path.string(),
                "the model was loaded without a tokeniser");
  if (settings.context < 4 || settings.context > engine.settings().context) {
    return fail(ErrorKind::invalid, "context",
                "the window is " + std::to_string(settings.context) + " tokens, it must be 4 … " +
                    std::to_string(engine.settings().context));
  }
  if (settings.chunks < 0) return fail(ErrorKind::invalid, "chunks", "the number must be 0 (all) or more");
  return {};
}

}  // namespace

Result<PerplexityResult> perplexity(Engine& engine, std::string_view text, const PerplexitySettings& settings,
                                    const ProgressSink& progress, std::stop_token stop) {
  FOVEA_CHECK(check(engine, settings));
  const std::int64_t context = settings.context;
  std::vector<TokenId> tokens = engine.text()->encode(text, {.add_special = true});
  const auto begin = begin_of_text(*engine.text());
  std::int64_t windows = std::ssize(tokens) / context;
  if (windows == 0) {
    return fail(
        ErrorKind::invalid, "text",
        "it has " + std::to_string(tokens.size()) + " tokens, one window needs " + std::to_string(context),
        "Give a longer text or a smaller window");
  }
  if (settings.chunks > 0) windows = std::min(windows, settings.chunks);

  Sum nll;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t window = 0; window < windows; ++window) {
    if (progress)
      progress({.stage = "perplexity",
                .done = window * context,
                .total = windows * context,
                .unit = "tokens",
                .item = nll.count > 0 ? std::to_string(std::exp(nll.mean())) : ""});
    const std::span part = std::span(tokens).subspan(static_cast<std::size_t>(window * context),
                                                     static_cast<std::size_t>(context));
    // The first position is never scored, so its token may become the begin of text.
    if (begin) part.front() = *begin;
    const auto score = [&](std::int64_t position, std::span<const float> logits) {
      if (position + 1 < context)
        nll.add(negative_log_likelihood(logits, part[static_cast<std::size_t>(position + 1)]));
    };
    FOVEA_CHECK(engine.logits(part, score, stop, context / 2));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double value = std::exp(nll.mean());
  return PerplexityResult{.perplexity = value,
                          .standard_error = value * nll.standard_error(),
                          .tokens = nll.count,
                          .chunks = windows,
                          .tokens_per_second = static_cast<double>(windows * context) / seconds.count()};
}

}  // namespace fovea
