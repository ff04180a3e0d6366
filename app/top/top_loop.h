// `fovea top` at work: on a terminal until it is left, or one moment.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "app/top/canvas.h"
#include "app/top/top_model.h"
#include "app/top/top_watcher.h"

namespace fovea::app {

struct TopLook {
  Colours colours = Colours::none;
  bool is_light = false;  // the terminal's ground
};

// By TERM, COLORTERM, NO_COLOR and COLORFGBG of the environment.
TopLook look_of_terminal();

// Until q, Ctrl-C, or the terminal is gone. Errors that waiting does not mend.
Result<void> watch_on_terminal(const TopSource& source, const TopLook& look, std::stop_token stop);

struct TopMoment {
  TopModel model;
  std::string source;
};
// The first moment that is told within that time. server_nothing_runs, server_nothing_told.
Result<TopMoment> watch_once(const TopSource& source, std::chrono::milliseconds most, std::stop_token stop);

}  // namespace fovea::app
