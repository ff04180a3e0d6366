#include "app/server/protocol_errors.h"

#include <variant>

#include "app/server/errors.h"

namespace fovea::app {
namespace {

constexpr const char* retry_seconds = "5";

const char* openai_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

const char* anthropic_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 503:
      return "overloaded_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

Json openai_code(const Error& error) {
  if (error.kind == ErrorKind::context_full) return "context_length_exceeded";
  if (error.is(errors::server_no_model.code) || error.is(errors::server_no_models.code))
    return "model_not_found";
  if (error.is(errors::server_no_response.code)) return "previous_response_not_found";
  if (error.kind == ErrorKind::memory) return "insufficient_memory";
  if (error.is(errors::server_refused_parameter.code)) return "unsupported_parameter";
  if (error.is(errors::server_unknown_parameter.code)) return "unknown_parameter";
  return nullptr;
}

// The parameter that it is about.
Json parameter_of(const Error& error) {
  if (error.kind == ErrorKind::context_full) return "messages";
  const Argument* const argument = error.what.find("parameter");
  if (argument == nullptr || !std::holds_alternative<std::string>(*argument)) return nullptr;
  return std::get<std::string>(*argument);
}

// Clients look for these words to tell that a conversation must become shorter.
std::string known_words(Dialect dialect, const Error& error) {
  const auto context = error.number("context"), tokens = error.number("tokens");
  if (error.kind != ErrorKind::context_full || !context || !tokens) return {};
  if (dialect == Dialect::anthropic)
    return "prompt is too long: " + std::to_string(*tokens) + " tokens > " + std::to_string(*context) +
           " maximum. ";
  return "This model's maximum context length is " + std::to_string(*context) + " tokens. ";
}

Json error_body(Dialect dialect, int status, const std::string& message, const Json& parameter,
                const Json& code) {
  switch (dialect) {
    case Dialect::anthropic:
      return {{"type", "error"}, {"error", {{"type", anthropic_type(status)}, {"message", message}}}};
    case Dialect::ollama:
      return {{"error", message}};
    case Dialect::openai:
      break;
  }
  return {
      {"error", {{"message", message}, {"type", openai_type(status)}, {"param", parameter}, {"code", code}}}};
}

HttpResponse with_status(int status, const Json& body) {
  HttpResponse response{.status = status, .body = dump(body)};
  if (status == 503) response.fields.push_back({"Retry-After", retry_seconds});
  if (status == 401) response.fields.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

}  // namespace

Dialect dialect_of(std::string_view path) {
  if (path.starts_with("/v1/messages")) return Dialect::anthropic;
  if (path.starts_with("/api/")) return Dialect::ollama;
  return Dialect::openai;
}

int status_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::not_found:
      return 404;
    case ErrorKind::invalid:
    case ErrorKind::unsupported:
    case ErrorKind::context_full:
      return 400;
    case ErrorKind::memory:
    case ErrorKind::cancelled:
      return 503;
    case ErrorKind::io:
    case ErrorKind::format:
    case ErrorKind::device:
    case ErrorKind::internal:
      break;
  }
  return 500;
}

Json error_json(Dialect dialect, const Error& error) {
  return error_body(dialect, status_of(error), known_words(dialect, error) + error.message(),
                    parameter_of(error), openai_code(error));
}

HttpResponse error_response(Dialect dialect, const Error& error) {
  return with_status(status_of(error), error_json(dialect, error));
}

HttpResponse refusal_response(Dialect dialect, int status, std::string_view what) {
  return with_status(status, error_body(dialect, status, std::string(what), nullptr, nullptr));
}

HttpResponse json_response(const Json& json) {
  return {.body = dump(json)};
}

}  // namespace fovea::app
