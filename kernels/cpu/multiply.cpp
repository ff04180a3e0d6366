// The tile kernels: 16 rows of weights times the activations of any number of tokens.
#include "kernels/cpu/dot.h"
#include "kernels/cpu/numeric.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

constexpr int parts = tile_rows / lanes;

// The integer kernel. The weights are unpacked once for all tokens; the sums of many tokens stay in y, which
// the caller keeps small enough for the first-level cache. Every token's sum is formed in the same order,
// whatever the number of tokens and threads.
template <Type type>
void multiply_blocks(const TileProduct& op) {
  using B = Block<type>;
  const std::int64_t blocks = op.columns / B::elements;
  constexpr int steps = B::elements / block_columns;
  for (int part = 0; part < parts; ++part) {
    float* const y = op.y + part * lanes;
    Floats only = set_floats(0);
    for (std::int64_t t = 0; t < op.tokens; ++t) store_floats(y + t * tile_rows, only);
    for (std::int64_t b = 0; b < blocks; ++b) {
      const B block{TileBlock{op.tile + b * B::bytes * tile_rows, part}};
      for (int s = 0; s < steps; ++s) {
        Unpacked<B::halves> u;
        block.unpack(s, u);
        const ActivationBlock* const x = op.x.blocks + (b * steps + s) * op.x.tokens + op.first;
        if (op.tokens == 1) {
          only = add_product<B>(u, x[op.index ? op.index[0] : 0], only);
        } else if (op.index) {
          for (std::int64_t t = 0; t < op.tokens; ++t) {
            float* const sum = y + t * tile_rows;
            store_floats(sum, add_product<B>(u, x[op.index[t]], load_floats(sum)));
          }
        } else {
          for (std::int64_t t = 0; t < op.tokens; ++t) {
            float* const sum = y + t * tile_rows;
            store_floats(sum, add_product<B>(u, x[t], load_floats(sum)));
          }
        }
      }
    }
    if (op.tokens == 1) store_floats(y, only);
  }
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
