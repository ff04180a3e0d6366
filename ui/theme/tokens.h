// The look's measures and colours: what every part of the window is drawn with.
#pragma once

#include <QColor>
#include <QFont>

class QPalette;

namespace fovea::ui {

// Pixels, as all measures here, at a scale of 100 %.
namespace space {
inline constexpr int hair = 4, tight = 8, close = 12, usual = 16, wide = 24, wider = 32, widest = 48;
}
namespace radius {
inline constexpr int row = 7, button = 9, card = 12, bubble = 14, composer = 18;
}

// What grasps a part of the window to widen it; only its line is seen, the rest is margin beside it.
inline constexpr int dock_grasp = 5, grasp_margin = dock_grasp - 1;
inline constexpr int conversation_margin = space::wide - grasp_margin;
inline constexpr int sidebar_width = 232, panel_width = 352, conversation_width = 664;
inline constexpr int control_height = 32, icon_size = 16, focus_width = 2;

// Sizes of type, as a share of a control's, which is the application's font.
enum class Type { hint, label, control, text, title, gauge };
inline constexpr double line_of_text = 25.0 / 15;  // of a conversation's line, in sizes of its type
QFont type_of(const QFont& control, Type type, bool is_strong = false);

// The colours of a theme.
struct Tones {
  QColor window, sidebar;      // grounds
  QColor card, hover, line;    // on them
  QColor text, second, third;  // third: never for what must be read
  QColor brand, on_brand;      // fills: the mark, send, the one main button; and what is written on them
  QColor accent, on_accent;    // lines, icons, marks, links; and what is written on such a ground
  QColor bubble, code;         // of a question; of code
  QColor good, warning, error, error_ground;
};
const Tones& tones(const QPalette& palette);

}  // namespace fovea::ui
