// A message of a model: Markdown whose <think> sections and calls are apart, parsed as it arrives.
#pragma once

#include <QString>
#include <vector>

#include "ui/markdown/document.h"

namespace fovea::ui {

// The blocks of a whole message. Each <think> section is a block of kind `reasoning` and then its own blocks;
// so is each call (<tool_call>{"name": …, "arguments": {…}}</tool_call>), whose arguments are a block of
// code.
std::vector<Block> parse_message(const QString& text);

// The same for a text that grows: what can no longer change is not parsed again.
class MessageParser {
 public:
  void append(const QString& more);

  const std::vector<Block>& blocks() const { return blocks_; }
  const QString& text() const { return text_; }
  // Blocks before this one are as they were before the last append().
  std::size_t first_changed() const { return first_changed_; }
  // Characters parsed so far, all appends together: shows that a long message is not parsed again and again.
  qint64 parsed_characters() const { return parsed_characters_; }

 private:
  void parse_tail();

  QString text_;
  std::vector<Block> blocks_;
  qsizetype settled_ = 0;           // before it in text_ nothing changes any more …
  std::size_t settled_blocks_ = 0;  // … nor in these blocks
  bool settled_in_reasoning_ = false;
  std::size_t summary_ = 0;  // … of that reasoning
  bool whole_ = false;       // something at the end may change the beginning: parse all, always
  std::size_t first_changed_ = 0;
  qint64 parsed_characters_ = 0;
};

}  // namespace fovea::ui
