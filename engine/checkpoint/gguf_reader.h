// Reads one GGUF file (version 2 or 3, little endian) from memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/checkpoint/metadata.h"
#include "engine/checkpoint/tensor_info.h"

namespace fovea::checkpoint {

struct GgufContents {
  std::uint32_t version = 0;
  Metadata metadata;                // its strings are views into the file's bytes
  std::vector<TensorInfo> tensors;  // in the file's order; offsets count from the file's beginning
};

// Every count, length, dimension, offset and type is checked against the file's size before use; `name` is
// the file in errors. Metadata arrays of arrays and tensor types that kernels::Type lacks are refused
// by name.
Result<GgufContents> read_gguf(std::span<const std::byte> file, const std::filesystem::path& name);

}  // namespace fovea::checkpoint
