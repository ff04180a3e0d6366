#include "ui/wizard/step_rail.h"

#include <QLocale>
#include <QPainter>
#include <cmath>

#include "ui/theme/theme.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {

StepRail::StepRail(const QStringList& steps, QWidget* parent) : QWidget(parent), steps_(steps) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
  setAccessibleName(tr("Steps"));
  set_current(0);
}

void StepRail::set_current(int step) {
  current_ = step;
  setAccessibleDescription(tr("Step %1 of %2: %3").arg(step + 1).arg(steps_.size()).arg(steps_.value(step)));
  update();
}

qreal StepRail::row_height() const {
  return fontMetrics().height() * 2.4;
}

QSize StepRail::sizeHint() const {
  QFont bold = font();
  bold.setBold(true);
  int widest = 0;
  for (const QString& step : steps_) widest = std::max(widest, QFontMetrics(bold).horizontalAdvance(step));
  const int line = fontMetrics().height();
  return {widest + 5 * line, static_cast<int>(std::ceil(row_height() * steps_.size())) + 2 * line};
}

void StepRail::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), tones(palette()).sidebar);
  const qreal line = fontMetrics().height(), side = line * 1.5, height = row_height();
  const qreal centre = line + side / 2;
  const QColor accent = palette().color(QPalette::Highlight), quiet = subtle_text(palette());
  for (int i = 0; i < steps_.size(); ++i) {
    const QRectF circle(centre - side / 2, line + height * i + (height - side) / 2, side, side);
    if (i + 1 < steps_.size()) {
      painter.setPen(QPen(i < current_ ? accent : hairline(palette()), 1.5));
      painter.drawLine(QPointF(centre, circle.bottom() + 2), QPointF(centre, circle.top() + height - 2));
    }
    const bool current = i == current_, done = i < current_;
    painter.setPen(QPen(current || done ? accent : quiet, 1.5));
    painter.setBrush(current ? QBrush(accent) : QBrush(Qt::NoBrush));
    painter.drawEllipse(circle);
    if (done) {  // a tick
      const QPointF tick[] = {circle.topLeft() + QPointF(side * 0.29, side * 0.53),
                              circle.topLeft() + QPointF(side * 0.44, side * 0.68),
                              circle.topLeft() + QPointF(side * 0.72, side * 0.34)};
      painter.setPen(QPen(accent, line * 0.11, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
      painter.drawPolyline(tick, 3);
    } else {
      painter.setPen(current ? palette().color(QPalette::HighlightedText) : quiet);
      painter.drawText(circle, Qt::AlignCenter, locale().toString(i + 1));
    }
    QFont words = font();
    words.setBold(current);
    painter.setFont(words);
    painter.setPen(current ? palette().color(QPalette::WindowText) : quiet_text(palette()));
    painter.drawText(QRectF(circle.right() + line * 0.7, circle.top(), width(), side), Qt::AlignVCenter,
                     steps_[i]);
    painter.setFont(font());
  }
}

}  // namespace fovea::ui
