// linear. From nine tokens on in tiles (tiles.h), or BF16 by cuBLAS where the stream has it. For fewer a
// matrix is read once for up to four tokens, its rows shared out to 8 … 128 lanes each:
//
// Bound by the memory that the weights lie in. Each lane reads 16 bytes of codes at once and the lanes of a
// row adjacent ones (Packing::tiles), so that a load of the warp is 4 to 16 whole cache lines, which come
// from the second-level cache (prefetch.h); activations come from the first-level cache. How many lanes a row
// has follows from the number of rows, so that the loads under way fill the device: with few rows the columns
// are divided further, among the warps of a block. Adjacent matrices of one type share a launch, and fill the
// device together. Where the output is added and normed, the block that ends last does it (norm.h).
#include <algorithm>

#include "kernels/cuda/activations.h"
#include "kernels/cuda/dispatch.h"
#include "kernels/cuda/norm.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/plain.h"
#include "kernels/cuda/prefetch.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/tiles.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr unsigned warps = threads / 32;
constexpr int normed_columns = 16;  // that a thread keeps of a row
// Blocks on a multiprocessor.
template <int tokens>
constexpr int resident = tokens == 1 ? 8 : 4;

struct Product {
  Weight weight;
  const float* bias = nullptr;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  unsigned first_block = 0;  // of its rows, in a launch of several
  const float* x = nullptr;  // [tokens, columns]
  Quantised quantised;       // the same, for quantised weights
  std::int64_t tokens = 0;
  int lanes = 32;              // of a row: 8, 16, 32 or all of the block
  std::int64_t first_row = 0;  // behind those of the launch's other matrices
};

// Matrices of one type and packing that multiply one input, as queries', keys' and values' do: one launch.
constexpr int max_products = 3;
struct Products {
  Product each[max_products];
  int count = 0;
  bool prefetches = false;
  // Tiles of few rows, as a router's: the columns are divided among so many blocks, whose products are added
  // up behind them, always in the same order. [splits, tokens, rows of all]
  int splits = 1;
  float* parts = nullptr;
  std::int64_t rows = 0;
  NormBehind then;  // of few tokens
};

// This block's. What all have in common is the first one's.
__device__ __forceinline__ Product product_of(const Products& all, unsigned block) {
  Product p = all.each[0];
#pragma unroll
  for (int i = 1; i < max_products; ++i) {
    const Product& other = all.each[i];
    if (i >= all.count || block < other.first_block) break;
    p.weight.data = other.weight.data;
    p.weight.rows = other.weight.rows;
    p.bias = other.bias;
    p.out = other.out;
    p.out_stride = other.out_stride;
    p.first_block = other.first_block;
    p.first_row = other.first_row;
  }
  return p;
}

struct Position {
  std::int64_t row;  // may be past the end
  int lane;
};

__device__ __forceinline__ Position position_of(const Product& p) {
  const unsigned lanes = static_cast<unsigned>(p.lanes);
  return {std::int64_t{blockIdx.x - p.first_block} * (threads / lanes) + threadIdx.x / lanes,
          static_cast<int>(threadIdx.x % lanes)};
}

// The rows of x that this block multiplies; after the last token, that token again.
template <int tokens>
__device__ __forceinline__ void choose_tokens(const Product& p, std::int64_t (&rows)[tokens]) {
#pragma unroll
  for (int t = 0; t < tokens; ++t) {
    const std::int64_t row = std::int64_t{blockIdx.y} * tokens + t;
    rows[t] = row < p.tokens ? row : p.tokens - 1;
  }
}

// Adds up the lanes' shares, writes a row's results, and does what comes behind all of them.
template <int tokens>
__device__ __forceinline__ void finish(const Product& p, const Position& position, float (&sums)[tokens],
                                       const NormBehind& then) {
  const bool whole_block = p.lanes > 32;
#pragma unroll
  for (int t = 0; t < tokens; ++t)
    sums[t] = sum_of_lanes(sums[t], whole_block ? 32 : static_cast<unsigned>(p.lanes));
  if (whole_block) {
    __shared__ alignas(16) float parts[warps * tokens];
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int t = 0; t < tokens; ++t) parts[threadIdx.x / 32 * tokens + t] = sums[t];
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < tokens; ++t) {
      sums[t] = 0;
      for (unsigned w = 0; w < warps; ++w) sums[t] += parts[w * tokens + t];
    }
  }
  const std::int64_t first = std::int64_t{blockIdx.y} * tokens;
  if (position.lane == 0 && position.row < p.weight.rows) {
    const float bias = p.bias ? p.bias[position.row] : 0.0F;
#pragma unroll
    for (int t = 0; t < tokens; ++t) {
      if (first + t < p.tokens) p.out[(first + t) * p.out_stride + position.row] = sums[t] + bias;
    }
  }
  const std::int64_t left = p.tokens - first;
  norm_if_last<normed_columns>(then, first, left < tokens ? left : tokens);
}

