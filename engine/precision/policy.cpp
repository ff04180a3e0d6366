#include "engine/precision/policy.h"

#include <algorithm>

#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

std::unexpected<Error> wrong(Error error) {
  return fail(phrases::policy_world_place(), std::move(error));
}

Result<void> check_length(const char* name, std::int64_t found, std::int64_t expected) {
  if (found == expected) return {};
  return wrong(errors::policy_world_length(name, found, expected));
}

}  // namespace

std::int64_t PolicyWorld::units_on_device() const {
  return units() - std::ranges::count(on_host, true);
}

Result<void> check(const PolicyWorld& world) {
  const std::int64_t units = world.units(), tiers = world.tiers();
  if (units < 1 || world.first_unit.front() != 0 || !std::ranges::is_sorted(world.first_unit))
    return wrong(errors::policy_world_units());
  if (tiers < 1 || tiers >= no_tier) return wrong(errors::policy_world_tiers(tiers));
  FOVEA_CHECK(check_length("unit_bytes", std::ssize(world.unit_bytes), units * tiers));
  if (!world.damage.empty()) FOVEA_CHECK(check_length("damage", std::ssize(world.damage), units * tiers));
  if (!world.time_cost.empty())
    FOVEA_CHECK(check_length("time_cost", std::ssize(world.time_cost), units * tiers));
  if (!world.uses.empty()) FOVEA_CHECK(check_length("uses", std::ssize(world.uses), units));
  if (!world.weight_divergence.empty())
    FOVEA_CHECK(check_length("weight_divergence", std::ssize(world.weight_divergence), units * tiers));
  if (!world.on_host.empty()) FOVEA_CHECK(check_length("on_host", std::ssize(world.on_host), units));
  return check_length("capacity", std::ssize(world.capacity), tiers);
}

}  // namespace fovea::precision
