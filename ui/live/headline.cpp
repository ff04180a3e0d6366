#include "ui/live/headline.h"

#include <QPainter>
#include <algorithm>

namespace fovea::ui {
namespace {

const QString kDot = QStringLiteral(" · ");

}  // namespace

Headline::Headline(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);  // fixed would be the height of the hint
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void Headline::set_parts(const QStringList& parts) {
  if (parts == parts_) return;
  const int lines = lay_out(nullptr, width());
  parts_ = parts;
  setAccessibleDescription(text());
  if (lay_out(nullptr, width()) != lines) updateGeometry();
  update();
}

// The layout remembers the height that it was told for a width, with the text of that time.
void Headline::resizeEvent(QResizeEvent*) {
  if (heightForWidth(width()) > height()) updateGeometry();
}

QString Headline::text() const {
  return parts_.join(kDot);
}

QSize Headline::sizeHint() const {
  const int width = fontMetrics().averageCharWidth() * 40;
  return {width, heightForWidth(width)};
}

QSize Headline::minimumSizeHint() const {
  return {fontMetrics().averageCharWidth() * 20, fontMetrics().height()};
}

int Headline::heightForWidth(int width) const {
  return lay_out(nullptr, width) * fontMetrics().lineSpacing();
}

void Headline::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.translate(0, std::max(0, height() - heightForWidth(width())) / 2);  // in the middle of its row
  lay_out(&painter, width());
}

int Headline::lay_out(QPainter* painter, double width) const {
  QFont bold = font();
  bold.setBold(true);
  const QFontMetricsF plain_metrics(font()), bold_metrics(bold);
  const double dot = plain_metrics.horizontalAdvance(kDot);
  int line = 0;
  double x = 0;
  for (qsizetype i = 0; i < parts_.size(); ++i) {
    const double advance = (i == 0 ? bold_metrics : plain_metrics).horizontalAdvance(parts_[i]);
    if (x > 0 && x + dot + advance > width) {
      x = 0;
      ++line;
    }
    const double baseline = line * fontMetrics().lineSpacing() + plain_metrics.ascent();
    if (x > 0) {
      if (painter) painter->drawText(QPointF(x, baseline), kDot);
      x += dot;
    }
    if (painter) {
      painter->setFont(i == 0 ? bold : font());
      painter->drawText(QPointF(x, baseline), parts_[i]);
      painter->setFont(font());
    }
    x += advance;
  }
  return line + 1;
}

}  // namespace fovea::ui
