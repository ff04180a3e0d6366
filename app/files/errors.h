// What is said of files of the program's own.
#pragma once

#include "engine/api/errors.h"

namespace fovea::errors {

FOVEA_ERROR(internal, earlier_version_said, "an earlier version of Fovea said: {said}", "");

}  // namespace fovea::errors
