// What is said of whole files, locks and folders.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// files.cpp
FOVEA_PHRASE(files_standard_input, "standard input");
FOVEA_PHRASE(files_name_one_inside, "Name a file in it");

// What to do, also said by the folders above.
FOVEA_PHRASE(files_check_path, "Check the path");
FOVEA_PHRASE(files_check_permissions, "Check the permissions of the file and its folder");
FOVEA_PHRASE(files_set_fovea_data, "Set FOVEA_DATA to a folder that you can write to");

}  // namespace fovea::phrases

namespace fovea::errors {

// files.cpp, file_lock.cpp
FOVEA_ERROR(not_found, files_not_found, "cannot be opened: {said}", "Check the path");
FOVEA_ERROR(io, files_cannot_open, "cannot be opened: {said}", "Check the path");
FOVEA_ERROR(invalid, files_too_large, "is larger than {limit}", "Give a smaller file");

// error_json.cpp
FOVEA_ERROR(internal, earlier_version_said, "an earlier version of Fovea said: {said}", "");

}  // namespace fovea::errors
