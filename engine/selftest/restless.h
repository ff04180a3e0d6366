// A policy that forces swaps: while it storms, in each pass a unit of the lowest tier and one of the highest
// change places; when it is sent home, all go back to where they began.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/precision/policy.h"

namespace fovea::selftest {

// What its owner says, and what it answers. Any thread.
struct Weather {
  std::atomic<bool> storm = true;
  std::atomic<bool> home = false;  // every unit is where it began, and nothing is in flight
};

class Restless final : public precision::Policy {
 public:
  Restless(const precision::PolicyWorld& world, std::shared_ptr<Weather> weather);
  std::string_view name() const override { return "restless"; }
  std::vector<std::uint8_t> initial() const override { return begun_; }
  void observe(const precision::Observation&) override {}
  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<precision::Decision>& decisions) override;
  std::span<const float> hotness() const override { return {}; }

 private:
  std::int32_t next(std::span<const std::uint8_t> tiers, std::uint8_t wanted);
  void go_home(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<precision::Decision>& decisions) const;

  std::vector<std::uint8_t> begun_;  // [units]
  std::uint8_t lowest_ = 0;
  std::shared_ptr<Weather> weather_;
  std::int32_t last_ = 0;
};

}  // namespace fovea::selftest
