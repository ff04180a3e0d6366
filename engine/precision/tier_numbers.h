// How many units shall stand at each tier, for what is expected of the coming tokens. Where an arena
// has room for any mix, these are the numbers of the best fixed mix (best_mix.h): units climb their hulls,
// the greatest gain per byte first, as far as the bytes reach. Nothing is sorted: a step's gain per byte
// falls into one of 4,096 classes, sixteen for each power of two.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/precision/policy.h"

namespace fovea::precision {

// Room for any mix of so many bytes: the pools of blocks of one size each, in which units of several sizes
// stand.
class MixRoom {
 public:
  // `kinds` [kinds][tiers]: bytes of a unit.
  MixRoom(const PolicyWorld& world, const std::vector<std::vector<std::int64_t>>& kinds);

  std::size_t pools() const { return bytes_.size(); }
  std::size_t pool(std::size_t kind, std::size_t tier) const { return pool_of_[kind * tiers_ + tier]; }
  // Whether so many units [pools] fit, and `spare` blocks of each size in use.
  bool fits(std::span<const std::int64_t> units, std::int64_t spare) const;

 private:
  std::int64_t room_;
  std::size_t tiers_;
  std::vector<std::int64_t> bytes_;   // [pools] of a block
  std::vector<std::size_t> pool_of_;  // [kinds, tiers]
};

class TierNumbers {
 public:
  using Counts = std::vector<std::vector<std::int64_t>>;  // [kinds][tiers]

  // `kind_of` [units], `damage` [units, tiers] of a use; all must outlive it.
  TierNumbers(const PolicyWorld& world, const MixRoom& room, std::span<const std::int32_t> kind_of,
              const std::vector<std::vector<std::int64_t>>& kinds, std::span<const float> damage);

  void look(std::size_t unit, float use) {
    const std::size_t first = unit * steps_;
    const auto kind = static_cast<std::size_t>(kind_of_[unit]);
    ++begin_[kind * tiers_ + lowest_[unit]];
    for (std::size_t i = first; i < first + steps_ && rates_[i] > 0; ++i)
      ++climbs_[(kind * tiers_ * tiers_ + climb_[i]) * classes + class_of(use * rates_[i])];
  }
  // The numbers for all that was looked at; then nothing was.
  const Counts& settle();
  void forget();

 private:
  static constexpr std::size_t classes = 4096;
  // A float's first bits are in its order: the exponent and four bits of the fraction.
  static std::size_t class_of(float rate);

  const MixRoom& room_;
  std::span<const std::int32_t> kind_of_;
  std::int64_t spare_;
  std::size_t tiers_, steps_;
  std::vector<std::uint8_t> lowest_;  // [units]: the first point of its hull
  std::vector<float> rates_;          // [units, steps]: damage that a use loses with each byte; 0: no more
  std::vector<std::uint8_t> climb_;   // [units, steps]: from · tiers + to
  std::vector<std::int64_t> begin_;   // [kinds, tiers]
  std::vector<std::int32_t> climbs_;  // [kinds, from, to, classes]
  Counts counts_;
};

}  // namespace fovea::precision
