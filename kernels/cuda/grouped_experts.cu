// The feed-forward layer of many tokens: tokens are grouped by expert on the device, and each expert's group
// is multiplied with its matrices in tiles (tiles.h), so that an expert's weights are read and decoded once
// for 64 tokens.
//
// Four launches: one block counts and lists (group_kernel); gate and up, the activation and the rounding for
// down (grouped_hidden_kernel); down (grouped_down_kernel); each token adds its experts' shares in their
// order (grouped_join_kernel), no atomics, the same bits each time. How many tiles there are is the device's
// to know: grids are as large as they may have to be, and blocks without a tile end at once.
//
// The products are bound as tiles.h says; with few tokens for each expert by the memory of the weights.
#include "kernels/cuda/dispatch.h"
#include "kernels/cuda/experts.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/tiles.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned group_threads = 1024;
constexpr unsigned join_threads = 256;
constexpr int hidden_rows = tile_size / 2;  // of a block: as many of gate as of up
constexpr int shared_expert = -1;

// Up to 64 tokens of one expert: jobs[first …] of Groups.
struct Tile {
  int expert;
  int first;
  int count;
};

struct Groups {
  int* tile_count = nullptr;  // [1]
  Tile* tiles = nullptr;
  int* jobs = nullptr;  // [tokens · jobs]: token · jobs + job, those of one expert adjacent
  int experts = 0;      // routed
  int tokens = 0;       // of this launch
};

__device__ __forceinline__ int tiles_of(int tokens) {
  return (tokens + tile_size - 1) / tile_size;
}

// One block. The order within a group follows from chance, but no result depends on it.
__global__ void __launch_bounds__(group_threads, 1) group_kernel(Layer layer, Groups groups) {
  int* const counts = dynamic_shared<int>(0);
  int* const next = dynamic_shared<int>((4 * groups.experts + 15) / 16 * 16);
  __shared__ alignas(16) int totals[2];  // jobs, tiles
  const int thread = static_cast<int>(threadIdx.x);
  const int all = groups.tokens * layer.used;
  const std::int32_t* const ids = layer.ids + std::int64_t{layer.first_token} * layer.used;
  for (int e = thread; e < groups.experts; e += static_cast<int>(group_threads)) counts[e] = 0;
  __syncthreads();
  for (int i = thread; i < all; i += static_cast<int>(group_threads)) {
    // An expert without data is another device's.
    if (layer.table[ids[i]].gate.data) atomicAdd(&counts[ids[i]], 1);
  }
  __syncthreads();
  for (int e = thread; e <= groups.experts; e += static_cast<int>(group_threads)) {
    int first = 0;
    int tile = 0;
    for (int before = 0; before < e; ++before) {
      first += counts[before];
      tile += tiles_of(counts[before]);
    }
    if (e == groups.experts) {
      totals[0] = first;
      totals[1] = tile;
      continue;
    }
    next[e] = first;
    const int count = counts[e];
    for (int i = 0; i < count; i += tile_size)
      groups.tiles[tile + i / tile_size] = {e, first + i, count - i < tile_size ? count - i : tile_size};
  }
  __syncthreads();
  for (int i = thread; i < all; i += static_cast<int>(group_threads)) {
    if (!layer.table[ids[i]].gate.data) continue;
    groups.jobs[atomicAdd(&next[ids[i]], 1)] = i / layer.used * layer.jobs + i % layer.used;
  }
  const int routed = totals[0];
  int tiles = totals[1];
  if (layer.jobs > layer.used) {
    for (int t = thread; t < groups.tokens; t += static_cast<int>(group_threads)) {
      groups.jobs[routed + t] = t * layer.jobs + layer.used;
      if (t % tile_size != 0) continue;
      const int left = groups.tokens - t;
      groups.tiles[tiles + t / tile_size] = {shared_expert, routed + t, left < tile_size ? left : tile_size};
    }
    tiles += tiles_of(groups.tokens);
  }
  if (thread == 0) *groups.tile_count = tiles;
}

// This block's.
__device__ __forceinline__ Tile tile_of(const Groups& groups) {
  return groups.tiles[anew(blockIdx.y)];
}
__device__ __forceinline__ std::int64_t first_row_of(int rows) {
  return std::int64_t{anew(blockIdx.x)} * rows;
}
__device__ __forceinline__ Expert expert_of(const Layer& layer, const Tile& tile) {
  return tile.expert == shared_expert ? layer.shared : layer.table[tile.expert];
}

// The hidden values of all jobs, as inputs of their down matrices: rows are jobs.
__device__ __forceinline__ TileInputs hidden_inputs(const Layer& layer, std::int64_t width) {
  const std::int64_t stride = layer.hidden_stride;
  const Quantised first = quantised_hidden(layer.hidden, width);
  return {.floats = layer.hidden,
          .float_stride = stride,
          .pairs = reinterpret_cast<const std::uint32_t*>(layer.hidden),
          .pair_stride = stride,
          .q = first.q,
          .q_stride = 4 * stride,
          .halves = first.halves,
          .half_stride = stride / 2};
}

