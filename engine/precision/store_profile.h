// What a store's calibration tells of the units: how much each was used, and how much each tier hurts it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/checkpoint/store.h"

namespace fovea::precision {

struct StoreProfile {
  // [units]: share of the layer's uses in the calibration text, at least a little of it; empty: data-free, or
  // linear layers, which serve every token.
  std::vector<float> uses;
  // [units, tiers]: what a tier costs for each use, so that uses × damage is what it costs on a text like
  // the calibration's. From the model's divergence where it was measured for every unit; else the relative
  // error of the unit's output, squared.
  std::vector<float> damage;
  bool damage_is_divergence = false;
};

// `first_unit` [layers + 1]. `tiers`: the numbers of the wanted ones in the store, high to low.
StoreProfile store_profile(const checkpoint::Store& store, std::span<const std::int32_t> first_unit,
                           std::span<const std::int64_t> tiers);

}  // namespace fovea::precision
