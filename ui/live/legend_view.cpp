#include "ui/live/legend_view.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/language/number_text.h"
#include "ui/live/expert_text.h"
#include "ui/live/heat_painter.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {

LegendView::LegendView(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Legend"));
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);  // fixed would be the height of the hint
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setToolTip(
      tr("The colour shows how many bits a weight has, its strength how hot an expert is: the square root of "
         "its hotness relative to the hottest expert of its layer. Hotness is how much of the router's "
         "weight an expert has received lately. The line is how many of a layer's experts are more precise "
         "than the lowest: where it includes one that is not, another expert was worth more. A lozenge is a "
         "version that is being read. What has just changed is outlined; it brightens when it becomes more "
         "precise, and fades in when it makes room."));
  set_type(*this, Type::hint);
}

void LegendView::set_numbers(const SnapshotNumbers& numbers, std::int64_t on_disk, bool by_use) {
  const auto same_units = [](const TierState& a, const TierState& b) {
    return a.name == b.name && a.units == b.units && a.bits_per_weight == b.bits_per_weight;
  };
  if (std::ranges::equal(numbers.tiers, numbers_.tiers, same_units) &&
      numbers.host_units == numbers_.host_units && on_disk == on_disk_ && by_use == by_use_)
    return;
  const double before = words_width();
  numbers_ = numbers;
  on_disk_ = on_disk;
  by_use_ = by_use;
  // The layout remembers what it was told for each width.
  if (words_width() != before) updateGeometry();
  tell();
  update();
}

void LegendView::set(bool& what, bool shown) {
  if (shown == what) return;
  what = shown;
  updateGeometry();
  tell();
  update();
}

void LegendView::set_swaps(bool shown) {
  set(swaps_, shown);
}

void LegendView::set_frontier(bool shown) {
  set(frontier_, shown);
}

void LegendView::set_reading(bool shown) {
  set(reading_, shown);
}

void LegendView::set_cut(const std::optional<CardCut>& cut) {
  cut_ = cut;
  updateGeometry();
  tell();
  update();
}

void LegendView::tell() {
  QStringList said;
  lay_out(nullptr, width(), &said);
  setAccessibleDescription(said.join(QStringLiteral(", ")));
}

double LegendView::words_width() const {
  double width = 0;
  for (const std::int64_t away : {numbers_.host_units, on_disk_})
    if (away > 0) width += fontMetrics().horizontalAdvance(count_text(away)) + 1;
  for (const QString& tier : tier_texts(numbers_)) width += fontMetrics().horizontalAdvance(tier);
  return width;
}

void LegendView::set_textures(bool shown) {
  textures_ = shown;
  update();
}

std::vector<double> LegendView::tier_bits() const {
  std::vector<double> bits;
  for (const TierState& tier : numbers_.tiers) bits.push_back(tier.bits_per_weight);
  return bits;
}

QSize LegendView::sizeHint() const {
  const int width = fontMetrics().averageCharWidth() * 60;
  return {width, heightForWidth(width)};
}

int LegendView::heightForWidth(int width) const {
  return static_cast<int>(std::ceil(lay_out(nullptr, width)));
}

void LegendView::resizeEvent(QResizeEvent*) {
  if (heightForWidth(width()) > height()) updateGeometry();
}

void LegendView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  lay_out(&painter, width());
}

void LegendView::paint_ramp(QPainter& painter, const QRectF& rect, std::size_t tier) const {
  constexpr int steps = 24;
  const std::vector<double> bits = tier_bits();
  for (int step = 0; step < steps; ++step) {
    const QRectF part(rect.left() + rect.width() * step / steps, rect.top(), rect.width() / steps + 0.5,
                      rect.height());
    painter.fillRect(part, tier_colour(tier, bits, (step + 0.5) / steps, palette()));
  }
  if (const QRgb light = tier_colour(tier, bits, 1, palette()).rgb();
      keeping_edge(light, palette()) != light) {
    painter.setPen(QColor(keeping_edge(light, palette())));
    painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
  }
  if (!textures_) return;
  QImage texture(tier_texture_period, tier_texture_period, QImage::Format_ARGB32_Premultiplied);
  texture.fill(Qt::transparent);
  for (int y = 0; y < tier_texture_period; ++y)
    for (int x = 0; x < tier_texture_period; ++x)
      if (tier_texture(texture_of_place(tier, bits.size()), x, y))
        texture.setPixelColor(x, y, QColor(0, 0, 0, 110));
  painter.fillRect(rect, QBrush(texture));
}

