// What a GPU reaches at most, measured: the yardstick of benchmarks.
#pragma once

#include "kernels/api/device.h"

namespace fovea::kernels::cuda {

struct CeilingEffort {
  // At most; more than any cache. Less where memory is short.
  std::int64_t buffer_bytes = std::int64_t{1} << 30;
  std::int64_t min_buffer_bytes = std::int64_t{256} << 20;
  double min_seconds = 0.005;  // of what is timed, so that starting it does not count
  int repetitions = 8;         // of which the best counts
  int nodes = 500;             // of a graph of empty kernels: as many as a pass of a model has
};

DeviceCeiling measure_ceiling(const Device& device, Stream& stream, const CeilingEffort& effort = {});

}  // namespace fovea::kernels::cuda
