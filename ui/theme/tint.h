// A colour of ours on one widget, which follows a change of the theme.
#pragma once

#include <QColor>
#include <QPalette>
#include <functional>

class QWidget;

namespace fovea::ui {

// `colour` of the palette in use; nothing: as usual.
void tint(QWidget& widget, QPalette::ColorRole role, std::function<QColor(const QPalette&)> colour);

}  // namespace fovea::ui
