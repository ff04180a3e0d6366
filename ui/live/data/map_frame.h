// The experts of one moment, as the map and the table show them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/api/snapshot.h"

namespace fovea::ui {

// Hotness on a logarithmic scale in one byte: 0 is none, each step is 6.8 % more (24 octaves in 254 steps).
std::uint8_t hotness_code(float hotness);
// The same for many, which look it up by themselves.
class HotnessCodes {
 public:
  HotnessCodes();
  std::uint8_t operator()(float hotness) const {
    if (!(hotness > 0)) return 0;
    // By the sign, the exponent and the first seven bits of the fraction, which are finer than the steps.
    const std::uint32_t at = (std::bit_cast<std::uint32_t>(hotness) + 0x8000) >> 16;
    return codes_[at < codes_.size() ? at : codes_.size() - 1];
  }

 private:
  std::span<const std::uint8_t> codes_;
};
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