// What the kernels for few tokens begin with: weights are on their way before the block waits for its input.
template <int tokens>
struct Share {
  Product p;
  Position position;
  std::int64_t rows[tokens];  // of x
};
template <Type type, int tokens>
__device__ __forceinline__ Share<tokens> begin_block(const Products& all) {
  Share<tokens> share{product_of(all, blockIdx.x), {}, {}};
  share.position = position_of(share.p);
  const int block_rows = static_cast<int>(threads) / share.p.lanes;
  if (all.prefetches) {
    prefetch_rows<type>(share.p.weight, std::int64_t{blockIdx.x - share.p.first_block} * block_rows,
                        block_rows, static_cast<int>(threadIdx.x), threads);
  }
  begin_norm(all.then);
  wait_for_earlier_kernels();
  choose_tokens(share.p, share.rows);
  return share;
}

template <Type type, bool packed, int tokens>
__global__ void __launch_bounds__(threads, resident<tokens>) multiply_kernel(Products all) {
  const auto [p, position, rows] = begin_block<type, tokens>(all);
  float sums[tokens] = {};
  if (position.row < p.weight.rows)
    add_products(Row<type, packed>(p.weight, position.row), p.quantised, rows, position.lane, p.lanes, sums);
  finish(p, position, sums, all.then);
}

template <Type type, int tokens>
__global__ void __launch_bounds__(threads, resident<tokens>) multiply_plain_kernel(Products all) {
  const auto [p, position, rows] = begin_block<type, tokens>(all);
  float sums[tokens] = {};
  const float* x[tokens];
#pragma unroll
  for (int t = 0; t < tokens; ++t) x[t] = p.x + rows[t] * p.weight.columns;
  if (position.row < p.weight.rows) {
    add_plain_products<type, tokens == 1 ? 4 : 2>(
        p.weight.data + position.row * p.weight.columns * plain_bytes<type>, p.weight.columns, x,
        position.lane, p.lanes, sums);
  }
  finish(p, position, sums, all.then);
}

__device__ __forceinline__ std::int64_t columns_of_split(std::int64_t columns, int splits) {
  const std::int64_t units = (columns + column_unit - 1) / column_unit;
  return (units + splits - 1) / splits * column_unit;
}

// What a block for 64 rows, 64 tokens and a part of the columns multiplies.
struct TileOfProduct {
  Product p;
  std::int64_t first_row;
  std::int64_t first_token;
  int tokens;
};
__device__ __forceinline__ TileOfProduct tile_of_product(const Products& all) {
  const unsigned block = anew(blockIdx.x);
  const Product p = product_of(all, block);
  const std::int64_t first_token = std::int64_t{anew(blockIdx.y)} * tile_size;
  const std::int64_t left = p.tokens - first_token;
  return {p, std::int64_t{block - p.first_block} * tile_size, first_token,
          left < tile_size ? static_cast<int>(left) : tile_size};
}
__device__ __forceinline__ TileWeights weights_of_tile(const Products& all) {
  const TileOfProduct tile = tile_of_product(all);
  const std::int64_t all_columns = tile.p.weight.columns;
  const std::int64_t columns = columns_of_split(all_columns, all.splits);
  const std::int64_t first = blockIdx.z * columns;
  return {.first = tile.p.weight,
          .second = {},
          .first_row = tile.first_row,
          .first_column = first,
          .end_column = first + columns < all_columns ? first + columns : all_columns};
}

// Many tokens.
__global__ void __launch_bounds__(tile_threads, tile_blocks)
    multiply_tiles_kernel(Products all, TileInputs x) {
  __shared__ alignas(16) int rows[tile_size];
  __shared__ alignas(16) std::uint32_t memory[tile_words];
  int tokens;
  {
    const TileOfProduct tile = tile_of_product(all);
    tokens = tile.tokens;
    if (threadIdx.x < tile_size) {
      const int token = static_cast<int>(threadIdx.x);
      rows[token] = token < tokens ? static_cast<int>(tile.first_token) + token : -1;
    }
  }
  TileSums sums;
  multiply_tile([&] { return weights_of_tile(all); }, x, rows, tokens, memory, sums);
  const TileOfProduct tile = tile_of_product(all);
  const Product& p = tile.p;
  float* const out = all.parts ? all.parts + blockIdx.z * p.tokens * all.rows + p.first_row : p.out;
  const std::int64_t stride = all.parts ? all.rows : p.out_stride;
  const float* const bias = all.parts ? nullptr : p.bias;
  const TileWarp warp = tile_warp(tile.tokens);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (8 * j >= warp.tokens) break;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const TilePosition at = tile_position(warp, i, j, k);
        const std::int64_t row = tile.first_row + at.row;
        if (row < p.weight.rows && at.token < tile.tokens)
          out[(tile.first_token + at.token) * stride + row] = sums.v[i][j][k] + (bias ? bias[row] : 0.0F);
      }
    }
  }
}

