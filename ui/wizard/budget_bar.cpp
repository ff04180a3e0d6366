#include "ui/wizard/budget_bar.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <cmath>

#include "ui/language/number_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

using Kind = BudgetPartView::Kind;

QColor mixed(const QColor& a, const QColor& b, float share_of_b) {
  const float keep = 1 - share_of_b;
  return QColor::fromRgbF(a.redF() * keep + b.redF() * share_of_b,
                          a.greenF() * keep + b.greenF() * share_of_b,
                          a.blueF() * keep + b.blueF() * share_of_b);
}

}  // namespace

BudgetBar::BudgetBar(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setAccessibleName(tr("Memory budget"));
}

void BudgetBar::set_budget(const BudgetBarView& budget) {
  const int before = heightForWidth(width());
  budget_ = budget;
  setAccessibleDescription(text());
  if (before != heightForWidth(width())) updateGeometry();
  update();
}

QString BudgetBar::text() const {
  QStringList lines;
  if (!budget_.name.isEmpty()) lines += budget_.name;
  for (const BudgetPartView& part : budget_.parts)
    lines += tr("%1: %2").arg(part.name, bytes_text(part.bytes));
  lines += tr("Together %1 of %2").arg(bytes_text(budget_.total_bytes), bytes_text(budget_.budget_bytes));
  return lines.join(QLatin1Char('\n'));
}

QColor BudgetBar::colour(const BudgetPartView& part) const {
  const QColor base = palette().color(QPalette::Base), text = palette().color(QPalette::Text);
  switch (part.kind) {
    case Kind::dense:
      return mixed(base, text, 0.62F);
    case Kind::kv:
      return mixed(base, text, 0.44F);
    case Kind::activations:
      return mixed(base, text, 0.30F);
    case Kind::safety:
      return mixed(base, text, 0.10F);
    case Kind::tier:
      return precision_colour(part.bits_per_weight);
  }
  return base;
}

qreal BudgetBar::bar_height() const {
  return fontMetrics().height() * 1.6;
}

QRectF BudgetBar::bar(qreal width) const {
  const qreal line = fontMetrics().height();
  return {0.5, line * 1.3 + 0.5, width - 1, bar_height()};
}

qreal BudgetBar::full() const {
  const auto most = static_cast<qreal>(std::max(budget_.budget_bytes, budget_.total_bytes));
  return std::max<qreal>(1, most);
}

BudgetBar::Legend BudgetBar::legend(qreal width) const {
  Legend legend;
  const qreal line = fontMetrics().height(), gap = line * 1.5;
  legend.row_height = line * 1.35;
  qreal widest = fontMetrics().averageCharWidth() * 24;
  for (const BudgetPartView& part : budget_.parts)
    widest = std::max<qreal>(widest, fontMetrics().horizontalAdvance(part.name) + line * 5.5);
  legend.columns = width >= 2 * widest + gap ? 2 : 1;
  legend.rows = (budget_.parts.size() + static_cast<std::size_t>(legend.columns) - 1) /
                static_cast<std::size_t>(legend.columns);
  legend.column_width = (width - (legend.columns - 1) * gap) / legend.columns;
  legend.top = bar(width).bottom() + line * 0.6;
  return legend;
}

QSize BudgetBar::sizeHint() const {
  const int width = fontMetrics().averageCharWidth() * 60;
  return {width, heightForWidth(width)};
}

int BudgetBar::heightForWidth(int width) const {
  const Legend l = legend(width);
  return static_cast<int>(std::ceil(l.top + static_cast<qreal>(l.rows) * l.row_height));
}

