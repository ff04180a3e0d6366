// What was set up, as a command for the terminal.
#pragma once

#include <string>
#include <vector>

#include "engine/api/engine.h"

namespace fovea::app {

// `model`: what stands for MODEL, a name in the library or a path. Only what differs from the defaults is
// written; the parser of the commands reads the same request from it.
std::vector<std::string> arguments_for(const std::string& model, const LoadOptions& request);
// "fovea …" as a shell takes it.
std::string command_line(const std::vector<std::string>& arguments);

}  // namespace fovea::app