__global__ void __launch_bounds__(threads, 1) add_parts_kernel(Products all) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t count = all.each[0].tokens * all.rows;
  if (i >= count) return;
  float sum = 0;
  for (int split = 0; split < all.splits; ++split) sum += all.parts[split * count + i];
  Product p = all.each[0];
#pragma unroll
  for (int k = 1; k < max_products; ++k) {
    if (k < all.count && i % all.rows >= all.each[k].first_row) p = all.each[k];
  }
  const std::int64_t row = i % all.rows - p.first_row;
  p.out[i / all.rows * p.out_stride + row] = sum + (p.bias ? p.bias[row] : 0.0F);
}

// Behind a library's product: out [tokens, out_stride] += bias [rows]
__global__ void __launch_bounds__(threads, 1)
    add_bias_kernel(float* out, std::int64_t out_stride, const float* bias, std::int64_t rows,
                    std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < count) out[i / rows * out_stride + i % rows] += bias[i % rows];
}

// As many lanes as the device has at once, to keep its loads under way, but at least one unit of 32 weights
// for each. With more, the last blocks would find an empty device.
int lanes_for(std::int64_t rows, std::int64_t columns, const CudaStream& stream) {
  const std::int64_t at_once = std::int64_t{resident<1>} * threads * stream.multiprocessors();
  const std::int64_t units = quotient_up(columns, 32);
  std::int64_t lanes = 8;
  while (lanes < 32 && lanes * 2 <= units && rows * lanes * 2 <= at_once) lanes *= 2;
  if (lanes == 32 && rows * 64 <= at_once && units >= 2 * threads) lanes = threads;
  return static_cast<int>(lanes);
}

// One block for so many rows of a matrix: shares the launch's blocks out, and says how many there are.
unsigned share_blocks(Products& all, std::int64_t block_rows) {
  unsigned blocks = 0;
  for (int i = 0; i < all.count; ++i) {
    all.each[i].first_block = blocks;
    blocks += blocks_for(all.each[i].weight.rows, block_rows);
  }
  return blocks;
}

template <int tokens>
void start(Products& all, CudaStream& stream) {
  const Product& p = all.each[0];
  std::int64_t rows = 0;
  for (int i = 0; i < all.count; ++i) rows += all.each[i].weight.rows;
  const int lanes = lanes_for(rows, p.weight.columns, stream);
  for (int i = 0; i < all.count; ++i) all.each[i].lanes = lanes;
  const unsigned blocks = share_blocks(all, threads / static_cast<unsigned>(lanes));
  all.prefetches = stream.prefetches();
  const LaunchShape shape = {
      .grid_x = blocks, .grid_y = blocks_for(p.tokens, tokens), .threads = threads, .overlaps = true};
  const bool packed = p.weight.packing == Packing::tiles;
  dispatch(p.weight.type, [&]<Type type>() {
    if constexpr (!is_quantised(type)) {
      launch<multiply_plain_kernel<type, tokens>>(shape, stream, all);
    } else if (packed) {
      launch<multiply_kernel<type, true, tokens>>(shape, stream, all);
    } else {
      launch<multiply_kernel<type, false, tokens>>(shape, stream, all);
    }
  });
}

// By the model's shapes alone, so that a token's sums do not depend on how many there are.
constexpr std::int64_t split_rows = 2048;  // of all splits together
constexpr std::int64_t most_splits = 8;
int splits_of(std::int64_t rows, std::int64_t columns) {
  const std::int64_t wanted = std::min({split_rows / rows, columns / (2 * column_unit), most_splits});
  if (wanted < 2) return 1;
  // Rounded up to units, fewer may have all of the columns.
  const std::int64_t units = quotient_up(columns, column_unit);
  return static_cast<int>(quotient_up(units, quotient_up(units, wanted)));
}
// Of a token's parts.
std::int64_t part_bytes(const Linear& op) {
  std::int64_t bytes = 0;
  for (const Projection& projection : op.projections)
    if (projection.weight.rows <= split_rows / 2)
      bytes += split_rows * static_cast<std::int64_t>(sizeof(float));
  return op.tokens < fewest_in_tiles ? 0 : bytes;
}

