// What one instruction set's build of the numeric sources offers. Those sources (CMakeLists.txt lists them)
// are compiled once for each set, inside the namespace that FOVEA_CPU_SET names, and include no header that
// defines inline functions outside that namespace: the linker keeps only one copy of such a function, and
// it must not be one with instructions that the processor lacks.
#pragma once

#include "kernels/api/operations.h"

namespace fovea::kernels::cpu {

struct Kernels {
  const char* name = "";
  OperationTable operations = {};
};

namespace scalar {
extern const Kernels kernels;
}
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}
namespace avx512_vnni {
extern const Kernels kernels;
}

// Operations that are the same for every set: they drive the set's kernels.
void linear(const Linear&, Stream&);
void feed_forward(const FeedForward&, Stream&);

}  // namespace fovea::kernels::cpu
