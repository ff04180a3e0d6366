// The terminal on standard output.
#pragma once

#include <string_view>

namespace fovea::app {

// Whatever the terminal does with it; failures are ignored.
void put_on_terminal(std::string_view bytes);

// The same without waiting: a program that is asked to end must not hang on a terminal that nobody reads.
void put_on_terminal_at_once(std::string_view bytes);

}  // namespace fovea::app
