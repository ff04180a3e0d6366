// The experts as cells: layers down, experts across; and those of one layer by themselves.
#pragma once

#include "app/top/canvas.h"
#include "app/top/draw_top.h"

namespace fovea::app {

struct CanvasArea {
  int row = 0, rows = 0, column = 0, columns = 0;
};

void draw_map(Canvas& canvas, const CanvasArea& area, const TopModel& model, const TopView& view);
void draw_layer(Canvas& canvas, const CanvasArea& area, const TopModel& model, const TopView& view);

// Of a tier, a place behind the tiers being the disk's, then the host's (ui::place_of_tier).
ui::Rgb place_colour(std::size_t place, const SnapshotNumbers& numbers, bool is_light);
char place_letter(std::size_t place, const SnapshotNumbers& numbers);
std::string place_name(std::size_t place, const SnapshotNumbers& numbers);

}  // namespace fovea::app
