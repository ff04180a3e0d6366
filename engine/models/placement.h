// Where a model's weights will lie: mapped as the file has them, or packed for the device. Decided from
// names, types and the device's packings alone, so that a plan can count the bytes that loading will take.
#pragma once

#include <cstdint>

#include "engine/checkpoint/checkpoint.h"
#include "engine/models/config.h"
#include "engine/models/plan.h"
#include "kernels/api/device.h"

namespace fovea::models {

// What lies at a multiple of this many bytes in the model's memory: every weight.
constexpr std::int64_t aligned(std::int64_t bytes) {
  constexpr std::int64_t alignment = 64;
  return (bytes + alignment - 1) / alignment * alignment;
}

// Bytes.
struct Footprint {
  std::int64_t packed = 0;     // in the model's own memory
  std::int64_t mapped = 0;     // read where the file has them
  std::int64_t per_token = 0;  // of weights that decoding one token reads, every one as the file has it

  std::int64_t resident() const { return packed + mapped; }
};

class Placement {
 public:
  // `units`: whose weights lie elsewhere; so do those that the plan leaves to the host.
  Placement(const checkpoint::Checkpoint& checkpoint, const kernels::Device& device, UnitScope units)
      : checkpoint_(checkpoint), device_(device), units_(units) {}

  bool lies_elsewhere(const MatrixSource& source) const {
    return source.on_host || is_unit(units_, source.role);
  }
  kernels::Packing packing(const MatrixSource& source) const;
  const std::byte* mapped(const MatrixSource& source) const;
  bool stays_mapped(const MatrixSource& source) const;
  // In the model's own memory; 0 when it stays mapped.
  std::int64_t packed_bytes(const MatrixSource& source) const;
  std::int64_t resident_bytes(const MatrixSource& source) const;  // packed or mapped

  Footprint measure(const WeightPlan& plan, const ModelConfig& config) const;

 private:
  const checkpoint::Checkpoint& checkpoint_;
  const kernels::Device& device_;
  UnitScope units_;
};

}  // namespace fovea::models
