// Facts about this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/api/error.h"
#include "kernels/api/device.h"

namespace fovea::runtime {

std::string processor_name();
// That this process may use: affinity and a container's quota are respected. At least 1.
int physical_cores();

// "cpu" or empty: the processor, with the instruction set that FOVEA_CPU names or the fastest. "cuda:N": a
// GPU. ErrorKind::not_found lists what could be named, or says why there is no such device.
Result<const kernels::Device*> chosen_device(std::string_view name);

}  // namespace fovea::runtime
