// Writes a store: every unit at every tier, on all cores, one unit at a time on each.
#pragma once

#include <filesystem>
#include <stop_token>

#include "engine/api/progress.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/store.h"
#include "engine/core/result.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "kernels/api/device.h"

namespace fovea::precision {

class Calibration;

struct PrepareParts {
  const checkpoint::Checkpoint& checkpoint;
  const UnitTable& units;
  const TierSet& tiers;
  const kernels::Device& device;             // that the versions are packed for
  const kernels::Device& computes;           // whose arithmetic measures them: its memory is the host's
  const Calibration* calibration = nullptr;  // null: data-free
};

// The identity that the store gets, with its calibration's.
checkpoint::StoreIdentity identity_of(const PrepareParts& parts);

// Writes what is missing and leaves the store unfinished, for divergences to be added; StoreWriter::finish()
// ends it. Each thread holds a unit's versions, once more where another device measures them: as many threads
// run as fit 2 GiB, at least one. Progress
// counts the versions' bytes and names units, on the calling thread.
Result<checkpoint::StoreWriter> write_versions(const PrepareParts& parts, const std::filesystem::path& path,
                                               int threads, const ProgressSink& progress,
                                               std::stop_token stop);

}  // namespace fovea::precision
