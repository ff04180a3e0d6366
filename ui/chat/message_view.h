// One message as the transcript shows it. Plain data: whoever fills it in decides what it says and offers.
#pragma once

#include <QFlags>
#include <QMetaType>
#include <QString>
#include <cstdint>
#include <vector>

namespace fovea::ui {

using MessageId = qint64;

enum class Author : std::uint8_t { user, assistant };

enum class MessageAction : std::uint8_t {
  copy = 1,  // done by the transcript itself
  edit = 2,
  regenerate = 4,
  continue_answer = 8,
  remove = 16,
  facts = 32,  // done by the transcript itself
};
Q_DECLARE_FLAGS(MessageActions, MessageAction)
Q_DECLARE_OPERATORS_FOR_FLAGS(MessageActions)

enum class NoteKind : std::uint8_t { information, warning, failure };

struct MessageFact {
  QString name, value;
  bool operator==(const MessageFact&) const = default;
};

struct MessageView {
  MessageId id = 0;
  Author author = Author::user;
  QString author_name;  // empty: "You", or "Answer"
  QString text;         // Markdown with <think> of the assistant; of the user as it was typed
  QString note;         // a line under it: "Stopped", "The context is full"
  NoteKind note_kind = NoteKind::information;
  int sibling_index = 0;  // which of its branches this is, from 0
  int sibling_count = 1;
  QString details;                 // one subtle line: "Qwen3 · 34 tok/s"
  std::vector<MessageFact> facts;  // how it came about, at length; shown on demand
  double reasoning_seconds = 0;    // how long it thought; 0: not known
  bool streaming = false;          // more of it is on its way
  MessageActions actions = MessageAction::copy;

  bool operator==(const MessageView&) const = default;
};

}  // namespace fovea::ui

Q_DECLARE_METATYPE(fovea::ui::MessageAction)
