#include "kernels/cpu/attention_tile.h"

#include "kernels/cpu/attention_cache.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

// Below every score, but finite: the difference of two of them is 0 and not NaN.
constexpr float lowest_score = -1e30F;

// The register tile of multiply_tile: rows × vectors of sums.
constexpr int block_rows = lanes == 16 ? 8 : lanes == 8 ? 6 : 4;
constexpr int block_vectors = 2;

constexpr std::int64_t rounded_up(std::int64_t count, std::int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

constexpr std::int64_t limited(std::int64_t value, std::int64_t least, std::int64_t most) {
  return value < least ? least : value > most ? most : value;
}

// c[Rows, Vectors · lanes] (+)= a[Rows, depth] · b[depth, Vectors · lanes]
template <int Rows, int Vectors>
void multiply_block(std::int64_t depth, const float* a, std::int64_t a_stride, const float* b,
                    std::int64_t b_stride, float* c, std::int64_t c_stride, bool accumulate) {
  Floats sums[Rows][Vectors];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v)
      sums[r][v] = accumulate ? load_floats(c + r * c_stride + v * lanes) : set_floats(0);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    Floats row[Vectors];
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) row[v] = load_floats(b + k * b_stride + v * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const Floats factor = set_floats(a[r * a_stride + k]);
#pragma GCC unroll 16
      for (int v = 0; v < Vectors; ++v) sums[r][v] = multiply_add(factor, row[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) store_floats(c + r * c_stride + v * lanes, sums[r][v]);
  }
}

struct Product {
  std::int64_t rows;
  std::int64_t columns;  // whole vectors
  std::int64_t depth;
  const float* a;
  std::int64_t a_stride;
  const float* b;
  std::int64_t b_stride;
  float* c;
  std::int64_t c_stride;
  bool accumulate;
};

template <int Rows>
void multiply_rows(const Product& p, std::int64_t row) {
  const float* const a = p.a + row * p.a_stride;
  float* const c = p.c + row * p.c_stride;
  std::int64_t column = 0;
  for (; column + block_vectors * lanes <= p.columns; column += block_vectors * lanes) {
    multiply_block<Rows, block_vectors>(p.depth, a, p.a_stride, p.b + column, p.b_stride, c + column,
                                        p.c_stride, p.accumulate);
  }
  for (; column < p.columns; column += lanes) {
    multiply_block<Rows, 1>(p.depth, a, p.a_stride, p.b + column, p.b_stride, c + column, p.c_stride,
                            p.accumulate);
  }
}

// c (+)= a · b. Each sum is formed in the order of `depth`, wherever its row falls.
void multiply_tile(const Product& p) {
  std::int64_t row = 0;
  // Not so far that one or two rows are left over, which would not fill the multipliers.
  for (; row + block_rows == p.rows || row + block_rows + 2 < p.rows; row += block_rows) {
    multiply_rows<block_rows>(p, row);
  }
  for (; row + 4 <= p.rows; row += 4) multiply_rows<4>(p, row);
  for (; row + 3 <= p.rows; row += 3) multiply_rows<3>(p, row);
  for (; row < p.rows; ++row) multiply_rows<1>(p, row);
}

// One square of keys, turned over. Whole squares keep to registers.
template <Type type>
void load_square(const std::byte* const (&rows)[lanes], std::int64_t i, float* to) {
  Floats block[lanes];
#pragma GCC unroll 16
  for (int j = 0; j < lanes; ++j) block[j] = load_entry<type>(rows[j], i, lanes);
  transpose(block);
#pragma GCC unroll 16
  for (int j = 0; j < lanes; ++j) store_floats(to + j * tile_keys, block[j]);
}

