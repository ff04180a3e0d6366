// Reads the header of one safetensors file from memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/checkpoint/tensor_info.h"

namespace fovea::checkpoint {

// Tensors in the order of their data; offsets count from the file's beginning. As the format demands, the
// data must be covered without holes or overlaps. F32, F16 and BF16 are read, other types refused by name.
Result<std::vector<TensorInfo>> read_safetensors(std::span<const std::byte> file, const std::string& name);

}  // namespace fovea::checkpoint
