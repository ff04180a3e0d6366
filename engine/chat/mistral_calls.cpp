// Mistral's calls behind the control token [TOOL_CALLS]: a list of objects, or for each call its name,
// sometimes an id, and its arguments: [TOOL_CALLS]weather[CALL_ID]a1b2c3d4e[ARGS]{"city": "Rome"}.
#include <array>
#include <utility>

#include "engine/chat/call_reader.h"

namespace fovea::chat {
namespace {

constexpr std::array<std::string_view, 1> calls_mark{"[TOOL_CALLS]"};
constexpr std::array<std::string_view, 2> name_ends{"[ARGS]", "[CALL_ID]"};
constexpr std::size_t longest_head = 256;  // of a name or an id, bytes

class MistralCalls final : public CallReader {
 public:
  explicit MistralCalls(const CallReading& reading) : CallReader(reading) {}

 private:
  enum class In : std::uint8_t { text, opened, item, object, name, id, arguments };

  void take(char c) override {
    switch (in_) {
      case In::text:
        if (seek(c, calls_mark) != 0) return;
        opened_ = calls_mark[0];
        name_.clear();
        id_.clear();
        is_list_ = has_call_ = false;
        in_ = In::opened;
        return;
      case In::opened:
        if (is_blank(c)) {
          opened_ += c;
        } else if (c == '[') {
          opened_ += c;
          is_list_ = true;
          in_ = In::item;
        } else if (c == '{') {
          begin_object(c);
        } else {
          in_ = In::name;
          take_name(c);
        }
        return;
      case In::item:
        opened_ += c;
        if (is_blank(c) || c == ',') return;
        opened_.pop_back();
        if (c == '{') {
          begin_object(c);
        } else if (c == ']' && has_call_) {
          opened_.clear();
          in_ = In::text;
        } else {
          held_ = c;
          give_up();
        }
        return;
      case In::object:
        read_object(c);
        return;
      case In::name:
      case In::id:
        take_name(c);
        return;
      case In::arguments:
        take_arguments(c);
        return;
    }
  }

  void end() override {
    if (in_ == In::object) held_ = object_->rest();
    if (in_ != In::item || !has_call_) say(std::exchange(opened_, {}));
    say_held();
  }

  void give_up() {
    in_ = In::text;
    say_opened();
  }

  void begin_object(char c) {
    object_.emplace(nullptr, true);
    in_ = In::object;
    read_object(c);
  }

  void read_object(char c) {
    const JsonCall::Step step = take_object(c);
    if (step == JsonCall::Step::done) {
      has_call_ = true;
      in_ = is_list_ ? In::item : In::text;
    } else if (step == JsonCall::Step::rubbish) {
      give_up();
    }
  }

  // Up to [ARGS], [CALL_ID] or the arguments themselves.
  void take_name(char c) {
    held_ += c;
    std::string& head = in_ == In::name ? name_ : id_;
    if (c == '{') {
      head = held_.substr(0, held_.size() - 1);
      if (!is_name()) {
        give_up();
        return;
      }
      held_.pop_back();
      begin_arguments();
      take_arguments(c);
      return;
    }
    for (std::size_t i = 0; i < name_ends.size(); ++i) {
      if (!held_.ends_with(name_ends[i])) continue;
      head = held_.substr(0, held_.size() - name_ends[i].size());
      opened_ += std::exchange(held_, {});
      in_ = In::id;
      if (!is_name()) {
        give_up();
      } else if (i == 0) {
        begin_arguments();
      }
      return;
    }
    if (c == '\n' || held_.size() > longest_head) give_up();
  }

  bool is_name() const { return !name_.empty() && name_.find_first_of(" \t\r[]\"") == std::string::npos; }

  void begin_arguments() {
    opened_ += std::exchange(held_, {});
    scan_ = {};
    object_text_.clear();
    in_ = In::arguments;
  }

  void take_arguments(char c) {
    if (object_text_.empty()) {
      if (is_blank(c)) {
        opened_ += c;
        return;
      }
      if (c != '{') {
        held_ = c;
        give_up();
        return;
      }
      opened_.clear();
      tell(call_begin(json_string(name_)));
    }
    object_text_ += c;
    tell({&c, 1});
    if (scan_.take(c) != JsonScan::Next::last) return;
    in_ = In::text;
    if (!is_json(object_text_)) return;
    tell(call_end(id_.empty() ? id_ : json_string(id_)));
    count_call();
  }

  In in_ = In::text;
  std::string name_, id_, object_text_;
  JsonScan scan_;
  bool is_list_ = false, has_call_ = false;
};

}  // namespace

std::unique_ptr<CallReader> read_mistral_calls(const CallReading& reading) {
  return std::make_unique<MistralCalls>(reading);
}

}  // namespace fovea::chat
