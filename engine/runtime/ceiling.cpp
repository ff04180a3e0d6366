#include "kernels/cpu/ceiling.h"

#include "engine/api/engine.h"
#include "engine/runtime/parts.h"

namespace fovea {

Ceiling Engine::measure_ceiling() {
  // What a GPU reaches is measured by its own tests; here is what its clock and width promise.
  if (!parts_->device->memory_is_host())
    return {.read_gb_per_s = parts_->device->facts().bandwidth_gb_per_s, .peak_gop_per_s = 0};
  return {.read_gb_per_s = kernels::cpu::read_bandwidth_gb_per_s(*parts_->stream),
          .peak_gop_per_s = kernels::cpu::peak_gop_per_s(*parts_->stream)};
}

}  // namespace fovea
