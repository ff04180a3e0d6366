#include "app/server/ollama.h"

#include <charconv>
#include <chrono>
#include <ctime>
#include <utility>

#include "app/server/chat_parts.h"
#include "app/server/errors.h"

namespace fovea::app {
namespace {

// "2026-01-31T12:00:00.123Z"
std::string time_text() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  const std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
  return std::string(text, n) + "." + fraction + "Z";
}

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(1e9 * seconds);
}

class OllamaWriter : public AnswerWriter {
 public:
  OllamaWriter(ServedModel& model, AnswerStream* stream, bool chat)
      : model_(model), stream_(stream), is_chat_(chat), start_(std::chrono::steady_clock::now()) {}

  bool event(const ChoiceEvent& said) override {
    const AnswerEvent& event = said.event;
    if (stream_ == nullptr) return true;
    switch (event.kind) {
      case AnswerEvent::Kind::reasoning:
        return send(piece("", event.text, {}));
      case AnswerEvent::Kind::content:
        return send(piece(event.text, "", {}));
      case AnswerEvent::Kind::call_end:  // calls are whole here
        return send(piece("", "", {*said.call}));
      case AnswerEvent::Kind::call_begin:
      case AnswerEvent::Kind::call_arguments:
        break;
    }
    return true;
  }
  void choice_end(std::int32_t, const Answer&, std::span<const TokenChoice>) override {}
  void end(const std::vector<Answer>& answers) override { send(done(piece("", "", {}), answers.front())); }
  void failed(const Error& error) override { stream_->send(dump(error_json(Dialect::ollama, error)) + "\n"); }
  Json whole(const std::vector<Answer>& answers) override {
    const Answer& answer = answers.front();
    return done(piece(answer.content, answer.reasoning, answer.calls), answer);
  }

 private:
  Json piece(const std::string& content, const std::string& thinking,
             const std::vector<ToolCall>& calls) const {
    Json json = {{"model", model_.name()}, {"created_at", time_text()}};
    if (!is_chat_) {
      json["response"] = content;
      if (!thinking.empty()) json["thinking"] = thinking;
    } else {
      Json& message = json["message"] = {{"role", "assistant"}, {"content", content}};
      if (!thinking.empty()) message["thinking"] = thinking;
      for (const ToolCall& call : calls) {
        const Json arguments = Json::parse(call.arguments, nullptr, false);
        message["tool_calls"].push_back(
            {{"function",
              {{"name", call.name}, {"arguments", arguments.is_object() ? arguments : Json::object()}}}});
      }
    }
    json["done"] = false;
    return json;
  }
  Json done(Json json, const Answer& answer) const {
    const Timings& times = answer.result.timings;
    const FinishReason finish = answer.result.finish;
    const bool cut = finish == FinishReason::max_tokens || finish == FinishReason::context_full;
    const std::chrono::duration<double> total = std::chrono::steady_clock::now() - start_;
    json["done"] = true;
    json["done_reason"] = cut ? "length" : "stop";
    json["total_duration"] = nanoseconds(total.count());
    json["load_duration"] = 0;
    json["prompt_eval_count"] = times.prompt_tokens;
    json["prompt_eval_duration"] = nanoseconds(times.prefill_seconds);
    json["eval_count"] = times.generated_tokens;
    json["eval_duration"] = nanoseconds(times.decode_seconds);
    return json;
  }
  bool send(const Json& json) { return stream_->send(dump(json) + "\n"); }

  ServedModel& model_;
  AnswerStream* const stream_;
  const bool is_chat_;
  const std::chrono::steady_clock::time_point start_;
};

AnswerStyle style_of(bool chat) {
  return {.dialect = Dialect::ollama,
          .content_type = "application/x-ndjson",
          .writer = [chat](const ChatRequest&, ServedModel& model, AnswerStream* stream) {
            return std::make_unique<OllamaWriter>(model, stream, chat);
          }};
}