void BudgetBar::paint_bar(QPainter& painter) const {
  const QRectF whole = bar(width());
  const auto at = [&](qreal bytes) { return whole.left() + whole.width() * bytes / full(); };
  QPainterPath outline;
  outline.addRoundedRect(whole, 3, 3);
  painter.save();
  painter.setClipPath(outline);
  painter.fillRect(whole, palette().color(QPalette::Base));
  qreal bytes = 0;
  for (const BudgetPartView& part : budget_.parts) {
    const qreal left = at(bytes);
    bytes += static_cast<qreal>(part.bytes);
    painter.fillRect(QRectF(left, whole.top(), at(bytes) - left, whole.height()), colour(part));
    painter.setPen(QPen(palette().color(QPalette::Base), 1));
    painter.drawLine(QPointF(at(bytes), whole.top()), QPointF(at(bytes), whole.bottom()));
  }
  if (bytes < full()) {  // free
    QColor hatch = subtle_text(palette());
    hatch.setAlphaF(0.3F);
    painter.fillRect(QRectF(at(bytes), whole.top(), whole.right() - at(bytes), whole.height()),
                     QBrush(hatch, Qt::BDiagPattern));
  }
  painter.restore();
  painter.setPen(QPen(hairline(palette()), 1));
  painter.drawPath(outline);
  const qreal line = at(static_cast<qreal>(budget_.budget_bytes));
  painter.setPen(QPen(budget_.over ? alarm_colour(palette()) : palette().color(QPalette::Text), 2));
  painter.drawLine(QPointF(line - 0.5, whole.top() - 4), QPointF(line - 0.5, whole.bottom() + 4));
}

void BudgetBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const qreal line = fontMetrics().height();
  if (budget_.parts.empty()) return;
  if (budget_.planning) painter.setOpacity(0.55);
  painter.setPen(budget_.over ? alarm_colour(palette()) : palette().color(QPalette::WindowText));
  painter.drawText(QRectF(0, 0, width(), line), Qt::AlignLeft,
                   budget_.name.isEmpty()
                       ? tr("%1 needed").arg(bytes_text(budget_.needed_bytes))
                       : tr("%1: %2 needed").arg(budget_.name, bytes_text(budget_.needed_bytes)));
  painter.setPen(subtle_text(palette()));
  painter.drawText(QRectF(0, 0, width(), line), Qt::AlignRight,
                   tr("Budget %1").arg(bytes_text(budget_.budget_bytes)));
  paint_bar(painter);
  const Legend l = legend(width());
  for (std::size_t i = 0; i < budget_.parts.size(); ++i) {
    const BudgetPartView& part = budget_.parts[i];
    const QRectF row(static_cast<qreal>(i / l.rows) * (l.column_width + line * 1.5),
                     l.top + static_cast<qreal>(i % l.rows) * l.row_height, l.column_width, l.row_height);
    const qreal side = line * 0.65;
    const QRectF swatch(row.left() + 0.5, row.center().y() - side / 2, side, side);
    painter.fillRect(swatch, colour(part));
    painter.setPen(hairline(palette()));
    painter.drawRect(swatch);
    const QString value = bytes_text(part.bytes);
    const QRectF words = row.adjusted(side + line * 0.5, 0, 0, 0);
    const int value_width = fontMetrics().horizontalAdvance(value);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(words, Qt::AlignVCenter | Qt::AlignLeft,
                     fontMetrics().elidedText(part.name, Qt::ElideRight,
                                              static_cast<int>(words.width() - value_width - line)));
    painter.setPen(quiet_text(palette()));
    painter.drawText(words, Qt::AlignVCenter | Qt::AlignRight, value);
  }
}

const BudgetPartView* BudgetBar::part_at(const QPointF& position) const {
  const QRectF whole = bar(width());
  if (whole.contains(position)) {
    const qreal wanted = (position.x() - whole.left()) / whole.width() * full();
    qreal bytes = 0;
    for (const BudgetPartView& part : budget_.parts)
      if ((bytes += static_cast<qreal>(part.bytes)) > wanted) return &part;
    return nullptr;
  }
  const Legend l = legend(width());
  if (position.y() < l.top || l.row_height <= 0) return nullptr;
  const auto row = static_cast<std::size_t>((position.y() - l.top) / l.row_height);
  const std::size_t column = l.columns > 1 && position.x() > l.column_width ? 1 : 0;
  const std::size_t index = column * l.rows + row;
  return row < l.rows && index < budget_.parts.size() ? &budget_.parts[index] : nullptr;
}

bool BudgetBar::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const BudgetPartView* part = part_at(help->pos());
  if (part) {
    QToolTip::showText(help->globalPos(),
                       tr("%1: %2\n%3").arg(part->name, bytes_text(part->bytes), part->why), this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

}  // namespace fovea::ui