template <Type type>
void load_part_of_square(const std::byte* const (&rows)[lanes], std::int64_t present, std::int64_t i,
                         std::int64_t elements, float* to) {
  Floats block[lanes];
  for (std::int64_t j = 0; j < lanes; ++j) {
    block[j] = j < present ? load_entry<type>(rows[j], i, elements) : set_floats(0);
  }
  transpose(block);
  for (std::int64_t j = 0; j < elements; ++j) store_floats(to + j * tile_keys, block[j]);
}

// keys[i, k] = element i of position first + k; columns after the last position are 0, up to a whole vector.
template <Type type>
void load_keys(const Entries& entries, std::int64_t first, std::int64_t count, float* keys) {
  const std::int64_t dim = entries.pages.head_dim;
  for (std::int64_t k = 0; k < count; k += lanes) {
    const std::int64_t present = count - k < lanes ? count - k : lanes;
    const std::byte* rows[lanes] = {};
    for (std::int64_t j = 0; j < present; ++j) rows[j] = entries.at(first + k + j);
    const std::int64_t whole = present == lanes ? dim / lanes * lanes : 0;
    for (std::int64_t i = 0; i < whole; i += lanes) load_square<type>(rows, i, keys + i * tile_keys + k);
    for (std::int64_t i = whole; i < dim; i += lanes) {
      load_part_of_square<type>(rows, present, i, dim - i < lanes ? dim - i : lanes,
                                keys + i * tile_keys + k);
    }
  }
}

// values[k, i] = element i of position first + k; elements after head_dim are 0.
template <Type type>
void load_values(const Entries& entries, std::int64_t first, std::int64_t count, float* values,
                 std::int64_t wide) {
  const std::int64_t dim = entries.pages.head_dim;
  const std::int64_t whole = dim / lanes * lanes;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::byte* const row = entries.at(first + k);
    float* const to = values + k * wide;
    for (std::int64_t i = 0; i < whole; i += lanes) store_floats(to + i, load_entry<type>(row, i, lanes));
    if (whole < dim) store_floats(to + whole, load_entry<type>(row, whole, dim - whole));
  }
}

void load_tile(const Attention& op, std::int64_t kv_head, std::int64_t first, std::int64_t count,
               AttentionScratch& s) {
  const KvPages& pages = op.pages;
  const Entries keys = Entries::keys_of(pages, kv_head);
  const Entries values = Entries::values_of(pages, kv_head);
  switch (pages.type) {
    case Type::f16:
      load_keys<Type::f16>(keys, first, count, s.keys);
      load_values<Type::f16>(values, first, count, s.values, s.wide);
      return;
    case Type::q8_0:
      load_keys<Type::q8_0>(keys, first, count, s.keys);
      load_values<Type::q8_0>(values, first, count, s.values, s.wide);
      return;
    default:
      load_keys<Type::f32>(keys, first, count, s.keys);
      load_values<Type::f32>(values, first, count, s.values, s.wide);
  }
}

// Turns a row of scores into weights, of which [begin, end) are visible, and takes them into the running
// maximum and total. The sums so far are scaled when the maximum grows.
void soften(float* scores, std::int64_t begin, std::int64_t end, std::int64_t columns, std::int64_t row,
            AttentionScratch& s) {
  for (std::int64_t k = 0; k < begin; ++k) scores[k] = lowest_score;
  for (std::int64_t k = end; k < columns; ++k) scores[k] = lowest_score;
  Floats most = load_floats(scores);
  for (std::int64_t k = lanes; k < columns; k += lanes) most = larger(most, load_floats(scores + k));
  const float tile_highest = largest(most);
  const float before = s.highest[row];
  const float highest = tile_highest > before ? tile_highest : before;
  if (highest > before) {
    float shrink[lanes];
    store_floats(shrink, exp2_of(set_floats(before - highest)));
    s.highest[row] = highest;
    s.totals[row] *= shrink[0];
    float* const sums = s.sums + row * s.wide;
    const Floats factor = set_floats(shrink[0]);
    for (std::int64_t i = 0; i < s.wide; i += lanes)
      store_floats(sums + i, multiply(load_floats(sums + i), factor));
  }
  Floats total = set_floats(0);
  const Floats origin = set_floats(highest);
  for (std::int64_t k = 0; k < columns; k += lanes) {
    const Floats weight = exp2_of(subtract(load_floats(scores + k), origin));
    store_floats(scores + k, weight);
    total = add_floats(total, weight);
  }
  s.totals[row] += sum_of(total);
}

}  // namespace

