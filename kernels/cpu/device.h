// The CPU device: SIMD operations for what the processor has, chosen once at run time.
#pragma once

#include <span>
#include <string_view>

#include "kernels/api/device.h"

namespace fovea::kernels::cpu {

// Instruction sets of this build that this processor can run, slowest first: "scalar", "avx2", "avx512" …
std::span<const std::string_view> available_instruction_sets();

// The device for one of the above; null when the name is unknown or cannot run here.
const Device* device(std::string_view instruction_set);

// The fastest device, or the one that the environment variable FOVEA_CPU names. Null when FOVEA_CPU names
// one that cannot run here; the caller reports available_instruction_sets().
const Device* default_device();

}  // namespace fovea::kernels::cpu
