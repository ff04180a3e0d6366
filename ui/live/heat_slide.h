// Cells on their way to another place of their layer, for as long as moves take.
#pragma once

#include <QRectF>
#include <cstdint>
#include <vector>

#include "ui/live/heat_layout.h"
#include "ui/live/heat_painter.h"

namespace fovea::ui {

class HeatSlide {
 public:
  // More than that nobody follows, and they cost more than they show: then the cells change places at once.
  static constexpr std::size_t most_cells = 2048;

  // Of the layers that the layout shows.
  void begin(const HeatPlaces& before, const HeatPlaces& after, const HeatLayout& layout);
  void end() { movers_.clear(); }
  void set_progress(double progress) { progress_ = progress; }  // 0 … 1

  bool is_under_way() const { return !movers_.empty(); }
  // [units] not 0: it is on its way.
  const std::vector<std::uint16_t>& moving() const { return moving_; }

  struct Mover {
    std::int64_t unit = 0;
    HeatCell from, to;
  };
  const std::vector<Mover>& movers() const { return movers_; }
  QRectF rect_of(const Mover& mover, const HeatLayout& layout) const;
  const Mover* find(std::int64_t unit) const;  // null: it stands

 private:
  std::vector<Mover> movers_;
  std::vector<std::uint16_t> moving_;  // [units] 1 + its place among the movers
  double progress_ = 0;
};

}  // namespace fovea::ui
