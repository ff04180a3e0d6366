// The operations, one source for each subject.
#pragma once

#include "kernels/api/operations.h"

namespace fovea::kernels::cuda {

void sigmoid(const Sigmoid&, Stream&);
void add(const Add&, Stream&);

}  // namespace fovea::kernels::cuda
