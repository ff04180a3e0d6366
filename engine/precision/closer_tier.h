// Which of the tiers of as many bits comes closer to a model's weights.
#pragma once

#include <optional>

#include "engine/api/prepare.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"

namespace fovea::precision {

// The first of the tiers for which another of as many bits makes an error that is clearly smaller, by more
// than 5 %; none: there is no such tier. Errors are ‖W − W'‖ / ‖W‖ without calibration, the mean of a few
// units, on a sample of rows of their matrices; units with weights that are not finite are left out.
// check_tiers() holds.
std::optional<CloserTier> closer_tier(const checkpoint::Checkpoint& checkpoint, const UnitTable& units,
                                      const TierSet& tiers);

}  // namespace fovea::precision
