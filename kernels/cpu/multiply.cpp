// The tile kernels: 16 rows of weights times the activations of any number of tokens.
#include "kernels/cpu/dot.h"
#include "kernels/cpu/numeric.h"
#include "kernels/cpu/trellis_blocks.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

constexpr int parts = tile_rows / lanes;

// Weights are read once, as fast as memory gives them. The processor's own prefetching stops at the end of a
// page and does not know where the next matrix begins; ours takes slots in the queue of missing lines.
// Measured: it helps small blocks, and harms blocks of 256, which are long enough to be followed without it.
// The exception is Q6_K in vectors of a whole line, whose fields all lie across two lines.
struct Fetch {
  std::int64_t distance;  // 0: only the beginning of the next matrix
  int locality;           // of __builtin_prefetch: 3 into the first level, 2 into the second
};
template <Type type>
constexpr Fetch fetch = Block<type>::elements == block_columns  ? Fetch{4096, 3}
                        : type == Type::q6_k && lanes * 4 == 64 ? Fetch{16384, 2}
                                                                : Fetch{0, 2};

template <std::int64_t Bytes, int Locality>
[[gnu::always_inline]] inline void prefetch(const std::byte* from) {
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < Bytes; i += 64) __builtin_prefetch(from + i, 0, Locality);
}

// Few tokens, `first` and those behind it: the sums stay in registers, and the tile is read once, from its
// start to its end.
template <Type type, int Tokens>
void multiply_few(const TileProduct& op, std::int64_t first) {
  using B = Block<type>;
  constexpr int steps = B::elements / block_columns;
  constexpr Fetch ahead_by = fetch<type>;
  constexpr std::int64_t step_bytes = B::bytes * tile_rows / steps;
  const std::int64_t blocks = op.columns / B::elements;
  const ActivationBlock* x[Tokens];
#pragma GCC unroll 8
  for (int t = 0; t < Tokens; ++t)
    x[t] = op.x.blocks + (op.index ? op.index[first + t] : op.first + first + t);
  const std::byte* tile = op.tile;
  const std::byte* const end = tile + blocks * B::bytes * tile_rows;
  Floats sums[parts][Tokens];
#pragma GCC unroll 4
  for (int part = 0; part < parts; ++part) {
#pragma GCC unroll 8
    for (int t = 0; t < Tokens; ++t) sums[part][t] = set_floats(0);
  }
  if (ahead_by.distance == 0 && op.next) prefetch<1024, ahead_by.locality>(op.next);
  std::int64_t at = 0;  // of the activations
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::byte* ahead = tile + ahead_by.distance;
    if (ahead >= end && op.next) ahead = op.next + (ahead - end);
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part) {
      const B block{TileBlock{tile, part}};
      const auto step = [&](int s) {
        if (ahead_by.distance > 0 && part == 0)
          prefetch<step_bytes, ahead_by.locality>(ahead + s * step_bytes);
        Unpacked<B::halves> u;
        block.unpack(s, u);
#pragma GCC unroll 8
        for (int t = 0; t < Tokens; ++t)
          sums[part][t] = add_product<B>(u, x[t][at + s * op.x.tokens], sums[part][t]);
      };
      // As much code as is worth its while.
      if constexpr (Tokens == 1 || (parts == 1 && Tokens <= 4)) {
#pragma GCC unroll 8
        for (int s = 0; s < steps; ++s) step(s);
      } else {
#pragma GCC unroll 1
        for (int s = 0; s < steps; ++s) step(s);
      }
    }
    at += steps * op.x.tokens;
    tile += B::bytes * tile_rows;
  }
  float* const y = op.y + first * tile_rows;
#pragma GCC unroll 4
  for (int part = 0; part < parts; ++part) {
#pragma GCC unroll 8
    for (int t = 0; t < Tokens; ++t) store_floats(y + t * tile_rows + part * lanes, sums[part][t]);
  }
}

// Adds 32 columns' products to the sums of all tokens.
template <typename B, bool Indexed>
[[gnu::always_inline]] inline void add_products(const Unpacked<B::halves>& u, const ActivationBlock* x,
                                                const std::int32_t* index, std::int64_t tokens, float* sums) {
  for (std::int64_t t = 0; t < tokens; ++t, sums += tile_rows) {
    store_floats(sums, add_product<B>(u, x[Indexed ? index[t] : t], load_floats(sums)));
  }
}

