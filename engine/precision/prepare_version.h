// One version of one unit: dequantised, quantised anew and packed, row by row, or the file's own blocks
// packed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/core/result.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "kernels/api/device.h"

namespace fovea::kernels::formats {
class InputMetric;
}

namespace fovea::precision {

// Whether every matrix can be stored in every tier. ErrorKind::unsupported names the tensor and the tier.
Result<void> check_tiers(const UnitTable& units, const TierSet& tiers);

// The importance of each matrix's columns, [parts][columns]; empty: data-free.
using Importance = std::array<std::span<const float>, 3>;

// What a quantiser knows of a unit's inputs. A metric, where there is one, says more than the importance.
struct Guidance {
  Importance importance;
  std::array<const kernels::formats::InputMetric*, 3> metrics = {};
};

// For one thread.
class VersionMaker {
 public:
  explicit VersionMaker(const checkpoint::Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  // Where a version goes: version_layout().bytes of it, packed for the device. Padding is zeros.
  struct Target {
    const kernels::Device& device;
    std::span<std::byte> version;
  };
  // Fills each target with the same weights. Returns ‖W − W'‖ / ‖W‖ over all of the unit's. ErrorKind::format
  // when a weight is not finite.
  Result<float> make(const Tier& tier, const Unit& unit, const Guidance& guidance,
                     std::span<const Target> targets);

 private:
  struct Norms {
    double error = 0, weights = 0;  // sums of squares
  };
  // Some rows of a matrix, to each target.
  void pack(const Tier& tier, const Unit& unit, std::size_t part, std::span<const std::byte> rows,
            std::int64_t first, std::int64_t count, std::span<const Target> targets) const;
  Result<void> requantize(const Tier& tier, const Unit& unit, std::size_t part, const Guidance& guidance,
                          std::span<const Target> targets, Norms& norms);

  std::unexpected<Error> not_finite(const models::MatrixSource& matrix) const;

  const checkpoint::Checkpoint& checkpoint_;
  std::vector<float> rows_, again_;   // [rows of a chunk, columns]
  std::vector<std::byte> quantized_;  // the same in the tier's type
  std::vector<std::byte> converted_;  // rows of a packed layer, as the file's tier
};

}  // namespace fovea::precision
