#include "ui/live/follow_view.h"

#include <QMouseEvent>
#include <QPainter>
#include "ui/live/expert_text.h"
#include "ui/live/expert_view.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/strip_chart.h"
#include "ui/theme/theme.h"

namespace fovea::ui {
FollowView::FollowView(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Followed experts"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setToolTip(
      tr("Hotness of the experts that you follow, over two minutes; the ribbon shows the tier. Click one to "
         "stop following it."));
  hide();
}

void FollowView::set_followed(const FollowedExperts& followed) {
  const bool other_count = followed.experts.size() != followed_.experts.size();
  followed_ = followed;
  setVisible(!followed_.experts.empty());
  if (other_count) updateGeometry();
  update();
}

void FollowView::set_tiers(const std::vector<QString>& names, const std::vector<double>& bits) {
  if (names == tiers_ && bits == bits_) return;
  tiers_ = names;
  bits_ = bits;
  update();
}

QRectF FollowView::row_rect(std::size_t row) const {
  const double height = fontMetrics().height() * 3;
  return {0, static_cast<double>(row) * height, static_cast<double>(width()), height};
}

QSize FollowView::sizeHint() const {
  return {fontMetrics().averageCharWidth() * 40, static_cast<int>(row_rect(followed_.experts.size()).top())};
}

void FollowView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double text = fontMetrics().height();
  for (std::size_t row = 0; row < followed_.experts.size(); ++row) {
    const FollowedExpert& line = followed_.experts[row];
    const QRectF rect = row_rect(row);
    painter.setRenderHint(QPainter::Antialiasing, true);
    const QRectF mark(rect.left(), rect.top() + text * 0.03, text * 0.95, text * 0.95);
    painter.setPen(palette().color(QPalette::Base));
    painter.setBrush(palette().color(QPalette::WindowText));
    painter.drawRoundedRect(mark, 3, 3);
    painter.drawText(mark, Qt::AlignCenter, mark_of(line));
    painter.setBrush(Qt::NoBrush);
    QString value;
    if (!line.points.empty()) {
      const FollowedExpert::Point& last = line.points.back();
      const QString tier = last.tier < tiers_.size() ? tiers_[last.tier]
                           : last.tier == host_tier  ? tr("main memory")
                                                     : tr("disk");
      value = tr("%1 · hotness %2").arg(tier, hotness_text(last.hotness));
    }
    paint_caption(painter, QRectF(rect.left() + text * 1.3, rect.top(), rect.width() - text * 1.3, text),
                  name_ ? name_(line.unit) : QString::number(line.unit), value, palette());
    paint_history(painter, QRectF(rect.left(), rect.top() + text * 1.1, rect.width(), text * 1.52), line,
                  followed_.until, bits_, palette());
  }
}

void FollowView::mousePressEvent(QMouseEvent* event) {
  for (std::size_t row = 0; row < followed_.experts.size(); ++row) {
    if (!row_rect(row).contains(event->position())) continue;
    Q_EMIT toggled(followed_.experts[row].unit);
    return;
  }
}

}  // namespace fovea::ui
