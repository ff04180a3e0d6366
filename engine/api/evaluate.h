// Perplexity, likelihoods and speed of a loaded model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "engine/api/engine.h"

namespace fovea {

constexpr std::int64_t min_window = 4;  // tokens

struct PerplexitySettings {
  std::int64_t context = 512;   // window, tokens
  std::int64_t chunks = 0;      // 0: all
  Engine* reference = nullptr;  // compared with, when given: the same vocabulary, at least this context
  // Where the reference's output is kept: read when the file is there, and then no reference is needed; else
  // written. 4 bytes for each scored token and word of the vocabulary.
  std::filesystem::path reference_logits = {};
  std::string name = "text";  // the text's, in errors
};

// How far a model's output is from a reference's, over the scored positions.
struct Divergence {
  double mean_kl = 0;  // Σ p ln (p / q) in nats, p the reference's distribution
  double standard_error = 0;
  double top1_agreement = 0;  // share of positions with the same most likely token
  double reference_perplexity = 0;
};

// Means over one window's scored positions. The same window of two runs can be compared with each other:
// their difference varies far less than either.
struct WindowScore {
  double nll = 0;                    // −ln of the probability that the next token had
  double kl = 0;                     // from the reference; 0 without one
  std::vector<float> token_kl = {};  // [scored tokens], that of each; empty without a reference
};

struct PerplexityResult {
  double perplexity = 0;
  double standard_error = 0;
  std::int64_t tokens = 0;  // scored
  std::int64_t chunks = 0;
  double tokens_per_second = 0;
  std::optional<Divergence> divergence = {};  // from the reference
  std::vector<WindowScore> windows = {};      // [chunks]
};

// Windows do not overlap; each begins with BOS where the model uses one; its second half is scored
// (as llama.cpp's llama-perplexity does, so that the numbers compare).
Result<PerplexityResult> perplexity(Engine&, std::string_view text, const PerplexitySettings&,
                                    const ProgressSink& = {}, std::stop_token = {});

// How likely a continuation is behind a context.
struct ContinuationScore {
  double log_likelihood = 0;  // Σ ln p(token | all before it), nats
  bool greedy = true;         // whether each of its tokens is the likeliest there
};

struct ContinuationScores {
  std::vector<ContinuationScore> scores;  // [continuations]
  std::int64_t dropped_tokens = 0;        // of the context, from its beginning: all of it would not fit
};

// Tokens and scores are those of lm-evaluation-harness' log-likelihood requests: context and continuation are
// encoded together, and what goes beyond the tokens that the context has alone is the continuation. Spaces at
// the context's end count as the continuation's. An empty context is the begin of text
// (TextModel::before_text). What does not fit the engine's context loses its beginning. A shared context is
// computed once, and a beginning that it shares with an earlier one's not at all while it lies in the cache.
Result<ContinuationScores> score_continuations(Engine&, std::string_view context,
                                               std::span<const std::string> continuations,
                                               std::stop_token = {});

// ln p of each of `tokens` behind a context and those before it, nats; [tokens]. Both must fit the engine's
// context together, and neither may be empty.
Result<std::vector<double>> score_tokens(Engine&, std::span<const TokenId> context,
                                         std::span<const TokenId> tokens, std::stop_token = {});

// ln p(text) in nats, where each token is predicted once: a text longer than the engine's context is cut into
// windows of that length, the first of which stands behind the begin of text. As the harness' rolling
// requests.
Result<double> rolling_log_likelihood(Engine&, std::string_view text, std::stop_token = {});

struct Spread {
  double median = 0, min = 0, max = 0;  // of an even count the median is the mean of the two in the middle
};
// Of at least one value.
Spread spread(const std::vector<double>& values);

struct BenchSettings {
  std::int64_t prompt_tokens = 512;
  std::int64_t generated_tokens = 128;
  std::int64_t depth = 0;  // tokens of the context before either
  int repetitions = 5;
};

struct SpeedResult {
  std::int64_t tokens = 0;
  Spread tokens_per_second;
  double ceiling_share = 0;  // decode: bytes read / measured bandwidth; prefill: operations / measured peak
};

struct Percentiles {  // milliseconds
  double median = 0, p90 = 0, p99 = 0;
};

struct BenchResult {
  std::int64_t depth = 0;
  SpeedResult prefill, decode;
  Percentiles ttft_ms, tpot_ms;
  double bandwidth_gb_per_s = 0;  // measured, reading
  double peak_gop_per_s = 0;      // measured, the arithmetic that prefill uses
};

Result<BenchResult> bench(Engine&, const BenchSettings&, const ProgressSink& = {}, std::stop_token = {});

}  // namespace fovea