// A warp's 32 hidden values of one job from row `first` on, one for each lane, in the form that `down` reads.
__device__ __forceinline__ void write_hidden(float* hidden, const Weight& down, std::int64_t at,
                                             float value) {
  if (down.type == Type::bf16) {
    reinterpret_cast<std::uint16_t*>(hidden)[at] = float_to_bfloat16(value);
    return;
  }
  if (!is_quantised(down.type)) {
    hidden[at] = value;
    return;
  }
  const Quantised out = quantised_hidden(hidden, down.columns);
  Floats2 half;
  out.q[at] = static_cast<std::int8_t>(quantise_group(value, Group::of_32, half));
  if (at % 16 == 0) out.halves[at / 16] = half;
}

__global__ void __launch_bounds__(tile_threads, tile_blocks)
    grouped_hidden_kernel(Layer layer, Groups groups, TileInputs x) {
  __shared__ alignas(16) int rows[tile_size];
  __shared__ alignas(16) std::uint32_t memory[tile_words];
  if (static_cast<int>(blockIdx.y) >= *groups.tile_count) return;
  // another expert is wider
  if (first_row_of(hidden_rows) >= expert_of(layer, tile_of(groups)).gate.rows) return;
  const int thread = static_cast<int>(threadIdx.x);
  const int count = groups.tiles[blockIdx.y].count;
  if (thread < tile_size) {
    const int job = thread < count ? groups.jobs[tile_of(groups).first + thread] : -1;
    rows[thread] = job < 0 ? -1 : job / layer.jobs;
  }
  TileSums sums;
  multiply_tile(
      [&] {
        const Expert expert = expert_of(layer, tile_of(groups));
        return TileWeights{expert.gate, expert.up, true, first_row_of(hidden_rows)};
      },
      x, rows, count, memory, sums);
  const Tile tile = tile_of(groups);
  const Expert expert = expert_of(layer, tile);
  const std::int64_t first_row = first_row_of(hidden_rows);
  const std::int64_t width = expert.gate.rows;
  __syncthreads();
  constexpr int stride = hidden_rows + 1;
  const TileWarp warp = tile_warp(tile.count);
  const int warp_row = warp.row / 2;  // of gate's and of up's
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (8 * j >= warp.tokens) break;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const std::int64_t row = first_row + warp_row + sum_row(k);
      const float value = row < width ? activated(expert, row, sums.v[0][j][k], sums.v[1][j][k]) : 0.0F;
      memory[tile_position(warp, 0, j, k).token * stride + warp_row + sum_row(k)] = __float_as_uint(value);
    }
  }
  __syncthreads();
  const int lane = thread % 32;
  for (int i = thread / 32; i < tile.count; i += static_cast<int>(tile_threads / 32)) {
    const std::int64_t job = groups.jobs[tile.first + i];
    write_hidden(layer.hidden + job * layer.hidden_stride, expert.down, first_row + lane,
                 __uint_as_float(memory[i * stride + lane]));
  }
}

// parts [tokens · jobs, d]: down's products, not yet weighted.
__global__ void __launch_bounds__(tile_threads, tile_blocks)
    grouped_down_kernel(Layer layer, Groups groups, float* parts) {
  __shared__ alignas(16) int rows[tile_size];
  __shared__ alignas(16) std::uint32_t memory[tile_words];
  if (static_cast<int>(blockIdx.y) >= *groups.tile_count) return;
  const int thread = static_cast<int>(threadIdx.x);
  const int count = groups.tiles[blockIdx.y].count;
  if (thread < tile_size) rows[thread] = thread < count ? groups.jobs[tile_of(groups).first + thread] : -1;
  TileSums sums;
  multiply_tile(
      [&] { return TileWeights{expert_of(layer, tile_of(groups)).down, {}, false, first_row_of(tile_size)}; },
      hidden_inputs(layer, expert_of(layer, tile_of(groups)).down.columns), rows, count, memory, sums);
  const Tile tile = tile_of(groups);
  const Expert expert = expert_of(layer, tile);
  const std::int64_t first_row = first_row_of(tile_size);
  const Weight down = expert.down;
  const TileWarp warp = tile_warp(tile.count);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (8 * j >= warp.tokens) break;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const TilePosition at = tile_position(warp, i, j, k);
        const std::int64_t row = first_row + at.row;
        if (row >= down.rows || at.token >= tile.count) continue;
        parts[rows[at.token] * layer.d + row] =
            sums.v[i][j][k] + (expert.down_bias ? expert.down_bias[row] : 0.0F);
      }
    }
  }
}

