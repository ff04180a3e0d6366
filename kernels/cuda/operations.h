// The operation table of CUDA devices. Streams are CudaStreams (stream.h). Arguments that the operations read
// on the host (projections, experts, page lists) are in host memory, everything that they point at in the
// device's.
#pragma once

#include "kernels/api/operations.h"

namespace fovea::kernels::cuda {

const OperationTable& operations();

}  // namespace fovea::kernels::cuda
