#include "ui/chat/elided_label.h"

#include <QPainter>

namespace fovea::ui {

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
  setMinimumWidth(0);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void ElidedLabel::paintEvent(QPaintEvent*) {
  const QRect area = contentsRect();
  // Whole parts, while there are several.
  const QString dot = QStringLiteral(" · ");
  QString whole = text();
  while (fontMetrics().horizontalAdvance(whole) > area.width() && whole.contains(dot))
    whole.truncate(whole.lastIndexOf(dot));
  const QString shown = fontMetrics().elidedText(whole, Qt::ElideRight, area.width());
  if (shown != text() && area.width() < kFewestLetters * fontMetrics().averageCharWidth()) return;
  QPainter painter(this);
  painter.setPen(palette().color(foregroundRole()));
  painter.drawText(area, Qt::AlignVCenter | Qt::TextSingleLine, shown);
}

}  // namespace fovea::ui
