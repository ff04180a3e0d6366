#include "ui/live/heat_layout.h"

#include <algorithm>
#include <cmath>

namespace fovea::ui {
namespace {

constexpr double kThinnest = 2.4;   // an unfolded cell
constexpr double kGapShare = 0.14;  // of a folded layer's band

}  // namespace

void HeatLayout::set_shape(int first_layer, int layers, int slots, bool in_order) {
  if (first_layer == first_layer_ && layers == layers_ && slots == slots_ && in_order == in_order_) return;
  const HeatLayout before = *this;
  in_order_ = in_order;
  first_layer_ = first_layer;
  layers_ = layers;
  slots_ = slots;
  choose_fold();
  const bool same = before.first_layer_ == first_layer && before.layers_ == layers && before.slots_ == slots;
  if (!same || before.fold_ != fold_) show_all();
}

void HeatLayout::set_area(const QRectF& area) {
  if (area == area_) return;
  area_ = area;
  choose_fold();
  keep_inside();
}

void HeatLayout::choose_fold() {
  fold_ = columns_ = 1;
  if (layers_ == 0 || slots_ == 0 || area_.isEmpty()) return;
  const auto side = [&](int fold) {
    const int columns = (slots_ + fold - 1) / fold;
    const double band = area_.height() / layers_;
    return std::min(area_.width() / columns, (fold > 1 ? band * (1 - kGapShare) : band) / fold);
  };
  // One layer alone becomes a block of squares; many fold only where they must.
  if (layers_ > 1 && (in_order_ || area_.width() / slots_ >= kThinnest)) {
    columns_ = slots_;
    return;
  }
  double best = 0;
  for (int fold = 1; fold <= slots_; ++fold) {
    // Whole rows only: a last row with a hole would look like missing experts.
    if (slots_ % fold != 0 && slots_ > 16) continue;
    if (side(fold) <= best * 1.05) continue;
    best = side(fold);
    fold_ = fold;
  }
  columns_ = (slots_ + fold_ - 1) / fold_;
}

double HeatLayout::cell_width() const {
  return columns_ == 0 ? 0 : zoom_ * area_.width() / columns_;
}

double HeatLayout::band_height() const {
  return layers_ == 0 ? 0 : zoom_ * area_.height() / layers_;
}

double HeatLayout::cell_height() const {
  const double band = fold_ > 1 && layers_ > 1 ? band_height() * (1 - kGapShare) : band_height();
  return band / fold_;
}

void HeatLayout::zoom_by(double factor, const QPointF& around) {
  const double before = zoom_;
  zoom_ = std::clamp(zoom_ * factor, 1.0, largest_zoom);
  const QPointF from_corner = around - area_.topLeft();
  offset_ = from_corner - (from_corner - offset_) * (zoom_ / before);
  keep_inside();
}

void HeatLayout::move_by(const QPointF& delta) {
  offset_ += delta;
  keep_inside();
}

void HeatLayout::show_all() {
  zoom_ = 1;
  offset_ = {};
}

void HeatLayout::keep_inside() {
  const double width = area_.width() * zoom_, height = area_.height() * zoom_;
  offset_.setX(std::clamp(offset_.x(), area_.width() - width, 0.0));
  offset_.setY(std::clamp(offset_.y(), area_.height() - height, 0.0));
}

void HeatLayout::make_visible(const HeatCell& cell) {
  const QRectF rect = cell_rect(cell);
  QPointF delta;
  if (rect.left() < area_.left()) delta.setX(area_.left() - rect.left());
  if (rect.right() > area_.right()) delta.setX(area_.right() - rect.right());
  if (rect.top() < area_.top()) delta.setY(area_.top() - rect.top());
  if (rect.bottom() > area_.bottom()) delta.setY(area_.bottom() - rect.bottom());
  if (!delta.isNull()) move_by(delta);
}

QRectF HeatLayout::cell_rect(const HeatCell& cell) const {
  const int row = cell.slot / columns_, column = cell.slot % columns_;
  return {area_.left() + offset_.x() + column * cell_width(),
          area_.top() + offset_.y() + (cell.layer - first_layer_) * band_height() + row * cell_height(),
          cell_width(), cell_height()};
}

QRectF HeatLayout::layer_rect(int layer) const {
  return {area_.left() + offset_.x(), area_.top() + offset_.y() + (layer - first_layer_) * band_height(),
          columns_ * cell_width(), fold_ * cell_height()};
}

std::optional<HeatCell> HeatLayout::cell_at(const QPointF& point) const {
  if (layers_ == 0 || slots_ == 0 || !area_.contains(point)) return std::nullopt;
  const QPointF at = point - area_.topLeft() - offset_;
  const int band = static_cast<int>(std::floor(at.y() / band_height()));
  if (band < 0 || band >= layers_) return std::nullopt;
  const int row = std::min(fold_ - 1, static_cast<int>((at.y() - band * band_height()) / cell_height()));
  const int column = static_cast<int>(std::floor(at.x() / cell_width()));
  const int slot = row * columns_ + column;
  if (column < 0 || column >= columns_ || slot >= slots_) return std::nullopt;
  return HeatCell{first_layer_ + band, slot};
}

HeatCell HeatLayout::neighbour(const HeatCell& cell, int right, int down) const {
  if (layers_ == 0 || slots_ == 0) return cell;
  const int column = std::clamp(cell.slot % columns_ + right, 0, columns_ - 1);
  const int row =
      std::clamp((cell.layer - first_layer_) * fold_ + cell.slot / columns_ + down, 0, layers_ * fold_ - 1);
  const int slot = (row % fold_) * columns_ + column;
  return {first_layer_ + row / fold_, std::min(slot, slots_ - 1)};
}

}  // namespace fovea::ui
