// The sentences of errors that are said in the language of the window.
#pragma once

#include <span>

namespace fovea::app {

// What was found, and what to do: the sentences of errors that a user of the window can meet, and why there
// is no GPU. %1, %2 … stand for what varies, each once and in this order.
std::span<const char* const> known_sentences();

}  // namespace fovea::app
