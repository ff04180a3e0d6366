// From what the user wrote for MODEL to something loaded.
#pragma once

#include <memory>
#include <string>

#include "app/commands/flags.h"
#include "app/commands/precision_flags.h"
#include "engine/api/engine.h"

namespace fovea::app {

Result<std::filesystem::path> find_model(const std::string& argument);

Result<LoadRequest> load_request(const std::string& model, const LoadFlags& flags);
// With the precision that the user asked for.
Result<LoadRequest> load_request(const std::string& model, const LoadFlags& flags,
                                 const PrecisionFlags& precision);

struct LoadedEngine {
  std::unique_ptr<Engine> engine;
  double seconds = 0;
};
Result<LoadedEngine> load_engine(const LoadRequest& request, Console& console, std::stop_token stop);

// A chat in the terminal is stored nowhere, and a device that has failed does not come back for it.
Error as_seen_in_terminal(Error error);

}  // namespace fovea::app
