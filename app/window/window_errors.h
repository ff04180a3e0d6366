// Errors in the window: what speaks of the command line stands behind "Details".
#pragma once

#include "app/words/error_words.h"
#include "ui/chat/chat_window.h"

namespace fovea::app {

// `sentence`: with the error's own at %1.
inline void tell_error(ui::ChatWindow& window, const Error& error,
                       const QString& sentence = QStringLiteral("%1")) {
  const auto [text, details] = error_text(error);
  window.show_error(sentence.arg(text), {}, {}, details);
}

}  // namespace fovea::app
