// How far a version's outputs are from those of the unit as the file has it, on calibration inputs and with
// the device's own arithmetic.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/calibrate.h"
#include "engine/precision/prepare.h"
#include "engine/precision/prepare_memory.h"
#include "engine/precision/prepare_version.h"

namespace fovea::precision {

// For one thread.
class OutputCheck {
 public:
  // `bytes`: the largest version as the file has it; 0 when there is nothing to check.
  OutputCheck(const PrepareParts& parts, std::int64_t bytes);

  // Takes the unit's inputs and computes what should come out. The unit was reached by the calibration.
  Result<void> begin(VersionMaker& maker, UnitId id);
  // ‖Y − Y'‖ / ‖Y‖ of that unit with the version whose bytes begin at `memory`.
  float error(const Tier& tier, const std::byte* memory);

 private:
  void run(const Tier& tier, const std::byte* memory, std::vector<float>& out);

  const PrepareParts& parts_;
  std::unique_ptr<kernels::Stream> stream_;
  DeviceMemory reference_;
  UnitId unit_ = -1;
  std::vector<float> inputs_;             // [rows, columns]
  std::vector<float> expected_, actual_;  // [rows, outputs]
};

}  // namespace fovea::precision
