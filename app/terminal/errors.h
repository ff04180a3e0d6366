// What is said of the terminal's typed lines.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(terminal_history_lost, "The history of this session will not be kept");

}  // namespace fovea::phrases
