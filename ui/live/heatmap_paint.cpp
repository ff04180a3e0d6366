// What the heatmap draws over its cells: labels, swaps in flight, fresh changes, followed experts, the
// cursor.
#include <QPaintEvent>
#include <QPainter>
#include <QtMath>
#include <algorithm>
#include <cmath>

#include "ui/language/number_text.h"
#include "ui/live/heatmap_view.h"
#include "ui/theme/scale/precision_scale.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr double kLeastFramed = 5;      // pixels: smaller cells are lit without a frame
constexpr std::size_t kMaxRings = 128;  // of fresh changes; more say nothing more

// A mark that stays visible where cells are small.
QRectF at_least(QRectF rect, double size) {
  const double dx = std::max(0.0, size - rect.width()) / 2, dy = std::max(0.0, size - rect.height()) / 2;
  return rect.adjusted(-dx, -dy, dx, dy);
}

}  // namespace

const QImage& HeatmapView::picture() {
  const double ratio = devicePixelRatioF();
  const QSize wanted(qCeil(width() * ratio), qCeil(height() * ratio));
  if (image_.size() != wanted) {
    image_ = QImage(wanted, QImage::Format_RGB32);
    image_layout_.reset();
    lozenges_.clear();
  }
  image_.setDevicePixelRatio(ratio);
  const bool over = image_layout_ == layout_ && !slide_.is_under_way();
  image_layout_ = layout_;
  painter_.paint(image_, layout_,
                 {.frame = scene_.frame,
                  .places = &places_,
                  .experts = &model_.experts_per_layer,
                  .lit = lit_by_pointing_.empty() ? &lit_ : &lit_by_pointing_,
                  .slide = slide_.is_under_way() ? &slide_ : nullptr,
                  .textures = textures_,
                  .over = over});
  stale_ = false;
  return image_;
}

void HeatmapView::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  if (!has_scene()) {
    painter.fillRect(rect(), palette().color(QPalette::Base));
    return;
  }
  painter.drawImage(0, 0, stale_ ? picture() : image_);
  if (!map_rect().contains(event->rect())) paint_labels(painter);
  painter.setClipRect(map_rect());
  paint_words(painter);
  paint_cut(painter);
  paint_frontier(painter);
  paint_in_flight(painter);
  paint_marks(painter);
}

void HeatmapView::paint_labels(QPainter& painter) const {
  painter.setPen(subtle_text(palette()));
  const double line = fontMetrics().height();
  const double band = layout_.band_height();
  int every = 1;
  for (const int step : {1, 2, 4, 8, 16, 32, 64}) {
    every = step;
    if (step * band >= line * 1.1) break;
  }
  const double gap = fontMetrics().averageCharWidth() * 0.8;
  for (int layer = layout_.first_layer(); layer < layout_.first_layer() + layout_.layers(); ++layer) {
    if (layer % every != 0 && layout_.layers() > 1) continue;
    const QRectF row = layout_.layer_rect(layer);
    const QRectF label(0, row.top() + row.height() / 2 - line / 2, layout_.area().left() - gap, line);
    if (label.bottom() < layout_.area().top() + line / 3 || label.top() > layout_.area().bottom() - line / 3)
      continue;
    painter.drawText(label, Qt::AlignRight | Qt::AlignVCenter, layer_name(layer));
  }
}

bool HeatmapView::has_frontier() const {
  return order_ == HeatOrder::by_hotness && scene_.bits.size() > 1 && layout_.fold() == 1 && !single_layer_;
}

QPolygonF HeatmapView::frontier() const {
  const MapFrame& frame = *scene_.frame;
  const auto lowest = static_cast<std::uint8_t>(scene_.bits.size() - 1);
  QPolygonF line;
  for (int layer = layout_.first_layer(); layer < layout_.first_layer() + layout_.layers(); ++layer) {
    const auto begin = frame.tier.begin() + static_cast<std::ptrdiff_t>(layer * frame.units_per_layer);
    const auto above = static_cast<double>(std::count_if(
        begin, begin + frame.units_per_layer, [lowest](std::uint8_t tier) { return tier < lowest; }));
    const QRectF row = layout_.layer_rect(layer);
    const double x = std::round(row.left() + above * layout_.cell_width()) - 0.5;
    line << QPointF(x, row.top()) << QPointF(x, row.bottom());
  }
  return line;
}

void HeatmapView::paint_frontier(QPainter& painter) const {
  if (!has_frontier()) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(tones(palette()).second, 1));
  painter.drawPolyline(frontier());
}

std::optional<QLineF> HeatmapView::cut() const {
  if (!model_.cut || single_layer_) return std::nullopt;
  const auto row = static_cast<int>(model_.cut->rows);
  if (row <= layout_.first_layer() || row >= layout_.first_layer() + layout_.layers()) return std::nullopt;
  // In the gap between two layers, where there is one.
  const double above = layout_.layer_rect(row - 1).bottom(), below = layout_.layer_rect(row).top();
  const double y = std::round((above + below) / 2 - 0.5) + 0.5;
  if (y < layout_.area().top() || y > layout_.area().bottom()) return std::nullopt;
  return QLineF(layout_.area().left() - 2, y, layout_.area().right() + 2, y);
}

