// attention as its three forms see it: over a cache that half floats hold few queries (attention_few.cu) and
// many (attention_tiles.cu), and all others (attention.cu).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/activations.h"
#include "kernels/cuda/device_code.h"
#include "kernels/cuda/stream.h"

namespace fovea::kernels::cuda {

constexpr int max_head_dim_in_tiles = 256;  // of the two forms on tensor cores

// Work is divided into splits of the positions (KV splits) where queries alone would not fill the device. Of
// several, each leaves its own result, which join_kv_splits_kernel (attention.cu) puts together; of few
// splits of few queries, the block that ends last does.
constexpr int max_kv_splits = 512;
// From how many on one block would read longer than another kernel takes to start: each of its lanes has the
// loads of half of them under way at once.
constexpr int max_joined_by_block = 16;
struct KvSplit {
  float largest;  // score, and
  float total;    // Σ e^(score − largest)
};
struct KvSplits {
  Attention op;
  int first_token = 0;  // of this launch
  int count = 1;        // splits of the positions
  // [tokens, heads, count, sum_stride]: Σ e^(score − largest) · value, each filled up with zeros to a
  // multiple of 16 bytes.
  float* sums = nullptr;
  int sum_stride = 0;
  KvSplit* weights = nullptr;  // [tokens, heads, count]
  // Where the last block joins: how many of a row's blocks have ended, zero in between; and where the result
  // goes, too.
  int* arrived = nullptr;
  Quantised quantised = {};
};

__device__ __forceinline__ std::int64_t first_position(const Attention& op) {
  return op.position ? *op.position : op.first;
}

// Positions [begin, end) of one block.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};
// The part of [begin, end) that is this block's, in whole tiles of positions.
__device__ __forceinline__ Range kv_split_of(const Range& all, int count, int tile_positions) {
  const std::int64_t tiles = (all.end - all.begin + tile_positions - 1) / tile_positions;
  const std::int64_t split = (tiles + count - 1) / count * tile_positions;
  const std::int64_t from = all.begin + blockIdx.x * split;
  return {from < all.end ? from : all.end, from + split < all.end ? from + split : all.end};
}

__device__ __forceinline__ float weight_of(float score, float largest) {
  return score == -INFINITY ? 0.0F : expf(score - largest);
}

// Σ e^(score − largest) of a head, with its sink's.
__device__ __forceinline__ float with_sink(const Attention& op, std::int64_t head, float largest,
                                           float total) {
  return op.sinks ? total + expf(op.sinks[head] - largest) : total;
}

// Of few queries on tensor cores, over a cache that half floats hold.
std::int64_t attention_few_blocks(const Attention&);
void start_attention_of_few(const KvSplits&, std::int64_t tokens, CudaStream&);
constexpr int attention_few_positions = 64;  // of a block at once
// Blocks on a multiprocessor, and so many splits are made: of larger heads and of 8-bit values a third would
// keep registers in memory.
constexpr int attention_few_resident(Type type, std::int64_t head_dim) {
  return type == Type::f16 && head_dim <= 128 ? 3 : 2;
}

// The operation for many queries over a cache that half floats hold.
void start_attention_in_tiles(const KvSplits&, std::int64_t tokens, CudaStream&);
std::int64_t attention_tile_blocks(const Attention&);
constexpr int attention_tile_positions = 32;

}  // namespace fovea::kernels::cuda
