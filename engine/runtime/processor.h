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
// One, or two cards: "cuda:0,cuda:1", of which the first has the first layers.
struct ChosenDevices {
  const kernels::Device* device = nullptr;  // of the output
  const kernels::Device* first = nullptr;   // null: there is one
};
Result<ChosenDevices> chosen_devices(std::string_view names);

// Of copies from pinned memory to the device's, as swaps are; takes some milliseconds. 0: no memory for it.
double link_gb_per_s(const kernels::Device& device);

}  // namespace fovea::runtime
