// How a model's routers spread their work, from the uses of one stretch of time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fovea::ui {

struct LayerHealth {
  std::int64_t uses = 0;     // by tokens
  double evenness = 0;       // entropy of the load ÷ its largest value: 1 when all experts get the same
  double top_one = 0;        // share of the uses that the most used expert got
  double top_two = 0;        // … the two most used
  double top_tenth = 0;      // … the most used tenth
  double top_used = 0;       // … the k most used, k experts being chosen for a token
  std::int32_t busiest = 0;  // expert
  // How much the busiest took of what they could, against the alarm's limit. Of one or two experts;
  // where a token takes so many that this is near even anyhow, of the k busiest, counted from their even
  // share.
  double concentration = 0, limit = 1;
  bool collapsed = false;
};

struct RouterHealth {
  std::vector<LayerHealth> layers;
  std::int64_t collapsed = 0;  // layers
  double evenness = 0;         // mean over the layers with uses
};

// The most that `experts` of a layer can take when each token chooses `used`: one expert gets a token at most
// once, so two get at most 2/k.
double largest_share(std::int64_t experts, std::int64_t used);

// Whether an even load of two experts is less than half of what raises the alarm: 2/n ≤ 0.8 · (2/k) / 2, for
// k up to 40 % of the n experts (with k = 1: for five or more). Above it one expert in two thirds of the
// tokens is nothing unusual, and only all k together can tell a collapse: the same k for nearly every token.
bool judged_by_two(std::int64_t experts, std::int64_t used);

// Too few uses say nothing about a router.
inline constexpr std::int64_t fewest_tokens_for_health = 64;
inline constexpr double collapse_share = 0.8;  // of the largest share, of one or two
// Of the way from even to all, of k: a conversation about one thing goes further than over the other limit.
inline constexpr double collapse_share_of_k = 0.9;

// `uses` [layers, units_per_layer]; `experts` [layers] how many a layer has, empty: units_per_layer each.
RouterHealth router_health(std::span<const std::uint32_t> uses, std::int64_t units_per_layer,
                           std::span<const std::int64_t> experts, std::int64_t used);

}  // namespace fovea::ui
