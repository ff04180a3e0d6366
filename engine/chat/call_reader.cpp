#include "engine/chat/call_reader.h"

#include <algorithm>
#include <utility>

namespace fovea::chat {

std::unique_ptr<CallReader> CallReader::of(const CallReading& reading) {
  switch (reading.syntax) {
    case CallSyntax::hermes:
    case CallSyntax::qwen_xml:
      return read_tagged_calls(reading);
    case CallSyntax::mistral_list:
    case CallSyntax::mistral_name:
      return read_mistral_calls(reading);
    case CallSyntax::llama:
      return read_llama_calls(reading);
    case CallSyntax::gemma:
      return read_gemma_calls(reading);
    case CallSyntax::harmony:
      break;
  }
  return nullptr;
}

CallReader::Pieces CallReader::push(std::string_view text) {
  for (const char c : text)
    if (!ended()) take(c);
  return std::exchange(pieces_, {});
}

CallReader::Pieces CallReader::finish() {
  if (!ended()) end();
  return std::exchange(pieces_, {});
}

int CallReader::seek(char c, std::span<const std::string_view> marks) {
  held_ += c;
  std::size_t keep = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (held_.ends_with(marks[i])) {
      held_.resize(held_.size() - marks[i].size());
      say_held();
      return static_cast<int>(i);
    }
    for (std::size_t length = std::min(held_.size(), marks[i].size() - 1); length > keep; --length)
      if (std::string_view(held_).ends_with(marks[i].substr(0, length))) keep = length;
  }
  say(std::string_view(held_).substr(0, held_.size() - keep));
  held_.erase(0, held_.size() - keep);
  return -1;
}

int CallReader::match(char c, std::span<const std::string_view> marks) {
  held_ += c;
  int found = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (held_ == marks[i]) return static_cast<int>(i) + 2;
    if (marks[i].starts_with(held_)) found = 1;
  }
  return found;
}

void CallReader::say_held() {
  say(held_);
  held_.clear();
}

void CallReader::say_opened() {
  say(opened_);
  opened_.clear();
  say_held();
}

JsonCall::Step CallReader::take_object(char c) {
  const JsonCall::Step step = object_->take(c);
  if (const std::string ready = object_->take_ready(); !ready.empty()) {
    opened_.clear();
    tell(ready);
  }
  if (step == JsonCall::Step::done) count_call();
  if (step == JsonCall::Step::rubbish) held_ = object_->rest();
  return step;
}

void CallReader::add(std::string_view text, bool call) {
  if (text.empty()) return;
  if (pieces_.empty() || pieces_.back().call != call) pieces_.push_back({{}, call});
  pieces_.back().text += text;
}

}  // namespace fovea::chat
