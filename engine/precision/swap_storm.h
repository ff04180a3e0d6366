// A policy that forces swaps: what moving experts does to answers (self test) and to speed (bench).
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "engine/precision/policy.h"

namespace fovea::precision {

enum class StormMode : std::uint8_t {
  still,  // nothing moves
  storm,  // in each pass a unit of the lowest tier and one of the highest change tiers
  flood,  // likewise, as many pairs as may be under way
  home,   // all go back to the tiers with which they began
};

// What its owner says, and what it answers. Any thread.
struct StormControl {
  std::atomic<StormMode> mode = StormMode::storm;
  std::atomic<bool> home = false;  // in that mode: every unit is where it began, and nothing is in flight
};

class SwapStorm final : public Policy {
 public:
  // Begins with n_hot units of each layer in the highest tier and the others in the lowest, or with `initial`
  // [units]. In a flood at most `in_flight` swaps at once, and as many as there are spare blocks for.
  SwapStorm(const PolicyWorld& world, std::shared_ptr<StormControl> control,
            std::int32_t in_flight = std::numeric_limits<std::int32_t>::max());
  SwapStorm(const PolicyWorld& world, std::vector<std::uint8_t> initial,
            std::shared_ptr<StormControl> control, std::int32_t in_flight);

  std::string_view name() const override { return "swap storm"; }
  std::vector<std::uint8_t> initial() const override { return begun_; }
  void observe(const Observation&) override {}
  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<Decision>& decisions) override;
  std::span<const float> hotness() const override { return {}; }

 private:
  std::int32_t next(std::span<const std::uint8_t> tiers, std::uint8_t wanted);
  void exchange(std::span<const std::uint8_t> tiers, std::vector<Decision>& decisions);
  void go_home(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<Decision>& decisions) const;

  std::vector<std::uint8_t> begun_;  // [units]
  std::uint8_t lowest_;
  std::shared_ptr<StormControl> control_;
  std::int32_t max_in_flight_;
  std::int32_t last_ = 0;
};

}  // namespace fovea::precision
