// Attention of some query rows over a run of positions of one kv head, tile by tile of keys, with the running
// maximum and sum of an online softmax. Rows are the queries of the heads that share the kv head, so that a
// tile of keys is read, converted and transposed once for all of them.
#pragma once

#include "kernels/api/operations.h"
#include "kernels/cpu/simd.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

constexpr std::int64_t tile_keys = 64;  // a multiple of every set's lanes

// The memory of one thread. `wide` is head_dim rounded up to whole vectors.
struct AttentionScratch {
  std::int64_t wide = 0;
  float* queries = nullptr;  // [rows, head_dim], times scale · log2(e): the softmax works in powers of two
  float* keys = nullptr;     // [head_dim, tile_keys]
  float* values = nullptr;   // [tile_keys, wide]
  float* scores = nullptr;   // [rows, tile_keys]
  float* sums = nullptr;     // [rows, wide]: Σ weight · value so far
  float* highest = nullptr;  // [rows]: the largest score so far
  float* totals = nullptr;   // [rows]: Σ weight so far

  static std::int64_t floats(std::int64_t rows, std::int64_t head_dim);
  AttentionScratch(float* memory, std::int64_t rows, std::int64_t head_dim);
};

// The queries of tokens [first_token, first_token + tokens) of the heads of `kv_head`; row = token · group +
// head.
struct QueryRows {
  std::int64_t kv_head = 0;
  std::int64_t first_token = 0;
  std::int64_t tokens = 0;
  std::int64_t group = 0;

  std::int64_t rows() const { return tokens * group; }
};

// What every walk over keys does: queries into scratch and nothing summed yet …
void begin_rows(const Attention&, const QueryRows&, AttentionScratch&);
// … and for each tile, the scores of `count` positions from `first` become weights of every row, which are
// taken into the running maximum and total.
void soften_tile(const Attention&, const QueryRows&, std::int64_t first, std::int64_t count,
                 AttentionScratch&);

// Fills scratch.sums, highest and totals from positions [begin, end); rows that see none of them keep a total
// of 0.
void attend(const Attention&, const QueryRows&, std::int64_t begin, std::int64_t end, AttentionScratch&);

// The same for few rows, from the cache's rows as they lie: nothing is converted ahead or turned over. Heads
// must fill whole vectors.
void attend_few(const Attention&, const QueryRows&, std::int64_t begin, std::int64_t end, AttentionScratch&);

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
