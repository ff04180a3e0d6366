// feed_forward, and of few tokens its form in two launches for all chosen experts, whatever their types:
// which expert, where it lies and in which type is read on the device, from the table of handles.
//
// A block of the first kernel computes 16 rows of gate and up of one expert for one token, and then perhaps
// more, and leaves activation(gate, up), quantised for the second, which adds up one token's experts row by
// row in their order: no atomics, the same bits each time, and of few tokens ends with the norm behind it
// (norm.h). Both are bound by the memory that the weights lie in. Branches on the type are the same for all
// threads of a warp.
#include "kernels/cuda/dispatch.h"
#include "kernels/cuda/experts.h"
#include "kernels/cuda/norm.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/row_product.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = behind_threads;
// Blocks on a multiprocessor. One more of the first kernel's takes 2 % more instructions, and no usual layer
// fewer waves.
constexpr int hidden_resident = 3;
constexpr int output_resident = 4;
constexpr int hidden_rows = 16;  // of a block of the first kernel at once
constexpr int hidden_lanes = threads / hidden_rows;
constexpr int jobs_at_once = threads / 32;  // warps of the second kernel, each with an expert
constexpr int normed_columns = 8;           // that a thread of it keeps of a row

// Quantised where the down matrix reads it so. The block's first warp calls it, for values that are `mine`.
__device__ __forceinline__ void write_hidden(const Expert& expert, float* hidden, std::int64_t at,
                                             float value, bool mine) {
  if (!is_quantised(expert.down.type)) {
    if (mine) hidden[at] = value;
    return;
  }
  const Quantised out = quantised_hidden(hidden, expert.gate.rows);
  Floats2 half;
  const int q = quantise_group(value, Group::of_16, half);
  if (!mine) return;
  out.q[at] = static_cast<std::int8_t>(q);
  if (threadIdx.x == 0) out.halves[at / 16] = half;
}

