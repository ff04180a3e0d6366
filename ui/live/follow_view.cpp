#include "ui/live/follow_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/live/expert_text.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/strip_chart.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

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

void FollowView::set_tiers(const std::vector<std::string>& names, const std::vector<double>& bits) {
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
  std::vector<QColor> colours;
  for (std::size_t place = 0; place < bits_.size() + 2; ++place)
    colours.push_back(tier_solid(place, bits_, palette()));
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
      const QString tier = last.tier < tiers_.size() ? QString::fromStdString(tiers_[last.tier])
                           : last.tier == host_tier  ? tr("main memory")
                                                     : tr("disk");
      value = tr("%1 · hotness %2").arg(tier, hotness_text(last.hotness));
    }
    paint_caption(painter, QRectF(rect.left() + text * 1.3, rect.top(), rect.width() - text * 1.3, text),
                  name_ ? name_(line.unit) : QString::number(line.unit), value, palette());
    const QRectF plot(rect.left(), rect.top() + text * 1.1, rect.width(), text * 1.3);
    painter.fillRect(plot, chart_ground(palette()));
    float highest = 1e-9F;
    for (const FollowedExpert::Point& point : line.points) highest = std::max(highest, point.hotness);
    const auto x_of = [&](double seconds) {
      return plot.right() - plot.width() * (followed_.until - seconds) / followed_seconds;
    };
    QPainterPath path;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const FollowedExpert::Point& point = line.points[i];
      const QPointF at(x_of(point.seconds),
                       plot.bottom() - plot.height() * static_cast<double>(point.hotness / highest));
      i == 0 ? path.moveTo(at) : path.lineTo(at);
      const double end = i + 1 < line.points.size() ? x_of(line.points[i + 1].seconds) : plot.right();
      painter.fillRect(QRectF(at.x(), plot.bottom() + 1, end - at.x() + 0.5, text * 0.22),
                       colours[place_of_tier(point.tier, tiers_.size())]);
    }
    painter.setPen(QPen(palette().color(QPalette::WindowText), 1.4));
    painter.drawPath(path);
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
