// add. Bound by memory: 12 bytes for each element, one element for each thread, which is coalesced; the
// tensors are a few kilobytes, so that what counts is the launch.
#include "kernels/cuda/grid.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/platform.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 256;

FOVEA_KERNEL(threads) add_kernel(float* x, const float* y, std::int64_t count) {
  const std::int64_t i = std::int64_t{block_x()} * threads + thread_index();
  if (i < count) x[i] += y[i];
}

}  // namespace

void add(const Add& op, Stream& stream) {
  if (op.count == 0) return;
  launch<add_kernel>({.grid_x = blocks_for(op.count, threads), .threads = threads}, on_cuda(stream), op.x,
                     op.y, op.count);
}

}  // namespace fovea::kernels::cuda