__global__ void __launch_bounds__(threads, hidden_resident) hidden_kernel(Layer layer, Quantised quantised) {
  wait_for_earlier_kernels();
  __shared__ alignas(16) float values[hidden_rows];
  const int job = static_cast<int>(blockIdx.y);
  const std::int64_t token = layer.first_token + std::int64_t{blockIdx.z};
  const Expert expert = expert_of(layer, token, job);
  if (expert.gate.data == nullptr) return;  // another device's
  const std::int64_t width = expert.gate.rows;
  const int lane = static_cast<int>(threadIdx.x) % hidden_lanes;
  const float* const x = layer.x + token * layer.d;
  float* const hidden = hidden_of(layer, blockIdx.z, job);
  // Another job may be wider.
#pragma unroll 1
  for (std::int64_t first_row = std::int64_t{blockIdx.x} * hidden_rows; first_row < width;
       first_row += std::int64_t{gridDim.x} * hidden_rows) {
    const std::int64_t row = first_row + threadIdx.x / hidden_lanes;
    float gate = 0;
    float up = 0;
    if (row < width) {
      // One copy of all types' code, and half the time to compile it.
      Weight weight = expert.gate;
#pragma unroll 1
      for (int part = 0; part < 2; ++part) {
        gate = up;
        up = row_product<1>(weight, row, x, quantised, blockIdx.z, lane, hidden_lanes);
        weight = expert.up;
      }
    }
    gate = sum_of_lanes(gate, hidden_lanes);
    up = sum_of_lanes(up, hidden_lanes);
    if (lane == 0) values[row - first_row] = row < width ? activated(expert, row, gate, up) : 0.0F;
    __syncthreads();
    if (threadIdx.x < 32) {
      const std::int64_t at = first_row + threadIdx.x;
      const bool there = threadIdx.x < hidden_rows;
      write_hidden(expert, hidden, at, there ? static_cast<float>(values[threadIdx.x]) : 0.0F,
                   there && at < width);
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads, output_resident)
    output_kernel(Layer layer, unsigned lanes, NormBehind then) {
  begin_norm(then);
  wait_for_earlier_kernels();
  __shared__ alignas(16) float parts[jobs_at_once * 4];
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int warp_rows = static_cast<int>(32 / lanes);
  const int row_in_block = static_cast<int>(threadIdx.x % 32 / lanes);
  const int lane = static_cast<int>(threadIdx.x % lanes);
  const std::int64_t token = layer.first_token + std::int64_t{blockIdx.y};
#pragma unroll 1
  for (std::int64_t first_row = std::int64_t{blockIdx.x} * warp_rows; first_row < layer.d;
       first_row += std::int64_t{gridDim.x} * warp_rows) {
    const std::int64_t row = first_row + row_in_block;
    float sum = 0;
    for (int job = warp; job < layer.jobs && row < layer.d; job += jobs_at_once) {
      const Expert expert = expert_of(layer, token, job);
      if (expert.down.data == nullptr) continue;
      float* const hidden = hidden_of(layer, blockIdx.y, job);
      if (lane == 0 && expert.down_bias) sum += share_of(layer, token, job) * expert.down_bias[row];
      sum += share_of(layer, token, job) * row_product<1>(expert.down, row, hidden,
                                                          quantised_hidden(hidden, expert.down.columns), 0,
                                                          lane, static_cast<int>(lanes));
    }
    sum = sum_of_lanes(sum, lanes);
    if (lane == 0) parts[warp * 4 + row_in_block] = sum;
    __syncthreads();
    const std::int64_t out_row = first_row + threadIdx.x;
    if (threadIdx.x < static_cast<unsigned>(warp_rows) && out_row < layer.d) {
      float all = 0;
      for (int w = 0; w < jobs_at_once; ++w) all += parts[w * 4 + static_cast<int>(threadIdx.x)];
      layer.out[token * layer.d + out_row] = all;
    }
    __syncthreads();
  }
  norm_if_last<normed_columns>(then, token, 1);
}

bool any_quantised(const Expert& expert) {
  return is_quantised(expert.gate.type) || is_quantised(expert.up.type);
}

// Blocks for so many pieces of work, each `times`. They have several pieces one after the other where they
// would not be on the device at once: what a wave behind the first one finds is an empty card, and each of
// its blocks begins by asking where its expert lies. Of many waves the last is a small share.
unsigned blocks_at_once(std::int64_t pieces, std::int64_t times, std::int64_t resident,
                        const CudaStream& stream) {
  constexpr std::int64_t most = 16;
  std::int64_t each = 1;
  while (each < most && quotient_up(pieces, each) * times > resident * stream.multiprocessors()) ++each;
  return blocks_for(pieces, each);
}

std::int64_t larger(std::int64_t a, std::int64_t b) {
  return a > b ? a : b;
}

// Where tokens, gathered by expert, fill enough of a tile: where on average two share an expert, of the dense
// layer as in `linear`. Below, an expert is read for each of its tokens, out of the cache after the first.
bool fills_tiles(const FeedForward& op) {
  return op.tokens >= fewest_in_tiles &&
         op.tokens * op.used >= 2 * static_cast<std::int64_t>(op.experts.size());
}

void feed_forward_one_by_one(const FeedForward& op, Layer layer, const NormBehind& then, CudaStream& cuda) {
  // The types are the device's to know: quantised activations are made wherever there could be use for them.
  const std::int64_t routed_width = op.used > 0 ? op.experts[0].gate.rows : 0;
  const std::int64_t width = larger(routed_width, op.shared ? op.shared->gate.rows : 0);
  const bool quantised = op.d % 32 == 0 && (op.used > 0 || any_quantised(*op.shared));
  layer.hidden_stride = quotient_up(width, 32) * 32;
  const unsigned lanes = width >= 64 * 32 ? 32 : width >= 32 * 32 ? 16 : 8;
  const std::int64_t token_bytes = (quantised ? op.d * 3 / 2 : 0) + layer.jobs * layer.hidden_stride * 4;
  std::int64_t at_once = (cuda.scratch_bytes() - 1024) / token_bytes;
  assert(at_once > 0);
  at_once = at_once < 65535 ? at_once : 65535;
  for (std::int64_t first = 0; first < op.tokens; first += at_once) {
    const std::int64_t tokens = op.tokens - first < at_once ? op.tokens - first : at_once;
    Scratch scratch(cuda);
    Quantised x;
    layer.first_token = static_cast<int>(first);
    // They are of all tokens: they are few, and come at once.
    if (quantised) {
      x = given_or_quantised(tokens == op.tokens ? op.quantised : nullptr, op.x + first * op.d, tokens, op.d,
                             scratch, cuda);
    }
    layer.hidden = scratch.take<float>(tokens * layer.jobs * layer.hidden_stride);
    launch<hidden_kernel>({.grid_x = blocks_at_once(quotient_up(width, hidden_rows), layer.jobs * tokens,
                                                    hidden_resident, cuda),
                           .grid_y = static_cast<unsigned>(layer.jobs),
                           .grid_z = static_cast<unsigned>(tokens),
                           .threads = threads,
                           .overlaps = true},
                          cuda, layer, x);
    launch<output_kernel>(
        {.grid_x = blocks_at_once(quotient_up(op.d, 32 / lanes), tokens, output_resident, cuda),
         .grid_y = static_cast<unsigned>(tokens),
         .threads = threads,
         .overlaps = true},
        cuda, layer, lanes, then);
  }
}

}  // namespace

void feed_forward(const FeedForward& op, Stream& stream) {
  assert(op.used == 0 || op.table);
  assert(!op.then || op.then.rows == op.tokens);
  if (op.tokens == 0) return;
  const Layer layer = {.x = op.x,
                       .table = op.table,
                       .ids = op.ids,
                       .weights = op.weights,
                       .shared = op.shared ? *op.shared : Expert{},
                       .shared_weights = op.shared_weights,
                       .d = op.d,
                       .used = static_cast<int>(op.used),
                       .jobs = static_cast<int>(op.used) + (op.shared ? 1 : 0),
                       .out = op.out};
  NormBehind then;
  if (fills_tiles(op)) {
    feed_forward_in_groups(op, layer, on_cuda(stream));
  } else {
    then = norm_behind(op.then, on_cuda(stream));
    feed_forward_one_by_one(op, layer, then, on_cuda(stream));
  }
  if (op.then && !then.arrived) rms_norm(op.then, stream);
}

}  // namespace fovea::kernels::cuda
