// What this machine can compute with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/api/error.h"

namespace fovea {

struct DeviceInfo {
  std::string name;                           // "cpu"
  std::string description;                    // the processor's own name
  std::string instruction_set;                // the one in use
  std::vector<std::string> instruction_sets;  // all that could be used
  int cores = 0;                              // physical
  std::int64_t memory_bytes = 0;
  std::int64_t memory_free_bytes = 0;
};

// Of the device that models run on, by all programs together.
struct DeviceMemory {
  std::int64_t used_bytes = 0;
  std::int64_t total_bytes = 0;  // 0: not known
};
// Reads a few lines from the system: for another thread than one that draws.
DeviceMemory device_memory();

// An error when FOVEA_CPU names an instruction set that this processor lacks.
Result<std::vector<DeviceInfo>> devices();

// What all threads together read from memory in a second, in 10^9 bytes: decoding is bound by it. Measures
// for about half a second, with 512 MiB of memory; 0 where that is not there.
Result<double> measure_memory_read_gb_per_s();

}  // namespace fovea
