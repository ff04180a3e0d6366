#include "kernels/cpu/ceiling.h"

#include "engine/api/engine.h"
#include "engine/runtime/parts.h"

namespace fovea {

Ceiling Engine::measure_ceiling() {
  return {.read_gb_per_s = kernels::cpu::read_bandwidth_gb_per_s(*parts_->stream),
          .peak_gop_per_s = kernels::cpu::peak_gop_per_s(*parts_->stream)};
}

}  // namespace fovea
