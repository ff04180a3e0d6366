#include "app/server/protocol_errors.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <variant>
#include <vector>

#include "app/server/errors.h"
#include "engine/core/log.h"

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
  if (error.is(errors::server_no_kept_response.code)) return "response_not_found";
  if (error.kind == ErrorKind::memory) return "insufficient_memory";
  if (error.is(errors::server_refused_parameter.code)) return "unsupported_parameter";
  if (error.is(errors::server_unknown_parameter.code)) return "unknown_parameter";
  return nullptr;
}

// The parameter that it is about.
Json parameter_of(const Error& error) {
  if (error.is(errors::text_beyond_context.code)) return "input";
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

// Phrases whose texts have paths among their words: a command, a list of files.
constexpr std::array<std::string_view, 2> with_paths_in_texts{"make_store_by", "no_gpu_module"};

// A path is told by its last name.
std::string without_folders(const std::string& words) {
  std::string told;
  bool is_quoted = false;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find_first_of(is_quoted ? "'" : "' ", begin), words.size());
    const std::string_view word = std::string_view(words).substr(begin, end - begin);
    told += word.substr(word.starts_with('/') ? word.find_last_of('/') + 1 : 0);
    if (end < words.size()) {
      told += words[end];
      is_quoted ^= words[end] == '\'';
    }
    begin = end + 1;
  }
  return told;
}

Phrase without_folders(Phrase phrase) {
  const bool in_texts =
      !phrase.empty() && std::ranges::find(with_paths_in_texts, phrase.code->id) != with_paths_in_texts.end();
  for (Argument& argument : phrase.arguments) {
    if (auto* const path = std::get_if<std::filesystem::path>(&argument)) {
      if (path->has_filename()) *path = path->filename();
    } else if (auto* const pieces = std::get_if<std::vector<Phrase>>(&argument)) {
      for (Phrase& piece : *pieces) piece = without_folders(std::move(piece));
    } else if (auto* const text = std::get_if<std::string>(&argument); text != nullptr && in_texts) {
      *text = without_folders(*text);
    } else if (auto* const texts = std::get_if<std::vector<std::string>>(&argument);
               texts != nullptr && in_texts) {
      for (std::string& each : *texts) each = without_folders(each);
    }
  }
  return phrase;
}

// What is at fault and what to do about it. Where that lies on this machine is the log's to know.
std::string told_to_clients(const Error& error) {
  Error told = error;
  for (Phrase* const phrase : {&told.where, &told.what, &told.advice})
    *phrase = without_folders(std::move(*phrase));
  std::string message = told.message();
  if (const std::string whole = error.message(); whole != message) log::warning("server", whole);
  return message;
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
  return error_body(dialect, status_of(error), known_words(dialect, error) + told_to_clients(error),
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