void read_options(JsonFields& fields, ChatRequest& request) {
  const Json* const options = fields.object("options");
  if (options == nullptr) return;
  std::optional<Error> error;
  JsonFields inner(*options, error, "options.");
  const auto single = [](std::optional<double> value) {
    return value ? std::optional<float>(static_cast<float>(*value)) : std::nullopt;
  };
  SamplingWishes& s = request.sampling;
  s.temperature = single(inner.number("temperature", 0, 100));
  s.top_p = single(inner.number("top_p", 1e-6, 1));
  s.min_p = single(inner.number("min_p", 0, 1));
  s.repetition_penalty = single(inner.number("repeat_penalty", 0.01, 100));
  s.presence_penalty = single(inner.number("presence_penalty", -100, 100));
  s.frequency_penalty = single(inner.number("frequency_penalty", -100, 100));
  if (const auto k = inner.integer("top_k", 0, 1 << 30)) s.top_k = static_cast<std::int32_t>(*k);
  if (const auto n = inner.integer("repeat_last_n", -1, 1 << 30))
    s.penalty_window = static_cast<std::int32_t>(*n);
  if (const auto seed = inner.integer("seed", INT64_MIN, INT64_MAX))
    s.seed = static_cast<std::uint64_t>(*seed);
  const auto most = inner.integer("num_predict", -2, max_answer_tokens);
  // -1 and -2: until the model stops or the context is full. 0 would be no answer.
  if (most == 0) inner.refuse("num_predict");
  request.generate.max_tokens = static_cast<std::int32_t>(std::max<std::int64_t>(most.value_or(-1), -1));
  request.generate.stop = inner.texts("stop", max_stops);
  request.context = inner.integer("num_ctx", 1, 1 << 24).value_or(0);
  inner.finish(ollama_options());
  if (error) fields.fail(*error);
}

// What both have.
void read_common(JsonFields& fields, ChatRequest& request) {
  request.model = fields.text("model").value_or("");
  request.stream = fields.boolean("stream").value_or(true);
  const bool truncates = fields.boolean("truncate").value_or(true);
  request.generate.overflow = truncates ? ContextOverflow::drop_oldest_turns : ContextOverflow::fail;
  read_options(fields, request);
  if (const Json* const keep = fields.take("keep_alive")) {
    request.keep_loaded = read_duration(*keep);
    if (!request.keep_loaded) fields.wrong("keep_alive", phrases::server_duration());
  }
  AnswerForm& form = request.generate.form;
  if (const Json* const format = fields.take("format")) {
    if (format->is_object()) {
      form = {.kind = AnswerForm::Kind::json_schema, .text = dump(*format)};
    } else if (*format == "json") {
      form.kind = AnswerForm::Kind::json;
    } else if (*format != "") {
      fields.wrong("format", phrases::server_an_object());
    }
  }
  const Json* const think = fields.take("think");
  if (think == nullptr) return;
  request.thinking_parameter = "think";
  if (think->is_boolean()) {
    request.generate.thinking = think->get<bool>();
  } else {
    read_effort(fields, "think", request);
  }
}

void read_messages(JsonFields& fields, ChatRequest& request) {
  const Json* const messages = fields.list("messages");
  if (messages == nullptr) return;
  std::optional<Error> error;
  for (std::size_t i = 0; i < messages->size() && !error; ++i) {
    const Json empty = Json::object();
    JsonFields inner((*messages)[i].is_object() ? (*messages)[i] : empty, error,
                     "messages[" + std::to_string(i) + "].");
    const auto role = inner.one_of("role", {"system", "user", "assistant", "tool"});
    if (!role) inner.wrong("role", phrases::server_there());
    static constexpr const char* roles[] = {"system", "user", "assistant", "tool"};
    Message message{.role = roles[role.value_or(0)], .content = inner.text("content").value_or("")};
    if (const Json* const images = inner.list("images"); images != nullptr && !images->empty())
      inner.fail(errors::server_only_text(inner.place("images"), "image"));
    std::vector<ToolCall> calls;
    if (const Json* const list = inner.list("tool_calls")) {
      for (const Json& call : *list) {
        const Json function = call.is_object() ? call.value("function", Json()) : Json();
        const bool is_call = function.is_object() && function.value("name", Json()).is_string() &&
                             function.value("arguments", Json::object()).is_object();
        if (!is_call) {
          inner.wrong("tool_calls", phrases::server_an_object());
          break;
        }
        calls.push_back({"", function["name"], dump(function.value("arguments", Json::object()))});
      }
    }
    const std::string thinking = inner.text("thinking").value_or("");
    if (message.role == "assistant") message.content = answer_text(thinking, message.content, calls);
    message.tool_name = inner.text("tool_name").value_or("");
    message.tool_call_id = inner.text("tool_call_id").value_or("");
    request.generate.messages.push_back(std::move(message));
  }
  if (error) fields.fail(*error);
}

}  // namespace

