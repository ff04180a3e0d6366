#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "engine/api/evaluate.h"
#include "engine/core/result.h"
#include "engine/eval/errors.h"
#include "engine/eval/likelihood.h"
#include "engine/eval/reference_logits.h"

namespace fovea {
namespace {

using eval::log_sum;

// Σ p ln (p / q) for p = softmax(reference), q = softmax(logits), whose log_sum are `p_sum` and `q_sum`
double kl_divergence(std::span<const float> reference, double p_sum, std::span<const float> logits,
                     double q_sum) {
  double kl = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double log_p = static_cast<double>(reference[i]) - p_sum;
    if (log_p > -40) kl += std::exp(log_p) * (log_p - (static_cast<double>(logits[i]) - q_sum));
  }
  return std::max(kl, 0.0);
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
  void add(const Sum& other) {
    value += other.value;
    squares += other.squares;
    count += other.count;
  }
  double mean() const { return value / static_cast<double>(count); }
  double standard_error() const {
    const double variance = squares / static_cast<double>(count) - mean() * mean();
    return count > 1 && variance > 0 ? std::sqrt(variance / static_cast<double>(count - 1)) : 0;
  }
};

// The reference's logits of one window's scored half, and what comparing with them has summed up.
class Comparison {
 public:
  static Result<std::optional<Comparison>> begin(const PerplexitySettings& settings, const Engine& engine) {
    const eval::LogitsShape shape{
        .vocabulary = engine.info().vocabulary, .context = settings.context, .first = settings.context / 2};
    Comparison comparison(shape.first);
    std::error_code ignored;
    const bool kept = std::filesystem::exists(settings.reference_logits, ignored);
    if (kept) {
      FOVEA_TRY(comparison.reader_, eval::LogitsReader::open(settings.reference_logits, shape));
    } else if (settings.reference == nullptr) {
      if (settings.reference_logits.empty()) return std::nullopt;
      return fail(phrases::file_place(settings.reference_logits), errors::reference_missing());
    } else {
      comparison.reference_ = settings.reference;
      if (!settings.reference_logits.empty()) {
        FOVEA_TRY(auto writer, eval::LogitsWriter::create(settings.reference_logits, shape));
        comparison.writer_.emplace(std::move(writer));
      }
    }
    return std::optional(std::move(comparison));
  }

  Result<void> compute(std::int64_t number, std::span<const TokenId> window, const std::stop_token& stop) {
    if (reader_) {
      FOVEA_TRY(rows_, reader_->window(number, window));
      return {};
    }
    computed_.clear();
    FOVEA_CHECK(reference_->logits(
        window,
        [&](std::int64_t, std::span<const float> row) {
          computed_.insert(computed_.end(), row.begin(), row.end());
        },
        stop, first_));
    rows_ = computed_;
    return writer_ ? writer_->add(window, rows_) : Result<void>();
  }

  Result<void> finish() { return writer_ ? writer_->finish() : Result<void>(); }

  // Returns the divergence at this position. `sum`: log_sum(logits).
  double add(std::int64_t position, std::span<const float> logits, double sum, TokenId next) {
    const auto reference =
        rows_.subspan(static_cast<std::size_t>(position - first_) * logits.size(), logits.size());
    const double reference_sum = log_sum(reference);
    const double kl = kl_divergence(reference, reference_sum, logits, sum);
    kl_.add(kl);
    nll_.add(reference_sum - static_cast<double>(reference[static_cast<std::size_t>(next)]));
    agreed_ += std::ranges::max_element(reference) - reference.begin() ==
               std::ranges::max_element(logits) - logits.begin();
    return kl;
  }

  Divergence result() const {
    return {.mean_kl = kl_.mean(),
            .standard_error = kl_.standard_error(),
            .top1_agreement = static_cast<double>(agreed_) / static_cast<double>(kl_.count),
            .reference_perplexity = std::exp(nll_.mean())};
  }

 private:
  explicit Comparison(std::int64_t first) : first_(first) {}

