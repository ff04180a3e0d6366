#include "app/advisor/beside.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>

#include "app/advisor/errors.h"
#include "engine/api/evaluate.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Clock = std::chrono::steady_clock;
using Part = BesideProgress::Part;

// What the model reads before it answers: the same text for all three.
Result<std::string> prompt_of(const TextModel& text, const std::vector<Message>& messages) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Message& message : messages)
    json.push_back({{"role", message.role}, {"content", message.content}});
  return text.render(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), true);
}

struct Written {
  BesideAnswer answer = {};
  std::vector<TokenId> prompt = {}, tokens = {};
  double own = 0;  // Σ ln p of the tokens, as the model that wrote them had it
};

class Beside {
 public:
  Beside(const BesideRequest& request, const ComparisonLoader& load,
         const std::function<void(const BesideProgress&)>& tell, const std::stop_token& stop)
      : request_(request), load_(load), tell_(tell), stop_(stop) {}

  Result<BesideResult> run() {
    BesideResult found;
    found.seed = request_.question.sampling.seed;
    while (found.seed == 0) found.seed = std::random_device()();
    FOVEA_TRY(Written adaptive, write(0, request_.adaptive, found.seed));
    FOVEA_TRY(Written fixed, write(1, request_.fixed, found.seed));
    if (request_.full) {
      const auto judged = judge(*request_.full, {&adaptive, &fixed});
      found.left_out = !judged && judged.error().kind == ErrorKind::cancelled;
      if (!judged && !found.left_out) found.trouble = judged.error();
    }
    found.adaptive = std::move(adaptive.answer);
    found.fixed = std::move(fixed.answer);
    return found;
  }

 private:
  Result<std::unique_ptr<Engine>> open(int setting, LoadOptions options) {
    options.precision.events.clear();
    const auto start = Clock::now();
    auto engine = load_(
        options, [&](const Progress& opening) { tell({.setting = setting, .opening = opening}); }, stop_);
    opening_seconds_ =
        std::max(opening_seconds_, std::chrono::duration<double>(Clock::now() - start).count());
    return engine;
  }

  Result<Written> write(int setting, const LoadOptions& options, std::uint64_t seed) {
    tell({.setting = setting});
    FOVEA_TRY(const std::unique_ptr<Engine> engine, open(setting, options));
    FOVEA_TRY(const std::string prompt, prompt_of(*engine->text(), request_.question.messages));
    GenerateRequest question = request_.question;
    question.messages.clear();
    question.raw_prompt = prompt;
    question.sampling.seed = seed;
    Written written;
    const auto tell_text = [&](std::string_view text, const Timings&) {
      tell({.part = Part::writes, .setting = setting, .text = text});
    };
    const auto take_tokens = [&](std::span<const TokenRecord> tokens) {
      for (const TokenRecord& token : tokens) written.own += static_cast<double>(token.logprob);
      tell({.part = Part::writes, .setting = setting, .tokens = tokens});
    };
    FOVEA_TRY(GenerateResult result, engine->generate(question, tell_text, {}, stop_, take_tokens));
    if (result.finish == FinishReason::cancelled)
      return fail(phrases::speed_measurement(), errors::measurement_stopped());
    written.prompt = engine->text()->encode(prompt, {.add_special = false, .parse_special = true});
    written.tokens = result.tokens;
    if (std::ssize(written.prompt) != result.timings.prompt_tokens)  // it begins with the begin of text
      written.prompt = engine->text()->encode(prompt, {.add_special = true, .parse_special = true});
    written.answer = {.text = std::move(result.text),
                      .tokens = result.timings.generated_tokens,
                      .tokens_per_second = result.timings.tokens_per_second(),
                      .bits_per_use = result.bits_per_use,
                      .quality_kept = result.quality_kept};
    return written;
  }

  Result<void> judge(const LoadOptions& options, std::initializer_list<Written*> answers) {
    double reading = 0;
    for (const Written* const written : answers) reading += reading_seconds(*written, options.chunk);
    tell({.part = Part::judges, .setting = 2, .seconds_left = opening_seconds_ + reading});
    FOVEA_TRY(const std::unique_ptr<Engine> engine, open(2, options));
    for (Written* const written : answers) {
      tell({.part = Part::judges, .setting = 2, .seconds_left = reading});
      reading -= reading_seconds(*written, options.chunk);
      if (written->tokens.empty()) continue;
      FOVEA_TRY(const std::vector<double> scores,
                score_tokens(*engine, written->prompt, written->tokens, stop_));
      double full = 0;
      for (const double score : scores) full += score;
      written->answer.divergence = (written->own - full) / static_cast<double>(written->tokens.size());
    }
    return {};
  }

  double reading_seconds(const Written& written, std::int64_t chunk) const {
    const auto tokens = std::ssize(written.prompt) + std::ssize(written.tokens);
    const std::int64_t passes = chunk > 0 ? (tokens + chunk - 1) / chunk : 1;
    return static_cast<double>(passes) * request_.full_pass_seconds;
  }

  void tell(const BesideProgress& progress) const {
    if (tell_) tell_(progress);
  }

  const BesideRequest& request_;
  const ComparisonLoader& load_;
  const std::function<void(const BesideProgress&)>& tell_;
  std::stop_token stop_;
  double opening_seconds_ = 0;  // the longest so far
};

}  // namespace

Result<BesideResult> answer_beside(const BesideRequest& request, const ComparisonLoader& load,
                                   const std::function<void(const BesideProgress&)>& tell,
                                   std::stop_token stop) {
  return Beside(request, load, tell, stop).run();
}

}  // namespace fovea::app