void HeatmapView::paint_cut(QPainter& painter) const {
  const std::optional<QLineF> line = cut();
  if (!line) return;
  painter.setPen(QPen(palette().color(QPalette::Base), 3));
  painter.drawLine(*line);
  painter.setPen(QPen(tones(palette()).second, 1, Qt::DashLine));
  painter.drawLine(*line);
}

// Large cells say in words what their colour says: the tier, and which expert. While they slide they do not.
// Each word is drawn once and then copied: laying out and drawing a thousand words at each picture would take
// longer than all else.
void HeatmapView::paint_words(QPainter& painter) {
  if (slide_.is_under_way()) return;
  const double width = layout_.cell_width(), height = layout_.cell_height();
  if (height < fontMetrics().height() / 2.0) return;
  QFont font = this->font();
  font.setPointSizeF(font.pointSizeF() * 0.8);
  const QFontMetricsF metrics(font);
  if (width < metrics.horizontalAdvance(QStringLiteral("bf16")) || height < metrics.height() * 1.05) return;
  const bool both = height >= 2.1 * metrics.height();
  const double ratio = devicePixelRatioF();
  if (words_font_ != font || words_both_ != both || words_ratio_ != ratio) words_.clear();
  words_font_ = font;
  words_both_ = both;
  words_ratio_ = ratio;
  const auto whole = [ratio](double at) { return std::round(at * ratio) / ratio; };
  const MapFrame& frame = *scene_.frame;
  for (int layer = layout_.first_layer(); layer < layout_.first_layer() + layout_.layers(); ++layer) {
    const auto base = static_cast<std::size_t>(layer * frame.units_per_layer);
    const auto begin = frame.hot.begin() + static_cast<std::ptrdiff_t>(base);
    const std::uint8_t hottest = *std::max_element(begin, begin + frame.units_per_layer);
    for (int slot = 0; slot < layout_.slots(); ++slot) {
      const int expert = places_.expert_at(layer, slot);
      const std::size_t unit = base + static_cast<std::size_t>(expert);
      const QRectF rect = rect_of(static_cast<std::int64_t>(unit));
      if (!rect.intersects(layout_.area())) continue;
      const std::uint8_t tier = frame.tier[unit];
      const QColor ground(painter_.colour(tier, heat_strength(frame.hot[unit], hottest)));
      const QImage& words = words_of(expert, tier, qGray(ground.rgb()) > 130);
      const QSizeF size = words.deviceIndependentSize();
      painter.drawImage(
          QPointF(whole(rect.center().x() - size.width() / 2), whole(rect.center().y() - size.height() / 2)),
          words);
    }
  }
}

