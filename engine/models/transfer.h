// Moves weights from the mapped file to where the device reads them, on several threads, in the file's order.
#pragma once

#include <stop_token>
#include <vector>

#include "engine/api/progress.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/core/result.h"
#include "engine/models/plan.h"
#include "kernels/api/device.h"

namespace fovea::models {

// One matrix's way: packed or copied to `target`, by a pinned buffer for each thread where the host cannot
// write there, or, without a target, read once so that its pages are there.
struct Transfer {
  MatrixSource source;
  kernels::Packing packing = kernels::Packing::rows;
  std::byte* target = nullptr;
};

// Packed layers of the file are converted on the way. Source pages that were copied are dropped as soon as
// their tensor is done, so that memory holds no weight twice. Progress counts the sources' bytes, on the
// calling thread. Cancelled within one chunk (4 MiB) of each thread.
Result<void> run_transfers(const checkpoint::Checkpoint&, const kernels::Device&, std::vector<Transfer>,
                           int threads, const ProgressSink&, std::stop_token);

}  // namespace fovea::models
