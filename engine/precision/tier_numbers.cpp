#include "engine/precision/tier_numbers.h"

#include <algorithm>
#include <bit>

namespace fovea::precision {

MixRoom::MixRoom(const PolicyWorld& world, const std::vector<std::vector<std::int64_t>>& kinds)
    : room_(world.any_mix_bytes), tiers_(index(world.tiers())) {
  for (const auto& bytes : kinds) bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  std::ranges::sort(bytes_);
  const auto same = std::ranges::unique(bytes_);
  bytes_.erase(same.begin(), same.end());
  for (const auto& bytes : kinds)
    for (const std::int64_t size : bytes)
      pool_of_.push_back(index(std::ranges::lower_bound(bytes_, size) - bytes_.begin()));
}

bool MixRoom::fits(std::span<const std::int64_t> units, std::int64_t spare) const {
  std::int64_t bytes = 0;
  for (std::size_t pool = 0; pool < units.size(); ++pool)
    if (units[pool] > 0) bytes += (units[pool] + spare) * bytes_[pool];
  return bytes <= room_;
}

TierNumbers::TierNumbers(const PolicyWorld& world, const MixRoom& room, std::span<const std::int32_t> kind_of,
                         const std::vector<std::vector<std::int64_t>>& kinds, std::span<const float> damage)
    : room_(room),
      kind_of_(kind_of),
      spare_(world.spare_blocks),
      tiers_(index(world.tiers())),
      steps_(tiers_ - 1),
      lowest_(index(world.units())),
      rates_(index(world.units()) * steps_),
      climb_(rates_.size()),
      begin_(kinds.size() * tiers_),
      climbs_(kinds.size() * tiers_ * tiers_ * classes),
      counts_(kinds.size(), std::vector<std::int64_t>(tiers_)) {
  for (std::size_t unit = 0; unit < lowest_.size(); ++unit) {
    const std::vector<std::int64_t>& bytes = kinds[index(kind_of[unit])];
    const std::span<const float> hurts = damage.subspan(unit * tiers_, tiers_);
    std::size_t at = index(std::ranges::min_element(bytes) - bytes.begin());
    lowest_[unit] = static_cast<std::uint8_t>(at);
    for (std::size_t step = unit * steps_; step < (unit + 1) * steps_; ++step) {
      std::size_t next = at;
      float best = 0;
      for (std::size_t tier = 0; tier < tiers_; ++tier) {
        if (bytes[tier] <= bytes[at] || !(hurts[tier] < hurts[at])) continue;
        const float rate = (hurts[at] - hurts[tier]) / static_cast<float>(bytes[tier] - bytes[at]);
        if (rate < best || (rate == best && bytes[tier] < bytes[next])) continue;
        best = rate;
        next = tier;
      }
      if (next == at) break;
      rates_[step] = best;
      climb_[step] = static_cast<std::uint8_t>(at * tiers_ + next);
      at = next;
    }
  }
}

std::size_t TierNumbers::class_of(float rate) {
  return rate > 0 ? std::bit_cast<std::uint32_t>(rate) >> 19 : 0;
}

void TierNumbers::forget() {
  std::ranges::fill(begin_, 0);
  std::ranges::fill(climbs_, 0);
}

const TierNumbers::Counts& TierNumbers::settle() {
  std::vector<std::int64_t> units(room_.pools());
  for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
    for (std::size_t tier = 0; tier < tiers_; ++tier) {
      counts_[kind][tier] = begin_[kind * tiers_ + tier];
      units[room_.pool(kind, tier)] += counts_[kind][tier];
    }
  }
  const auto climb = [&](std::size_t kind, std::size_t from, std::size_t to, std::int64_t n) {
    counts_[kind][from] -= n;
    counts_[kind][to] += n;
    units[room_.pool(kind, from)] -= n;
    units[room_.pool(kind, to)] += n;
  };
  for (std::size_t rate = classes; rate-- > 1;) {
    for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
      for (std::size_t pair = tiers_ * tiers_; pair-- > 0;) {
        const std::size_t from = pair / tiers_, to = pair % tiers_;
        const std::int64_t all = climbs_[(kind * tiers_ * tiers_ + pair) * classes + rate];
        if (all == 0) continue;
        climb(kind, from, to, all);
        if (room_.fits(units, spare_)) continue;
        for (std::int64_t left = all; left > 0 && !room_.fits(units, spare_); --left)
          climb(kind, from, to, -1);
        forget();
        return counts_;
      }
    }
  }
  forget();
  return counts_;
}

}  // namespace fovea::precision
