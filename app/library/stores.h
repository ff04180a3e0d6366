// Where the expert stores of the user's models lie, and which of them belong to a model.
#pragma once

#include <filesystem>
#include <vector>

#include "app/library/library_types.h"

namespace fovea::app {

// The folder "stores" in the data folder. It need not exist.
std::filesystem::path stores_folder();

// The finished stores of a model in a folder, by name. Reads no weights.
std::vector<StoreFile> stores_of(const std::filesystem::path& model, const std::filesystem::path& folder);

}  // namespace fovea::app
