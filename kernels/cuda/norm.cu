// rms_norm: one block for each row. Bound by memory for many rows; for one row by latency: a thread has all
// that it reads under way at once, and keeps it in registers, eight columns of it (a row of 4,096). Weights
// are on their way before the kernel waits for its input.
//
// It also quantises what it writes, and goes no further into the products that follow: each of
// their some hundred blocks would have to find the norm of the whole row again, and the sum with the residual
// would need a second buffer. Whether that takes less than this launch is to be measured.
//
// add and soft_cap: 12 or 8 bytes for each element, one element for each thread, which is coalesced; the
// tensors are a few kilobytes, so that what counts is the launch.
#include "kernels/cuda/activations.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned max_threads = 512;
constexpr int max_kept = 8;
constexpr unsigned add_threads = 256;

// A row's sum of squares as what a norm multiplies by. The whole block calls it.
FOVEA_DEVICE float factor_of(float squares, std::int64_t columns, float eps) {
  return inverse_root(sum_of_block(squares) / static_cast<float>(columns) + eps);
}

// Of a residual with a norm of its own, what each column of it is multiplied by but for its weight.
FOVEA_DEVICE float residual_factor(const RmsNorm& op, const float* residual, float (&kept)[max_kept]) {
  const auto column = [](int k) { return thread_index() + std::int64_t{k} * block_threads(); };
  float squares = 0;
  FOVEA_UNROLL for (int k = 0; k < max_kept; ++k) {
    kept[k] = column(k) < op.columns ? residual[column(k)] : 0.0F;
    squares += kept[k] * kept[k];
  }
  for (std::int64_t i = column(max_kept); i < op.columns; i += block_threads())
    squares += residual[i] * residual[i];
  return op.residual_weight ? factor_of(squares, op.columns, op.residual_eps) : 1.0F;
}

FOVEA_KERNEL(max_threads) rms_norm_kernel(RmsNorm op, Quantised quantised, bool prefetches) {
  const std::int64_t start = block_x() * op.columns;
  float* const x = op.x + start;
  const float* const residual = op.residual ? op.residual + start : nullptr;
  const auto column = [](int k) { return thread_index() + std::int64_t{k} * block_threads(); };
  for (std::int64_t i = 32 * std::int64_t{thread_index()}; prefetches && op.weight && i < op.columns;
       i += 32 * std::int64_t{block_threads()})
    prefetch(op.weight + i);
  wait_for_earlier();
  float kept[max_kept];
  float weights[max_kept];
  FOVEA_UNROLL for (int k = 0; k < max_kept; ++k) {
    const bool inside = column(k) < op.columns;
    kept[k] = inside ? x[column(k)] : 0.0F;
    weights[k] = inside && op.weight ? load_constant<float>(op.weight + column(k)) : 0.0F;
  }
  float factor = 1;
  const auto added = [&](std::int64_t i, float value) {
    return op.residual_weight ? value * factor * load_constant<float>(op.residual_weight + i) : value;
  };
  if (residual) {
    float more[max_kept];
    factor = residual_factor(op, residual, more);
    sync_block();  // the next sum goes through the same memory
    FOVEA_UNROLL for (int k = 0; k < max_kept; ++k) {
      if (column(k) < op.columns) kept[k] = op.scale * (kept[k] + added(column(k), more[k]));
    }
  }
  float squares = 0;
  FOVEA_UNROLL for (int k = 0; k < max_kept; ++k) {
    if (residual && column(k) < op.columns) x[column(k)] = kept[k];
    squares += kept[k] * kept[k];
  }
  for (std::int64_t i = column(max_kept); i < op.columns; i += block_threads()) {
    float value = x[i];
    if (residual) x[i] = value = op.scale * (value + added(i, residual[i]));
    squares += value * value;
  }
  if (op.out == nullptr) return;
  factor = factor_of(squares, op.columns, op.eps);
  const auto write = [&](std::int64_t i, float value) {
    op.out[start + i] = value;
    // Quantised rows have whole warps of columns.
    if (quantised.q) store_quantised(value, quantised, start + i);
  };
  FOVEA_UNROLL for (int k = 0; k < max_kept; ++k) {
    if (column(k) < op.columns) write(column(k), kept[k] * factor * weights[k]);
  }
  // Each thread reads what it wrote itself.
  for (std::int64_t i = column(max_kept); i < op.columns; i += block_threads())
    write(i, x[i] * factor * load_constant<float>(op.weight + i));
}

FOVEA_KERNEL(add_threads) add_kernel(float* x, const float* y, std::int64_t count) {
  const std::int64_t i = std::int64_t{block_x()} * add_threads + thread_index();
  if (i < count) x[i] += y[i];
}

// cap · tanh(x / cap) = cap (1 − 2 / (1 + e^(2 x / cap)))
FOVEA_KERNEL(add_threads) soft_cap_kernel(SoftCap op) {
  wait_for_earlier();
  const std::int64_t i = std::int64_t{block_x()} * add_threads + thread_index();
  if (i < op.count) op.x[i] = op.cap * (1.0F - 2.0F / (1.0F + expf(2.0F * op.x[i] / op.cap)));
}

}  // namespace

void rms_norm(const RmsNorm& op, Stream& stream) {
  if (op.rows == 0) return;
  unsigned threads = 32;
  while (threads < max_threads && threads * 4 < op.columns) threads *= 2;
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
