// What the experts do, as JSON: /fovea/experts.
#pragma once

#include "app/server/json_fields.h"
#include "engine/api/snapshot.h"

namespace fovea::app {

// units: of each layer the tiers as indices of `tiers` (−1: on disk alone, −2: computed by the processor
// beside a card), and how many tokens were routed there lately.
Json snapshot_json(const Snapshot& snapshot);

}  // namespace fovea::app
