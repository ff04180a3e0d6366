#include "ui/chat/message_icons.h"

#include <QPainter>
#include <QPainterPath>

namespace fovea::ui {
namespace {

// On a square of 16.
QPainterPath path_of(MessageIcon icon) {
  QPainterPath path;
  switch (icon) {
    case MessageIcon::copy:
      path.addRoundedRect(QRectF(2.5, 2.5, 8, 8.5), 1.5, 1.5);
      path.moveTo(13.5, 6.5);
      path.lineTo(13.5, 12);
      path.quadTo(13.5, 13.5, 12, 13.5);
      path.lineTo(6.5, 13.5);
      break;
    case MessageIcon::edit:
      path.moveTo(3, 13);
      path.lineTo(3.6, 10.2);
      path.lineTo(10.8, 3);
      path.lineTo(13, 5.2);
      path.lineTo(5.8, 12.4);
      path.closeSubpath();
      path.moveTo(9.2, 4.6);
      path.lineTo(11.4, 6.8);
      break;
    case MessageIcon::regenerate:
      path.arcMoveTo(QRectF(3, 3, 10, 10), 60);
      path.arcTo(QRectF(3, 3, 10, 10), 60, 290);
      path.moveTo(10.3, 0.9);
      path.lineTo(10.5, 3.7);
      path.lineTo(7.8, 4.6);
      break;
    case MessageIcon::go_on:
      path.moveTo(3.5, 3.5);
      path.lineTo(8.5, 8);
      path.lineTo(3.5, 12.5);
      path.moveTo(8.5, 3.5);
      path.lineTo(13.5, 8);
      path.lineTo(8.5, 12.5);
      break;
    case MessageIcon::remove:
      path.moveTo(2.8, 4.5);
      path.lineTo(13.2, 4.5);
      path.moveTo(6, 4.5);
      path.lineTo(6, 2.5);
      path.lineTo(10, 2.5);
      path.lineTo(10, 4.5);
      path.moveTo(4.2, 4.5);
      path.lineTo(4.8, 13.5);
      path.lineTo(11.2, 13.5);
      path.lineTo(11.8, 4.5);
      break;
    case MessageIcon::previous:
      path.moveTo(10, 3.5);
      path.lineTo(5.5, 8);
      path.lineTo(10, 12.5);
      break;
    case MessageIcon::next:
      path.moveTo(6, 3.5);
      path.lineTo(10.5, 8);
      path.lineTo(6, 12.5);
      break;
  }
  return path;
}

}  // namespace

void paint_icon(QPainter& painter, MessageIcon icon, const QRectF& area, const QColor& colour) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const qreal side = std::min(area.width(), area.height());
  painter.translate(area.center() - QPointF(side / 2, side / 2));
  painter.scale(side / 16, side / 16);
  painter.setPen(QPen(colour, 1.35, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path_of(icon));
  painter.restore();
}

}  // namespace fovea::ui
