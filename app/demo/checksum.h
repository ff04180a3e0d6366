// SHA-256 of a file.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "engine/api/error.h"
#include "engine/api/progress.h"

namespace fovea::app {

// In lower-case hexadecimal.
Result<std::string> sha256(const std::filesystem::path& file, const ProgressSink& progress = {},
                           std::stop_token stop = {});

}  // namespace fovea::app
