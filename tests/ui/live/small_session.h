// A model of two layers of eight experts, small enough to be counted by hand.
#pragma once

#include <QColor>

#include "engine/api/snapshot.h"
#include "ui/live/live_model.h"

namespace fovea::ui {
class LivePanel;
}

namespace fovea::tests {

ui::LiveModel small_model();
// Layer 1 is hotter to the right.
Snapshot small_snapshot();
// In the middle of a cell of the panel's map.
QColor pixel(ui::LivePanel& panel, int layer, int slot);

}  // namespace fovea::tests
