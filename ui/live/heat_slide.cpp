#include "ui/live/heat_slide.h"

namespace fovea::ui {

void HeatSlide::begin(const HeatPlaces& before, const HeatPlaces& after, const HeatLayout& layout) {
  movers_.clear();
  progress_ = 0;
  const auto units = static_cast<std::size_t>(layout.slots());
  moving_.assign(units * static_cast<std::size_t>(layout.first_layer() + layout.layers()), 0);
  for (int layer = layout.first_layer(); layer < layout.first_layer() + layout.layers(); ++layer) {
    for (int slot = 0; slot < layout.slots(); ++slot) {
      const int expert = after.expert_at(layer, slot);
      const HeatCell from{layer, before.slot_of(layer, expert)}, to{layer, slot};
      if (from == to) continue;
      const std::size_t unit = static_cast<std::size_t>(layer) * units + static_cast<std::size_t>(expert);
      if (movers_.size() == most_cells) return end();
      movers_.push_back({.unit = static_cast<std::int64_t>(unit), .from = from, .to = to});
      moving_[unit] = static_cast<std::uint16_t>(movers_.size());
    }
  }
}

QRectF HeatSlide::rect_of(const Mover& mover, const HeatLayout& layout) const {
  const QRectF from = layout.cell_rect(mover.from), to = layout.cell_rect(mover.to);
  return {from.topLeft() + progress_ * (to.topLeft() - from.topLeft()), to.size()};
}

const HeatSlide::Mover* HeatSlide::find(std::int64_t unit) const {
  const auto at = static_cast<std::size_t>(unit);
  if (!is_under_way() || at >= moving_.size() || moving_[at] == 0) return nullptr;
  return &movers_[moving_[at] - std::size_t{1}];
}

}  // namespace fovea::ui
