// Where Fovea keeps what belongs to the user.
#pragma once

#include <filesystem>

#include "engine/api/error.h"

namespace fovea::app {

// $FOVEA_DATA, else $XDG_DATA_HOME/fovea, else ~/.local/share/fovea. It need not exist.
std::filesystem::path data_folder();
std::filesystem::path models_folder();

// The folder, made when it is missing.
Result<std::filesystem::path> make_folder(const std::filesystem::path& folder);

}  // namespace fovea::app
