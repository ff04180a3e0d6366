// What the experts do, as text.
#pragma once

#include <string>
#include <vector>

#include "engine/api/snapshot.h"

namespace fovea::app {

// The snapshot as lines of at most `columns` characters, colours as escape sequences: a status line, then a
// grid in which a character's upper and lower half are two layers and each column some units, coloured by
// tier. Layers and units are put together where there are more than fit.
std::vector<std::string> draw_snapshot(const Snapshot& snapshot, int columns, int rows);
// The status line alone, without colours.
std::string status_line(const Snapshot& snapshot);

}  // namespace fovea::app
