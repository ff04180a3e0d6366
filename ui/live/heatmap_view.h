// The heatmap as a widget: layers down, experts across; hue = tier, strength = hotness. Zoomed with the wheel
// or + and −, moved by dragging, walked through with the arrow keys.
#pragma once

#include <QElapsedTimer>
#include <QFont>
#include <QImage>
#include <QLineF>
#include <QPolygonF>
#include <QWidget>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "ui/live/heat_layout.h"
#include "ui/live/heat_painter.h"
#include "ui/live/heat_slide.h"
#include "ui/live/live_data.h"

class QVariantAnimation;

namespace fovea::ui {

// The letter on the mark of an expert that is followed.
QChar mark_of(const FollowedExpert& expert);

class HeatmapView : public QWidget {
  Q_OBJECT

 public:
  explicit HeatmapView(QWidget* parent = nullptr);

  // What is drawn from now on; the frame must live until the next call.
  struct Scene {
    const MapFrame* frame = nullptr;
    std::vector<double> bits;  // of the tiers for each weight, high to low
    std::vector<FreshChange> fresh;
  };
  void set_scene(const Scene& scene);
  // The scene looks different a moment later, also without a new one: changes are still marked as fresh.
  bool fades() const { return !scene_.fresh.empty(); }
  void set_model(const ShownModel& model);
  void set_followed(const FollowedExperts& followed);
  void set_lit(std::vector<std::uint8_t> lit);  // [units] the others are dimmed; empty: none
  // These are lit and framed, whatever else is lit; empty: none is pointed out.
  void set_pointed_out(const std::vector<std::int64_t>& units);
  const std::vector<std::int64_t>& pointed_out() const { return pointed_out_; }
  void set_order(HeatOrder order);
  void set_textures(bool shown);
  void show_layer(std::optional<int> layer);  // alone; none: all
  // Around the current cell, or the middle; 0: all is shown again.
  void zoom(double factor);
  // Says what a cell is, for the tooltip and for a screen reader.
  std::function<QString(std::int64_t unit, bool rich)> describe;

  HeatOrder order() const { return order_; }
  // Hottest first, in one row for each layer: the line is drawn behind which the budget pays for nothing more
  // precise than the lowest tier.
  bool has_frontier() const;
  // That line, from the first layer down: two points for each.
  QPolygonF frontier() const;
  // Between the layers of two cards; nothing where the map shows none of it.
  std::optional<QLineF> cut() const;
  bool textures() const { return textures_; }
  std::optional<int> single_layer() const { return single_layer_; }
  const HeatLayout& layout_of_cells() const { return layout_; }
  std::optional<std::int64_t> current_unit() const;
  void set_current_unit(std::int64_t unit);
  // Fills and returns the picture without labels and marks, as a frame does.
  const QImage& picture();

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void followToggled(qint64 unit);
  void currentChanged(qint64 unit);
  void pointed(qint64 unit);  // the mouse or the keys are at it; −1: at none
  void singleLayerChanged();
  void expertChosen(qint64 unit);  // to be looked at by itself

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  // The cells and what reaches over their border, without the labels.
  QRect map_rect() const { return layout_.area().adjusted(-3, -6, 4, 6).toAlignedRect(); }
  bool has_frame() const { return scene_.frame && scene_.frame->size() > 0; }
  // Between another model's first frame and its scene the places are the old model's.
  bool has_scene() const { return has_frame() && places_.fits(*scene_.frame); }
  void take_colours();
  void update_layout();
  bool update_places();
  void slide_from(const HeatPlaces& before);
  QRectF rect_of(std::int64_t unit) const;  // of its cell, also on its way
  void paint_labels(QPainter& painter) const;
  void paint_marks(QPainter& painter) const;
  void paint_frontier(QPainter& painter) const;
  void paint_cut(QPainter& painter) const;
  void paint_words(QPainter& painter);
  const QImage& words_of(int expert, std::uint8_t tier, bool on_light);
  void paint_in_flight(QPainter& painter);
  const QImage& lozenge(std::size_t tier);
  void move_current(int right, int down);
  void show_tip(const QPoint& global, const QPointF& at);
  void announce();
  std::int64_t unit_of(const HeatCell& cell) const;
  HeatCell cell_of(std::int64_t unit) const;
  QString layer_name(int layer) const;

  Scene scene_;
  HeatLayout layout_;
  HeatPainter painter_;
  HeatPlaces places_;
  HeatSlide slide_;
  QElapsedTimer since_slid_;
  QVariantAnimation* motion_;  // of the slide
  HeatOrder order_ = HeatOrder::by_hotness;
  bool textures_ = false;
  std::optional<int> single_layer_;
  ShownModel model_;
  struct Mark {
    std::int64_t unit;
    QChar letter;
  };
  std::vector<Mark> followed_;
  std::vector<std::uint8_t> lit_;
  std::vector<std::int64_t> pointed_out_;
  std::vector<std::uint8_t> lit_by_pointing_;  // [units]; empty: none
  QImage image_;
  std::optional<HeatLayout> image_layout_;  // of what the image holds
  std::vector<QImage> lozenges_;            // [tiers + 2] of swaps in flight; null: not drawn yet
  QSizeF lozenge_cell_;                     // that they are drawn for
  // The words of a cell, by expert (where it is said), tier, and whether what they stand on is light.
  std::map<std::tuple<int, std::uint8_t, bool>, QImage> words_;
  QFont words_font_;
  bool words_both_ = false;
  double words_ratio_ = 0;
  bool stale_ = true;
  int frames_since_order_ = 0;

  std::optional<HeatCell> current_;
  std::optional<HeatCell> hovered_;
  QPointF pressed_at_;
  bool pressed_ = false, dragged_ = false;
};

}  // namespace fovea::ui
