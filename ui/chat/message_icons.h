// The small line drawings of the transcript's buttons, drawn rather than loaded: sharp at every scale, in the
// palette's colours.
#pragma once

#include <QColor>
#include <QRectF>
#include <cstdint>

class QPainter;

namespace fovea::ui {

enum class MessageIcon : std::uint8_t { copy, edit, regenerate, go_on, remove, previous, next };

void paint_icon(QPainter& painter, MessageIcon icon, const QRectF& area, const QColor& colour);

}  // namespace fovea::ui
