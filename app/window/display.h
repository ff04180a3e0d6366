// Whether there is a display to open a window on.
#pragma once

#include <optional>
#include <string>

namespace fovea::app {

// Why not ("there is no display …", "the display :7 cannot be reached"), or nothing. Only connects: whether
// the display lets this user in shows when the window opens.
std::optional<std::string> display_obstacle();

}  // namespace fovea::app
