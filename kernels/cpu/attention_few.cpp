// Attention of few query rows: reading the cache is the work, so each of its rows is converted in registers
// and used for several heads at once, keys for scores and then values for sums.
#include "kernels/cpu/attention_cache.h"
#include "kernels/cpu/attention_tile.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

// Lane i = the sum of v[i].
[[gnu::always_inline]] inline Floats sums_of_all(const Floats (&v)[lanes]) {
#if defined(__AVX512F__)
  Floats pairs[8];
#pragma GCC unroll 16
  for (int i = 0; i < 8; ++i)
    pairs[i] =
        add_floats(_mm512_unpacklo_ps(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_ps(v[2 * i], v[2 * i + 1]));
  Floats fours[4];
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i)
    fours[i] = add_floats(_mm512_shuffle_ps(pairs[2 * i], pairs[2 * i + 1], 0x44),
                          _mm512_shuffle_ps(pairs[2 * i], pairs[2 * i + 1], 0xEE));
  const Floats low = add_floats(_mm512_shuffle_f32x4(fours[0], fours[1], 0x88),
                                _mm512_shuffle_f32x4(fours[0], fours[1], 0xDD));
  const Floats high = add_floats(_mm512_shuffle_f32x4(fours[2], fours[3], 0x88),
                                 _mm512_shuffle_f32x4(fours[2], fours[3], 0xDD));
  return add_floats(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xDD));
#elif defined(__AVX2__)
  Floats pairs[4];
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i)
    pairs[i] =
        add_floats(_mm256_unpacklo_ps(v[2 * i], v[2 * i + 1]), _mm256_unpackhi_ps(v[2 * i], v[2 * i + 1]));
  Floats fours[2];
#pragma GCC unroll 16
  for (int i = 0; i < 2; ++i)
    fours[i] = add_floats(_mm256_shuffle_ps(pairs[2 * i], pairs[2 * i + 1], 0x44),
                          _mm256_shuffle_ps(pairs[2 * i], pairs[2 * i + 1], 0xEE));
  return add_floats(_mm256_permute2f128_ps(fours[0], fours[1], 0x20),
                    _mm256_permute2f128_ps(fours[0], fours[1], 0x31));
#else
  return Floats{sum_of(v[0]), sum_of(v[1]), sum_of(v[2]), sum_of(v[3])};
#endif
}

// Heads × Keys scores.
template <Type type, int Heads, int Keys>
[[gnu::always_inline]] inline void score_block(const std::byte* const* keys, std::int64_t dim,
                                               const float* queries, float* scores) {
  static_assert(Heads * Keys <= lanes);
  Floats sums[lanes];
#pragma GCC unroll 16
  for (Floats& sum : sums) sum = set_floats(0);
  for (std::int64_t i = 0; i < dim; i += lanes) {
    Floats key[Keys];
#pragma GCC unroll 16
    for (int k = 0; k < Keys; ++k) key[k] = load_entry<type>(keys[k], i);
#pragma GCC unroll 16
    for (int h = 0; h < Heads; ++h) {
      const Floats query = load_floats(queries + h * dim + i);
#pragma GCC unroll 16
      for (int k = 0; k < Keys; ++k) sums[h * Keys + k] = multiply_add(query, key[k], sums[h * Keys + k]);
    }
  }
  alignas(64) float all[lanes];
  store_floats(all, sums_of_all(sums));
#pragma GCC unroll 16
  for (int h = 0; h < Heads; ++h) memcpy(scores + h * tile_keys, all + h * Keys, Keys * sizeof(float));
}

// The rows of some consecutive positions, and behind them the last one again, so that blocks are whole.
struct Tile {
  const std::byte* rows[tile_keys];
  std::int64_t count;

  Tile(const Entries& entries, std::int64_t first, std::int64_t end) : count(end - first) {
    const std::int64_t page_tokens = entries.pages.page_tokens;
    for (std::int64_t i = 0; i < count;) {
      const std::int64_t left = page_tokens - (first + i) % page_tokens;
      const std::byte* row = entries.at(first + i);
      for (const std::int64_t stop = i + left < count ? i + left : count; i < stop;
           ++i, row += entries.row_bytes)
        rows[i] = row;
    }
    for (std::int64_t i = count; i < tile_keys; ++i) rows[i] = rows[count - 1];
  }
};

// The rows that will be read next, fetched along with the work on others.
struct Fetch {
  const Tile* tile = nullptr;
  std::int64_t row_bytes = 0;

  void operator()(std::int64_t first, int count) const {
    if (!tile) return;
    for (int j = 0; j < count; ++j) {
      const std::byte* const row = tile->rows[first + j];
      for (std::int64_t i = 0; i < row_bytes; i += 64) __builtin_prefetch(row + i, 0, 3);
    }
  }
};

// A block of queries against all keys.
template <Type type, int Heads, int Keys>
void score_rows(const Tile& keys, const Fetch& fetch, std::int64_t dim, const float* queries, float* scores) {
  for (std::int64_t k = 0; k < keys.count; k += Keys) {
    fetch(k, Keys);
    score_block<type, Heads, Keys>(keys.rows + k, dim, queries, scores + k);
  }
}

