#include "app/server/chat.h"

#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "app/server/json_fields.h"
#include "engine/api/errors.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// The engine takes 0 for "choose one"; a client that says 0 wants the same answer again.
constexpr std::uint64_t seed_for_zero = 0x9E3779B97F4A7C15;

template <class T>
void wish(T& setting, const std::optional<T>& wanted) {
  if (wanted) setting = *wanted;
}

// Each choice its own, all of them from the request's.
std::uint64_t seed_of_choice(std::uint64_t seed, std::int32_t choice) {
  return seed == 0 ? 0 : seed + static_cast<std::uint64_t>(choice) * 0xD1B54A32D192ED03;
}

}  // namespace

SamplingSettings SamplingWishes::over(SamplingSettings s) const {
  wish(s.temperature, temperature);
  wish(s.top_p, top_p);
  wish(s.min_p, min_p);
  wish(s.repetition_penalty, repetition_penalty);
  wish(s.presence_penalty, presence_penalty);
  wish(s.frequency_penalty, frequency_penalty);
  wish(s.top_k, top_k);
  wish(s.penalty_window, penalty_window);
  if (seed) s.seed = *seed == 0 ? seed_for_zero : *seed;
  return s;
}

Result<std::vector<Answer>> run_chat(ServedModel& model, const ChatRequest& request, AnswerListener& listener,
                                     const std::stop_token& stop) {
  GenerateRequest generate = request.generate;
  generate.sampling = request.sampling.over(model.sampling());
  const std::uint64_t seed = generate.sampling.seed;
  std::vector<Answer> answers;
  for (std::int32_t choice = 0; choice < request.choices; ++choice) {
    generate.sampling.seed = seed_of_choice(seed, choice);
    Answer answer;
    std::stop_source left;
    const std::stop_callback pass_on(stop, [&left] { left.request_stop(); });
    const AnswerSink hear = [&](const AnswerEvent& event) {
      switch (event.kind) {
        case AnswerEvent::Kind::reasoning:
          answer.reasoning += event.text;
          break;
        case AnswerEvent::Kind::content:
          answer.content += event.text;
          break;
        case AnswerEvent::Kind::call_begin:
          answer.calls.push_back({new_id("call_"), event.text, ""});
          break;
        case AnswerEvent::Kind::call_arguments:
          answer.calls.back().arguments += event.text;
          break;
        case AnswerEvent::Kind::call_end:
          break;
      }
      const ToolCall* const call = answer.calls.empty() ? nullptr : &answer.calls.back();
      if (!listener.event(choice, event, call)) left.request_stop();
    };
    AnswerReader reader(!generate.tools.empty() && generate.tool_choice != ToolChoice::none, hear);
    // What follows a prompt as it stands is as it stands, too.
    const auto read = [&](std::string_view text, const Timings&) {
      if (!generate.raw_prompt) return reader.read(text);
      if (!text.empty()) hear({AnswerEvent::Kind::content, std::string(text)});
    };
    FOVEA_TRY(answer.result, model.generate(generate, read, left.get_token()));
    if (answer.result.finish == FinishReason::cancelled || left.stop_requested())
      return fail(errors::stopped_on_request());
    reader.finish();
    listener.choice_end(choice, answer);
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::string answer_text(std::string_view reasoning, std::string_view content,
                        const std::vector<ToolCall>& calls) {
  std::string text;
  if (!reasoning.empty()) text += "<think>\n" + std::string(reasoning) + "\n</think>\n\n";
  text += content;
  for (const ToolCall& call : calls) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    // Templates show the arguments in the order in which they were sent.
    text += "<tool_call>\n{\"name\": " + dump(call.name) + ", \"arguments\": " + call.arguments +
            "}\n</tool_call>";
  }
  return text;
}

std::string new_id(std::string_view prefix) {
  static constexpr std::string_view letters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  thread_local std::random_device random;
  std::uniform_int_distribution<std::size_t> one(0, letters.size() - 1);
  std::string id(prefix);
  for (int i = 0; i < 24; ++i) id += letters[one(random)];
  return id;
}

}  // namespace fovea::app
