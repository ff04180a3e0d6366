#include "ui/live/follow_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/live/expert_text.h"
#include "ui/live/strip_chart.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

QChar letter_of(int place) {
  return QChar(u'A' + static_cast<char16_t>(place));
}

}  // namespace

FollowView::FollowView(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Followed experts"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setToolTip(
      tr("Hotness of the experts that you follow, over two minutes; the ribbon shows the tier. Click one to "
         "stop following it."));
  hide();
}

void FollowView::fill(Line& line, const SnapshotRing& ring, double until) const {
  line.points.clear();
  FrameCursor cursor;
  const std::int64_t from = std::max(ring.first(), ring.at(until - followed_seconds));
  for (std::int64_t index = from; index < ring.end() && ring.moment(index).seconds <= until; ++index) {
    if (!cursor.seek(ring, index) || line.unit >= static_cast<std::int64_t>(cursor.frame().size())) return;
    const auto unit = static_cast<std::size_t>(line.unit);
    line.points.push_back(
        {ring.moment(index).seconds, cursor.frame().tier[unit], hotness_of(cursor.frame().hot[unit])});
  }
}

void FollowView::toggle(std::int64_t unit, const SnapshotRing& ring, double until) {
  const auto known = std::ranges::find(lines_, unit, &Line::unit);
  if (known != lines_.end()) {
    lines_.erase(known);
  } else {
    if (lines_.size() == max_followed) lines_.erase(lines_.begin());
    int place = 0;
    while (std::ranges::find(lines_, place, &Line::place) != lines_.end()) ++place;
    lines_.push_back({.unit = unit, .place = place, .points = {}});
    until_ = until;
    fill(lines_.back(), ring, until_);
  }
  setVisible(!lines_.empty());
  updateGeometry();
  update();
  Q_EMIT changed();
}

void FollowView::clear() {
  lines_.clear();
  hide();
  Q_EMIT changed();
}

void FollowView::advance(const SnapshotRing& ring, std::int64_t index, const MapFrame& frame) {
  until_ = ring.moment(index).seconds;
  for (Line& line : lines_) {
    const auto unit = static_cast<std::size_t>(line.unit);
    if (unit >= frame.size()) continue;
    line.points.push_back({until_, frame.tier[unit], hotness_of(frame.hot[unit])});
    while (line.points.front().seconds < until_ - followed_seconds) line.points.pop_front();
  }
  update();
}

void FollowView::reread(const SnapshotRing& ring, double until) {
  until_ = until;
  for (Line& line : lines_) fill(line, ring, until);
  update();
}

void FollowView::set_tiers(const std::vector<std::string>& names, const std::vector<double>& bits) {
  if (names == tiers_ && bits == bits_) return;
  tiers_ = names;
  bits_ = bits;
  update();
}

std::vector<FollowedExpert> FollowView::followed() const {
  std::vector<FollowedExpert> followed;
  for (const Line& line : lines_) followed.push_back({.unit = line.unit, .letter = letter_of(line.place)});
  return followed;
}

QRectF FollowView::row_rect(std::size_t row) const {
  const double height = fontMetrics().height() * 3;
  return {0, static_cast<double>(row) * height, static_cast<double>(width()), height};
}

QSize FollowView::sizeHint() const {
  return {fontMetrics().averageCharWidth() * 40, static_cast<int>(row_rect(lines_.size()).top())};
}

void FollowView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double text = fontMetrics().height();
  std::vector<QColor> colours;
  for (std::size_t place = 0; place < bits_.size() + 2; ++place)
    colours.push_back(tier_solid(place, bits_, palette()));
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    const Line& line = lines_[row];
    const QRectF rect = row_rect(row);
    painter.setRenderHint(QPainter::Antialiasing, true);
    const QRectF mark(rect.left(), rect.top() + text * 0.03, text * 0.95, text * 0.95);
    painter.setPen(palette().color(QPalette::Base));
    painter.setBrush(palette().color(QPalette::WindowText));
    painter.drawRoundedRect(mark, 3, 3);
    painter.drawText(mark, Qt::AlignCenter, letter_of(line.place));
    painter.setBrush(Qt::NoBrush);
    QString value;
    if (!line.points.empty()) {
      const Point& last = line.points.back();
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
    for (const Point& point : line.points) highest = std::max(highest, point.hotness);
    const auto x_of = [&](double seconds) {
      return plot.right() - plot.width() * (until_ - seconds) / followed_seconds;
    };
    QPainterPath path;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const Point& point = line.points[i];
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
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    if (!row_rect(row).contains(event->position())) continue;
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(row));
    setVisible(!lines_.empty());
    updateGeometry();
    update();
    Q_EMIT changed();
    return;
  }
}

}  // namespace fovea::ui
