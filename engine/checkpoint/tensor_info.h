// What a file says about one tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/api/types.h"

namespace fovea::checkpoint {

struct TensorInfo {
  std::string name;
  kernels::Type type = kernels::Type::f32;
  std::vector<std::int64_t> shape;  // outermost first, as PyTorch prints it (GGUF stores the reverse)
  std::uint64_t offset = 0;         // in its file
  std::uint64_t bytes = 0;          // of all rows, as the type stores them
  std::uint32_t file = 0;           // index into Checkpoint::files()
  std::int32_t packed = -1;         // the checkpoint's packed layer that its rows are made from; -1: none

  // Whether the file holds the bytes that its type says, so that they can be read in place.
  bool is_mapped() const { return packed < 0; }
  std::int64_t elements() const;  // cannot overflow for a tensor that a reader accepted
};

}  // namespace fovea::checkpoint
