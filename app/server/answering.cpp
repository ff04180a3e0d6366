#include "app/server/answering.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/server/chat_parts.h"
#include "app/server/errors.h"
#include "engine/core/log.h"

namespace fovea::app {
namespace {

// As a field's value may hold it.
std::string field_text(const std::string& text) {
  std::string safe;
  for (const char c : text.substr(0, 100)) safe += c > ' ' && c < 127 && c != ',' ? c : '_';
  return safe;
}

void log_answer(const ServedModel& model, const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    const Timings& times = answer.result.timings;
    log::info("server", model.name(), ": ", times.prompt_tokens, " tokens read, ", times.generated_tokens,
              " written at ", times.tokens_per_second(), " tok/s");
  }
}

}  // namespace

bool AnswerStream::send(std::string_view piece) {
  if (!exchange_.is_answered() && !exchange_.begin(head_)) return false;
  return exchange_.write(piece);
}

void AnswerStream::end() {
  if (exchange_.is_answered() || exchange_.begin(head_)) exchange_.end();
}

std::string server_sent(std::string_view data, std::string_view event) {
  std::string text;
  if (!event.empty()) text = "event: " + std::string(event) + "\n";
  return text + "data: " + std::string(data) + "\n\n";
}

void answer_chat(Exchange& exchange, ServedModels& models, Activity& activity, Result<ChatRequest> request,
                 const AnswerStyle& style) {
  const auto refuse = [&](const Error& error) { exchange.respond(error_response(style.dialect, error)); };
  if (!request) return refuse(request.error());
  auto model = models.acquire(request->model, exchange.stop());
  if (!model) return refuse(model.error());
  if (const auto settled = settle_thinking(*request, (*model)->info()); !settled)
    return refuse(settled.error());
  if (request->context > (*model)->context())
    return refuse(errors::server_short_context(request->context, (*model)->context())
                      .at(phrases::server_request_place()));

  Activity::Seat seat(activity, (*model)->name(), (*model)->context());
  HttpResponse head{.content_type = style.content_type, .fields = skipped_field(*request)};
  AnswerStream stream(exchange, head);
  const auto writer = style.writer(*request, **model, request->stream ? &stream : nullptr);
  const auto answers = run_chat(**model, *request, *writer, exchange.stop());
  if (request->keep_loaded) models.keep((*model)->name(), *request->keep_loaded);
  if (!answers) {
    if (!exchange.is_answered()) return refuse(answers.error());
    writer->failed(answers.error());
    return exchange.end();
  }
  log_answer(**model, *answers);
  for (const Answer& answer : *answers) seat.add(answer.result);
  if (request->stream) {
    writer->end(*answers);
    return stream.end();
  }
  HttpResponse response = json_response(writer->whole(*answers));
  response.fields = std::move(head.fields);
  exchange.respond(std::move(response));
}

Usage usage_of(const std::vector<Answer>& answers, const TextModel& text) {
  Usage usage;
  for (const Answer& answer : answers) {
    const Timings& times = answer.result.timings;
    usage.prompt_tokens = times.prompt_tokens;
    usage.reused_tokens = std::max(usage.reused_tokens, times.reused_tokens);
    usage.answer_tokens += times.generated_tokens;
    const auto reasoning = static_cast<std::int64_t>(text.encode(answer.reasoning).size());
    usage.reasoning_tokens += std::min(reasoning, times.generated_tokens);
  }
  return usage;
}

std::vector<HttpField> skipped_field(const ChatRequest& request) {
  if (request.skipped_tools.empty()) return {};
  std::string names;
  constexpr std::size_t most = 16;
  for (std::size_t i = 0; i < std::min(most, request.skipped_tools.size()); ++i)
    names += (names.empty() ? "" : ", ") + field_text(request.skipped_tools[i]);
  return {{"X-Fovea-Skipped-Tools", names}};
}

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace fovea::app
