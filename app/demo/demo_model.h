// The demo model: SmolLM2-135M-Instruct (dense, GGUF, Q4_1) turned into a Mixture-of-Experts of the
// `qwen2moe` architecture: 30 layers, d 576, 16 experts of 512 neurons, top 2, one shared expert of 1,024.
#pragma once

#include <filesystem>
#include <stop_token>

#include "engine/api/error.h"
#include "engine/api/progress.h"

namespace fovea::app {

inline constexpr const char* demo_model_name = "Fovea demo (SmolLM2-135M-Instruct as a Mixture-of-Experts)";
// A key of the metadata that tells which recipe a file was made of: the beginning of the recipe's SHA-256.
inline constexpr const char* demo_recipe_key = "fovea.demo.recipe";
inline constexpr const char* demo_recipe_id = "c9d0568118ec8c9f";

struct DemoInstall {
  bool replaced = false;  // an earlier demo model stood there
};

// Checks the source, copies it into the folder as demo-dense.gguf, and makes demo.gguf from it and the
// recipe. Both appear only when they are whole and have the expected checksum; what is there already stays,
// but for a demo model of another recipe: that is replaced, and the stores that were made of it are deleted.
// Another model of that name is ErrorKind::invalid.
Result<DemoInstall> install_demo_model(const std::filesystem::path& source,
                                       const std::filesystem::path& models,
                                       const std::filesystem::path& stores, const ProgressSink& progress = {},
                                       std::stop_token stop = {});

// The second half: writes the model to `target` without checking it. `layers`: only so many, the first ones;
// 0: all.
Result<void> build_demo_model(const std::filesystem::path& source, const std::filesystem::path& target,
                              std::int64_t layers = 0, const ProgressSink& progress = {},
                              std::stop_token stop = {});

}  // namespace fovea::app
