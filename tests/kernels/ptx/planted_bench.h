// The device that executes PTX, for kernels of planted.h.
#pragma once

#include <cuda_runtime_api.h>
#include <string>
#include <vector>

#include "tests/support/test.h"

#include "planted.h"
#include "runtime.h"

namespace fovea::tests::ptx {

constexpr std::size_t count = 1000;
constexpr std::size_t bytes = count * sizeof(int);
using Numbers = std::vector<int>;

// A stream, and two arrays of numbers on the device.
struct PlantedBench {
  explicit PlantedBench(unsigned random = seed(), bool watches = true) {
    fault();
    use_seed(random);
    watch(watches);
    cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0);
    cudaMalloc(reinterpret_cast<void**>(&x), bytes);
    cudaMalloc(reinterpret_cast<void**>(&y), bytes);
  }
  ~PlantedBench() {
    finish();
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFree(y);
    fault();
    cudaGetLastError();
  }
  PlantedBench(const PlantedBench&) = delete;
  PlantedBench& operator=(const PlantedBench&) = delete;

  void finish() const {
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
  }
  void set(const Numbers& values) const {
    cudaMemcpyAsync(x, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice, stream);
    finish();
  }
  Numbers read(const int* from) const {
    Numbers values(count);
    cudaMemcpyAsync(values.data(), from, bytes, cudaMemcpyDeviceToHost, stream);
    finish();
    return values;
  }
  std::string run(const std::string& kernel, const PlantedLaunch& launch = {}) const {
    if (start_planted(kernel, launch, stream, x, y) == cudaErrorInvalidDeviceFunction)
      return "no such kernel";
    finish();
    return fault();
  }

  cudaStream_t stream = nullptr;
  int *x = nullptr, *y = nullptr;
};

}  // namespace fovea::tests::ptx
