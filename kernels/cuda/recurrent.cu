// What mixes positions by a state: the short convolution and the gated delta rule; and the gate of attention.
//
// short_convolution: a thread for each channel, which takes its tokens one after another with the rows before
// in registers; a warp's channels are neighbours.
//
// gated_delta: the columns of a state do not need each other. A warp takes a few of one head's, its lanes
// share the rows and keep them in registers while the tokens pass, so that the state is read and written once
// for all tokens; per token the warp reads q and k once and adds across its lanes twice for each column.
// Norm and gate, which need all columns, follow in a launch of their own.
#include "kernels/cuda/experts.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 256;
constexpr int delta_warps = 4;    // of a block
constexpr int delta_columns = 4;  // of a warp
constexpr int lane_rows = max_delta_dim / 32;

__global__ void __launch_bounds__(threads, 1) gate_kernel(Gating op) {
  wait_for_earlier_kernels();
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= op.rows * op.columns) return;
  const std::int64_t row = i / op.columns;
  const float gate = op.gate[row * op.gate_stride + i % op.columns];
  op.x[i] = op.form == GatingForm::sigmoid ? times_sigmoid(op.x[i], gate) : gelu(op.x[i]) * gate;
}

__global__ void __launch_bounds__(threads, 1) convolution_kernel(ShortConvolution op) {
  const std::int64_t channel = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const int positions = static_cast<int>(op.positions);
  wait_for_earlier_kernels();
  if (channel >= op.channels) return;
  float weights[max_convolution];
  float rows[max_convolution];  // the last of them, the newest behind the others
#pragma unroll
  for (int i = 0; i < max_convolution; ++i) {
    const bool used = i < positions;
    weights[i] = used ? load_constant<float>(op.weight + channel * positions + i) : 0.0F;
    rows[i] = used && i + 1 < positions ? op.state[i * op.channels + channel] : 0.0F;
  }
  for (std::int64_t t = 0; t < op.tokens; ++t) {
    float* const x = op.x + t * op.channels + channel;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < max_convolution; ++i) {
      if (i + 1 == positions) rows[i] = *x;
      sum += weights[i] * rows[i];
    }
    *x = times_sigmoid(sum, sum);
#pragma unroll
    for (int i = 0; i + 1 < max_convolution; ++i) rows[i] = rows[i + 1];
  }
#pragma unroll
  for (int i = 0; i < max_convolution; ++i) {
    if (i + 1 < positions) op.state[i * op.channels + channel] = rows[i];
  }
}

// A lane's rows of a head's q or k, at length 1.
__device__ __forceinline__ void load_unit(const float* head, int dim, int lane, float (&out)[lane_rows]) {
  float squares = 0;
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const int row = lane + 32 * r;
    out[r] = row < dim ? head[row] : 0.0F;
    squares += out[r] * out[r];
  }
  const float factor = rsqrtf(sum_of_lanes(squares) + 1e-6F);
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) out[r] *= factor;
}

// ln(1 + e^x). What rounding takes from 1 + e^x it takes from both sides of the quotient.
__device__ __forceinline__ float softplus(float x) {
  if (x > 20.0F) return x;
  const float added = expf(x);
  const float sum = 1.0F + added;
  return sum == 1.0F ? added : logf(sum) * (added / (sum - 1.0F));
}

