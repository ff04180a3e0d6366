// What a model that is watched does, made up: 4 layers of 6 experts, two of each at 8 bits and the others
// at 2.
#pragma once

#include <cmath>

#include "app/server/experts.h"

namespace fovea::tests {

inline app::WatchedModel watched_sample() {
  app::WatchedModel model{.name = "Fovea demo", .policy = PolicyKind::fovea, .experts_used = 2};
  model.layer_numbers = {0, 1, 2, 5};
  model.experts_per_layer = {6, 6, 6, 4};
  model.memory.dense = 100 << 20;
  model.memory.kv = 20 << 20;
  model.memory.activations = 10 << 20;
  return model;
}

// After so many tokens. The first expert of each layer is the hottest, unless `turned`: then the last, which
// has changed places with it.
inline Snapshot snapshot_sample(std::int64_t tokens, bool turned = false) {
  Snapshot s;
  s.layers = 4;
  s.units_per_layer = 6;
  s.units.resize(24);
  for (std::size_t unit = 0; unit < s.units.size(); ++unit) {
    const std::size_t index = unit % 6, rank = turned ? 3 - std::min<std::size_t>(index, 3) : index;
    const bool is_there = unit < 22;
    s.units[unit] = {
        .hotness = is_there ? std::ldexp(0.5F, -2 * static_cast<int>(rank)) : 0,
        .tier = !is_there                            ? no_tier
                : rank < 2 && (index < 4 || !turned) ? std::uint8_t{0}
                                                     : std::uint8_t{1},
        .target = no_tier,
        .recent_tokens = 0,
        .uses = static_cast<std::uint32_t>(is_there ? tokens * (6 - static_cast<int>(index)) : 0)};
  }
  s.tiers = {{.name = "q8", .bits_per_weight = 8.5, .units = 8, .bytes = 80 << 20, .hits = 3 * tokens},
             {.name = "q2", .bits_per_weight = 2.25, .units = 14, .bytes = 40 << 20, .hits = tokens}};
  s.tokens = tokens;
  s.tokens_per_second = 24.25;
  s.budget_bytes = 300 << 20;
  s.arena_bytes = 130 << 20;
  s.arena_used_bytes = 120 << 20;
  s.swaps.promotions = 1061;
  s.swaps.demotions = 1060;
  s.swaps.bytes_read = std::int64_t{3} << 30;
  s.quality = {.in_nats = true, .has_calibration = true, .tokens = tokens};
  const auto t = static_cast<double>(tokens);
  // e^−0.0305 is 97 %, e^−0.0619 is 94 %, e^−0.1278 is 88 %.
  s.quality.loss = 0.0305 * t;
  s.quality.calibrated = 0.0619 * t;
  s.quality.all_low = 0.1278 * t;
  return s;
}

}  // namespace fovea::tests
