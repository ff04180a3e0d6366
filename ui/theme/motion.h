// How long things move: never where the desktop, or our own setting, wants less motion.
#pragma once

class QWidget;

namespace fovea::ui::motion {

inline constexpr int move_ms = 300;

// Our own setting.
void set_less(bool less);
bool less();

// Milliseconds that something takes to its new place; 0: it is there at once.
int move(const QWidget& widget);

}  // namespace fovea::ui::motion
