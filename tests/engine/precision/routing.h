// Worlds and random routing for tests of policies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/precision/policy.h"

namespace fovea::tests {

// `layers` of `experts` units in a high and a low tier, with n_hot units in each layer's high tier.
inline precision::PolicyWorld two_tiers(std::int32_t layers, std::int32_t experts, std::int64_t n_hot) {
  precision::PolicyWorld world;
  for (std::int32_t layer = 0; layer <= layers; ++layer) world.first_unit.push_back(layer * experts);
  world.bits_per_weight = {4.5, 2.5};
  for (std::int32_t unit = 0; unit < layers * experts; ++unit)
    world.unit_bytes.insert(world.unit_bytes.end(), {8192, 4096});
  world.capacity = {layers * n_hot, layers * (experts - n_hot)};
  world.spare_blocks = 8;
  world.high_per_layer = n_hot;
  return world;
}

// Four units that tiers of 4, 2 and 1 pages hurt alike, all at the middle one.
inline precision::PolicyWorld three_sizes() {
  precision::PolicyWorld world;
  world.first_unit = {0, 4};
  world.bits_per_weight = {8, 4, 2};
  for (int unit = 0; unit < 4; ++unit) {
    for (const int pages : {4, 2, 1}) world.unit_bytes.push_back(4096 * pages);
    for (const float harm : {0.0F, 0.5F, 1.0F}) world.damage.push_back(harm);
  }
  world.capacity = {0, 4, 0};
  return world;
}

// One pass's observation with the memory that it points to.
struct Routing {
  std::int64_t tokens = 0;
  std::vector<precision::ExpertUse> uses;
  std::vector<std::int32_t> routed;

  precision::Observation observation() const {
    return {.tokens = tokens, .prefill = tokens > 1, .uses = uses, .routed = routed};
  }
};

// Each token of a layer chooses `used` experts; the low numbers, turned by `phase`, are chosen most.
inline Routing random_routing(const precision::PolicyWorld& world, std::int64_t tokens, std::int64_t used,
                              std::int64_t phase, std::mt19937& random) {
  Routing routing{.tokens = tokens, .uses = {}, .routed = {}};
  for (std::int64_t layer = 0; layer < world.layers(); ++layer) {
    const std::int32_t first = world.first_unit[static_cast<std::size_t>(layer)];
    const std::int32_t experts = world.first_unit[static_cast<std::size_t>(layer) + 1] - first;
    const bool last = layer + 1 == world.layers();
    const std::int64_t routed = last && random() % 4 == 0 ? 1 : tokens;
    routing.routed.push_back(static_cast<std::int32_t>(routed));
    std::vector<precision::ExpertUse> of_expert(static_cast<std::size_t>(experts));
    for (std::int64_t choice = 0; choice < routed * used; ++choice) {
      const double x = std::uniform_real_distribution<>(0, 1)(random);
      const auto rank = static_cast<std::int64_t>(x * x * x * experts);
      auto& use = of_expert[static_cast<std::size_t>((rank + phase) % experts)];
      ++use.tokens;
      use.gate_sum += std::uniform_real_distribution<float>(0.01F, 0.5F)(random);
    }
    for (std::int32_t expert = 0; expert < experts; ++expert) {
      precision::ExpertUse use = of_expert[static_cast<std::size_t>(expert)];
      use.unit = first + expert;
      if (use.tokens > 0) routing.uses.push_back(use);
    }
  }
  return routing;
}

}  // namespace fovea::tests
