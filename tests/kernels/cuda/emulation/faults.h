// Turns a fault on memory (SIGSEGV, SIGBUS) into a message: a kernel's thread that reaches outside the
// device's memory ends its launch, a host thread that touches the device's memory is told so before the
// program ends.
#pragma once

#include "tests/kernels/cuda/emulation/memory.h"

namespace fovea::kernels::cuda::emulation {

// While it lives, faults of kernels that run on this thread are theirs.
class FaultWatch {
 public:
  explicit FaultWatch(const DeviceMemory&);
  ~FaultWatch();
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;
};

// From now on, a host thread's touch of this memory is explained. Until `forget`.
void explain_touches_of(const DeviceMemory&);
void forget(const DeviceMemory&);

}  // namespace fovea::kernels::cuda::emulation
