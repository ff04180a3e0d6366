// What stretches, as outlines: so it is the same beside every font.
#pragma once

#include <QList>
#include <QPainterPath>
#include <QRectF>

#include "ui/mathematics/box.h"

namespace fovea::ui {

// The straight pieces of a delimiter that has nothing else; else nothing.
QList<QRectF> delimiter_rules(const QString& text, const QRectF& area, qreal thickness);

// To be filled.
QPainterPath delimiter_shape(const QString& text, const QRectF& area, qreal thickness);
QPainterPath radical_shape(const QRectF& area, qreal split, qreal thickness);  // without its line
QPainterPath mark_shape(MathMark mark, const QRectF& area, qreal thickness);
QPainterPath arrow_shape(const QString& text, const QRectF& area, qreal thickness);
QPainterPath strike_shape(const QRectF& area, qreal thickness);

}  // namespace fovea::ui
