// Log-likelihoods of continuations and of whole texts, with the tokens that lm-evaluation-harness would
// score.
#include <algorithm>
#include <string>
#include <vector>

#include "engine/api/evaluate.h"
#include "engine/core/result.h"
#include "engine/eval/errors.h"
#include "engine/eval/likelihood.h"

namespace fovea {
namespace {

using Tokens = std::vector<TokenId>;

Result<void> check_tokeniser(const Engine& engine) {
  if (engine.text()) return {};
  return fail(phrases::file_place(engine.info().path), errors::no_tokeniser());
}

Result<TokenId> token_before_text(const Engine& engine) {
  if (const auto token = engine.text()->before_text()) return *token;
  return fail(phrases::file_place(engine.info().path), errors::likelihood_without_begin());
}

struct EncodedBranches {
  Tokens context;
  std::vector<Tokens> continuations;
};

// Behind nothing but the begin of text, which a continuation may bring along.
Result<EncodedBranches> encode_behind_nothing(const Engine& engine,
                                              std::span<const std::string> continuations) {
  FOVEA_TRY(const TokenId begin, token_before_text(engine));
  EncodedBranches branches{.context = {begin}, .continuations = {}};
  for (const std::string& each : continuations) {
    Tokens tokens = engine.text()->encode(each, {.parse_special = true});
    if (!tokens.empty() && tokens.front() == begin) tokens.erase(tokens.begin());
    branches.continuations.push_back(std::move(tokens));
  }
  return branches;
}

EncodedBranches encode_behind(const TextModel& text, std::string_view context,
                              std::span<const std::string> continuations) {
  constexpr EncodeOptions options{.add_special = true, .parse_special = true};
  const std::string_view alone = context.substr(0, context.find_last_not_of(" \t\n\v\f\r") + 1);
  EncodedBranches branches{.context = text.encode(alone, options), .continuations = {}};
  for (const std::string& each : continuations) {
    const Tokens whole = text.encode(std::string(context) + each, options);
    const auto shared = std::min(branches.context.size(), whole.size());
    branches.continuations.emplace_back(whole.begin() + static_cast<std::ptrdiff_t>(shared), whole.end());
  }
  return branches;
}

Result<void> check_branches(const EncodedBranches& branches, std::span<const std::string> continuations,
                            std::int64_t room) {
  for (std::size_t i = 0; i < continuations.size(); ++i) {
    const std::int64_t tokens = std::ssize(branches.continuations[i]);
    if (tokens == 0) {
      return fail(phrases::option_place("continuations"),
                  errors::continuation_without_tokens(i + 1, continuations[i]));
    }
    if (tokens > room) {
      return fail(phrases::option_place("continuations"),
                  errors::continuation_beyond_context(i + 1, tokens, room));
    }
  }
  return {};
}

// Of all behind one context, of which as much is kept as fits before the longest.
Result<ContinuationScores> score_branches(Engine& engine, std::span<const TokenId> context,
                                          std::span<const Tokens> continuations,
                                          const std::stop_token& stop) {
  const auto longest = std::ranges::max_element(continuations, {}, &Tokens::size)->size();
  // The last token of a continuation is predicted and never read.
  const auto room = static_cast<std::size_t>(engine.settings().context) - longest + 1;
  const std::size_t dropped = context.size() - std::min(context.size(), room);
  ContinuationScores result{.scores = std::vector<ContinuationScore>(continuations.size()),
                            .dropped_tokens = static_cast<std::int64_t>(dropped)};
  const auto score = [&](std::size_t i, std::size_t k, std::span<const float> logits) {
    const TokenId token = continuations[i][k];
    result.scores[i].log_likelihood += eval::log_likelihood(logits, token);
    result.scores[i].greedy &= eval::is_greedy(logits, token);
  };
  FOVEA_CHECK(engine.branch_logits(context.subspan(dropped), continuations, score, stop));
  return result;
}

// The harness cuts what each continuation leaves too little room for, so that contexts may differ.
Result<ContinuationScores> score_one_by_one(Engine& engine, const EncodedBranches& branches,
                                            const std::stop_token& stop) {
  ContinuationScores all;
  for (const Tokens& each : branches.continuations) {
    FOVEA_TRY(const ContinuationScores one, score_branches(engine, branches.context, {&each, 1}, stop));
    all.scores.push_back(one.scores.front());
    all.dropped_tokens = std::max(all.dropped_tokens, one.dropped_tokens);
  }
  return all;
}

}  // namespace

Result<ContinuationScores> score_continuations(Engine& engine, std::string_view context,
                                               std::span<const std::string> continuations,
                                               std::stop_token stop) {
  FOVEA_CHECK(check_tokeniser(engine));
  if (continuations.empty()) return ContinuationScores();
  EncodedBranches branches;
  if (context.empty()) {
    FOVEA_TRY(branches, encode_behind_nothing(engine, continuations));
  } else {
    branches = encode_behind(*engine.text(), context, continuations);
  }
  const std::int64_t room = engine.settings().context;
  FOVEA_CHECK(check_branches(branches, continuations, room));
  const auto longest = std::ranges::max_element(branches.continuations, {}, &Tokens::size)->size();
  if (std::ssize(branches.context) + static_cast<std::int64_t>(longest) > room + 1)
    return score_one_by_one(engine, branches, stop);
  return score_branches(engine, branches.context, branches.continuations, stop);
}

Result<std::vector<double>> score_tokens(Engine& engine, std::span<const TokenId> context,
                                         std::span<const TokenId> tokens, std::stop_token stop) {
  const std::int64_t room = engine.settings().context - std::ssize(context) + 1;
  if (tokens.empty() || context.empty())
    return fail(phrases::option_place("tokens"), errors::likelihood_empty_text());
  if (std::ssize(tokens) > room)
    return fail(phrases::option_place("tokens"),
                errors::continuation_beyond_context(1, std::ssize(tokens), room));
  std::vector<double> scores(tokens.size());
  const std::vector<Tokens> branch{Tokens(tokens.begin(), tokens.end())};
  FOVEA_CHECK(engine.branch_logits(
      context, branch,
      [&](std::size_t, std::size_t k, std::span<const float> logits) {
        scores[k] = eval::log_likelihood(logits, tokens[k]);
      },
      stop));
  return scores;
}

Result<double> rolling_log_likelihood(Engine& engine, std::string_view text, std::stop_token stop) {
  FOVEA_CHECK(check_tokeniser(engine));
  Tokens tokens = engine.text()->encode(text, {.add_special = true, .parse_special = true});
  if (tokens.empty()) return fail(phrases::name_place("text"), errors::likelihood_empty_text());
  FOVEA_TRY(const TokenId begin, token_before_text(engine));
  tokens.insert(tokens.begin(), begin);
  const std::int64_t context = engine.settings().context, last = std::ssize(tokens) - 1;
  double sum = 0;
  for (std::int64_t done = 0; done < last;) {
    // The tokens before `end` are read, those behind `done` predicted.
    const std::int64_t end = std::min(done + context, last), first = std::max<std::int64_t>(0, end - context);
    const auto window =
        std::span(tokens).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    const auto score = [&](std::int64_t position, std::span<const float> logits) {
      sum += eval::log_likelihood(logits, tokens[static_cast<std::size_t>(first + position + 1)]);
    };
    FOVEA_CHECK(engine.logits(window, score, stop, done - first));
    done = end;
  }
  return sum;
}

}  // namespace fovea
