// 8 and 16 bytes as kernels load them at once.
#pragma once

#include <cstdint>

namespace fovea::kernels::cuda {

struct alignas(8) Words2 {
  std::uint32_t v[2];
};
struct alignas(16) Words4 {
  std::uint32_t v[4];
};
struct alignas(8) Floats2 {
  float v[2];
};
struct alignas(16) Floats4 {
  float v[4];
};

}  // namespace fovea::kernels::cuda
