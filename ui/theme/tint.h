// A colour or a size of type of ours on one widget, which follows a change of the theme.
#pragma once

#include <QColor>
#include <QPalette>
#include <functional>

#include "ui/theme/tokens.h"

class QWidget;

namespace fovea::ui {

// `colour` of the palette in use; nothing: as usual.
void tint(QWidget& widget, QPalette::ColorRole role, std::function<QColor(const QPalette&)> colour);

// A size of type on one widget, which follows a change of the application's font.
void set_type(QWidget& widget, Type type, bool is_strong = false);

}  // namespace fovea::ui
