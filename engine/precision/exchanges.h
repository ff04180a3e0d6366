// Which units shall change places: a unit goes up and another one, of the same sizes, takes the place that it
// leaves. How many units each tier holds stays as the first tiers have it, so that the arena always has their
// blocks; or, where it has room for any mix, follows what is expected (tier_numbers.h), and then single
// units go up or down as well. The loss that falls is Σ use × damage (best_mix.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/precision/policy.h"
#include "engine/precision/tier_numbers.h"

namespace fovea::precision {

struct Exchange {
  static constexpr std::int32_t nobody = -1;

  // One of both may be nobody: where a tier holds one too many or too few, since an earlier swap failed or
  // the numbers have changed.
  std::int32_t up = nobody, down = nobody;
  std::uint8_t up_to = 0, down_to = 0;
  double gain = 0;  // by which the expected loss of a token falls; below 0 for a unit that must go down
  float up_use = 0, down_use = 0;  // that is expected of them

  bool is_pair() const { return up != nobody && down != nobody; }
};

class Exchanges {
 public:
  // `first` [units]: the tiers whose numbers to begin with; no_tier where a unit has none. `max_in_flight`:
  // swaps at once, those among them that wait for the block that another one vacates.
  Exchanges(const PolicyWorld& world, std::span<const std::uint8_t> first, std::int64_t max_in_flight);

  Exchanges(const Exchanges&) = delete;  // its parts refer to one another
  Exchanges& operator=(const Exchanges&) = delete;

  // At most `limit`, no unit in two of them: first those that bring the numbers back, then the others by what
  // they gain for each byte that is read. `uses` [units]: any measure of use; `tiers` [units]: where each
  // unit is or is going. An exchange must gain more than `margin` (0 … 1) of what the unit that goes up gains
  // alone. O(units · tiers). The span lasts until the next call.
  std::span<const Exchange> find(std::span<const float> uses, std::span<const std::uint8_t> tiers,
                                 double margin, std::int64_t limit);

  // The same in steps, so that no token waits for all units: look at the units [first, last) …
  void look(std::span<const float> uses, std::span<const std::uint8_t> tiers, std::int64_t first,
            std::int64_t last);
  // Whether the numbers may change; the units that are looked at from now on decide on them, where they may.
  bool may_renumber() const { return numbers_.has_value(); }
  void renumber() { renumbers_ = may_renumber(); }
  // … and when all were looked at, decide on the best exchanges for which there is room: `in_flight` swaps
  // are under way. True: they took all the room, so that there may be more to do.
  bool decide(double margin, std::int32_t in_flight, std::vector<Decision>& decisions);
  // By which share of itself the expected loss falls with what was decided last.
  double saved_share() const { return saved_share_; }
  void forget();  // what was looked at since the last decision

 private:
  // What it is worth to a unit to stand at the upper tier of a pair instead of the lower one.
  struct Stake {
    double value = 0;
    std::int32_t unit = 0;
    float use = 0;
  };
  // Units of the same sizes, at an upper and a lower tier: who would lose least by going down, and who would
  // gain most by coming up.
  struct Pair {
    std::uint8_t upper = 0, lower = 0;
    std::vector<Stake> cheapest, dearest;
  };
  struct Kind {
    std::vector<std::int64_t> bytes;    // [tiers]
    std::vector<std::int64_t> places;   // [tiers]
    std::vector<std::int64_t> holders;  // [tiers] while find() runs
    std::vector<Pair> pairs;
  };

  Pair& pair(Kind& kind, std::int64_t upper, std::int64_t lower);
  std::span<const Exchange> choose(double margin, std::int64_t limit);
  void bring_back(std::size_t limit);
  void send_down(std::size_t kind, std::size_t limit);
  void send_up(std::size_t kind, std::size_t limit);
  bool moves_in(std::size_t kind, std::size_t from, std::size_t to);
  void offer(const Kind& kind, Pair& pair, double margin);
  bool take(const Exchange& exchange);

  std::int64_t tiers_;
  std::int64_t max_in_flight_;
  std::size_t kept_;                   // stakes of each kind and pair
  std::vector<float> damage_;          // [units, tiers]
  std::vector<std::int32_t> kind_of_;  // [units]
  std::vector<Kind> kinds_;
  struct Offer {
    double rate = 0;  // gain per byte
    Exchange exchange;
  };
  std::vector<Offer> offers_;
  std::vector<Exchange> found_;
  std::vector<bool> moving_;     // [units]
  std::optional<MixRoom> room_;  // where the numbers may change …
  std::optional<TierNumbers> numbers_;
  std::vector<std::int64_t> in_pools_;  // [pools] … units there while find() runs
  bool renumbers_ = false;
  double loss_ = 0;  // of a token, expected of the units that were looked at
  double saved_share_ = 0;
};

}  // namespace fovea::precision
