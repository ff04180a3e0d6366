// rms_norm where no product does it (norm.h): one block for each row. Bound by memory for many rows. A thread
// keeps eight columns (a row of 4,096). Weights are on their way before the kernel waits for its input.
//
// It goes no further into the products that follow: each of their some hundred blocks would have to find the
// norm of the whole row again, and the sum with the residual would need a second buffer.
//
// add and soft_cap: 12 or 8 bytes for each element, one element for each thread, which is coalesced; the
// tensors are a few kilobytes, so that what counts is the launch.
#include "kernels/cuda/activations.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/norm.h"
#include "kernels/cuda/operations.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned max_threads = 512;
constexpr int max_kept = 8;
constexpr unsigned add_threads = 256;

__global__ void __launch_bounds__(max_threads, 1)
    rms_norm_kernel(RmsNorm op, Quantised quantised, bool prefetches) {
  if (prefetches) prefetch_norm(op);
  wait_for_earlier_kernels();
  norm_row<max_kept>(op, quantised, blockIdx.x);
}

__global__ void __launch_bounds__(add_threads, 1) add_kernel(float* x, const float* y, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * add_threads + threadIdx.x;
  if (i < count) x[i] += y[i];
}

// cap · tanh(x / cap) = cap (1 − 2 / (1 + e^(2 x / cap)))
__global__ void __launch_bounds__(add_threads, 1) soft_cap_kernel(SoftCap op) {
  wait_for_earlier_kernels();
  const std::int64_t i = std::int64_t{blockIdx.x} * add_threads + threadIdx.x;
  if (i < op.count) op.x[i] = op.cap * (1.0F - 2.0F / (1.0F + expf(2.0F * op.x[i] / op.cap)));
}

}  // namespace

void rms_norm(const RmsNorm& op, Stream& stream) {
  if (op.rows == 0) return;
  // Of few rows as where a product does it, so that a layer's input is the same to the bit whoever made it.
  unsigned threads = op.rows <= max_quantised_rows ? behind_threads : 32;
  while (op.rows > max_quantised_rows && threads < max_threads && threads * 4 < op.columns) threads *= 2;
  launch<rms_norm_kernel>({.grid_x = blocks_for(op.rows, 1), .threads = threads, .overlaps = true},
                          on_cuda(stream), op, quantised_arrays(op.quantised, op.rows, op.columns),
                          on_cuda(stream).prefetches());
}

void add(const Add& op, Stream& stream) {
  if (op.count == 0) return;
  launch<add_kernel>({.grid_x = blocks_for(op.count, add_threads), .threads = add_threads}, on_cuda(stream),
                     op.x, op.y, op.count);
}

void soft_cap(const SoftCap& op, Stream& stream) {
  if (op.count == 0) return;
  launch<soft_cap_kernel>(
      {.grid_x = blocks_for(op.count, add_threads), .threads = add_threads, .overlaps = true},
      on_cuda(stream), op);
}

}  // namespace fovea::kernels::cuda
