// Any bytes as a request's body or as an answer's text: what is accepted keeps its promises, what is not is
// refused by a place and a name.
#include <nlohmann/json.hpp>

#include "app/server/answer_reader.h"
#include "app/server/anthropic.h"
#include "app/server/embeddings.h"
#include "app/server/ollama.h"
#include "app/server/openai_chat.h"
#include "app/server/openai_completions.h"
#include "app/server/protocol_errors.h"
#include "app/server/responses.h"

#include "fuzz.h"

using namespace fovea;
using namespace fovea::app;

namespace {

void check_refusal(const Error& error) {
  fuzz_check(error.kind == ErrorKind::invalid || error.kind == ErrorKind::unsupported);
  fuzz_check(!error.where.empty() && !error.what.empty());
  fuzz_check(error.message().size() < 4096);
  for (const Dialect dialect : {Dialect::openai, Dialect::anthropic, Dialect::ollama}) {
    const HttpResponse response = error_response(dialect, error);
    fuzz_check(response.status == 400);
    fuzz_check(Json::accept(response.body));
  }
}

void check_request(const Result<ChatRequest>& request) {
  if (!request) return check_refusal(request.error());
  const GenerateRequest& generate = request->generate;
  fuzz_check(request->choices >= 1 && request->choices <= 32);
  fuzz_check(generate.max_tokens == -1 || generate.max_tokens > 0);
  fuzz_check(generate.top_logprobs >= -1 && generate.top_logprobs <= 20);
  fuzz_check(generate.tools.empty() || Json::accept(generate.tools));
  fuzz_check(generate.tool_choice != ToolChoice::required || !generate.tools.empty());
  fuzz_check(generate.form.kind != AnswerForm::Kind::json_schema || Json::accept(generate.form.text));
  const SamplingSettings s = request->sampling.over({});
  fuzz_check(s.temperature >= 0 && s.top_p > 0 && s.top_p <= 1 && s.min_p >= 0 && s.min_p <= 1 &&
             s.top_k >= 0);
  fuzz_check(s.repetition_penalty > 0);
  for (const Message& message : generate.messages)
    fuzz_check(message.role == "system" || message.role == "user" || message.role == "assistant" ||
               message.role == "tool");
}

void check_embedding(const Result<EmbeddingRequest>& request) {
  if (!request) return check_refusal(request.error());
  fuzz_check(request->input.size() <= 2048 && request->dimensions >= 0 && request->context >= 0);
  for (const auto& each : request->input)
    if (const auto* const tokens = std::get_if<std::vector<TokenId>>(&each)) {
      fuzz_check(!tokens->empty());
      for (const TokenId token : *tokens) fuzz_check(token >= 0);
    }
}

// The same events whether the text comes whole or byte by byte, in an order that makes sense.
void check_answer(std::string_view text, bool calls) {
  std::string whole, pieces;
  bool in_call = false, content_began = false;
  const auto note = [](std::string& into, const AnswerEvent& event) {
    const bool goes_on =
        event.kind != AnswerEvent::Kind::call_begin && event.kind != AnswerEvent::Kind::call_end;
    const std::string mark = std::string("\x01") + static_cast<char>('0' + static_cast<int>(event.kind));
    const std::size_t last = into.rfind('\x01');
    if (!goes_on || last == std::string::npos || into.compare(last, 2, mark) != 0) into += mark;
    into += event.text;
  };
  AnswerReader reader(calls, [&](const AnswerEvent& event) {
    using Kind = AnswerEvent::Kind;
    fuzz_check(calls || event.kind == Kind::reasoning || event.kind == Kind::content);
    fuzz_check(event.kind != Kind::reasoning || !content_began);
    fuzz_check((event.kind == Kind::call_arguments || event.kind == Kind::call_end) == in_call);
    if (event.kind == Kind::call_begin) in_call = true;
    if (event.kind == Kind::call_end) in_call = false;
    content_began |= event.kind != Kind::reasoning;
    note(whole, event);
  });
  reader.read(text);
  reader.finish();
  fuzz_check(!in_call);
  AnswerReader by_byte(calls, [&](const AnswerEvent& event) { note(pieces, event); });
  for (const char& byte : text) by_byte.read({&byte, 1});
  by_byte.finish();
  fuzz_check(text.find('\x01') != std::string_view::npos || whole == pieces);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  if (data[0] == 'r' || data[0] == 'R') {
    check_answer(text, data[0] == 'R');
    return 0;
  }
  const auto body = parse_body(text);
  if (!body) {
    check_refusal(body.error());
    return 0;
  }
  switch (data[0]) {
    case 'a':
      check_request(read_anthropic(*body));
      break;
    case 'o':
      check_request(read_ollama_chat(*body));
      break;
    case 'g':
      check_request(read_ollama_generate(*body));
      break;
    case 's': {
      ResponseStore store;
      const auto request = read_responses(*body, store);
      if (!request && request.error().kind == ErrorKind::not_found) break;  // an earlier one
      if (request)
        for (const Json& item : request->kept.input)
          fuzz_check(item["id"].is_string() && item["type"].is_string());
      check_request(request ? Result<ChatRequest>(request->chat) : std::unexpected(request.error()));
      break;
    }
    case 'e':
      check_embedding(read_openai_embeddings(*body));
      break;
    case 'l':
      check_embedding(read_ollama_embed(*body));
      check_embedding(read_ollama_embeddings(*body));
      break;
    case 'p':
      check_request(read_openai_completion(*body));
      break;
    default:
      check_request(read_openai_chat(*body));
  }
  return 0;
}
