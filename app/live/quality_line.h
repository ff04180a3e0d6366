// How much of the model's quality was kept, over the session's tokens.
#pragma once

#include "app/live/snapshot_ring.h"
#include "engine/api/precision.h"
#include "ui/live/live_data.h"

namespace fovea::app {

// e^−KL of `loss` over so many tokens; where no divergence was measured, what of the lowest tier's loss was
// avoided.
struct TokensLoss {
  std::int64_t tokens = 0;
  double low = 0, high = 0;  // with every expert at the lowest and at the highest tier
  bool in_nats = false;
};
double kept_share(const TokensLoss& tokens, double loss);

// Of the ring's moments up to the one of this index, in stretches of equally many tokens; empty without a
// policy that moves experts, or with too few tokens.
ui::QualityLine quality_line(PolicyKind policy, const SnapshotRing& ring, std::int64_t until);

}  // namespace fovea::app
