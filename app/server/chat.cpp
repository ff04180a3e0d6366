#include "app/server/chat.h"

#include <algorithm>
#include <deque>
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

namespace {

// One of a request's answers as it comes.
class ComingAnswer {
 public:
  ComingAnswer(std::int32_t number, const GenerateRequest& request, AnswerListener& listener)
      : number_(number),
        is_raw_(request.raw_prompt.has_value()),
        listener_(listener),
        reader_(!request.tools.empty() && request.tool_choice != ToolChoice::none,
                [this](const AnswerEvent& event) { events_.push_back(event); }) {}
  ComingAnswer(const ComingAnswer&) = delete;
  ComingAnswer& operator=(const ComingAnswer&) = delete;

  // False: nobody listens.
  bool read(const ChoicePiece& piece) {
    tokens_.insert(tokens_.end(), piece.choices.begin(), piece.choices.end());
    read_ += std::ssize(piece.text);
    // What follows a prompt as it stands is as it stands, too.
    if (!is_raw_) {
      reader_.read(piece.text);
    } else if (!piece.text.empty()) {
      events_.push_back({AnswerEvent::Kind::content, std::string(piece.text)});
    }
    return tell();
  }
  Answer end(GenerateResult result) {
    reader_.finish();
    tell();
    answer_.result = std::move(result);
    listener_.choice_end(number_, answer_, std::span(answer_.result.choices).subspan(told_));
    return std::move(answer_);
  }

 private:
  // Tokens come with the last event of what was read.
  bool tell() {
    bool listens = true;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      take(events_[i]);
      std::size_t count = 0;
      const std::int64_t said = read_ - static_cast<std::int64_t>(reader_.held());
      if (i + 1 == events_.size())
        while (count < tokens_.size() && tokens_[count].text_end <= said) ++count;
      const ToolCall* const call = answer_.calls.empty() ? nullptr : &answer_.calls.back();
      listens &= listener_.event({number_, events_[i], call, std::span(tokens_).first(count)});
      tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(count));
      told_ += count;
    }
    events_.clear();
    return listens;
  }
  void take(const AnswerEvent& event) {
    switch (event.kind) {
      case AnswerEvent::Kind::reasoning:
        answer_.reasoning += event.text;
        break;
      case AnswerEvent::Kind::content:
        answer_.content += event.text;
        break;
      case AnswerEvent::Kind::call_begin:
        answer_.calls.push_back({new_id("call_"), event.text, ""});
        break;
      case AnswerEvent::Kind::call_arguments:
        answer_.calls.back().arguments += event.text;
        break;
      case AnswerEvent::Kind::call_end:
        break;
    }
  }

  const std::int32_t number_;
  const bool is_raw_;
  AnswerListener& listener_;
  Answer answer_;
  std::vector<AnswerEvent> events_;  // of what was read last
  AnswerReader reader_;
  std::int64_t read_ = 0;            // bytes of the answer's text
  std::vector<TokenChoice> tokens_;  // not told yet
  std::size_t told_ = 0;
};

}  // namespace

Result<std::vector<Answer>> run_chat(ServedModel& model, const ChatRequest& request, AnswerListener& listener,
                                     const std::stop_token& stop) {
  GenerateRequest generate = request.generate;
  generate.sampling = request.sampling.over(model.sampling());
  std::vector<std::uint64_t> seeds;
  std::deque<ComingAnswer> choices;
  for (std::int32_t choice = 0; choice < request.choices; ++choice) {
    seeds.push_back(seed_of_choice(generate.sampling.seed, choice));
    choices.emplace_back(choice, generate, listener);
  }
  std::stop_source left;
  const std::stop_callback pass_on(stop, [&left] { left.request_stop(); });
  const auto read = [&](std::size_t choice, const ChoicePiece& piece) {
    if (!choices[choice].read(piece)) left.request_stop();
  };
  FOVEA_TRY(auto results, model.generate(generate, seeds, read, left.get_token()));
  const bool was_cancelled =
      std::ranges::any_of(results, [](const auto& each) { return each.finish == FinishReason::cancelled; });
  if (was_cancelled || left.stop_requested()) return fail(errors::stopped_on_request());
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < results.size(); ++i) answers.push_back(choices[i].end(std::move(results[i])));
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
