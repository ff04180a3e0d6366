#include <chrono>
#include <string>

#include "engine/api/engine.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/precision/use_profile.h"
#include "engine/runtime/answer_text.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/prompt.h"
#include "engine/runtime/sampler.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<void> check(const GenerateRequest& request, const Engine::Parts& parts) {
  if (parts.tokenizer == nullptr) {
    return fail(phrases::file_place(parts.plan.options.model), errors::no_tokeniser());
  }
  if (request.max_tokens < -1) {
    return fail(phrases::option_place("max_tokens"),
                errors::value_out_of_range(request.max_tokens, phrases::no_limit_or_more()));
  }
  for (const std::string& stop : request.stop) {
    if (stop.empty()) return fail(phrases::option_place("stop"), errors::empty_stop_string());
  }
  return {};
}

// One answer: samples, feeds back and streams text until something ends it.
class Answer {
 public:
  Answer(Engine::Parts& parts, const GenerateRequest& request, const runtime::Prompt& prompt,
         runtime::Sampler& sampler, const TextSink& sink, GenerateResult& result)
      : parts_(parts),
        sampler_(sampler),
        sink_(sink),
        result_(result),
        max_tokens_(request.max_tokens),
        wanted_(sampler.may_need_few() ? layers::LogitsWanted::top_k : layers::LogitsWanted::last),
        temperature_(request.sampling.temperature > 0 ? request.sampling.temperature : 1),
        text_(*parts.tokenizer, parts.channels ? &*parts.channels : nullptr, prompt, request.stop) {}

  Result<void> decode(runtime::Sequence& sequence, std::span<const float> logits,
                      const std::stop_token& stop) {
    const auto start = Clock::now();
    emit(text_.opened());
    if (max_tokens_ == 0) {
      result_.finish = FinishReason::max_tokens;
      return {};
    }
    while (true) {
      FOVEA_TRY(const TokenId token, next_token(logits));
      result_.timings.decode_seconds = seconds_since(start);
      if (parts_.end_of_generation.contains(token)) return finish(FinishReason::stop_token);
      take(token);
      if (text_.found_stop()) return finish(FinishReason::stop_string);
      if (text_.ended()) return finish(FinishReason::stop_token);
      if (std::ssize(result_.tokens) == max_tokens_) return finish(FinishReason::max_tokens);
      if (sequence.length() == parts_.plan.options.context) return finish(FinishReason::context_full);
      auto next =
          parts_.pass(sequence, {&token, 1}, wanted_, parts_.plan.options.context, stop, temperature_);
      if (!next && next.error().kind == ErrorKind::cancelled) return finish(FinishReason::cancelled);
      FOVEA_TRY(logits, std::move(next));
    }
  }

 private:
  // Of the pass that gave these logits, or knows the likeliest tokens alone.
  Result<TokenId> next_token(std::span<const float> logits) {
    const auto largest = parts_.forward->top_k();
    if (!largest) return sampler_.sample(logits);
    if (const auto token = sampler_.sample(*largest)) return *token;
    logits = parts_.forward->all_logits(*parts_.stream);
    FOVEA_CHECK(parts_.check_device());
    return sampler_.sample(logits);
  }

  void take(TokenId token) {
    result_.tokens.push_back(token);
    ++result_.timings.generated_tokens;
    sampler_.accept(token);
    emit(text_.push(token));
  }

  Result<void> finish(FinishReason reason) {
    result_.finish = reason;
    emit(text_.finish(reason == FinishReason::stop_token));
    return {};
  }

  void emit(const std::string& text) {
    if (text.empty()) return;
    result_.text += text;
    if (sink_) sink_(text, result_.timings);
  }

  Engine::Parts& parts_;
  runtime::Sampler& sampler_;
  const TextSink& sink_;
  GenerateResult& result_;
  std::int32_t max_tokens_;
  layers::LogitsWanted wanted_;
  float temperature_;
  runtime::AnswerText text_;
};

Result<GenerateResult> generate_with(Engine::Parts& parts, const GenerateRequest& request,
                                     const TextSink& sink, const ProgressSink& progress,
                                     const std::stop_token& stop) {
  FOVEA_CHECK(check(request, parts));
  FOVEA_TRY(runtime::Sampler sampler,
            runtime::Sampler::create(request.sampling, parts.model->config().vocabulary, &parts.breakers));
  const runtime::PromptMaker maker{.text = *parts.text,
                                   .tokenizer = *parts.tokenizer,
                                   .control = parts.control,
                                   .channels = parts.channels ? &*parts.channels : nullptr,
                                   .context = parts.plan.options.context};
  FOVEA_TRY(const runtime::Prompt prompt, maker.make(request));

  GenerateResult result;
  result.seed = sampler.seed();
  result.dropped_messages = prompt.dropped_messages;
  const std::int64_t length = std::ssize(prompt.tokens);
  // The last token's logits are wanted, so at least that one is computed.
  runtime::Sequence sequence = parts.cache->begin(prompt.tokens, request.reuse_cache ? length - 1 : 0);
  result.timings.prompt_tokens = length;
  result.timings.reused_tokens = sequence.length();
  for (const TokenId token : prompt.tokens) sampler.accept(token);

  const auto start = Clock::now();
  const std::int64_t reused = sequence.length();
  const auto report = [&](std::int64_t done) {
    if (progress)
      progress({.stage = Progress::Stage::prefill,
                .done = reused + done,
                .total = length,
                .unit = Progress::Unit::tokens,
                .item = {}});
  };
  report(0);
  const auto logits = parts.prefill(
      sequence, std::span(prompt.tokens).subspan(static_cast<std::size_t>(reused)), report, stop);
  result.timings.prefill_seconds = seconds_since(start);
  if (!logits) {
    if (logits.error().kind != ErrorKind::cancelled) return std::unexpected(logits.error());
    result.finish = FinishReason::cancelled;
    return result;
  }
  Answer answer(parts, request, prompt, sampler, sink, result);
  FOVEA_CHECK(answer.decode(sequence, *logits, stop));
  sequence.save_state();  // the next turn begins here
  const Timings& t = result.timings;
  log::debug("runtime", "answered ", t.prompt_tokens, " prompt tokens (", t.reused_tokens, " reused) in ",
             t.prefill_seconds, " s with ", t.generated_tokens, " tokens in ", t.decode_seconds, " s");
  return result;
}

}  // namespace

Result<GenerateResult> Engine::generate(const GenerateRequest& request, const TextSink& sink,
                                        const ProgressSink& progress, std::stop_token stop) {
  auto result = exhaustion_as_error([&] { return generate_with(*parts_, request, sink, progress, stop); });
  if (parts_->watch) parts_->watch->rest();
  if (const runtime::PrecisionControl* precision = parts_->precision.get();
      result && precision && !precision->profile().empty())
    result->use_profile = precision::encode_use_profile(precision->profile(),
                                                        precision->units().first_units(), parts_->info.name);
  return result;
}

}  // namespace fovea
