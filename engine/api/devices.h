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

// An error when FOVEA_CPU names an instruction set that this processor lacks.
Result<std::vector<DeviceInfo>> devices();

}  // namespace fovea
