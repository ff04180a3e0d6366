#include "ui/live/traffic_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "ui/language/number_text.h"
#include "ui/live/strip_chart.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

// Of the last two seconds: what the value beside a strip says.
double lately(const TrafficSeries::Strip& strip) {
  constexpr std::size_t count = 4;
  double sum = 0;
  for (std::size_t i = traffic_buckets - count; i < traffic_buckets; ++i) sum += strip[i];
  return sum / count;
}

// In one stretch of the minute, a second's worth.
double busiest(const TrafficSeries::Strip& up, const TrafficSeries::Strip& down) {
  double most = 0;
  for (std::size_t i = 0; i < traffic_buckets; ++i) most = std::max(most, up[i] + down[i]);
  return most;
}

}  // namespace

TrafficView::TrafficView(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Traffic"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

double TrafficView::row_height() const {
  return fontMetrics().height() * 3.3;
}

QSize TrafficView::sizeHint() const {
  const double height = (swaps_ ? 5 : 1) * row_height() + fontMetrics().height() * 2.6;
  return {fontMetrics().averageCharWidth() * 44, static_cast<int>(height)};
}

void TrafficView::set_traffic(const Traffic& traffic, const SnapshotNumbers& numbers) {
  traffic_ = traffic;
  numbers_ = numbers;
  QStringList words;
  for (const Row& row : rows()) words << row.title + QStringLiteral(": ") + row.value;
  setAccessibleDescription(words.join(QStringLiteral("; ")));
  update();
}

void TrafficView::set_swaps(bool shown) {
  if (shown == swaps_) return;
  swaps_ = shown;
  updateGeometry();
  update();
}

std::vector<TrafficView::Row> TrafficView::rows() const {
  const TrafficSeries& series = traffic_.series;
  const double link = traffic_.link_bytes_per_s;
  QColor high = palette().color(QPalette::Link), low = high;
  if (!numbers_.tiers.empty()) {
    high = precision_colour(numbers_.tiers.front().bits_per_weight);
    low = precision_colour(numbers_.tiers.back().bits_per_weight);
  }
  const double bytes = lately(series.bytes);
  QString rate = rate_text(bytes);
  if (link > 0) rate = tr("%1, %2 of the link").arg(rate, percent_text(bytes / link));
  const QString stalls = numbers_.swaps.stalls > 0 ? tr(" · %1 stalls, %2")
                                                         .arg(count_text(numbers_.swaps.stalls),
                                                              milliseconds_text(numbers_.swaps.stall_seconds))
                                                   : QString();
  std::vector<Row> swaps = {
      {tr("Tier changes"),
       tr("%1 ▲  %2 ▼ a second, at most %3")
           .arg(number_text(lately(series.promotions)), number_text(lately(series.demotions)),
                number_text(busiest(series.promotions, series.demotions))),
       tr("Experts that became more precise (up) and less precise (down). The last number is the largest "
          "burst "
          "of both in this minute."),
       &series.promotions, &series.demotions, high, low},
      {tr("Read for swaps"),
       rate,
       tr("Bytes of new versions that were read from the prepared files. The dashed line is the measured "
          "read speed "
          "of this computer."),
       &series.bytes,
       nullptr,
       palette().color(QPalette::Link),
       {},
       link},
      {tr("Below the highest tier"),
       percent_text(lately(series.below_high)) + stalls,
       tr("Share of the uses of experts that were not served at the highest tier. A stall is a use of an "
          "expert that was only on the disk: the token waited for it."),
       &series.below_high,
       nullptr,
       low,
       {},
       0,
       1},
      {tr("Swaps under way"),
       tr("%1 queued · %2 reading · %3 ready").arg(numbers_.queued).arg(numbers_.reading).arg(numbers_.ready),
       tr("Swaps that have been decided but not yet published."),
       &series.queue,
       nullptr,
       subtle_text(palette()),
       {}},
  };
  std::vector<Row> all;
  if (swaps_) all = std::move(swaps);
  all.push_back(
      {tr("Tokens a second"),
       tr("%1 written · %2 read")
           .arg(number_text(numbers_.tokens_per_second), number_text(numbers_.prefill_tokens_per_second)),
       tr("Tokens that went through the model. The numbers are the speeds of writing an answer and of "
          "reading "
          "a prompt, when it last did so."),
       &series.tokens,
       nullptr,
       good_colour(palette()),
       {}});
  return all;
}

void TrafficView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double line = fontMetrics().height();
  double y = 0;
  for (const Row& row : rows()) {
    paint_caption(painter, QRectF(0, y, width(), line), row.title, row.value, palette());
    const QRectF plot(0, y + line * 1.15, width(), row_height() - line * 1.75);
    paint_strip(painter, plot, *row.up,
                row.down ? std::span<const double>(*row.down) : std::span<const double>(),
                {.up = row.colour, .down = row.down_colour, .limit = row.limit, .full = row.full}, palette());
    y += row_height();
  }
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.88);
  painter.setFont(small);
  y -= line * 0.55;
  painter.setPen(subtle_text(palette()));
  painter.drawText(QRectF(0, y, width(), line), Qt::AlignLeft, tr("60 s ago"));
  painter.drawText(QRectF(0, y, width(), line), Qt::AlignHCenter, tr("30 s"));
  painter.drawText(QRectF(0, y, width(), line), Qt::AlignRight, tr("now"));
  painter.setFont(font());
  const TokenPercentiles& between = traffic_.between_tokens;
  paint_caption(painter, QRectF(0, y + line * 1.3, width(), line), tr("Between tokens"),
                between.count == 0 ? tr("no answer yet")
                                   : tr("p50 %1 · p95 %2 · p99 %3 ms")
                                         .arg(number_text(1e3 * between.p50), number_text(1e3 * between.p95),
                                              number_text(1e3 * between.p99)),
                palette());
}

bool TrafficView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto row = static_cast<std::size_t>(std::max(0.0, help->pos().y() / row_height()));
    const auto all = rows();
    QToolTip::showText(help->globalPos(),
                       row < all.size()
                           ? all[row].why
                           : tr("Half of the last answer's tokens came within p50, 95 of 100 within p95."),
                       this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace fovea::ui