void start_tiles(Products& all, const TileInputs& x, Scratch& scratch, CudaStream& stream) {
  const std::int64_t tokens = all.each[0].tokens;
  all.rows = 0;
  for (int i = 0; i < all.count; ++i) {
    all.each[i].first_row = all.rows;
    all.rows += all.each[i].weight.rows;
  }
  all.splits = splits_of(all.rows, all.each[0].weight.columns);
  all.parts = all.splits > 1 ? scratch.take<float>(all.splits * tokens * all.rows) : nullptr;
  const unsigned blocks = share_blocks(all, tile_size);
  launch<multiply_tiles_kernel>({.grid_x = blocks,
                                 .grid_y = blocks_for(tokens, tile_size),
                                 .grid_z = static_cast<unsigned>(all.splits),
                                 .threads = tile_threads},
                                stream, all, x);
  if (all.parts) {
    launch<add_parts_kernel>({.grid_x = blocks_for(tokens * all.rows, threads), .threads = threads}, stream,
                             all);
  }
}

// Starts what has been put together, if anything has.
void start_together(Products& all, const TileInputs& x, Scratch& scratch, CudaStream& stream) {
  if (all.count == 0) return;
  const std::int64_t tokens = all.each[0].tokens;
  if (tokens >= fewest_in_tiles) {
    start_tiles(all, x, scratch, stream);
  } else if (tokens == 1) {
    start<1>(all, stream);
  } else {
    start<4>(all, stream);
  }
  all.count = 0;
}

bool multiplied_by_library(const Product& p, const Rounded& x, CudaStream& stream) {
  if (!stream.multiply_bfloat16({.weights = p.weight.data,
                                 .rows = p.weight.rows,
                                 .columns = p.weight.columns,
                                 .x = x.pairs,
                                 .x_stride = x.stride,
                                 .tokens = p.tokens,
                                 .out = p.out,
                                 .out_stride = p.out_stride}))
    return false;
  if (p.bias) {
    const std::int64_t count = p.tokens * p.weight.rows;
    launch<add_bias_kernel>({.grid_x = blocks_for(count, threads), .threads = threads}, stream, p.out,
                            p.out_stride, p.bias, p.weight.rows, count);
  }
  return true;
}

// Tokens [first, first + tokens), as many as the scratch memory has room for.
void multiply_tokens(const Linear& op, std::int64_t first, std::int64_t tokens, const NormBehind& then,
                     CudaStream& stream) {
  const bool in_tiles = tokens >= fewest_in_tiles;
  const float* const x = op.x + first * op.columns;
  Scratch scratch(stream);
  Quantised quantised;
  Rounded rounded;
  Products together;
  together.then = then;
  for (const Projection& projection : op.projections) {
    const Weight& weight = projection.weight;
    if (is_quantised(weight.type) && !quantised.q) {
      // They are of all tokens: they are few, and come at once.
      quantised = in_tiles ? quantise(x, tokens, op.columns, Group::of_32, scratch, stream)
                           : given_or_quantised(tokens == op.tokens ? op.quantised : nullptr, x, tokens,
                                                op.columns, scratch, stream);
    }
    const Product p = {.weight = weight,
                       .bias = projection.bias,
                       .out = projection.out + first * projection.out_stride,
                       .out_stride = projection.out_stride,
                       .x = x,
                       .quantised = is_quantised(weight.type) ? quantised : Quantised{},
                       .tokens = tokens};
    if (in_tiles && weight.type == Type::bf16) {
      if (!rounded.pairs) rounded = round_rows(x, tokens, op.columns, scratch, stream);
      if (multiplied_by_library(p, rounded, stream)) continue;
    }
    const Weight& before = together.each[0].weight;
    if (together.count == max_products || before.type != weight.type || before.packing != weight.packing)
      start_together(together, tile_inputs(x, op.columns, rounded, quantised), scratch, stream);
    together.each[together.count++] = p;
  }
  start_together(together, tile_inputs(x, op.columns, rounded, quantised), scratch, stream);
}

}  // namespace

void linear(const Linear& op, Stream& stream) {
  assert(!op.then || (op.then.rows == op.tokens && op.projections.size() == 1));
  CudaStream& cuda = on_cuda(stream);
  const std::int64_t token_bytes =
      rounded_bytes(1, op.columns) + quantised_bytes(1, op.columns) + part_bytes(op);
  const std::int64_t room = cuda.scratch_bytes() / token_bytes;
  const std::int64_t at_once = room >= tile_size ? room / tile_size * tile_size : room;
  assert(at_once > 0);
  const NormBehind then = op.tokens <= at_once ? norm_behind(op.then, cuda) : NormBehind{};
  for (std::int64_t first = 0; first < op.tokens; first += at_once)
    multiply_tokens(op, first, op.tokens - first < at_once ? op.tokens - first : at_once, then, cuda);
  if (op.then && !then.arrived) rms_norm(op.then, stream);
}

}  // namespace fovea::kernels::cuda
