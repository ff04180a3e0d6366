// Where the expert stores of the user's models lie.
#pragma once

#include <filesystem>

namespace fovea::app {

// The folder "stores" in the data folder. It need not exist.
std::filesystem::path stores_folder();

}  // namespace fovea::app
