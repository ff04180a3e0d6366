// What the model library tells about each model. Plain data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/library/fit.h"
#include "engine/api/model_info.h"

namespace fovea::app {

// A store of one of the models, made by prepare.
struct StoreFile {
  std::filesystem::path path;
  std::vector<std::string> tiers;  // from high to low
  std::int64_t bytes = 0;
};

struct LibraryModel {
  std::string name;
  std::filesystem::path path;     // to open: a file, the first part of several, or a folder
  std::filesystem::path real;     // the same with its links followed
  std::filesystem::path folder;   // the watched one that it was found in
  std::int64_t file_bytes = 0;    // of all its files
  bool is_read = false;           // what follows is known
  std::optional<Error> error;     // why it cannot be opened
  ModelInfo info;                 // without an error
  std::vector<StoreFile> stores;  // without an error
  std::optional<ModelFit> fit;    // without an error
};

// "Q4_K", or the two that most bytes have: "Q4_K, Q6_K".
std::string quantization_of(const ModelInfo& info);

}  // namespace fovea::app
