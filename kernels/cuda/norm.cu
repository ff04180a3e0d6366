// rms_norm: one block for each row. Bound by memory for many rows; for one row by the latency of two passes
// over a few kilobytes that stay in the first-level cache.
//
// It also quantises what it writes (an image), and goes no further into the products that follow: each of
// their some hundred blocks would have to find the norm of the whole row again, for longer than a launch
// takes.
#include "kernels/cuda/activations.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned most_threads = 512;

FOVEA_KERNEL(most_threads) rms_norm_kernel(RmsNorm op, Quantised image) {
  wait_for_earlier();
  const std::int64_t start = block_x() * op.columns;
  float* const x = op.x + start;
  const float* const residual = op.residual ? op.residual + start : nullptr;
  float squares = 0;
  for (std::int64_t i = thread_index(); i < op.columns; i += block_threads()) {
    float value = x[i];
    if (residual) x[i] = value += residual[i];
    squares += value * value;
  }
  const float mean = sum_of_block(squares) / static_cast<float>(op.columns);
  const float factor = inverse_root(mean + op.eps);
  // Each thread reads what it wrote itself.
  for (std::int64_t i = thread_index(); i < op.columns; i += block_threads()) {
    const float value = x[i] * factor * op.weight[i];
    op.out[start + i] = value;
    // An image's columns are whole warps of them.
    if (image.q) store_quantised(value, image, start + i);
  }
}

}  // namespace

void rms_norm(const RmsNorm& op, Stream& stream) {
  if (op.rows == 0) return;
  unsigned threads = 32;
  while (threads < most_threads && threads * 4 < op.columns) threads *= 2;
  launch<rms_norm_kernel>({.grid_x = blocks_for(op.rows, 1), .threads = threads, .overlaps = true},
                          on_cuda(stream), op, image_arrays(op.image, op.rows, op.columns));
}

}  // namespace fovea::kernels::cuda
