// Models by name: what lies in the user's data folder under models/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/api/error.h"

namespace fovea::app {

struct LibraryEntry {
  std::string name;
  std::filesystem::path path;
};

// The name that a model has by its file or folder.
std::string model_name(const std::filesystem::path& path);

// NAME.gguf, the first part of a split NAME-00001-of-00003.gguf, and folders with config.json; sorted by
// name.
std::vector<LibraryEntry> list_models(const std::filesystem::path& folder);

// The same, in the folders below too (three deep, without hidden ones and links to folders): where other
// programs keep their models.
std::vector<LibraryEntry> find_models(const std::filesystem::path& folder);

// What a user writes for MODEL: a path, or a name in the library. A text with a slash is always a path.
// A name that is unknown, or that could be two things, is an error which lists what there is.
Result<std::filesystem::path> resolve_model(const std::string& argument, const std::filesystem::path& folder);

}  // namespace fovea::app