template <Type type>
void score_tile(const Tile& keys, const Fetch& fetch, const QueryRows& q, std::int64_t dim,
                const AttentionScratch& s) {
  constexpr int keys_at_once = lanes / 4;
  std::int64_t row = 0;
  const auto part = [&](auto score, int heads) {
    score(keys, row == 0 ? fetch : Fetch{}, dim, s.queries + row * dim, s.scores + row * tile_keys);
    row += heads;
  };
  while (row + 4 <= q.rows()) part(score_rows<type, 4, keys_at_once>, 4);
  if (row + 3 == q.rows()) part(score_rows<type, 3, keys_at_once>, 3);
  if (row + 2 == q.rows()) part(score_rows<type, 2, keys_at_once>, 2);
  if (row + 1 == q.rows()) part(score_rows<type, 1, keys_at_once>, 1);
}

// sums[Heads, Vectors · lanes] += weights · values, over the tile's positions.
template <Type type, int Heads, int Vectors>
void add_block(const Tile& values, const Fetch& fetch, std::int64_t column, const float* weights, float* to,
               std::int64_t stride) {
  Floats sums[Heads][Vectors];
#pragma GCC unroll 16
  for (int h = 0; h < Heads; ++h) {
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) sums[h][v] = load_floats(to + h * stride + v * lanes);
  }
  for (std::int64_t k = 0; k < values.count; ++k) {
    fetch(k, 1);
    const std::byte* const row = values.rows[k];
    Floats value[Vectors];
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) value[v] = load_entry<type>(row, column + v * lanes);
#pragma GCC unroll 16
    for (int h = 0; h < Heads; ++h) {
      const Floats weight = set_floats(weights[h * tile_keys + k]);
#pragma GCC unroll 16
      for (int v = 0; v < Vectors; ++v) sums[h][v] = multiply_add(weight, value[v], sums[h][v]);
    }
  }
#pragma GCC unroll 16
  for (int h = 0; h < Heads; ++h) {
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) store_floats(to + h * stride + v * lanes, sums[h][v]);
  }
}

template <Type type, int Heads>
void add_rows(const Tile& values, const Fetch& fetch, std::int64_t dim, const float* weights, float* sums,
              std::int64_t stride) {
  constexpr int vectors = lanes == 16 && Heads <= 4 ? 4 : 2;
  std::int64_t column = 0;
  for (; column + vectors * lanes <= dim; column += vectors * lanes)
    add_block<type, Heads, vectors>(values, column == 0 ? fetch : Fetch{}, column, weights, sums + column,
                                    stride);
  for (; column < dim; column += lanes)
    add_block<type, Heads, 1>(values, column == 0 ? fetch : Fetch{}, column, weights, sums + column, stride);
}

template <Type type>
void add_tile(const Tile& values, const Fetch& fetch, const QueryRows& q, std::int64_t dim,
              const AttentionScratch& s) {
  std::int64_t row = 0;
  const auto part = [&](auto add, int heads) {
    add(values, row == 0 ? fetch : Fetch{}, dim, s.scores + row * tile_keys, s.sums + row * s.wide, s.wide);
    row += heads;
  };
  if constexpr (lanes == 16) {  // so many sums only fit 32 registers
    while (row + 8 <= q.rows()) part(add_rows<type, 8>, 8);
  }
  while (row + 4 <= q.rows()) part(add_rows<type, 4>, 4);
  if (row + 3 == q.rows()) part(add_rows<type, 3>, 3);
  if (row + 2 == q.rows()) part(add_rows<type, 2>, 2);
  if (row + 1 == q.rows()) part(add_rows<type, 1>, 1);
}

template <Type type>
void walk(const Attention& op, const QueryRows& q, std::int64_t begin, std::int64_t end,
          AttentionScratch& s) {
  const Entries keys = Entries::keys_of(op.pages, q.kv_head);
  const Entries values = Entries::values_of(op.pages, q.kv_head);
  const std::int64_t dim = op.pages.head_dim;
  begin_rows(op, q, s);
  const auto end_of_tile = [&](std::int64_t first) {
    return end - first < tile_keys ? end : first + tile_keys;
  };
  Tile key_rows(keys, begin, end_of_tile(begin));
  for (std::int64_t first = begin; first < end; first += tile_keys) {
    const Tile value_rows(values, first, end_of_tile(first));
    score_tile<type>(key_rows, {&value_rows, values.row_bytes}, q, dim, s);
    soften_tile(op, q, first, value_rows.count, s);
    Fetch fetch;
    if (const std::int64_t next = first + tile_keys; next < end) {
      key_rows = Tile(keys, next, end_of_tile(next));
      fetch = {&key_rows, keys.row_bytes};
    }
    add_tile<type>(value_rows, fetch, q, dim, s);
  }
}

}  // namespace

void attend_few(const Attention& op, const QueryRows& q, std::int64_t begin, std::int64_t end,
                AttentionScratch& s) {
  switch (op.pages.type) {
    case Type::f16:
      return walk<Type::f16>(op, q, begin, end, s);
    case Type::q8_0:
      return walk<Type::q8_0>(op, q, begin, end, s);
    default:
      return walk<Type::f32>(op, q, begin, end, s);
  }
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
