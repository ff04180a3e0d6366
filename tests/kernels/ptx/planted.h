// Kernels in CUDA, each with one mistake or none, as nvcc compiles them.
#pragma once

#include <cuda_runtime_api.h>
#include <string_view>

namespace fovea::tests::ptx {

struct PlantedLaunch {
  unsigned blocks = 1;
  unsigned threads = 96;  // three warps
  bool overlaps = false;  // may begin before earlier kernels have ended
  unsigned shared_bytes = 0;
};

// `x` and `y` have 1000 numbers each.
cudaError_t start_planted(std::string_view name, const PlantedLaunch& launch, cudaStream_t stream, int* x,
                          int* y);

}  // namespace fovea::tests::ptx
