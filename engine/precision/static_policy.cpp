#include "engine/precision/static_policy.h"

#include "engine/precision/errors.h"
#include "engine/precision/hotness.h"

namespace fovea::precision {
namespace {

class StaticPolicy final : public Policy {
 public:
  StaticPolicy(const PolicyWorld& world, std::vector<std::uint8_t> tiers)
      : tiers_(std::move(tiers)), hotness_(world.first_unit, {}, world.uses) {}

  std::string_view name() const override { return "static"; }
  std::vector<std::uint8_t> initial() const override { return tiers_; }
  void observe(const Observation& observation) override { hotness_.observe(observation); }
  void propose(std::span<const std::uint8_t>, std::int32_t, std::vector<Decision>&) override {}
  std::span<const float> hotness() const override { return hotness_.all(); }

 private:
  std::vector<std::uint8_t> tiers_;
  Hotness hotness_;
};

Result<void> check_room(const PolicyWorld& world, const std::vector<std::uint8_t>& tiers) {
  std::vector<std::int64_t> used(static_cast<std::size_t>(world.tiers()));
  for (const std::uint8_t tier : tiers) {
    if (tier == no_tier) continue;
    if (tier >= world.tiers()) return fail(phrases::static_policy_place(), errors::static_policy_tier(tier));
    ++used[tier];
  }
  for (std::size_t tier = 0; tier < used.size(); ++tier) {
    if (used[tier] > world.capacity[tier])
      return fail(phrases::static_policy_place(),
                  errors::static_policy_room(used[tier], tier + 1, world.capacity[tier]));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Policy>> make_static(const PolicyWorld& world, std::vector<std::uint8_t> tiers) {
  FOVEA_CHECK(check(world));
  if (std::ssize(tiers) != world.units())
    return fail(phrases::static_policy_place(),
                errors::static_policy_units(std::ssize(tiers), world.units()));
  FOVEA_CHECK(check_room(world, tiers));
  return std::make_unique<StaticPolicy>(world, std::move(tiers));
}

}  // namespace fovea::precision
