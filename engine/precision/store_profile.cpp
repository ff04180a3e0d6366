#include "engine/precision/store_profile.h"

#include <algorithm>

#include "engine/precision/fingerprint.h"

namespace fovea::precision {
namespace {

using checkpoint::Extent;
using checkpoint::Store;

// A unit that the text did not reach may still be needed: it counts as half a token's.
constexpr float min_tokens = 0.5F;

std::vector<float> uses_of(const Store& store, std::span<const std::int32_t> first_unit) {
  if (store.identity().scope != scope_name(UnitScope::experts)) return {};
  std::vector<float> uses(static_cast<std::size_t>(first_unit.back()));
  // Calibration is of units: every tier tells the same tokens, but for one kept as the file has it.
  const std::int64_t tier = std::ssize(store.identity().tiers) - 1;
  bool any = false;
  for (std::size_t layer = 0; layer + 1 < first_unit.size(); ++layer) {
    float sum = 0;
    for (std::int32_t unit = first_unit[layer]; unit < first_unit[layer + 1]; ++unit) {
      const std::uint32_t tokens = store.extent(unit, tier).calibration_tokens;
      any = any || tokens > 0;
      sum += uses[static_cast<std::size_t>(unit)] = static_cast<float>(tokens) + min_tokens;
    }
    for (std::int32_t unit = first_unit[layer]; unit < first_unit[layer + 1]; ++unit)
      uses[static_cast<std::size_t>(unit)] /= sum;
  }
  if (!any) uses.clear();
  return uses;
}

}  // namespace

StoreProfile store_profile(const Store& store, std::span<const std::int32_t> first_unit,
                           std::span<const std::int64_t> tiers) {
  StoreProfile profile{.uses = uses_of(store, first_unit), .damage = {}, .damage_is_divergence = false};
  const std::int64_t units = first_unit.back();
  bool diverged = true;
  for (std::int64_t unit = 0; unit < units; ++unit) {
    for (const std::int64_t tier : tiers) diverged = diverged && store.extent(unit, tier).divergence >= 0;
  }
  profile.damage_is_divergence = diverged;
  for (std::int64_t unit = 0; unit < units; ++unit) {
    const float use = profile.uses.empty() ? 1 : profile.uses[static_cast<std::size_t>(unit)];
    for (const std::int64_t tier : tiers) {
      const Extent& extent = store.extent(unit, tier);
      profile.damage.push_back(diverged ? extent.divergence / use
                                        : extent.output_error * extent.output_error);
    }
  }
  return profile;
}

}  // namespace fovea::precision
