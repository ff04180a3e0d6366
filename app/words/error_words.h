// Errors in the language of the window. The engine speaks English; where the window does not, its sentence
// stands behind a headline that says what kind of trouble it is. Sentences that are known (known_sentences.h)
// are translated, others are shown as they are.
#pragma once

#include <QString>
#include <string>

#include "engine/api/error.h"

namespace fovea::app {

// In English the error's own message.
QString error_words(const Error& error);

// A sentence of the engine that is no error: why there is no GPU, why a card cannot be used.
QString sentence_words(const std::string& sentence);
QString sentence_words(const Phrase& phrase);

// ErrorKind::context_full: how many of the oldest messages would have to be left out, as the engine counted
// them; 0: leaving out does not help.
int messages_to_leave_out(const Error& error);

}  // namespace fovea::app
