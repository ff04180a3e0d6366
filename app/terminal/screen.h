// The terminal, by default on standard output.
#pragma once

#include <string>
#include <string_view>

namespace fovea::app {

// Of the terminal on this file descriptor; 0: there is none, or it does not say.
int terminal_columns(int descriptor);

// The text in lines of at most `columns` characters, broken between words; a longer word has a line of its
// own. 0: as it is.
std::string wrapped(std::string_view text, int columns);

// Whatever the terminal does with it; failures are ignored.
void put_on_terminal(std::string_view bytes);

// The same without waiting, or for so long at most: a program that is asked to end must not hang on a
// terminal that nobody reads.
void put_on_terminal_at_once(std::string_view bytes, int patience_ms = 0);

}  // namespace fovea::app