__global__ void __launch_bounds__(join_threads, 1)
    grouped_join_kernel(Layer layer, const float* parts, std::int64_t tokens) {
  const std::int64_t i = std::int64_t{blockIdx.x} * join_threads + threadIdx.x;
  if (i >= tokens * layer.d) return;
  const std::int64_t token = layer.first_token + i / layer.d;
  const float* const part = parts + i / layer.d * layer.jobs * layer.d + i % layer.d;
  float sum = 0;
  for (int job = 0; job < layer.jobs; ++job) {
    if (expert_of(layer, token, job).down.data) sum += share_of(layer, token, job) * part[job * layer.d];
  }
  layer.out[token * layer.d + i % layer.d] = sum;
}

// In which forms the experts read their input, by the host's handles: a pass of so many tokens is not
// recorded, so they are the device's.
struct InputForms {
  bool quantised = false, rounded = false;
};
InputForms input_forms(const FeedForward& op) {
  InputForms forms;
  const auto add = [&](const Expert& expert) {
    for (const Weight* weight : {&expert.gate, &expert.up}) {
      forms.quantised |= weight->data != nullptr && is_quantised(weight->type);
      forms.rounded |= weight->data != nullptr && weight->type == Type::bf16;
    }
  };
  for (const Expert& expert : op.experts) add(expert);
  if (op.shared) add(*op.shared);
  return forms;
}

// The most tiles that so many tokens may make.
std::int64_t max_tiles(const Layer& layer, std::int64_t experts, std::int64_t tokens) {
  const std::int64_t routed = tokens * layer.used;
  const std::int64_t groups = routed < experts ? routed : experts;
  return groups + routed / tile_size + (layer.jobs > layer.used ? quotient_up(tokens, tile_size) : 0);
}

}  // namespace

void feed_forward_in_groups(const FeedForward& op, Layer layer, CudaStream& stream) {
  const auto experts = static_cast<std::int64_t>(op.experts.size());
  const InputForms forms = input_forms(op);
  const std::int64_t routed_width = experts > 0 ? op.experts[0].gate.rows : 0;
  const std::int64_t shared_width = op.shared ? op.shared->gate.rows : 0;
  const std::int64_t width = routed_width > shared_width ? routed_width : shared_width;
  layer.hidden_stride = quotient_up(width, hidden_rows) * hidden_rows;
  const std::int64_t job_bytes = layer.hidden_stride * 4 + op.d * 4 + 4;
  const std::int64_t token_bytes = layer.jobs * (job_bytes + static_cast<std::int64_t>(sizeof(Tile))) +
                                   rounded_stride(op.d) * 2 + op.d * 3 / 2;
  const std::int64_t fixed_bytes = 4096 + (experts + 1) * static_cast<std::int64_t>(sizeof(Tile));
  const std::int64_t at_once = (stream.scratch_bytes() - fixed_bytes) / token_bytes;
  assert(at_once > 0);
  for (std::int64_t first = 0; first < op.tokens; first += at_once) {
    const std::int64_t tokens = op.tokens - first < at_once ? op.tokens - first : at_once;
    const std::int64_t tiles = max_tiles(layer, experts, tokens);
    const float* const x = op.x + first * op.d;
    Scratch scratch(stream);
    layer.first_token = static_cast<int>(first);
    Quantised quantised;
    Rounded rounded;
    if (forms.quantised) quantised = quantise(x, tokens, op.d, Group::of_32, scratch, stream);
    if (forms.rounded) rounded = round_rows(x, tokens, op.d, scratch, stream);
    layer.hidden = scratch.take<float>(tokens * layer.jobs * layer.hidden_stride);
    float* const parts = scratch.take<float>(tokens * layer.jobs * op.d);
    const Groups groups = {.tile_count = scratch.take<int>(1),
                           .tiles = scratch.take<Tile>(tiles),
                           .jobs = scratch.take<int>(tokens * layer.jobs),
                           .experts = static_cast<int>(experts),
                           .tokens = static_cast<int>(tokens)};
    launch<group_kernel>({.threads = group_threads,
                          .shared_bytes = static_cast<unsigned>(2 * quotient_up(4 * experts, 16) * 16)},
                         stream, layer, groups);
    launch<grouped_hidden_kernel>({.grid_x = blocks_for(width, hidden_rows),
                                   .grid_y = static_cast<unsigned>(tiles),
                                   .threads = tile_threads},
                                  stream, layer, groups, tile_inputs(x, op.d, rounded, quantised));
    launch<grouped_down_kernel>({.grid_x = blocks_for(op.d, tile_size),
                                 .grid_y = static_cast<unsigned>(tiles),
                                 .threads = tile_threads},
                                stream, layer, groups, parts);
    launch<grouped_join_kernel>({.grid_x = blocks_for(tokens * op.d, join_threads), .threads = join_threads},
                                stream, layer, static_cast<const float*>(parts), tokens);
  }
}

}  // namespace fovea::kernels::cuda
