// Quantises activations (a lane for each of them) or rounds them. Bound by memory; for one token by the
// launch, so that there what writes activations quantises them (norm.cu, attention.cu).
#include "kernels/cuda/activations.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 256;

__global__ void __launch_bounds__(threads, 1)
    quantise_kernel(const float* x, Quantised out, Group group, std::int64_t count) {
  wait_for_earlier_kernels();
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  Floats2 half;
  const int q = quantise_group(i < count ? x[i] : 0.0F, group, half);
  if (i >= count) return;
  out.q[i] = static_cast<std::int8_t>(q);
  if (i % 16 == 0) out.halves[i / 16] = half;
}

__global__ void __launch_bounds__(threads, 1)
    round_kernel(const float* x, Rounded out, std::int64_t rows, std::int64_t columns) {
  const std::int64_t pair = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t row = pair / (out.stride / 2);
  const std::int64_t column = pair % (out.stride / 2) * 2;
  if (row >= rows) return;
  const float* const from = x + row * columns + column;
  out.pairs[pair] = pair_of(column < columns ? from[0] : 0.0F, column + 1 < columns ? from[1] : 0.0F);
}

}  // namespace

Rounded round_rows(const float* x, std::int64_t rows, std::int64_t columns, Scratch& scratch,
                   CudaStream& stream) {
  const std::int64_t stride = rounded_stride(columns);
  const Rounded out = {scratch.take<std::uint32_t>(rows * stride / 2), stride};
  launch<round_kernel>({.grid_x = blocks_for(rows * stride / 2, threads), .threads = threads}, stream, x, out,
                       rows, columns);
  return out;
}

Quantised quantise(const float* x, std::int64_t rows, std::int64_t columns, Group group, Scratch& scratch,
                   CudaStream& stream) {
  const std::int64_t count = rows * columns;
  const Quantised out = {scratch.take<std::int8_t>(count), scratch.take<Floats2>(count / 16), columns};
  quantise(x, rows, group, out, stream);
  return out;
}

void quantise(const float* x, std::int64_t rows, Group group, const Quantised& out, CudaStream& stream) {
  const std::int64_t count = rows * out.columns;
  launch<quantise_kernel>({.grid_x = blocks_for(count, threads), .threads = threads, .overlaps = true},
                          stream, x, out, group, count);
}

Quantised given_or_quantised(const std::byte* quantised, const float* x, std::int64_t rows,
                             std::int64_t columns, Scratch& scratch, CudaStream& stream) {
  const Quantised made = quantised_arrays(quantised, rows, columns);
  return made.q ? made : quantise(x, rows, columns, Group::of_16, scratch, stream);
}

}  // namespace fovea::kernels::cuda
