// The experts of one moment, as the map and the table show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/api/snapshot.h"

namespace fovea::ui {

// Hotness on a logarithmic scale in one byte: 0 is none, each step is 6.8 % more (24 octaves in 254 steps).
std::uint8_t hotness_code(float hotness);
float hotness_of(std::uint8_t code);

// Each vector is [layers, units_per_layer].
struct MapFrame {
  std::int64_t layers = 0, units_per_layer = 0;
  std::vector<std::uint8_t> tier, target;  // no_tier: on disk alone, nothing in flight
  std::vector<std::uint8_t> hot;           // hotness_code()
  std::vector<std::uint32_t> uses;         // tokens since the start
  bool hot_is_recent_use = false;          // a policy that measures no hotness: `hot` shows recent tokens

  std::size_t size() const { return tier.size(); }
};

}  // namespace fovea::ui
