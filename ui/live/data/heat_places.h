// Where an expert stands in the map, and how strong its colour is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ui/live/data/map_frame.h"

namespace fovea::ui {

enum class HeatOrder { by_index, by_hotness };

// Which expert stands in which place of its layer.
class HeatPlaces {
 public:
  void by_index(std::int64_t layers, std::int64_t units_per_layer);
  // Hottest first; experts that are equally hot keep their order.
  void by_hotness(const MapFrame& frame);
  // [units] of a layer
  const std::uint16_t* experts_of(int layer) const { return expert_.data() + at(layer, 0); }
  int expert_at(int layer, int slot) const { return expert_[at(layer, slot)]; }
  int slot_of(int layer, int expert) const { return slot_[at(layer, expert)]; }
  bool fits(const MapFrame& frame) const {
    return expert_.size() == frame.size() && units_ == frame.units_per_layer;
  }

 private:
  std::size_t at(int layer, int place) const {
    return static_cast<std::size_t>(layer) * static_cast<std::size_t>(units_) +
           static_cast<std::size_t>(place);
  }
  std::int64_t units_ = 0;
  std::vector<std::uint16_t> expert_, slot_;  // [layers, units]
};

// Which colour a tier of the snapshot has among `tiers`: behind them the disk's, then the host's.
std::size_t place_of_tier(std::size_t tier, std::size_t tiers);

// How hot beside the layer's hottest, 0 to 1: the square root of the ratio, so that half as hot still shows.
double heat_strength(std::uint8_t code, std::uint8_t hottest);

// The same by how many steps of its code an expert is below the hottest.
const std::array<double, 256>& heat_strengths();

}  // namespace fovea::ui
