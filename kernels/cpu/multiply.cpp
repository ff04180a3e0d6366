// The tile kernels: 16 rows of weights times the activations of any number of tokens.
#include "kernels/cpu/dot.h"
#include "kernels/cpu/numeric.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

constexpr int parts = tile_rows / lanes;

// Weights are read once, as fast as memory gives them. The processor's own prefetching follows a plain
// stream, but not the order in which the fields of a K-quant's block are used, and it stops at the end of a
// page.
constexpr std::int64_t prefetch_distance = 4096;

template <std::int64_t Bytes>
[[gnu::always_inline]] inline void prefetch(const std::byte* from) {
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < Bytes; i += 64) __builtin_prefetch(from + i);
}

// One token: the sums stay in registers, and the tile is read once, from its start to its end.
template <Type type>
void multiply_token(const TileProduct& op) {
  using B = Block<type>;
  constexpr int steps = B::elements / block_columns;
  const std::int64_t tokens = op.x.tokens;
  const std::int64_t blocks = op.columns / B::elements;
  const ActivationBlock* x = op.x.blocks + (op.index ? op.index[0] : op.first);
  const std::byte* tile = op.tile;
  const std::byte* const end = tile + blocks * B::bytes * tile_rows;
  Floats sums[parts];
  for (Floats& sum : sums) sum = set_floats(0);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::byte* ahead = tile + prefetch_distance;
    if (ahead >= end && op.next) ahead = op.next + (ahead - end);
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part) {
      const B block{TileBlock{tile, part}};
#pragma GCC unroll 8
      for (int s = 0; s < steps; ++s) {
        if (part == 0) prefetch<B::bytes * tile_rows / steps>(ahead + s * (B::bytes * tile_rows / steps));
        Unpacked<B::halves> u;
        block.unpack(s, u);
        sums[part] = add_product<B>(u, x[s * tokens], sums[part]);
      }
    }
    x += steps * tokens;
    tile += B::bytes * tile_rows;
  }
#pragma GCC unroll 4
  for (int part = 0; part < parts; ++part) store_floats(op.y + part * lanes, sums[part]);
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
// enough for the first-level cache. Each token's sum is formed in the same order as by multiply_token.
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

template <Type type>
void multiply_blocks(const TileProduct& op) {
  if (op.tokens == 1) return multiply_token<type>(op);
  multiply_tokens<type>(op);
}

template <Type type>
Floats load_weights(const std::byte* row_of_weights, int part) {
  if constexpr (type == Type::f32) return load_floats(row_of_weights + part * lanes * 4);
  if constexpr (type == Type::f16) return load_f16(row_of_weights + part * lanes * 2);
  if constexpr (type == Type::bf16) return load_bf16(row_of_weights + part * lanes * 2);
}

// Tokens × 16 sums in registers, one column at a time.
template <Type type, int Tokens>
void multiply_floats(const TileProduct& op, std::int64_t from) {
  constexpr std::int64_t bytes = tile_rows * (type == Type::f32 ? 4 : 2);
  const float* x[Tokens];
  for (int t = 0; t < Tokens; ++t) {
    x[t] = op.x.values + (op.index ? op.index[from + t] : op.first + from + t) * op.columns;
  }
  Floats sums[Tokens][parts];
  for (auto& row : sums) {
    for (Floats& sum : row) sum = set_floats(0);
  }
  for (std::int64_t k = 0; k < op.columns; ++k) {
    for (int part = 0; part < parts; ++part) {
      const Floats w = load_weights<type>(op.tile + k * bytes, part);
      for (int t = 0; t < Tokens; ++t) sums[t][part] = multiply_add(w, set_floats(x[t][k]), sums[t][part]);
    }
  }
  for (int t = 0; t < Tokens; ++t) {
    for (int part = 0; part < parts; ++part) {
      store_floats(op.y + (from + t) * tile_rows + part * lanes, sums[t][part]);
    }
  }
}

template <Type type>
void multiply_all_floats(const TileProduct& op) {
  constexpr int wide = lanes == 16 ? 12 : lanes == 8 ? 6 : 2;
  std::int64_t t = 0;
  for (; t + wide <= op.tokens; t += wide) multiply_floats<type, wide>(op, t);
  for (; t + 2 <= op.tokens; t += 2) multiply_floats<type, 2>(op, t);
  if (t < op.tokens) multiply_floats<type, 1>(op, t);
}

}  // namespace

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
  }
  return nullptr;
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
