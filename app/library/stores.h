// Where the expert stores of the user's models lie, and which of them belong to a model.
#pragma once

#include <filesystem>
#include <vector>

#include "app/library/library_types.h"
#include "engine/api/precision.h"

namespace fovea::app {

// The folder "stores" in the data folder. It need not exist.
std::filesystem::path stores_folder();

// The finished stores of a model in a folder, by name. Reads no weights.
std::vector<StoreFile> stores_of(const std::filesystem::path& model, const std::filesystem::path& folder);

// What opening takes: the store that is prepared first where a plan's tiers need one.
struct StoreNeed {
  bool needed = false;
  bool there = false;
  std::int64_t bytes = 0;       // of the file
  std::int64_t free_bytes = 0;  // where it will lie
  double seconds = 0;           // that preparing takes here, roughly; 0: nobody knows
};
StoreNeed store_need(const std::filesystem::path& model, const Plan& plan,
                     const std::filesystem::path& stores, const std::string& device);

}  // namespace fovea::app
