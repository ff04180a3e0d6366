// A window that is closed as its user does it.
#pragma once

#include <QSignalSpy>

#include "app/window/desktop.h"
#include "tests/support/wait.h"

namespace fovea::tests {

// Whether it went, with all that it was doing.
inline bool close(app::Desktop& desktop) {
  QSignalSpy closed(&desktop, &app::Desktop::closed);
  desktop.window().close();
  return closed.count() == 1 || closed.wait(kLong);
}

}  // namespace fovea::tests
