// Where each expert's cell lies: layers down, experts across; a layer folds into several rows where its
// experts would be thinner than a pixel or two. Zoomed and moved. In logical pixels.
#pragma once

#include <QPointF>
#include <QRectF>
#include <optional>

namespace fovea::ui {

struct HeatCell {
  int layer = 0;
  int slot = 0;  // place in the layer's order
  bool operator==(const HeatCell&) const = default;
};

class HeatLayout {
 public:
  static constexpr double largest_zoom = 64;

  // `first_layer` and `layers` choose what is shown of the model. `in_order`: each layer's experts stand in
  // an order that is read along its row, so that it has one, however narrow their cells are.
  void set_shape(int first_layer, int layers, int slots, bool in_order = false);
  void set_area(const QRectF& area);

  // Around a point of the area, which stays where it is.
  void zoom_by(double factor, const QPointF& around);
  void move_by(const QPointF& delta);
  void show_all();
  void make_visible(const HeatCell& cell);

  QRectF cell_rect(const HeatCell& cell) const;
  std::optional<HeatCell> cell_at(const QPointF& point) const;
  // The band of a layer over its whole width.
  QRectF layer_rect(int layer) const;
  // The cell beside it in the picture, or itself at the border.
  HeatCell neighbour(const HeatCell& cell, int right, int down) const;

  int first_layer() const { return first_layer_; }
  int layers() const { return layers_; }
  int slots() const { return slots_; }
  int fold() const { return fold_; }  // rows of a layer
  int columns() const { return columns_; }
  double zoom() const { return zoom_; }
  const QRectF& area() const { return area_; }
  double cell_width() const;
  double cell_height() const;
  double band_height() const;  // of a layer, with the gap below
  bool operator==(const HeatLayout&) const = default;

 private:
  void choose_fold();
  void keep_inside();

  int first_layer_ = 0, layers_ = 0, slots_ = 0;
  bool in_order_ = false;
  int fold_ = 1, columns_ = 1;
  QRectF area_;
  double zoom_ = 1;
  QPointF offset_;  // of the content's corner from the area's
};

}  // namespace fovea::ui
