// What is said of standard output.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(console_standard_output, "standard output");
FOVEA_PHRASE(console_check_output, "Check where the output goes");

}  // namespace fovea::phrases

namespace fovea::errors {

// The reader has left (EPIPE); Console::error() keeps it to itself.
FOVEA_ERROR(cancelled, console_nobody_reads, "nothing is reading the output any more", "");

}  // namespace fovea::errors
