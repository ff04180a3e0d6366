#include "engine/precision/exchanges.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/precision/best_mix.h"

namespace fovea::precision {
namespace {

// Keeps the `limit` first in `order` as a heap whose top is the last of them.
template <class T, class Order>
void keep_first(std::vector<T>& heap, const T& candidate, std::size_t limit, const Order& order) {
  if (heap.size() < limit) {
    heap.push_back(candidate);
    std::ranges::push_heap(heap, order);
  } else if (order(candidate, heap.front())) {
    std::ranges::pop_heap(heap, order);
    heap.back() = candidate;
    std::ranges::push_heap(heap, order);
  }
}

constexpr auto cheaper = [](const auto& a, const auto& b) {
  return a.value != b.value ? a.value < b.value : a.unit > b.unit;
};
constexpr auto dearer = [](const auto& a, const auto& b) { return cheaper(b, a); };

}  // namespace

Exchanges::Exchanges(const PolicyWorld& world, std::span<const std::uint8_t> first,
                     std::int64_t max_in_flight)
    : tiers_(world.tiers()),
      max_in_flight_(max_in_flight),
      kept_(index(std::max<std::int64_t>(1, max_in_flight))),
      kind_of_(index(world.units())),
      moving_(index(world.units())) {
  const std::vector<double> damage = expected_loss(world, std::vector<double>(index(world.units()), 1));
  damage_.assign(damage.begin(), damage.end());
  std::map<std::vector<std::int64_t>, std::int32_t> known;
  for (std::int64_t unit = 0; unit < world.units(); ++unit) {
    const auto row = world.unit_bytes.begin() + unit * tiers_;
    std::vector<std::int64_t> bytes(row, row + tiers_);
    const auto [at, is_new] = known.try_emplace(bytes, static_cast<std::int32_t>(kinds_.size()));
    if (is_new) {
      Kind& kind = kinds_.emplace_back();
      kind.bytes = std::move(bytes);
      kind.places.assign(index(tiers_), 0);
      for (std::int64_t upper = 0; upper < tiers_; ++upper)
        for (std::int64_t lower = upper + 1; lower < tiers_; ++lower)
          kind.pairs.push_back({.upper = static_cast<std::uint8_t>(upper),
                                .lower = static_cast<std::uint8_t>(lower),
                                .cheapest = {},
                                .dearest = {}});
    }
    kind_of_[index(unit)] = at->second;
    if (first[index(unit)] != no_tier) ++kinds_[index(at->second)].places[first[index(unit)]];
  }
  if (world.any_mix_bytes > 0) {
    std::vector<std::vector<std::int64_t>> sizes;
    for (const Kind& kind : kinds_) sizes.push_back(kind.bytes);
    room_.emplace(world, sizes);
    numbers_.emplace(world, *room_, kind_of_, sizes, damage_);
    in_pools_.resize(room_->pools());
  }
  forget();
}

Exchanges::Pair& Exchanges::pair(Kind& kind, std::int64_t upper, std::int64_t lower) {
  return kind.pairs[index(upper * tiers_ - upper * (upper + 1) / 2 + lower - upper - 1)];
}

void Exchanges::forget() {
  loss_ = 0;
  if (renumbers_) numbers_->forget();
  renumbers_ = false;
  for (Kind& kind : kinds_) {
    kind.holders.assign(index(tiers_), 0);
    for (Pair& pair : kind.pairs) {
      pair.cheapest.clear();
      pair.dearest.clear();
    }
  }
}

void Exchanges::look(std::span<const float> uses, std::span<const std::uint8_t> tiers, std::int64_t first,
                     std::int64_t last) {
  for (std::size_t unit = index(first); unit < index(last); ++unit) {
    const std::int64_t now = tiers[unit];
    if (now == no_tier) continue;
    Kind& kind = kinds_[index(kind_of_[unit])];
    ++kind.holders[index(now)];
    const float* const damage = damage_.data() + unit * index(tiers_);
    loss_ += static_cast<double>(uses[unit] * damage[now]);
    if (renumbers_) numbers_->look(unit, uses[unit]);
    const auto at = static_cast<std::int32_t>(unit);
    for (std::int64_t upper = 0; upper < now; ++upper) {
      const auto value = static_cast<double>(uses[unit] * (damage[now] - damage[upper]));
      keep_first(pair(kind, upper, now).dearest, {value, at, uses[unit]}, kept_, dearer);
    }
    for (std::int64_t lower = now + 1; lower < tiers_; ++lower) {
      const auto value = static_cast<double>(uses[unit] * (damage[lower] - damage[now]));
      keep_first(pair(kind, now, lower).cheapest, {value, at, uses[unit]}, kept_, cheaper);
    }
  }
}

bool Exchanges::take(const Exchange& exchange) {
  for (const std::int32_t unit : {exchange.up, exchange.down})
    if (unit != Exchange::nobody && moving_[index(unit)]) return false;
  for (const std::int32_t unit : {exchange.up, exchange.down})
    if (unit != Exchange::nobody) moving_[index(unit)] = true;
  found_.push_back(exchange);
  return true;
}

// Whether a unit may go there without another one's coming back, so that one block of each size is left; to
// fewer bytes always.
bool Exchanges::moves_in(std::size_t kind, std::size_t from, std::size_t to) {
  if (!room_) return true;
  const auto move = [&](std::size_t a, std::size_t b) {
    --in_pools_[room_->pool(kind, a)];
    ++in_pools_[room_->pool(kind, b)];
  };
  move(from, to);
  if (kinds_[kind].bytes[to] <= kinds_[kind].bytes[from] || room_->fits(in_pools_, 1)) return true;
  move(to, from);
  return false;
}

// A tier with one too many has another with one too few: that one goes down …
void Exchanges::send_down(std::size_t of, std::size_t limit) {
  Kind& kind = kinds_[of];
  for (Pair& pair : kind.pairs) {
    auto& upper = kind.holders[pair.upper];
    auto& lower = kind.holders[pair.lower];
    for (const Stake& stake : pair.cheapest) {
      if (!(upper > kind.places[pair.upper] && lower < kind.places[pair.lower]) || found_.size() == limit)
        break;
      if (moving_[index(stake.unit)]) continue;
      if (!moves_in(of, pair.upper, pair.lower)) break;
      take({.down = stake.unit, .down_to = pair.lower, .gain = -stake.value, .down_use = stake.use});
      --upper;
      ++lower;
    }
  }
}

// … or up.
void Exchanges::send_up(std::size_t of, std::size_t limit) {
  Kind& kind = kinds_[of];
  for (Pair& pair : kind.pairs) {
    auto& upper = kind.holders[pair.upper];
    auto& lower = kind.holders[pair.lower];
    for (const Stake& stake : pair.dearest) {
      if (!(upper < kind.places[pair.upper] && lower > kind.places[pair.lower]) || found_.size() == limit)
        break;
      if (moving_[index(stake.unit)]) continue;
      if (!moves_in(of, pair.lower, pair.upper)) break;
      take({.up = stake.unit, .up_to = pair.upper, .gain = stake.value, .up_use = stake.use});
      ++upper;
      --lower;
    }
  }
}

// Units go down first, which makes room for others.
void Exchanges::bring_back(std::size_t limit) {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) send_down(kind, limit);
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) send_up(kind, limit);
}