  Engine* reference_ = nullptr;
  std::optional<eval::LogitsReader> reader_;
  std::optional<eval::LogitsWriter> writer_;
  std::int64_t first_;
  std::vector<float> computed_;
  std::span<const float> rows_;  // [context − first, vocabulary]
  Sum kl_, nll_;
  std::int64_t agreed_ = 0;
};

Result<void> check_reference(const Engine& engine, const PerplexitySettings& settings) {
  if (settings.reference == nullptr) return {};
  const Engine& reference = *settings.reference;
  if (reference.info().vocabulary != engine.info().vocabulary)
    return fail(phrases::file_place(reference.info().path),
                errors::reference_vocabulary(reference.info().vocabulary, engine.info().vocabulary));
  if (reference.settings().context < settings.context)
    return fail(phrases::file_place(reference.info().path),
                errors::reference_context(reference.settings().context, settings.context));
  return {};
}

Result<void> check(const Engine& engine, const PerplexitySettings& settings) {
  if (engine.text() == nullptr)
    return fail(phrases::file_place(engine.info().path), errors::perplexity_without_tokeniser());
  if (settings.context < min_window)
    return fail(phrases::option_place("context"),
                errors::perplexity_window_too_short(settings.context, min_window));
  if (settings.context > engine.settings().context)
    return fail(phrases::option_place("context"),
                errors::perplexity_window_beyond_context(settings.context, engine.settings().context));
  if (settings.chunks < 0) return fail(phrases::option_place("chunks"), errors::perplexity_negative_chunks());
  return {};
}

}  // namespace

Result<PerplexityResult> perplexity(Engine& engine, std::string_view text, const PerplexitySettings& settings,
                                    const ProgressSink& progress, std::stop_token stop) {
  FOVEA_CHECK(check(engine, settings));
  FOVEA_CHECK(check_reference(engine, settings));
  const std::int64_t context = settings.context;
  std::vector<TokenId> tokens = engine.text()->encode(text, {.add_special = true});
  const std::optional<TokenId> begin = engine.text()->begin();
  std::int64_t windows = std::ssize(tokens) / context;
  if (windows == 0) {
    return fail(phrases::name_place(settings.name),
                errors::perplexity_text_too_short(std::ssize(tokens), context));
  }
  if (settings.chunks > 0) windows = std::min(windows, settings.chunks);

  Sum nll;
  std::vector<WindowScore> scores;
  FOVEA_TRY(std::optional<Comparison> comparison, Comparison::begin(settings, engine));
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t window = 0; window < windows; ++window) {
    if (progress)
      progress({.stage = Progress::Stage::perplexity,
                .done = window * context,
                .total = windows * context,
                .unit = Progress::Unit::tokens,
                .item = nll.count > 0 ? std::to_string(std::exp(nll.mean())) : ""});
    const std::span part = std::span(tokens).subspan(static_cast<std::size_t>(window * context),
                                                     static_cast<std::size_t>(context));
    // The first position is never scored, so its token may become the begin of text.
    if (begin) part.front() = *begin;
    if (comparison) FOVEA_CHECK(comparison->compute(window, part, stop));
    Sum window_nll, window_kl;
    std::vector<float> token_kl;
    const auto score = [&](std::int64_t position, std::span<const float> logits) {
      if (position + 1 == context) return;
      const TokenId next = part[static_cast<std::size_t>(position + 1)];
      const double sum = log_sum(logits);
      window_nll.add(sum - static_cast<double>(logits[static_cast<std::size_t>(next)]));
      if (!comparison) return;
      const double kl = comparison->add(position, logits, sum, next);
      window_kl.add(kl);
      token_kl.push_back(static_cast<float>(kl));
    };
    FOVEA_CHECK(engine.logits(part, score, stop, context / 2));
    nll.add(window_nll);
    scores.push_back(
        {.nll = window_nll.mean(), .kl = comparison ? window_kl.mean() : 0, .token_kl = std::move(token_kl)});
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double value = std::exp(nll.mean());
  PerplexityResult result{.perplexity = value,
                          .standard_error = value * nll.standard_error(),
                          .tokens = nll.count,
                          .chunks = windows,
                          .tokens_per_second = static_cast<double>(windows * context) / seconds.count()};
  if (comparison) {
    FOVEA_CHECK(comparison->finish());
    result.divergence = comparison->result();
  }
  result.windows = std::move(scores);
  return result;
}

}  // namespace fovea
