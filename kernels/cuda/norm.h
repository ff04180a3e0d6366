// What rms_norm makes of a row, by a whole block: the row's own (norm.cu), or of a product whose output is
// added, the block of it that ends last. Bound by latency: a thread has all that it reads under way at once,
// and keeps it in registers.
#pragma once

#include <cstdint>

#include "kernels/cuda/activations.h"
#include "kernels/cuda/device_code.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/stream.h"

namespace fovea::kernels::cuda {

// Of a block of the feed-forward's, which ends a layer and norms what the next one begins with.
constexpr unsigned behind_threads = 256;

// Behind a product: what its blocks do when they have written theirs. Empty: nothing.
struct NormBehind {
  RmsNorm op;
  Quantised quantised;
  int* arrived = nullptr;  // of each row, how many of the blocks have ended that write it; zeros in between
  bool prefetches = false;
};

// A row's sum of squares as what a norm multiplies by. The whole block calls it.
__device__ __forceinline__ float norm_factor(float squares, std::int64_t columns, float eps) {
  return rsqrtf(sum_of_block(squares) / static_cast<float>(columns) + eps);
}

__device__ __forceinline__ void prefetch_norm(const RmsNorm& op) {
  for (std::int64_t i = 32 * std::int64_t{threadIdx.x}; op.weight && i < op.columns;
       i += 32 * std::int64_t{blockDim.x})
    prefetch(op.weight + i);
}

// Before the kernel waits for its input.
__device__ __forceinline__ void begin_norm(const NormBehind& behind) {
  if (behind.prefetches && blockIdx.x == 0 && blockIdx.y == 0) prefetch_norm(behind.op);
}

// A thread keeps `most` columns; those of longer rows are read again. The residual may be of other blocks of
// this launch. The whole block calls it, and between two calls there is a __syncthreads().
template <int most>
__device__ __forceinline__ void norm_row(const RmsNorm& op, const Quantised& quantised, std::int64_t row) {
  const std::int64_t start = row * op.columns;
  float* const x = op.x + start;
  const float* const residual = op.residual ? op.residual + start : nullptr;
  const auto column = [](int k) { return threadIdx.x + std::int64_t{k} * blockDim.x; };
  float kept[most];
#pragma unroll
  for (int k = 0; k < most; ++k) kept[k] = column(k) < op.columns ? x[column(k)] : 0.0F;
  if (residual) {
    float more[most];
#pragma unroll
    for (int k = 0; k < most; ++k) more[k] = column(k) < op.columns ? load_fresh(residual + column(k)) : 0.0F;
    float factor = 1;
    if (op.residual_weight) {
      float squares = 0;
#pragma unroll
      for (int k = 0; k < most; ++k) squares += more[k] * more[k];
      for (std::int64_t i = column(most); i < op.columns; i += blockDim.x) {
        const float value = load_fresh(residual + i);
        squares += value * value;
      }
      factor = norm_factor(squares, op.columns, op.residual_eps);
      __syncthreads();  // the next sum goes through the same memory
    }
    const auto added = [&](std::int64_t i, float value) {
      return op.residual_weight ? value * factor * load_constant<float>(op.residual_weight + i) : value;
    };
#pragma unroll
    for (int k = 0; k < most; ++k) {
      if (column(k) < op.columns) x[column(k)] = kept[k] = op.scale * (kept[k] + added(column(k), more[k]));
    }
    for (std::int64_t i = column(most); i < op.columns; i += blockDim.x)
      x[i] = op.scale * (x[i] + added(i, load_fresh(residual + i)));
  }
  if (op.out == nullptr) return;
  // On their way while the block adds up.
  float weights[most];
  float squares = 0;
#pragma unroll
  for (int k = 0; k < most; ++k) {
    weights[k] = column(k) < op.columns ? load_constant<float>(op.weight + column(k)) : 0.0F;
    squares += kept[k] * kept[k];
  }
  // Each thread reads what it wrote itself.
  for (std::int64_t i = column(most); i < op.columns; i += blockDim.x) squares += x[i] * x[i];
  const float factor = norm_factor(squares, op.columns, op.eps);
  const auto write = [&](std::int64_t i, float value) {
    op.out[start + i] = value;
    // Quantised rows have whole warps of columns.
    if (quantised.q) store_quantised(value, quantised, start + i);
  };
#pragma unroll
  for (int k = 0; k < most; ++k) {
    if (column(k) < op.columns) write(column(k), kept[k] * factor * weights[k]);
  }
  for (std::int64_t i = column(most); i < op.columns; i += blockDim.x)
    write(i, x[i] * factor * load_constant<float>(op.weight + i));
}

// The last thing that a block does which has written its part of rows [first_row, first_row + rows), beside
// gridDim.x − 1 others: the last of them goes on with the norm. The whole block calls it.
template <int most>
__device__ __forceinline__ void norm_if_last(const NormBehind& behind, std::int64_t first_row,
                                             std::int64_t rows) {
  if (!behind.arrived) return;
  __shared__ int is_last;
  int* const arrived = behind.arrived + first_row;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(arrived, 1) + 1 == static_cast<int>(gridDim.x) ? 1 : 0;
  __syncthreads();
  if (is_last == 0) return;
  __threadfence();
#pragma unroll 1
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    norm_row<most>(behind.op, behind.quantised, row);
    __syncthreads();
  }
  if (threadIdx.x == 0) *arrived = 0;
}

// Whether a product of so many rows leaves the norm to its last blocks; if not, it is to be started behind.
inline NormBehind norm_behind(const RmsNorm& then, CudaStream& stream) {
  static_assert(max_quantised_rows <= counter_count);
  if (!then || then.rows > max_quantised_rows) return {};
  return {.op = then,
          .quantised = quantised_arrays(then.quantised, then.rows, then.columns),
          .arrived = stream.counters(),
          .prefetches = stream.prefetches()};
}

}  // namespace fovea::kernels::cuda
