// Colours of code, for the palette in use. Contrast on the code background is above 4.5 : 1 in both.
#pragma once

#include <QColor>

class QPalette;

namespace fovea::ui {

struct SyntaxColours {
  QColor keyword, type, function, string, number, comment, meta, property, added, removed;
};

const SyntaxColours& syntax_colours(const QPalette& palette);

}  // namespace fovea::ui
