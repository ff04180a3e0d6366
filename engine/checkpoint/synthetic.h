// A checkpoint without a file: weights that are made from a seed when they are read. For measuring what a
// model's shape costs; nobody can talk to it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/packed_layer.h"

namespace fovea::checkpoint {

struct SyntheticTensor {
  std::string name;
  kernels::Type type = kernels::Type::f32;  // that formats::can_quantize
  std::vector<std::int64_t> shape;          // […, rows, columns]
};

struct SyntheticModel {
  std::string name;
  nlohmann::json config;                  // as a folder's config.json
  std::vector<SyntheticTensor> matrices;  // of values around 0, with a deviation of 0.02
  std::vector<SyntheticTensor> vectors;   // of ones: their type is f32
  std::uint64_t seed = 1;
};

// Its tensors are never mapped, so that a device holds all of them. The same seed gives the same bytes.
// ErrorKind::invalid names a matrix whose columns are no whole blocks of its type.
Result<Checkpoint> synthetic_checkpoint(const SyntheticModel& model);

// Rows of such values alone, of any whole number of blocks.
SyntheticRows synthetic_rows(kernels::Type type, std::uint64_t seed);

}  // namespace fovea::checkpoint
