// A name in the model library for a model that lies in the hub's cache.
#pragma once

#include <filesystem>
#include <string>

#include "app/download/hub_types.h"

namespace fovea::app {

// Links a choice's files (all parts), or its folder, into the library. Its name there; empty where the
// library has something else of that name, which is left alone, or cannot be written.
std::string link_into_library(const std::filesystem::path& library, const ModelChoice& choice,
                              const std::filesystem::path& snapshot);

}  // namespace fovea::app