double LegendView::lay_out(QPainter* painter, double width, QStringList* said) const {
  const double line = fontMetrics().height(), gap = fontMetrics().averageCharWidth() * 1.4;
  const double swatch = std::round(line * 0.6);
  double x = 0, y = 0;
  // Places an entry of this width and moves on.
  const auto place = [&](double entry) {
    if (x > 0 && x + entry > width) {
      x = 0;
      y += line * 1.35;
    }
    const QPointF at(x, y);
    x += entry + gap;
    return at;
  };
  const auto entry = [&](std::size_t tier, const QString& text) {
    const double text_width = fontMetrics().horizontalAdvance(text);
    const QPointF at = place(swatch + gap * 0.35 + text_width);
    if (said) *said += text;
    if (!painter) return;
    paint_ramp(*painter, QRectF(at.x(), at.y() + (line - swatch) / 2, swatch, swatch), tier);
    painter->setPen(tones(palette()).second);
    painter->drawText(QRectF(at.x() + swatch + gap * 0.35, at.y(), text_width + 2, line), Qt::AlignVCenter,
                      text);
  };
  for (std::size_t tier = 0; tier < numbers_.tiers.size(); ++tier) entry(tier, tier_text(numbers_, tier));
  if (numbers_.host_units > 0)
    entry(numbers_.tiers.size() + 1, tr("main memory · %1").arg(count_text(numbers_.host_units)));
  if (on_disk_ > 0) entry(numbers_.tiers.size(), tr("on disk · %1").arg(count_text(on_disk_)));
  const auto words = [&](const QString& text, double left) {
    const double text_width = fontMetrics().horizontalAdvance(text);
    const QPointF at = place(left + text_width);
    if (said) *said += text;
    if (!painter) return at;
    painter->setPen(subtle_text(palette()));
    painter->drawText(QRectF(at.x() + left, at.y(), text_width + 2, line), Qt::AlignVCenter, text);
    return at;
  };
  words(by_use_ ? tr("stronger = more recent use") : tr("stronger = used more"), 0);
  if (cut_) {
    const QPointF mark = words(tr("%1 above, %2 below").arg(cut_->first, cut_->last), line * 1.6);
    if (painter) {
      painter->setPen(QPen(tones(palette()).second, 1, Qt::DashLine));
      painter->drawLine(QPointF(mark.x(), mark.y() + line / 2),
                        QPointF(mark.x() + line * 1.3, mark.y() + line / 2));
    }
  }
  if (!swaps_) return y + line * 1.2;
  if (frontier_) {
    const QPointF mark =
        words(tr("this many above %1").arg(tier_text(numbers_, numbers_.tiers.size() - 1)), line * 1.2);
    if (painter) {
      painter->setPen(QPen(tones(palette()).second, 1));
      painter->drawLine(QPointF(mark.x(), mark.y() + line / 2),
                        QPointF(mark.x() + line * 0.9, mark.y() + line / 2));
    }
  }
  const QPointF ring = words(tr("just changed"), line);
  if (painter) {
    const double side = line * 0.5;
    painter->setPen(QPen(palette().color(QPalette::WindowText), 1));
    painter->setBrush(Qt::NoBrush);
    painter->drawRect(
        QRectF(ring.x() + (line - side) / 2 - line * 0.1, ring.y() + (line - side) / 2, side, side).toRect());
  }
  if (!reading_) return y + line * 1.2;
  const QPointF lozenge = words(tr("being read"), line);
  if (painter) {
    const QPointF middle(lozenge.x() + line * 0.4, lozenge.y() + line / 2);
    const double half = line * 0.3;
    const QPointF corners[] = {middle + QPointF(0, -half), middle + QPointF(half, 0),
                               middle + QPointF(0, half), middle + QPointF(-half, 0)};
    painter->setRenderHint(QPainter::Antialiasing);
    painter->drawPolygon(corners, 4);
    painter->setRenderHint(QPainter::Antialiasing, false);
  }
  return y + line * 1.2;
}

}  // namespace fovea::ui
