// What a client asks for and what it gets, whichever protocol it speaks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/server/answer_reader.h"
#include "app/server/served_models.h"
#include "engine/api/request.h"

namespace fovea::app {

// What a request says of the sampling; what it does not say is as the model likes it.
struct SamplingWishes {
  std::optional<float> temperature, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<std::int32_t> top_k, penalty_window;
  std::optional<std::uint64_t> seed;  // 0 is one like any other
  SamplingSettings over(SamplingSettings defaults) const;
};

struct ChatRequest {
  std::string model;
  GenerateRequest generate;  // without its sampling
  SamplingWishes sampling = {};
  std::int32_t choices = 1;  // answers to the same
  bool stream = false;
  bool stream_usage = false;                    // behind a streamed answer
  std::string thinking_parameter = {};          // that asked for what `generate` says of thinking
  std::int64_t context = 0;                     // tokens that it counts on; 0: as the model was loaded
  std::vector<std::string> skipped_tools = {};  // kinds that nobody here knows
  std::optional<std::chrono::seconds> keep_loaded = {};  // behind it; 0: it is unloaded at once
};

struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  // JSON, cut off where the answer was
};

struct Answer {
  std::string reasoning;
  std::string content;
  std::vector<ToolCall> calls;
  GenerateResult result;
};

struct ChoiceEvent {
  std::int32_t choice = 0;
  const AnswerEvent& event;
  const ToolCall* call = nullptr;       // the last one that has begun
  std::span<const TokenChoice> tokens;  // whose text ends here, since the event before
};

// What happens to one request: events of all choices as they come, then choice_end of each. False: nobody
// listens any more, so that the answers are stopped.
class AnswerListener {
 public:
  virtual ~AnswerListener() = default;
  virtual bool event(const ChoiceEvent& event) = 0;
  // tokens: those that no event had.
  virtual void choice_end(std::int32_t choice, const Answer& answer, std::span<const TokenChoice> tokens) = 0;
};

// All of its choices. Errors are the engine's; a cancelled request is ErrorKind::cancelled.
Result<std::vector<Answer>> run_chat(ServedModel& model, const ChatRequest& request, AnswerListener& listener,
                                     const std::stop_token& stop);

// An answer's thoughts and calls as GenerateResult::text has them, for a message of an earlier turn.
std::string answer_text(std::string_view reasoning, std::string_view content,
                        const std::vector<ToolCall>& calls);

// Letters and digits that nobody guesses, behind a prefix: "chatcmpl-…", "call_…".
std::string new_id(std::string_view prefix);

}  // namespace fovea::app