// Many tokens: the weights are unpacked once for all of them; the sums are in y, which the caller keeps small
// enough for the first-level cache. Each token's sum is formed in the same order as by multiply_few.
template <Type type>
void multiply_tokens(const TileProduct& op) {
  using B = Block<type>;
  constexpr int steps = B::elements / block_columns;
  const std::int64_t tokens = op.tokens;
  const std::int32_t* const index = op.index;
  const std::int64_t blocks = op.columns / B::elements;
  for (int part = 0; part < parts; ++part) {
    float* const sums = op.y + part * lanes;
    for (std::int64_t t = 0; t < tokens; ++t) store_floats(sums + t * tile_rows, set_floats(0));
    const ActivationBlock* x = op.x.blocks + op.first;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const B block{TileBlock{op.tile + b * B::bytes * tile_rows, part}};
      for (int s = 0; s < steps; ++s) {
        Unpacked<B::halves> u;
        block.unpack(s, u);
        if (index) {
          add_products<B, true>(u, x, index, tokens, sums);
        } else {
          add_products<B, false>(u, x, index, tokens, sums);
        }
        x += op.x.tokens;
      }
    }
  }
}

// Several sequences that decode are few tokens, which shall read the weights as fast as one does. As many as
// there are registers for are multiplied at once.
template <Type type>
void multiply_blocks(const TileProduct& op) {
  constexpr std::int64_t most = lanes == 16 ? 8 : lanes == 8 ? 4 : 1;
  if (op.tokens == 1) return multiply_few<type, 1>(op, 0);
  if constexpr (most > 1) {
    if (op.tokens <= 8) {
      std::int64_t t = 0;
      if constexpr (most == 8) {
        if (op.tokens == 8) return multiply_few<type, 8>(op, 0);
      }
      for (; t + 4 <= op.tokens; t += 4) multiply_few<type, 4>(op, t);
      for (; t + 2 <= op.tokens; t += 2) multiply_few<type, 2>(op, t);
      if (t < op.tokens) multiply_few<type, 1>(op, t);
      return;
    }
  }
  multiply_tokens<type>(op);
}

// How weights that are not in blocks are multiplied: `columns` of them at a time, for a vector of rows.
template <Type type>
struct FloatWeights {
  static constexpr int columns = 1;
  static constexpr int bytes = type == Type::f32 ? 4 : 2;
  using Input = float;
  using Weights = Floats;

  static const Input* row(const Activations& x, std::int64_t token) {
    return x.floats + token * x.floats_stride;
  }
  static Weights load(const std::byte* at, int part) {
    at += part * lanes * bytes;
    if constexpr (type == Type::f32) return load_floats(at);
    if constexpr (type == Type::f16) return load_f16(at);
    if constexpr (type == Type::bf16) return load_bf16(at);
  }
  static Floats add_product(Weights w, Input x, Floats sum) { return multiply_add(w, set_floats(x), sum); }
};

#if defined(__AVX512BF16__)

// Two columns at a time. The activations are rounded too: keeping their lower halves as a second product
// would cost as much as exact arithmetic.
template <>
struct FloatWeights<Type::bf16> {
  static constexpr int columns = 2;
  static constexpr int bytes = 2;
  using Input = int32_t;  // two bfloat16 values
  using Weights = __m512bh;

  static const Input* row(const Activations& x, std::int64_t token) {
    return reinterpret_cast<const Input*>(x.bfloat16 + token * x.bfloat16_stride);
  }
  static Weights interleave(Ints two_columns) {
    alignas(64) static constexpr int16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                      21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                      11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    return __builtin_bit_cast(Weights, _mm512_permutexvar_epi16(load_ints(order), two_columns));
  }
  static Weights load(const std::byte* at, int) { return interleave(load_ints(at)); }
  // A last column without a second one.
  static Weights load_one(const std::byte* at) { return interleave(_mm512_maskz_loadu_epi32(0x00ff, at)); }
  static Floats add_product(Weights w, Input x, Floats sum) {
    return _mm512_dpbf16_ps(sum, w, __builtin_bit_cast(Weights, set_ints(x)));
  }
};

#endif

