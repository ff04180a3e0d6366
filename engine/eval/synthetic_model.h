// A shape as a model that can be loaded: names, sizes and types, with weights that are made when they are
// read.
#pragma once

#include <string>

#include "engine/checkpoint/synthetic.h"
#include "engine/core/result.h"
#include "engine/precision/model_shapes.h"

namespace fovea::eval {

struct NamedShape {
  std::string name;
  precision::ModelShape shape;  // its own name is not set
};

// A published shape by its name, or a JSON file's. Every wrong number is ErrorKind::format with its key.
Result<NamedShape> read_shape(const std::string& name_or_file);

struct SyntheticTypes {
  kernels::Type experts = kernels::Type::q4_f;
  kernels::Type dense = kernels::Type::q8_0;
};
// ErrorKind::unsupported for layers that no family of Fovea has.
Result<checkpoint::SyntheticModel> synthetic_model(const NamedShape& shape, const SyntheticTypes& types,
                                                   std::uint64_t seed);

}  // namespace fovea::eval
