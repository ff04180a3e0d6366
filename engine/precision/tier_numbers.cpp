#include "engine/precision/tier_numbers.h"

#include <algorithm>
#include <bit>

namespace fovea::precision {

SlabRoom::SlabRoom(const PolicyWorld& world, const std::vector<std::vector<std::int64_t>>& kinds)
    : slabs_(world.slabs), slab_bytes_(world.slab_bytes), paged_(world.paged), tiers_(index(world.tiers())) {
  for (const auto& bytes : kinds) bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  std::ranges::sort(bytes_);
  const auto same = std::ranges::unique(bytes_);
  bytes_.erase(same.begin(), same.end());
  for (const auto& bytes : kinds)
    for (const std::int64_t size : bytes)
      pool_of_.push_back(index(std::ranges::lower_bound(bytes_, size) - bytes_.begin()));
}

double SlabRoom::filled(std::span<const std::int64_t> units, std::int64_t spare) const {
  double slabs = 0;
  for (std::size_t pool = 0; pool < units.size(); ++pool) {
    if (units[pool] == 0) continue;
    const double in_slab = paged_ ? static_cast<double>(slab_bytes_) / static_cast<double>(bytes_[pool])
                                  : static_cast<double>(slab_bytes_ / bytes_[pool]);
    slabs += static_cast<double>(units[pool] + spare) / in_slab;
  }
  return slabs;
}

bool SlabRoom::is_nearly_full(std::span<const std::int64_t> units, std::int64_t spare) const {
  const std::int64_t rest = paged_ ? bytes_.back() / slab_bytes_ : std::ssize(bytes_) + 1;
  return filled(units, spare) >= static_cast<double>(slabs_ - rest);
}

bool SlabRoom::is_beyond(std::span<const std::int64_t> units, std::int64_t spare) const {
  return filled(units, spare) > static_cast<double>(slabs_);
}

bool SlabRoom::fits(std::span<const std::int64_t> units, std::int64_t spare, std::int64_t free) const {
  if (paged_) return !is_beyond(units, spare);
  std::int64_t slabs = free;
  for (std::size_t pool = 0; pool < units.size(); ++pool) {
    const std::int64_t in_slab = slab_bytes_ / bytes_[pool];
    if (units[pool] > 0) slabs += (units[pool] + spare + in_slab - 1) / in_slab;
  }
  return slabs <= slabs_;
}

TierNumbers::TierNumbers(const PolicyWorld& world, const SlabRoom& room,
                         std::span<const std::int32_t> kind_of,
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
  best_ = counts_;
  // Near to full each single step is looked at, since a step may need a slab that a later one frees.
  for (std::size_t rate = classes; rate-- > 1;) {
    for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
      for (std::size_t pair = tiers_ * tiers_; pair-- > 0;) {
        const std::size_t from = pair / tiers_, to = pair % tiers_;
        std::int64_t left = climbs_[(kind * tiers_ * tiers_ + pair) * classes + rate];
        if (left == 0) continue;
        climb(kind, from, to, left);
        if (!room_.is_nearly_full(units, spare_)) {
          best_ = counts_;
          continue;
        }
        climb(kind, from, to, -left);
        for (; left > 0; --left) {
          climb(kind, from, to, 1);
          if (room_.is_beyond(units, spare_)) {
            forget();
            return best_;
          }
          if (room_.fits(units, spare_, 1)) best_ = counts_;
        }
      }
    }
  }
  forget();
  return best_;
}

}  // namespace fovea::precision
