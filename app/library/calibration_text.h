// A text of our own for models that are prepared without one of the user's: conversation, prose, code,
// mathematics and a few languages, so that most of the experts have something to do.
#pragma once

#include <string_view>

namespace fovea::app {

std::string_view calibration_text();

}  // namespace fovea::app
