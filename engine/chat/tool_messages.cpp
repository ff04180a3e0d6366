#include "engine/chat/tool_messages.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/chat/thoughts.h"

namespace fovea::chat {
namespace {

constexpr std::size_t mistral_id_length = 9;

bool is_mistral_id(std::string_view id) {
  return id.size() == mistral_id_length && std::ranges::all_of(id, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

// Calls are what an answer says, not what it thinks.
CalledMessage without_calls(const Message& message, bool later) {
  CalledMessage called{message, {}};
  const std::string_view content = message.content;
  std::string rest;
  std::size_t done = 0;
  for (const AnswerPart& part : answer_parts(content, later)) {
    if (part.thoughts) continue;
    const auto begin = static_cast<std::size_t>(part.text.data() - content.data());
    CalledText split = split_calls(part.text);
    if (split.calls.empty()) continue;
    rest += content.substr(done, begin - done);
    rest += split.text;
    done = begin + part.text.size();
    std::ranges::move(split.calls, std::back_inserter(called.calls));
  }
  rest += content.substr(done);
  if (!called.calls.empty()) called.message.content = std::move(rest);
  return called;
}

// Gives every call an id, and every answer the id and the name of its call.
class Numbering {
 public:
  explicit Numbering(bool mistral) : mistral_(mistral) {}

  void run(std::vector<CalledMessage>& messages) {
    for (CalledMessage& each : messages) {
      if (each.message.role == "tool") {
        answer(each.message);
      } else if (each.message.role == "assistant") {
        name_open();
        for (ToolCall& call : each.calls) open_.push_back(&call);
      }
    }
    name_open();
    for (CalledMessage& each : messages) {
      if (each.message.role == "tool") each.message.tool_call_id = fitting(each.message.tool_call_id);
      for (ToolCall& call : each.calls) call.id = fitting(call.id);
    }
  }

 private:
  void answer(Message& message) {
    auto call = open_.end();
    if (!message.tool_call_id.empty())
      call = std::ranges::find(open_, message.tool_call_id, [](const ToolCall* each) { return each->id; });
    // Else it answers the first that nobody has: the model gave it no id, or the answer has none.
    if (call == open_.end())
      call = std::ranges::find_if(open_, [&message](const ToolCall* each) {
        return each->id.empty() || message.tool_call_id.empty();
      });
    if (call == open_.end()) return;
    if ((*call)->id.empty()) (*call)->id = message.tool_call_id.empty() ? next_id() : message.tool_call_id;
    message.tool_call_id = (*call)->id;
    if (message.tool_name.empty()) message.tool_name = (*call)->name;
    open_.erase(call);
  }

  void name_open() {
    for (ToolCall* const call : open_)
      if (call->id.empty()) call->id = next_id();
    open_.clear();
  }

  std::string next_id() {
    std::string digits = std::to_string(number_++);
    digits.insert(0, 5 - std::min<std::size_t>(5, digits.size()), '0');
    return "call" + digits;
  }

  std::string fitting(const std::string& id) {
    if (!mistral_ || id.empty() || is_mistral_id(id)) return id;
    const auto [at, is_new] = fitting_.try_emplace(id);
    if (is_new) at->second = next_id();
    return at->second;
  }

  bool mistral_;
  std::vector<ToolCall*> open_;  // that no message has answered
  std::map<std::string, std::string> fitting_;
  int number_ = 0;
};

// One call a message, each before its answer.
std::vector<CalledMessage> one_by_one(std::vector<CalledMessage> messages) {
  std::vector<CalledMessage> apart;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].calls.size() < 2) {
      apart.push_back(std::move(messages[i]));
      continue;
    }
    std::size_t end = i + 1;
    while (end < messages.size() && messages[end].message.role == "tool") ++end;
    std::vector<bool> used(end - i);
    for (ToolCall& call : messages[i].calls) {
      Message message{.role = "assistant", .content = {}};
      if (&call == &messages[i].calls.front()) message.content = std::move(messages[i].message.content);
      std::string id = call.id;
      apart.push_back({std::move(message), {std::move(call)}});
      for (std::size_t answer = i + 1; answer < end; ++answer) {
        if (used[answer - i] || messages[answer].message.tool_call_id != id) continue;
        used[answer - i] = true;
        apart.push_back(std::move(messages[answer]));
      }
    }
    for (std::size_t answer = i + 1; answer < end; ++answer)
      if (!used[answer - i]) apart.push_back(std::move(messages[answer]));
    i = end - 1;
  }
  return apart;
}

}  // namespace

std::vector<CalledMessage> called_messages(const std::vector<Message>& messages, bool later,
                                           std::optional<CallSyntax> syntax) {
  std::vector<CalledMessage> called;
  for (const Message& message : messages)
    called.push_back(syntax && message.role == "assistant" ? without_calls(message, later)
                                                           : CalledMessage{message, {}});
  if (!syntax) return called;
  Numbering(syntax == CallSyntax::mistral_list || syntax == CallSyntax::mistral_name).run(called);
  if (syntax != CallSyntax::harmony && syntax != CallSyntax::llama) return called;
  return one_by_one(std::move(called));
}

}  // namespace fovea::chat
