// The machine's main memory: what there is, and whether a plan's part beside a card fits it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/api/precision.h"
#include "engine/core/result.h"

namespace fovea::runtime {

struct Memory {
  std::int64_t total_bytes = 0;  // of the machine, or the container's limit
  std::int64_t free_bytes = 0;   // what could be allocated without swapping; 0: not known
};
// As /proc and /sys below `root` tell it: the kernel's estimate, and what the limits of this process's
// control groups leave. What files fill of either can be had back.
Memory memory(const std::filesystem::path& root = "/");

// ErrorKind::memory when what the plan needs beside the card exceeds its host_available_bytes, with both
// numbers and what they consist of.
Result<void> check_main_memory(const Plan& plan, const std::function<Phrase()>& advice);

}  // namespace fovea::runtime