// The one that gains most takes the place of the one that loses least, and so on.
void Exchanges::offer(const Kind& kind, Pair& pair, double margin) {
  const auto free = [&](std::vector<Stake>& stakes) {
    std::erase_if(stakes, [&](const Stake& stake) { return moving_[index(stake.unit)]; });
  };
  free(pair.cheapest);
  free(pair.dearest);
  const auto bytes = static_cast<double>(kind.bytes[pair.upper] + kind.bytes[pair.lower]);
  for (std::size_t i = 0; i < std::min(pair.cheapest.size(), pair.dearest.size()); ++i) {
    const Stake &down = pair.cheapest[i], &up = pair.dearest[i];
    const double gain = up.value - down.value;
    if (!(gain > margin * up.value)) return;
    offers_.push_back({.rate = gain / bytes,
                       .exchange = {.up = up.unit,
                                    .down = down.unit,
                                    .up_to = pair.upper,
                                    .down_to = pair.lower,
                                    .gain = gain,
                                    .up_use = up.use,
                                    .down_use = down.use}});
  }
}

std::span<const Exchange> Exchanges::choose(double margin, std::int64_t limit) {
  found_.clear();
  offers_.clear();
  if (renumbers_) {
    const TierNumbers::Counts& numbers = numbers_->settle();
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) kinds_[kind].places = numbers[kind];
    renumbers_ = false;
  }
  std::ranges::fill(in_pools_, 0);
  for (std::size_t kind = 0; kind < kinds_.size() && room_; ++kind)
    for (std::size_t tier = 0; tier < index(tiers_); ++tier)
      in_pools_[room_->pool(kind, tier)] += kinds_[kind].holders[tier];
  for (Kind& kind : kinds_) {
    for (Pair& pair : kind.pairs) {
      std::ranges::sort(pair.cheapest, cheaper);
      std::ranges::sort(pair.dearest, dearer);
    }
  }
  if (limit > 0) {
    bring_back(index(limit));
    for (Kind& kind : kinds_)
      for (Pair& pair : kind.pairs) offer(kind, pair, margin);
  }
  std::ranges::sort(offers_, [](const Offer& a, const Offer& b) {
    return std::tuple(-a.rate, a.exchange.up, a.exchange.down) <
           std::tuple(-b.rate, b.exchange.up, b.exchange.down);
  });
  for (const Offer& offer : offers_) {
    if (std::ssize(found_) >= limit) break;
    take(offer.exchange);
  }
  for (const Exchange& exchange : found_)
    for (const std::int32_t unit : {exchange.up, exchange.down})
      if (unit != Exchange::nobody) moving_[index(unit)] = false;
  forget();
  return found_;
}

std::span<const Exchange> Exchanges::find(std::span<const float> uses, std::span<const std::uint8_t> tiers,
                                          double margin, std::int64_t limit) {
  forget();
  look(uses, tiers, 0, std::ssize(tiers));
  return choose(margin, limit);
}

bool Exchanges::decide(double margin, std::int32_t in_flight, std::vector<Decision>& decisions) {
  // Two for each, but one at least where no more than one may be under way.
  const std::int64_t room = (max_in_flight_ - in_flight + (max_in_flight_ == 1 ? 1 : 0)) / 2;
  const double loss = loss_;
  double saved = 0;
  for (const Exchange& e : choose(margin, room)) {
    const auto move = [&](std::int32_t unit, std::uint8_t target, SwapReason reason, float use,
                          std::int32_t other) {
      if (unit == Exchange::nobody) return;
      decisions.push_back({.unit = unit,
                           .target = target,
                           .reason = e.is_pair() ? reason : SwapReason::balanced,
                           .score = use,
                           .margin = static_cast<float>(e.gain),
                           .other = other});
    };
    move(e.up, e.up_to, SwapReason::expected, e.up_use, e.down);
    move(e.down, e.down_to, SwapReason::yields, e.down_use, e.up);
    saved += e.gain;
  }
  saved_share_ = loss > 0 ? saved / loss : 0;
  return std::ssize(found_) == std::max<std::int64_t>(room, 0);
}

}  // namespace fovea::precision
