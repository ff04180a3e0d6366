#include "engine/precision/static_policy.h"

#include <string>

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
    if (tier >= world.tiers())
      return fail(ErrorKind::internal, "static policy", "there is no tier " + std::to_string(tier));
    ++used[tier];
  }
  for (std::size_t tier = 0; tier < used.size(); ++tier) {
    if (used[tier] > world.capacity[tier])
      return fail(ErrorKind::memory, "static policy",
                  std::to_string(used[tier]) + " units shall have tier " + std::to_string(tier + 1) +
                      " from above, the plan has room for " + std::to_string(world.capacity[tier]),
                  "Give a larger budget, or lower tiers");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Policy>> make_static(const PolicyWorld& world, std::vector<std::uint8_t> tiers) {
  FOVEA_CHECK(check(world));
  if (std::ssize(tiers) != world.units())
    return fail(
        ErrorKind::internal, "static policy",
        "tiers for " + std::to_string(tiers.size()) + " units, expected " + std::to_string(world.units()));
  FOVEA_CHECK(check_room(world, tiers));
  return std::make_unique<StaticPolicy>(world, std::move(tiers));
}

}  // namespace fovea::precision