const ParameterKinds& ollama_chat_parameters() {
  static const ParameterKinds kinds{.honoured = {"model", "messages", "tools", "stream", "format", "options",
                                                 "keep_alive", "think", "truncate"},
                                    .without_effect = {},
                                    .refused = {"shift", "logprobs", "top_logprobs"}};
  return kinds;
}

const ParameterKinds& ollama_generate_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model", "prompt", "system", "raw", "stream", "format", "options", "keep_alive", "think",
                   "truncate", "images"},
      .without_effect = {},
      .refused = {"suffix", "template", "context", "shift", "logprobs", "top_logprobs"}};
  return kinds;
}

const ParameterKinds& ollama_options() {
  static const ParameterKinds kinds{
      .honoured = {"temperature", "top_p", "top_k", "min_p", "repeat_penalty", "repeat_last_n",
                   "presence_penalty", "frequency_penalty", "seed", "num_predict", "stop", "num_ctx"},
      .without_effect = {"num_keep", "num_batch", "num_gpu", "main_gpu", "num_thread", "numa", "use_mmap",
                         "use_mlock", "low_vram", "f16_kv", "mirostat_tau", "mirostat_eta"},
      .refused = {"mirostat", "typical_p", "tfs_z", "penalize_newline"}};
  return kinds;
}

std::optional<std::chrono::seconds> read_duration(const Json& value) {
  constexpr double for_ever = 1e9;  // seconds
  const auto whole = [](double seconds) {
    return std::chrono::seconds(
        static_cast<std::int64_t>(seconds < 0 || seconds > for_ever ? for_ever : seconds));
  };
  if (value.is_number()) return whole(value.get<double>());
  if (!value.is_string()) return std::nullopt;
  std::string_view text = value.get_ref<const std::string&>();
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::string_view unit = text.substr(0, text.find_first_of("0123456789."));
    text.remove_prefix(unit.size());
    if (unit == "h") {
      seconds += 3600 * number;
    } else if (unit == "m") {
      seconds += 60 * number;
    } else if (unit == "s" || unit.empty()) {
      seconds += number;
    } else if (unit == "ms") {
      seconds += number / 1000;
    } else {
      return std::nullopt;
    }
  }
  return whole(is_negative ? -1 : seconds);
}

Result<ChatRequest> read_ollama_chat(const Json& body) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  ChatRequest request;
  read_common(fields, request);
  read_messages(fields, request);
  read_openai_tools(fields, request);
  fields.finish(ollama_chat_parameters());
  if (error) return std::unexpected(*std::move(error));
  return request;
}

Result<ChatRequest> read_ollama_generate(const Json& body) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  ChatRequest request;
  read_common(fields, request);
  const std::string prompt = fields.text("prompt").value_or("");
  const std::string system = fields.text("system").value_or("");
  const bool raw = fields.boolean("raw").value_or(false);
  if (const Json* const images = fields.list("images"); images != nullptr && !images->empty())
    fields.fail(errors::server_only_text("images", "image"));
  if (raw && !system.empty()) fields.refuse("system");
  if (raw && !prompt.empty()) {
    request.generate.raw_prompt = prompt;
    request.generate.overflow = ContextOverflow::fail;  // it has no turns
  } else if (!prompt.empty()) {
    if (!system.empty()) request.generate.messages.push_back({.role = "system", .content = system});
    request.generate.messages.push_back({.role = "user", .content = prompt});
  }
  fields.finish(ollama_generate_parameters());
  if (error) return std::unexpected(*std::move(error));
  return request;
}

bool is_only_loading(const ChatRequest& request) {
  return request.generate.messages.empty() && !request.generate.raw_prompt;
}

Json ollama_loaded(const ChatRequest& request, const std::string& model, bool chat) {
  Json json = {{"model", model}, {"created_at", time_text()}};
  if (chat) {
    json["message"] = {{"role", "assistant"}, {"content", ""}};
  } else {
    json["response"] = "";
  }
  json["done"] = true;
  json["done_reason"] = request.keep_loaded == std::chrono::seconds(0) ? "unload" : "load";
  return json;
}

AnswerStyle ollama_chat_style() {
  return style_of(true);
}
AnswerStyle ollama_generate_style() {
  return style_of(false);
}

}  // namespace fovea::app
