// How far a tier moves the distribution of a unit's weights: what FlexQuant goes by (§3.1).
#pragma once

#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/core/result.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"

namespace fovea::precision {

// KL(P ‖ Q) in nats between histograms [bins], to each of whose counts a half is added: what Q never has is
// then unlikely, not impossible. Sums of counts above 0.
double histogram_divergence(const std::vector<double>& p, const std::vector<double>& q);

// [units, tiers]: P of the weights as the file has them, Q of the same rounded to the tier without
// calibration, in 256 bins from −max |w| to max |w|. From at most 65,536 weights of each matrix, whole rows
// at equal distances. 0 for the file's own format.
//   ErrorKind::format  a weight is not finite
Result<std::vector<float>> weight_divergences(const checkpoint::Checkpoint& checkpoint,
                                              const UnitTable& units, const TierSet& tiers, int threads);

}  // namespace fovea::precision
