// The chat window, as main sees it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/engine.h"

namespace fovea::app {

struct WindowRequest {
  std::optional<LoadOptions> load;  // the model to open with; nothing: the one used last, or none
  bool policy_given = false;        // on the command line, if only to say none
  std::int64_t conversation = 0;    // to open with; 0: none
  // Of the command line, without the conversation: what a restart is given.
  std::vector<std::string> arguments = {};
  // What the server says of a plan, when a program asks.
  std::function<std::string(const LoadPlan&)> plan_text = {};
};

// Why no window can open here ("there is no display …"), or nothing when one can.
std::optional<std::string> window_obstacle();

// Runs the window until it closes; returns the program's exit code. argc and argv for Qt's own options.
int run_window(int argc, char** argv, const WindowRequest& request);

}  // namespace fovea::app
