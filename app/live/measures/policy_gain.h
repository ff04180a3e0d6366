// What changing tiers gained over tiers that stay: the expected loss of the policy's tiers beside that of
// fixed mixes of as many bytes.
#pragma once

#include "engine/api/precision.h"
#include "engine/api/snapshot.h"
#include "ui/live/data/measures.h"

namespace fovea::app {

inline constexpr double gain_margin = 0.02;           // of the fixed mix's loss
inline constexpr std::int64_t min_gain_tokens = 256;  // before anything is said

// Beside what one could really have: the mix that the calibration would choose, from the first tokens on; as
// soon as the session's first tokens could have chosen one, the better of the two, for the tokens since.
// Of one tier nothing can be lost: what moves, moves between the card and the processor.
ui::PolicyGain policy_gain(PolicyKind policy, std::size_t tiers, const QualityState& quality);

}  // namespace fovea::app