__global__ void __launch_bounds__(32 * delta_warps, 1) delta_kernel(GatedDelta op) {
  wait_for_earlier_kernels();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int first = (static_cast<int>(blockIdx.y) * delta_warps + warp) * delta_columns;
  const int keys = static_cast<int>(op.key_dim);
  const int values = static_cast<int>(op.value_dim);
  const std::int64_t head = blockIdx.x;
  if (first >= values) return;
  float* const stored = op.state + head * keys * values;
  float state[lane_rows][delta_columns];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
#pragma unroll
    for (int c = 0; c < delta_columns; ++c) {
      const int row = lane + 32 * r;
      state[r][c] = row < keys && first + c < values ? stored[row * values + first + c] : 0.0F;
    }
  }
  const std::int64_t all_keys = op.key_heads * keys;
  const float scale = rsqrtf(static_cast<float>(keys));
  const std::int64_t key_head = head / op.sharing % op.key_heads;
  const std::int64_t ab_column = head + head / op.ab_group * op.ab_group;
  const float rate = op.rate[head];
  const float step_bias = op.step_bias[head];
  for (std::int64_t t = 0; t < op.tokens; ++t) {
    const float* const row = op.qkv + t * (2 * all_keys + op.value_heads * values);
    float q[lane_rows];
    float k[lane_rows];
    load_unit(row + key_head * keys, keys, lane, q);
    load_unit(row + all_keys + key_head * keys, keys, lane, k);
    const float* const v = row + 2 * all_keys + head * values;
    const std::int64_t ab = t * op.ab_stride + ab_column;
    const float decay = expf(rate * softplus(op.a[ab] + step_bias));
    const float beta = 1.0F / (1.0F + expf(-op.b[ab]));
#pragma unroll
    for (int c = 0; c < delta_columns; ++c) {
      const bool there = first + c < values;
      float recalled = 0;
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        state[r][c] *= decay;
        recalled += state[r][c] * k[r];
      }
      const float change = beta * ((there ? v[first + c] : 0.0F) - sum_of_lanes(recalled));
      float sum = 0;
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        state[r][c] += k[r] * change;
        sum += state[r][c] * q[r];
      }
      sum = sum_of_lanes(sum);
      if (there && lane == 0) op.out[(t * op.value_heads + head) * values + first + c] = sum * scale;
    }
  }
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
#pragma unroll
    for (int c = 0; c < delta_columns; ++c) {
      const int row = lane + 32 * r;
      if (row < keys && first + c < values) stored[row * values + first + c] = state[r][c];
    }
  }
}

// A warp for each head of each token.
__global__ void __launch_bounds__(threads, 1) gated_norm_kernel(GatedDelta op) {
  wait_for_earlier_kernels();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t row = std::int64_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32;
  if (row >= op.tokens * op.value_heads) return;
  const int values = static_cast<int>(op.value_dim);
  float* const out = op.out + row * values;
  const float* const z = op.z + row * values;
  float x[lane_rows];
  float squares = 0;
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    x[r] = lane + 32 * r < values ? out[lane + 32 * r] : 0.0F;
    squares += x[r] * x[r];
  }
  const float factor = rsqrtf(sum_of_lanes(squares) / static_cast<float>(values) + op.eps);
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const int i = lane + 32 * r;
    if (i < values) out[i] = x[r] * factor * load_constant<float>(op.norm + i) * times_sigmoid(z[i], z[i]);
  }
}

}  // namespace

void gating(const Gating& op, Stream& stream) {
  if (op.rows == 0) return;
  launch<gate_kernel>(
      {.grid_x = blocks_for(op.rows * op.columns, threads), .threads = threads, .overlaps = true},
      on_cuda(stream), op);
}

void short_convolution(const ShortConvolution& op, Stream& stream) {
  assert(op.positions >= 1 && op.positions <= max_convolution);
  if (op.tokens == 0) return;
  launch<convolution_kernel>(
      {.grid_x = blocks_for(op.channels, threads), .threads = threads, .overlaps = true}, on_cuda(stream),
      op);
}

void gated_delta(const GatedDelta& op, Stream& stream) {
  assert(op.key_dim <= max_delta_dim && op.value_dim <= max_delta_dim);
  if (op.tokens == 0) return;
  launch<delta_kernel>({.grid_x = static_cast<unsigned>(op.value_heads),
                        .grid_y = blocks_for(op.value_dim, delta_warps * delta_columns),
                        .threads = 32 * delta_warps,
                        .overlaps = true},
                       on_cuda(stream), op);
  launch<gated_norm_kernel>(
      {.grid_x = blocks_for(op.tokens * op.value_heads, threads / 32), .threads = threads, .overlaps = true},
      on_cuda(stream), op);
}

}  // namespace fovea::kernels::cuda
