// How much of the model's quality was kept, over the session's tokens.
#pragma once

#include <deque>

#include "app/live/measures/snapshot_ring.h"
#include "engine/api/precision.h"
#include "ui/live/data/measures.h"

namespace fovea::app {

// Of the ring's moments up to the one of this index, in stretches of equally many tokens; empty without a
// policy that moves experts, or with too few tokens. `chapters`, the newest first: whose questions are
// marked.
ui::QualityLine quality_line(PolicyKind policy, const SnapshotRing& ring, std::int64_t until,
                             const std::deque<ui::Chapter>& chapters);

}  // namespace fovea::app
