// The reference device: every operation in double precision and plain loops, the truth for the others.
#pragma once

#include "kernels/api/device.h"

namespace fovea::kernels::reference {

const Device& device();

}  // namespace fovea::kernels::reference
