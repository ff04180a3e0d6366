// Packing::tiles of CUDA devices (fields.h) from the file's order. Host code.
#pragma once

#include "kernels/api/operations.h"

namespace fovea::kernels::cuda {

// Tiles for quantised types; plain floats have nothing to part.
Packing preferred_packing(Type);

// Device::pack and Device::pack_granularity. Packed matrices take as many bytes as the file's.
void pack(Packing, Type, std::int64_t rows, std::int64_t columns, const std::byte* source, std::int64_t first,
          std::int64_t count, std::byte* packed);
std::int64_t pack_granularity(Packing);

}  // namespace fovea::kernels::cuda
