// What the map's colours mean.
#pragma once

#include <QStringList>
#include <QWidget>
#include <optional>

#include "ui/live/live_data.h"

namespace fovea::ui {

class LegendView : public QWidget {
  Q_OBJECT

 public:
  explicit LegendView(QWidget* parent = nullptr);
  // `on_disk`: experts that neither the arena nor main memory holds; `by_use`: the strength shows recent use,
  // no hotness is measured.
  void set_numbers(const SnapshotNumbers& numbers, std::int64_t on_disk, bool by_use);
  void set_textures(bool shown);
  void set_swaps(bool shown);                       // whether experts move at all
  void set_frontier(bool shown);                    // the map draws the line of those above the lowest tier
  void set_reading(bool shown);                     // experts are being read
  void set_cut(const std::optional<CardCut>& cut);  // the map draws the line between two cards' layers

  QSize sizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  // Draws, or with no painter only measures; adds the entries to `said`. Returns the height.
  double lay_out(QPainter* painter, double width, QStringList* said = nullptr) const;
  void set(bool& what, bool shown);
  void tell();
  double words_width() const;
  std::vector<double> tier_bits() const;
  void paint_ramp(QPainter& painter, const QRectF& rect, std::size_t tier) const;

  SnapshotNumbers numbers_;
  std::int64_t on_disk_ = 0;
  std::optional<CardCut> cut_;
  bool by_use_ = false, textures_ = false, swaps_ = true, frontier_ = false, reading_ = false;
};

}  // namespace fovea::ui