// Tokens × 16 sums in registers over the columns [begin, end). Those of earlier columns are in y.
template <Type type, int Tokens>
void multiply_floats(const TileProduct& op, std::int64_t from, std::int64_t begin, std::int64_t end) {
  using W = FloatWeights<type>;
  const typename W::Input* x[Tokens];
  Floats sums[Tokens][parts];
  float* const y = op.y + from * tile_rows;
#pragma GCC unroll 16
  for (int t = 0; t < Tokens; ++t) {
    x[t] = W::row(op.x, op.index ? op.index[from + t] : op.first + from + t) + begin / W::columns;
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part)
      sums[t][part] = begin > 0 ? load_floats(y + t * tile_rows + part * lanes) : set_floats(0);
  }
  const std::byte* at = op.tile + begin * W::bytes * tile_rows;
  const std::int64_t steps = (end - begin) / W::columns;
  for (std::int64_t i = 0; i < steps; ++i, at += W::columns * W::bytes * tile_rows) {
    typename W::Weights w[parts];
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part) w[part] = W::load(at, part);
#pragma GCC unroll 16
    for (int t = 0; t < Tokens; ++t) {
      const typename W::Input input = x[t][i];
#pragma GCC unroll 4
      for (int part = 0; part < parts; ++part) sums[t][part] = W::add_product(w[part], input, sums[t][part]);
    }
  }
  if constexpr (W::columns == 2) {
    if ((end - begin) % 2 != 0) {
      const typename W::Weights w = W::load_one(at);
#pragma GCC unroll 16
      for (int t = 0; t < Tokens; ++t) sums[t][0] = W::add_product(w, x[t][steps], sums[t][0]);
    }
  }
#pragma GCC unroll 16
  for (int t = 0; t < Tokens; ++t) {
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part) store_floats(y + t * tile_rows + part * lanes, sums[t][part]);
  }
}

// Runs of columns whose weights stay in the first-level cache for all tokens. Each sum is formed in the order
// of the columns, however many tokens there are.
template <Type type>
void multiply_all_floats(const TileProduct& op) {
  constexpr int wide = lanes == 16 ? 12 : lanes == 8 ? 6 : 2;
  constexpr std::int64_t run = (16 << 10) / (tile_rows * FloatWeights<type>::bytes);
  const std::int64_t step = op.tokens > wide ? run : op.columns;
  for (std::int64_t begin = 0; begin < op.columns; begin += step) {
    const std::int64_t end = op.columns - begin < step ? op.columns : begin + step;
    std::int64_t t = 0;
    for (; t + wide <= op.tokens; t += wide) multiply_floats<type, wide>(op, t, begin, end);
    if constexpr (wide > 4) {
      for (; t + 4 <= op.tokens; t += 4) multiply_floats<type, 4>(op, t, begin, end);
    }
    for (; t + 2 <= op.tokens; t += 2) multiply_floats<type, 2>(op, t, begin, end);
    if (t < op.tokens) multiply_floats<type, 1>(op, t, begin, end);
  }
}

}  // namespace

ActivationForm activation_form(Type type) {
  switch (type) {
    case Type::f32:
    case Type::f16:
      return ActivationForm::floats;
    case Type::bf16:
      return FloatWeights<Type::bf16>::columns == 2 ? ActivationForm::bfloat16 : ActivationForm::floats;
    default:
      return ActivationForm::blocks;
  }
}

MultiplyTile multiply_tile(Type type) {
  switch (type) {
    case Type::f32:
      return multiply_all_floats<Type::f32>;
    case Type::f16:
      return multiply_all_floats<Type::f16>;
    case Type::bf16:
      return multiply_all_floats<Type::bf16>;
    case Type::q4_0:
      return multiply_blocks<Type::q4_0>;
    case Type::q4_1:
      return multiply_blocks<Type::q4_1>;
    case Type::q5_0:
      return multiply_blocks<Type::q5_0>;
    case Type::q5_1:
      return multiply_blocks<Type::q5_1>;
    case Type::q8_0:
      return multiply_blocks<Type::q8_0>;
    case Type::q2_k:
      return multiply_blocks<Type::q2_k>;
    case Type::q3_k:
      return multiply_blocks<Type::q3_k>;
    case Type::q4_k:
      return multiply_blocks<Type::q4_k>;
    case Type::q5_k:
      return multiply_blocks<Type::q5_k>;
    case Type::q6_k:
      return multiply_blocks<Type::q6_k>;
    case Type::iq4_nl:
      return multiply_blocks<Type::iq4_nl>;
    case Type::iq4_xs:
      return multiply_blocks<Type::iq4_xs>;
    case Type::mxfp4:
      return multiply_blocks<Type::mxfp4>;
    case Type::q4_f:
      return multiply_blocks<Type::q4_f>;
    case Type::q4_e:
      return multiply_blocks<Type::q4_e>;
    case Type::q3_f:
      return multiply_blocks<Type::q3_f>;
    case Type::q2_f:
      return multiply_blocks<Type::q2_f>;
  }
  return nullptr;
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
