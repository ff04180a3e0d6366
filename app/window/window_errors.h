// Errors in the window, its pages and dialogs: what few people can read stands behind "Details".
#pragma once

#include "app/words/error_words.h"
#include "ui/chat/chat_window.h"

namespace fovea::app {

// `sentence`: with the error's own at %1.
template <class View>  // a page or a dialog that shows errors
void tell_error(View& view, const Error& error) {
  const auto [text, details] = error_text(error);
  view.show_error(text, details);
}

inline void tell_error(ui::ChatWindow& window, const Error& error,
                       const QString& sentence = QStringLiteral("%1")) {
  const auto [text, details] = error_text(error);
  window.show_error(sentence.arg(text), {}, {}, details);
}

}  // namespace fovea::app