const QImage& HeatmapView::words_of(int expert, std::uint8_t tier, bool on_light) {
  QImage& image = words_[{words_both_ ? expert : 0, tier, on_light}];
  if (!image.isNull()) return image;
  const QString name = tier < scene_.bits.size() ? QString::number(whole_bits(scene_.bits[tier]))
                       : tier == host_tier       ? tr("CPU", "computed by the processor")
                                                 : tr("disk");
  const QString number = words_both_ ? QString::number(expert) : QString();
  const QFontMetricsF metrics(words_font_);
  const double width = std::max(metrics.horizontalAdvance(name), metrics.horizontalAdvance(number)) + 2;
  const double height = metrics.height() * (words_both_ ? 2 : 1);
  image =
      QImage(qCeil(width * words_ratio_), qCeil(height * words_ratio_), QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(words_ratio_);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setFont(words_font_);
  painter.setPen(on_light ? QColor(0, 0, 0, 190) : QColor(255, 255, 255, 200));
  painter.drawText(QRectF({}, image.deviceIndependentSize()), Qt::AlignCenter,
                   words_both_ ? number + QLatin1Char('\n') + name : name);
  return image;
}

void HeatmapView::paint_in_flight(QPainter& painter) {
  const QColor ink = painter_.dark() ? Qt::white : Qt::black;
  painter.setBrush(Qt::NoBrush);
  std::size_t drawn = 0;
  for (const auto& [unit, fresh, is_up] : scene_.fresh) {
    const double freshness = std::clamp(fresh, 0.0, 1.0);
    if (unit >= static_cast<std::int64_t>(scene_.frame->size()) || ++drawn > kMaxRings) continue;
    if (single_layer_ && cell_of(unit).layer != *single_layer_) continue;
    // To more bits it brightens once; to fewer it comes out of the ground.
    QColor veil = is_up ? QColor(Qt::white) : palette().color(QPalette::Base);
    veil.setAlphaF(static_cast<float>((is_up ? 0.35 : 0.6) * freshness * freshness));
    const QRectF cell = rect_of(unit);
    // Without what is between cells that stand apart.
    const QRect whole = cell.toRect();
    painter.fillRect(std::min(whole.width(), whole.height()) > 4 ? whole.adjusted(0, 0, -1, -1) : whole,
                     veil);
    QColor colour = ink;
    colour.setAlphaF(static_cast<float>(0.75 * freshness));
    painter.setPen(colour);
    painter.drawRect(at_least(cell, 4).toRect().adjusted(-1, -1, 0, 0));  // the neighbours are near
  }
  const MapFrame& frame = *scene_.frame;
  for (std::size_t unit = 0; unit < frame.size(); ++unit) {
    if (frame.target[unit] == no_tier) continue;
    const auto at = static_cast<std::int64_t>(unit);
    if (single_layer_ && cell_of(at).layer != *single_layer_) continue;
    const QImage& mark = lozenge(frame.target[unit]);
    painter.drawImage(rect_of(at).center() - QRectF({}, mark.deviceIndependentSize()).center(), mark);
  }
}

// In the colour of the tier that is coming. Drawn once for each tier: antialiased polygons take longer than
// all cells together.
const QImage& HeatmapView::lozenge(std::size_t tier) {
  const QSizeF cell(layout_.cell_width(), layout_.cell_height());
  if (lozenge_cell_ != cell) lozenges_.clear();
  lozenge_cell_ = cell;
  const std::size_t tiers = scene_.bits.size(), place = place_of_tier(tier, tiers);
  lozenges_.resize(tiers + 2);
  QImage& image = lozenges_[place];
  if (!image.isNull()) return image;
  const double size = std::clamp(std::min(cell.width(), cell.height()) * 0.36, 3.6, 8.0);
  const double ratio = devicePixelRatioF();
  const int side = 2 * qCeil((size + 2.5) * ratio) + 1;  // odd: a pixel is its centre
  image = QImage(side, side, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing, true);
  const QPointF c = QRectF({}, image.deviceIndependentSize()).center();
  const QPolygonF lozenge(
      {c + QPointF(0, -size), c + QPointF(size, 0), c + QPointF(0, size), c + QPointF(-size, 0)});
  painter.setPen(QPen(palette().color(QPalette::Base), 3));
  painter.drawPolygon(lozenge);
  painter.setPen(QPen(painter_.dark() ? Qt::white : Qt::black, 1.2));
  painter.setBrush(tier_solid(place, scene_.bits, palette()));
  painter.drawPolygon(lozenge);
  return image;
}

void HeatmapView::paint_marks(QPainter& painter) const {
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setBrush(Qt::NoBrush);
  const QColor ground = palette().color(QPalette::Base), ink = palette().color(QPalette::Text);
  for (const Mark& each : followed_) {
    if (each.unit >= static_cast<std::int64_t>(scene_.frame->size())) continue;
    if (single_layer_ && cell_of(each.unit).layer != *single_layer_) continue;
    const QRectF rect = at_least(rect_of(each.unit), 7).adjusted(-1.5, -1.5, 1.5, 1.5);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(ground, 4.5));
    painter.drawRoundedRect(rect, 2, 2);
    painter.setPen(QPen(ink, 2));
    painter.drawRoundedRect(rect, 2, 2);
    // The letter stands beside the cell, inside the map.
    const double side = fontMetrics().height() * 0.95;
    QRectF tag(rect.right() + 2, rect.top() - side, side, side);
    if (tag.right() > layout_.area().right()) tag.moveRight(rect.left() - 2);
    if (tag.top() < layout_.area().top()) tag.moveTop(rect.bottom() + 2);
    painter.setPen(QPen(ground, 1));
    painter.setBrush(ink);
    painter.drawRoundedRect(tag, 3, 3);
    painter.drawText(tag, Qt::AlignCenter, each.letter);
  }
  painter.setBrush(Qt::NoBrush);
  for (const std::int64_t unit : pointed_out_) {
    if (std::min(layout_.cell_width(), layout_.cell_height()) < kLeastFramed) break;
    if (unit >= static_cast<std::int64_t>(scene_.frame->size())) continue;
    if (single_layer_ && cell_of(unit).layer != *single_layer_) continue;
    const QRectF cell = rect_of(unit).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(QPen(ground, 3));
    painter.drawRect(cell);
    painter.setPen(QPen(ink, 1.4));
    painter.drawRect(cell);
  }
  const auto frame_cell = [&](const HeatCell& cell, const QPen& pen) {
    painter.setPen(pen);
    painter.drawRect(at_least(layout_.cell_rect(cell), 6).adjusted(-0.5, -0.5, 0.5, 0.5));
  };
  if (hovered_) frame_cell(*hovered_, QPen(palette().color(QPalette::Text), 1));
  if (current_ && hasFocus()) {
    frame_cell(*current_, QPen(ground, 4));
    frame_cell(*current_, QPen(palette().color(QPalette::Highlight), 2));
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace fovea::ui
