// Where Fovea keeps what belongs to the user.
#pragma once

#include <filesystem>

#include "engine/api/error.h"

namespace fovea::app {

// None of these need exist.
//   data:    $FOVEA_DATA,   else $XDG_DATA_HOME/fovea,   else ~/.local/share/fovea
//   config:  $FOVEA_CONFIG, else $XDG_CONFIG_HOME/fovea, else ~/.config/fovea
//   cache:   $FOVEA_CACHE,  else $XDG_CACHE_HOME/fovea,  else ~/.cache/fovea
// Where only FOVEA_DATA is set, the other two are folders in it, so that one variable moves everything.
std::filesystem::path data_folder();
std::filesystem::path config_folder();
std::filesystem::path cache_folder();

std::filesystem::path models_folder();
std::filesystem::path history_file();

// The folder, made when it is missing.
Result<std::filesystem::path> make_folder(const std::filesystem::path& folder);

}  // namespace fovea::app
