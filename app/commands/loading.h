// From what the user wrote for MODEL to something loaded.
#pragma once

#include <memory>
#include <string>

#include "app/commands/flags.h"
#include "app/commands/precision_flags.h"
#include "engine/api/engine.h"

namespace fovea::app {

Result<std::filesystem::path> find_model(const std::string& argument);

// The options that the flags mean for a model. ErrorKind::invalid names two flags that contradict each other.
Result<LoadOptions> load_options(const std::string& model, const LoadOptions& flags);

struct LoadedEngine {
  std::unique_ptr<Engine> engine;
  double seconds = 0;
};
Result<LoadedEngine> load_engine(const LoadOptions& options, Console& console, std::stop_token stop);

// A chat in the terminal is stored nowhere, and a device that has failed does not come back for it.
Error as_seen_in_terminal(Error error);

}  // namespace fovea::app
