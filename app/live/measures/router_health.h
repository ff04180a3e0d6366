// How a model's routers spread their work, and whether one has collapsed: whether it sends every token to the
// same few experts, so that the others are dead weight.
//
// A minute that only a few experts serve is no sign of it. Experts differ by subject, so a conversation about
// one thing keeps to the few that know it (of 16 experts, four may serve 92 % of an answer's uses, and a
// third over all subjects), and a text that repeats itself to even fewer. Only uses over many subjects can
// tell:
//
// - where the store was calibrated, those of the calibration. A layer that is narrow now has collapsed when
//   it was as narrow there; where others worked there, it is "one subject".
// - else all that was used since the model was opened, once that is long. Nobody knows how mixed it was, so
//   nothing is said but where the layer's other experts hardly worked at all.
//
// "Narrow" leaves no doubt: the k busiest experts, k being chosen for a token, take 95 % of the way from
// their even share to everything, which is the same k for nearly every token. An expert that every token uses
// beside others that change is no collapse: models are made with such experts.
#pragma once

#include <cstdint>
#include <span>

#include "ui/live/data/measures.h"

namespace fovea::app {

inline constexpr double narrow_limit = 0.95;  // of the way from even to all
// Share of the uses that went to other experts than in the calibration (total variation).
inline constexpr double one_subject_limit = 0.4;
// Too few uses say nothing about a router: so many tokens, and so many uses for each expert, with which
// chance alone is half the limit away from the calibration.
inline constexpr std::int64_t fewest_tokens_for_health = 64;
inline constexpr std::int64_t fewest_uses_per_expert = 4;
// … and so many tokens may stand for many subjects where there is no calibration.
inline constexpr std::int64_t tokens_of_many_subjects = 4096;

struct RouterUses {
  std::span<const std::uint32_t> lately;       // [layers, units_per_layer], what is judged
  std::span<const std::uint32_t> since_start;  // the same, since the model was opened
  std::span<const float> calibrated = {};      // LiveModel::calibrated_uses
  std::int64_t units_per_layer = 0;
  std::span<const std::int64_t> experts = {};  // [layers] how many a layer has; empty: units_per_layer each
  std::int64_t used = 0;                       // k
};

ui::RouterHealth router_health(const RouterUses& uses);

}  // namespace fovea::app
