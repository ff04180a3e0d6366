// The conversation of `fovea chat` in a terminal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/chat_flags.h"
#include "app/commands/watched_chat.h"
#include "app/console/console.h"
#include "app/console/interrupts.h"
#include "app/terminal/history.h"
#include "app/terminal/line_reader.h"
#include "engine/api/engine.h"

namespace fovea::app {

class ChatSession {
 public:
  ChatSession(const ChatFlags& flags, Engine& engine, Console& console, Interrupts& interrupts);

  // Until the user leaves (Ctrl-D, Ctrl-C twice at an empty line, /quit) or the terminal is gone.
  Result<void> run();

 private:
  enum class Next : std::uint8_t { go_on, leave };

  Result<void> greet();
  std::string dimmed(const std::string& text) const;
  Result<LineReader::Outcome> read_line(std::string& line);
  // A line that begins with a slash.
  Result<Next> command(const std::string& line);
  std::string choose_thinking(const std::string& name, const std::string& word);
  // Adds the user's message and the model's answer to the conversation; after an error it is as it was.
  Result<void> ask(const std::string& text);
  Result<void> answer();

  ChatFlags flags_;  // /thinking and /effort change them
  Engine& engine_;
  WatchedChat watched_;
  Console& console_;
  Interrupts& interrupts_;
  SamplingDefaults defaults_;
  SamplingSettings sampling_;
  History history_;
  std::unique_ptr<LineReader> reader_;  // null: a terminal without editing
  std::string system_;
  std::vector<Message> messages_;  // without the system message
  std::uint64_t turn_ = 0;         // answers asked for so far
};

}  // namespace fovea::app
