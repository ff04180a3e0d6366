// Errors in the language of the window: a headline that says what kind of trouble it is, then where it was,
// what it was and what to do, from the translations of the codes (resources/translations/errors_*.json).
#pragma once

#include <QString>

#include "engine/api/error.h"

namespace fovea::app {

// In English the error's own message.
QString error_words(const Error& error);

// The same in two parts. Behind "Details" stands what speaks of a file's insides, of Fovea's own, of
// something by its name in them, or of the command line: then the rest says what kind of trouble it is and
// what to do.
struct ErrorText {
  QString text, details;  // details: empty, or whole sentences
};
ErrorText error_text(const Error& error);

// A sentence that is no error: a notice, why there is no GPU, why a card cannot be used.
QString sentence_words(const Phrase& phrase);

}  // namespace fovea::app
