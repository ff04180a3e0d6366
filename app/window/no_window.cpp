// The program built without a window.
#include "app/window/window.h"

namespace fovea::app {

std::optional<std::string> window_obstacle() {
  return "this build has no window";
}

int run_window(int, char**, const WindowRequest&) {
  return 1;
}

}  // namespace fovea::app
