#include "engine/runtime/answer.h"

#include <algorithm>
#include <utility>

#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/precision/use_profile.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/log_probabilities.h"

namespace fovea::runtime {
namespace {

// What an answer without a limit is expected to have, so that others are let in beside it.
constexpr std::int64_t usual_answer = 512;  // tokens

Result<void> check(const GenerateRequest& request, const Engine::Parts& parts) {
  if (parts.tokenizer == nullptr) {
    return fail(phrases::file_place(parts.plan.options.model), errors::no_tokeniser());
  }
  if (request.max_tokens < -1) {
    return fail(phrases::option_place("max_tokens"),
                errors::value_out_of_range(request.max_tokens, phrases::no_limit_or_more()));
  }
  if (request.top_logprobs < -1 || request.top_logprobs > max_likeliest) {
    return fail(phrases::option_place("top_logprobs"),
                errors::value_out_of_range(request.top_logprobs, phrases::none_to(max_likeliest)));
  }
  for (const std::string& stop : request.stop) {
    if (stop.empty()) return fail(phrases::option_place("stop"), errors::empty_stop_string());
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Answer>> Answer::create(const Engine::Parts& parts, const GenerateRequest& request,
                                               std::stop_token stop, bool records) {
  FOVEA_TRY(Question question, Answer::question(parts, request, parts.plan.options.context));
  FOVEA_TRY(Sampler sampler,
            Sampler::create(request.sampling, parts.model->config().vocabulary, &parts.breakers));
  const bool has_tools = !question.tools.empty();
  Asked asked{.sampler = std::move(sampler),
              .prompt = std::move(question.prompt),
              .calls = {.syntax = parts.call_syntax.value_or(chat::CallSyntax::hermes),
                        .tools = std::move(question.tools),
                        .parallel = request.parallel_tool_calls},
              .room = {.limit = request.max_tokens}};
  asked.room.context = parts.plan.options.context - std::ssize(asked.prompt.tokens) + 1;
  FOVEA_TRY(auto hold, chat::AnswerHold::begin(request, asked.prompt,
                                               {.tokenizer = *parts.tokenizer,
                                                .channels = parts.channels ? &*parts.channels : nullptr,
                                                .end_of_generation = parts.end_of_generation,
                                                .forms = *parts.forms},
                                               asked.room, has_tools ? &asked.calls : nullptr));
  if (hold) asked.hold.emplace(*std::move(hold));
  return std::unique_ptr<Answer>(new Answer(parts, request, std::move(asked), std::move(stop), records));
}

Result<Answer::Question> Answer::question(const Engine::Parts& parts, const GenerateRequest& request,
                                          std::int64_t context) {
  FOVEA_CHECK(check(request, parts));
  const chat::PromptMaker maker{.text = *parts.text,
                                .tokenizer = *parts.tokenizer,
                                .control = parts.control,
                                .channels = parts.channels ? &*parts.channels : nullptr,
                                .context = context,
                                .syntax = parts.call_syntax};
  Question question;
  FOVEA_TRY(question.tools, tools_of(request, *parts.text, parts.call_syntax));
  FOVEA_TRY(question.prompt, maker.make(request, question.tools));
  return question;
}

Answer::Answer(const Engine::Parts& parts, const GenerateRequest& request, Asked asked, std::stop_token stop,
               bool records)
    : Computation(std::move(stop)),
      request_(request),
      records_(records),
      context_(parts.plan.options.context),
      sampler_(std::move(asked.sampler)),
      calls_(std::move(asked.calls)),
      temperature_(request.sampling.temperature > 0 ? request.sampling.temperature : 1),
      hold_(std::move(asked.hold)),
      room_(asked.room),
      text_(*parts.tokenizer, parts.channels ? &*parts.channels : nullptr, asked.prompt, request.stop,
            calls_.tools.empty() ? nullptr : &calls_),
      tokens_(std::move(asked.prompt.tokens)),
      prompt_length_(std::ssize(tokens_)) {
  result_.seed = sampler_.seed();
  result_.dropped_messages = asked.prompt.dropped_messages;
  result_.timings.prompt_tokens = prompt_length_;
  for (const TokenId token : tokens_) sampler_.accept(token);
}

std::int64_t Answer::expected_tokens() const {
  const std::int64_t most =
      request_.max_tokens >= 0 ? prompt_length_ + request_.max_tokens : std::ssize(tokens_) + usual_answer;
  return std::min(most, context_);
}

// The last token's logits are wanted, so at least that one is computed.
void Answer::begin(Engine::Parts& parts) {
  const bool reuse = request_.reuse_cache || has_begun_;
  sequence_.emplace(parts.cache->begin(tokens_, reuse ? std::ssize(tokens_) - 1 : std::int64_t{0}));
  read_ = sequence_->length();
  if (has_begun_) return;
  has_begun_ = true;
  began_ = Clock::now();
  result_.timings.reused_tokens = read_;
  joules_before_ = parts.energy->joules();
  if (parts.precision) quality_before_ = parts.precision->quality();
  if (parts.watch) parts.watch->begin_prompt();
  report();
}

void Answer::suspend() {
  sequence_->save_state();
  sequence_.reset();
  read_ = 0;
}

PassPart Answer::next(const Engine::Parts& parts, std::int64_t most) {
  const std::int64_t left = prompt_length_ - read_;
  taken_ = is_reading() ? parts.slice(*sequence_, left, most) : 1;
  PassPart part;
  part.sequence = &*sequence_;
  part.tokens = std::span(tokens_).subspan(static_cast<std::size_t>(read_), static_cast<std::size_t>(taken_));
  part.is_prompt = is_reading();
  if (is_reading() && !has_written()) {
    const std::int64_t watched =
        std::max<std::int64_t>(1, parts.precision ? parts.precision->prompt_tokens_watched() : 0);
    part.last_tokens = std::clamp<std::int64_t>(watched - (left - taken_), 0, taken_);
    if (part.last_tokens == 0) part.wanted = layers::LogitsWanted::none;
  } else if (read_ + taken_ < std::ssize(tokens_)) {
    part.wanted = layers::LogitsWanted::none;  // it was written before
  } else if (!needs_all_logits()) {
    part.wanted = layers::LogitsWanted::top_k;
    part.temperature = temperature_;
  }
  part.record = records_ && read_ + taken_ == std::ssize(tokens_);
  return part;
}

Result<void> Answer::take(Engine::Parts& parts, const PassRows& rows) {
  const bool was_reading = is_reading();
  if (!was_reading) use_bits_.add(rows.use_bits);
  read_ += taken_;
  if (was_reading) report();
  if (read_ < std::ssize(tokens_)) return {};
  if (decode_began_ == Clock::time_point{}) {
    decode_began_ = Clock::now();
    result_.timings.prefill_seconds = std::chrono::duration<double>(decode_began_ - began_).count();
    emit(text_.opened());
    if (request_.max_tokens == 0) {
      finish(parts, FinishReason::max_tokens);
      return {};
    }
    if (hold_ && hold_->ended()) {  // by what it goes on from
      finish(parts, FinishReason::stop_token);
      return {};
    }
  }
  return write(parts, rows);
}

Result<void> Answer::restrict() {
  if (!hold_) return {};
  FOVEA_TRY(const auto bits, hold_->allowed(room_.tokens() - std::ssize(result_.tokens)));
  sampler_.allow(bits);
  return {};
}

// Of the pass that gave these logits, or knows the likeliest tokens alone.
Result<TokenId> Answer::next_token(Engine::Parts& parts, std::span<const float> logits, std::int64_t row) {
  const auto largest = logits.empty() ? parts.forward->top_k(row) : std::nullopt;
  if (!largest) return sampler_.sample(logits);
  if (const auto token = sampler_.sample(*largest)) return *token;
  logits = parts.forward->all_logits(*parts.stream, row);
  FOVEA_CHECK(parts.check_device());
  return sampler_.sample(logits);
}

// Of the same pass: of its logits, or of what the device has sorted out.
TokenRecord Answer::record(Engine::Parts& parts, const PassRows& rows, std::span<const float> logits,
                           TokenId token) {
  const auto largest = logits.empty() ? parts.forward->top_k(rows.row) : std::nullopt;
  if (!largest) return token_record(logits, token, rows.uses);
  // A token that is not among them was drawn from all logits, which the device has given.
  if (std::ranges::find(largest->ids, token) != largest->ids.end())
    return token_record(*largest, token, rows.uses);
  return token_record(parts.forward->all_logits(*parts.stream, rows.row), token, rows.uses);
}

Result<void> Answer::write(Engine::Parts& parts, const PassRows& rows) {
  const auto vocabulary = static_cast<std::size_t>(parts.model->config().vocabulary);
  const std::span<const float> logits = rows.logits.empty() ? rows.logits : rows.logits.last(vocabulary);
  FOVEA_CHECK(restrict());
  FOVEA_TRY(const TokenId token, next_token(parts, logits, rows.row));
  result_.timings.decode_seconds = std::chrono::duration<double>(Clock::now() - decode_began_).count();
  if (parts.end_of_generation.contains(token)) {
    finish(parts, FinishReason::stop_token);
    return {};
  }
  if (request_.top_logprobs >= 0)
    result_.choices.push_back(token_choice(logits, token, request_.top_logprobs));
  if (records_) news_.records.push_back(record(parts, rows, logits, token));
  std::string text = text_.push(token);
  const std::int64_t text_end = std::ssize(result_.text) + std::ssize(text) + text_.held();
  if (request_.top_logprobs >= 0) result_.choices.back().text_end = text_end;
  if (records_) news_.records.back().text_end = text_end;
  tokens_.push_back(token);
  result_.tokens.push_back(token);
  ++result_.timings.generated_tokens;
  sampler_.accept(token);
  emit(std::move(text));
  if (hold_) FOVEA_CHECK(hold_->accept(token));
  if (text_.found_stop()) {
    finish(parts, FinishReason::stop_string);
  } else if (text_.ended() || (hold_ && hold_->ended())) {
    finish(parts, FinishReason::stop_token);
  } else if (std::ssize(result_.tokens) == request_.max_tokens) {
    finish(parts, FinishReason::max_tokens);
  } else if (sequence_->length() == context_) {
    finish(parts, FinishReason::context_full);
  }
  return {};
}

// What it took since it began.
void Answer::measure(const Engine::Parts& parts) {
  if (!has_begun_) return;
  if (const std::optional<double> joules = parts.energy->joules(); joules && joules_before_)
    result_.joules = *joules - *joules_before_;
  if (!parts.precision) return;
  const QualityState &now = parts.precision->quality(), &before = quality_before_;
  const TokensLoss of{now.tokens - before.tokens, now.all_low - before.all_low,
                      now.all_high - before.all_high, now.in_nats};
  if (of.tokens > 0 && of.in_nats) result_.quality_kept = kept_share(of, now.loss - before.loss);
}

void Answer::finish(Engine::Parts& parts, FinishReason reason) {
  measure(parts);
  result_.finish = reason;
  result_.bits_per_use = use_bits_.mean();
  if (decode_began_ != Clock::time_point{}) {
    emit(text_.finish(reason == FinishReason::stop_token));
    if (sequence_) sequence_->save_state();  // the next turn begins here
  } else if (has_begun_) {
    result_.timings.prefill_seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  }
  end();
  if (const PrecisionControl* precision = parts.precision.get(); precision && !precision->profile().empty())
    result_.use_profile = precision::encode_use_profile(precision->profile(),
                                                        precision->units().first_units(), parts.info.name);
  const Timings& t = result_.timings;
  log::debug("runtime", "answered ", t.prompt_tokens, " prompt tokens (", t.reused_tokens, " reused) in ",
             t.prefill_seconds, " s with ", t.generated_tokens, " tokens in ", t.decode_seconds, " s");
}

void Answer::report() {
  news_.progress = {.stage = Progress::Stage::prefill,
                    .done = std::min(read_, prompt_length_),
                    .total = prompt_length_,
                    .unit = Progress::Unit::tokens,
                    .item = {}};
}

void Answer::emit(std::string text) {
  if (text.empty()) return;
  result_.text += text;
  const std::vector<TokenChoice>& choices = result_.choices;
  news_.pieces.push_back({std::move(text),
                          result_.timings,
                          {choices.begin() + static_cast<std::ptrdiff_t>(told_choices_), choices.end()}});
  told_choices_ = choices.size();
}

AnswerNews Answer::fetch_news() {
  return std::exchange(news_, {});
}

Result<GenerateResult> Answer::result() && {
  if (error_) return std::unexpected(std::move(*error_));
  return std::move(result_);
}

}  // namespace fovea::runtime
