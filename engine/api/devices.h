// What this machine can compute with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"

namespace fovea {

// Where a model runs when nobody names a device. A GPU is used only when it is asked for.
inline constexpr std::string_view automatic_device = "cpu";

struct DeviceInfo {
  std::string name;                           // "cpu", "cuda:0"
  std::string description;                    // its own name
  std::string instruction_set;                // the one in use; a GPU's architecture
  std::vector<std::string> instruction_sets;  // all that could be used
  int cores = 0;                              // physical; 0 of a GPU
  std::int64_t memory_bytes = 0;
  std::int64_t memory_free_bytes = 0;
  double bandwidth_gb_per_s = 0;  // of a GPU's memory, by its clock and width; 0: not known
  Phrase bf16_products = {};      // of a GPU: what multiplies matrices of BF16 with many tokens
  std::string switched_off = {};  // of a GPU: what FOVEA_CUDA_OFF names
  Phrase unusable = {};           // why it cannot be used; empty: it can
};

// Of a device's memory, by all programs together.
struct DeviceMemory {
  std::int64_t used_bytes = 0;
  std::int64_t total_bytes = 0;  // 0: not known
};
// The named device's. Asks the system or a driver: for another thread than one that draws.
DeviceMemory device_memory(std::string_view device = automatic_device);

// The processor first, then the GPUs. An error when FOVEA_CPU names an instruction set that this processor
// lacks.
Result<std::vector<DeviceInfo>> devices();
// Why there is no GPU among them; empty when there is one.
Phrase why_no_gpu();

// Measured for about a second; of the processor with all its threads.
struct DeviceSpeed {
  double read_gb_per_s =
      0;                 // from its memory: decoding is bound by it; 0: there is no memory to measure with
  double gop_per_s = 0;  // the fastest arithmetic, a multiply-add being two: prefill is bound by it
};
Result<DeviceSpeed> measure_speed(std::string_view device = automatic_device);

}  // namespace fovea
