// How far a version's outputs are from those of the unit as the file has it, on calibration inputs and with
// a device's own arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/calibrate.h"
#include "engine/precision/prepare.h"
#include "engine/precision/prepare_memory.h"
#include "engine/precision/prepare_version.h"
#include "kernels/formats/calibrated.h"

namespace fovea::precision {

// For one thread.
class OutputCheck {
 public:
  // `bytes`: the largest version as the file has it; 0 when there is nothing to check.
  OutputCheck(const PrepareParts& parts, std::int64_t bytes);

  // Takes the unit's inputs: every fourth to measure on, the others for metrics() where they are enough, else
  // all to measure on. Computes what should come out. The unit was reached by the calibration.
  Result<void> begin(UnitId id);
  // Of the unit's inputs, for its quantiser; null where too few were kept. Valid until the next begin().
  std::array<const kernels::formats::InputMetric*, 3> metrics() const;
  // ‖Y − Y'‖ / ‖Y‖ of that unit with the version whose bytes begin at `memory`, packed for what computes.
  float error(const Tier& tier, const std::byte* memory);

 private:
  void learn(std::span<const float> inputs);
  // The unit's expert, of these weights, with its biases.
  kernels::Expert expert(const std::array<kernels::Weight, 3>& weights) const;
  void run(const Tier& tier, const std::byte* memory, std::vector<float>& out);

  const PrepareParts& parts_;
  VersionMaker maker_;
  std::unique_ptr<kernels::Stream> stream_;
  DeviceMemory reference_;
  UnitId unit_ = -1;
  std::array<std::vector<float>, 3> biases_;  // of gate, up and down, or empty
  std::vector<float> inputs_;                 // [rows, columns], to measure on
  std::optional<kernels::formats::InputMetric> input_metric_, hidden_metric_;
  std::vector<float> expected_, actual_;  // [rows, outputs]
};

}  // namespace fovea::precision