std::int64_t AttentionScratch::floats(std::int64_t rows, std::int64_t head_dim) {
  const std::int64_t wide = rounded_up(head_dim, lanes);
  return rounded_up(rows * head_dim, 16) + wide * tile_keys * 2 + rows * tile_keys + rows * wide +
         rounded_up(2 * rows, 16);
}

AttentionScratch::AttentionScratch(float* memory, std::int64_t rows, std::int64_t head_dim)
    : wide(rounded_up(head_dim, lanes)) {
  const auto take = [&memory](std::int64_t count) {
    float* const start = memory;
    memory += count;
    return start;
  };
  queries = take(rounded_up(rows * head_dim, 16));
  keys = take(wide * tile_keys);
  values = take(wide * tile_keys);
  scores = take(rows * tile_keys);
  sums = take(rows * wide);
  highest = take(rows);
  totals = take(rows);
}

void soften_tile(const Attention& op, const QueryRows& q, std::int64_t first, std::int64_t count,
                 AttentionScratch& s) {
  const std::int64_t columns = rounded_up(count, lanes);
  for (std::int64_t t = 0; t < q.tokens; ++t) {
    const std::int64_t position = op.first + q.first_token + t;
    const std::int64_t begin = op.window > 0 ? limited(position - op.window + 1 - first, 0, count) : 0;
    const std::int64_t end = limited(position + 1 - first, begin, count);
    for (std::int64_t g = 0; g < q.group; ++g) {
      const std::int64_t row = t * q.group + g;
      float* const scores = s.scores + row * tile_keys;
      if (begin == end) {
        for (std::int64_t k = 0; k < columns; k += lanes) store_floats(scores + k, set_floats(0));
      } else {
        soften(scores, begin, end, columns, row, s);
      }
    }
  }
}

void begin_rows(const Attention& op, const QueryRows& q, AttentionScratch& s) {
  const std::int64_t rows = q.rows();
  constexpr float log2_e = 1.44269504F;
  const std::int64_t dim = op.pages.head_dim;
  const float factor = op.scale * log2_e;
  for (std::int64_t t = 0; t < q.tokens; ++t) {
    // The group's heads are adjacent.
    const float* const from = op.q + (q.first_token + t) * op.q_stride + q.kv_head * q.group * dim;
    float* const to = s.queries + t * q.group * dim;
    for (std::int64_t i = 0; i < q.group * dim; ++i) to[i] = from[i] * factor;
  }
  for (std::int64_t i = 0; i < rows * s.wide; i += lanes) store_floats(s.sums + i, set_floats(0));
  for (std::int64_t row = 0; row < rows; ++row) {
    s.highest[row] = lowest_score;
    s.totals[row] = 0;
  }
}

void attend(const Attention& op, const QueryRows& q, std::int64_t begin, std::int64_t end,
            AttentionScratch& s) {
  const std::int64_t rows = q.rows();
  const std::int64_t dim = op.pages.head_dim;
  begin_rows(op, q, s);
  for (std::int64_t first = begin; first < end; first += tile_keys) {
    const std::int64_t count = end - first < tile_keys ? end - first : tile_keys;
    load_tile(op, q.kv_head, first, count, s);
    multiply_tile(
        {rows, rounded_up(count, lanes), dim, s.queries, dim, s.keys, tile_keys, s.scores, tile_keys, false});
    soften_tile(op, q, first, count, s);
    multiply_tile({rows, s.wide, count, s.scores, tile_keys, s.values, s.wide, s.sums, s.wide, true});
  }
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
