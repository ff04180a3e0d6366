// Where the expert stores of the user's models lie.
#pragma once

#include <filesystem>

#include "engine/api/prepare.h"

namespace fovea::app {

// The folder "stores" in the data folder. It need not exist.
std::filesystem::path stores_folder();

// The store of a model: "qwen3-30b-a3b-q4_k_m-1f2e3d4c-file-q2.store", with the model's name, the beginning
// of its fingerprint, and the tiers; of linear layers "…-file-q2-linear.store".
std::filesystem::path store_path(const std::filesystem::path& model, const StorePlan& plan);

}  // namespace fovea::app
