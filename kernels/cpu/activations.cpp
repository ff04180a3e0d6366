#include "kernels/cpu/numeric.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/vector_math.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

constexpr int block_parts = block_columns / lanes;

// e^x by 2^n · 2^f, the second factor a polynomial on |f| ≤ 1/2 (relative error below 3e-7).
Floats exponential(Floats x) {
  x = smaller(larger(x, set_floats(-87.0F)), set_floats(88.0F));
  const Floats scaled = multiply(x, set_floats(1.44269504F));
  const Ints whole = to_nearest(scaled);
  const Floats n = to_floats(whole);
  Floats r = multiply_add(n, set_floats(-0.693359375F), x);
  r = multiply_add(n, set_floats(2.12194440e-4F), r);
  Floats p = set_floats(1.0F / 5040);
  p = multiply_add(p, r, set_floats(1.0F / 720));
  p = multiply_add(p, r, set_floats(1.0F / 120));
  p = multiply_add(p, r, set_floats(1.0F / 24));
  p = multiply_add(p, r, set_floats(1.0F / 6));
  p = multiply_add(p, r, set_floats(0.5F));
  p = multiply_add(p, r, set_floats(1.0F));
  p = multiply_add(p, r, set_floats(1.0F));
  return multiply(p, as_floats(shift_left(add_ints(whole, set_ints(127)), 23)));
}

}  // namespace

void quantize_activations(const float* x, std::int64_t columns, ActivationBlock* blocks,
                          std::int64_t stride) {
  for (std::int64_t b = 0; b < columns / block_columns; ++b) {
    ActivationBlock& block = blocks[b * stride];
    Floats v[block_parts];
    Floats most = set_floats(0);
    for (int i = 0; i < block_parts; ++i) {
      v[i] = load_floats(x + b * block_columns + i * lanes);
      most = larger(magnitude_of(v[i]), most);
    }
    const float scale = largest(most) / 127;
    const Floats inverse = set_floats(scale > 0 ? 1 / scale : 0);
    Ints sums[2] = {set_ints(0), set_ints(0)};
    for (int i = 0; i < block_parts; ++i) {
      const Ints q = to_nearest(multiply(v[i], inverse));
      store_bytes(block.q + i * lanes, q);
      sums[i * 2 / block_parts] = add_ints(sums[i * 2 / block_parts], q);
    }
    block.scale = scale;
    for (int h = 0; h < 2; ++h) {
      block.half_sum[h] = sum_of(sums[h]);
      block.scaled_half_sum[h] = scale * static_cast<float>(block.half_sum[h]);
    }
    block.sum = block.half_sum[0] + block.half_sum[1];
    block.scaled_sum = scale * static_cast<float>(block.sum);
  }
}

#if defined(__AVX512BF16__)

void round_activations(const float* x, std::int64_t columns, std::uint16_t* bfloat16) {
  for (std::int64_t i = 0; i < columns; i += lanes) {
    const bool whole = i + lanes <= columns;
    const auto rounded = __builtin_bit_cast(
        __m256i, _mm512_cvtneps_pbh(whole ? load_floats(x + i) : load_first(x + i, columns - i)));
    const std::int64_t count = whole ? lanes : (columns - i + 1) / 2 * 2;
    _mm256_mask_storeu_epi16(bfloat16 + i, static_cast<__mmask16>((1U << count) - 1U), rounded);
  }
}

#endif

namespace {

// g σ(x)
Floats times_sigmoid(Floats g, Floats x) {
  return divide(g, add_floats(set_floats(1), exponential(subtract(set_floats(0), x))));
}

Floats activated(Activation activation, Floats g, Floats u) {
  switch (activation) {
    case Activation::gelu_tanh: {
      const Floats cube = multiply(multiply(g, g), g);
      const Floats z = multiply_add(cube, set_floats(0.044715F), g);
      return multiply(times_sigmoid(g, multiply(z, set_floats(1.59576912F))), u);  // 2 √(2/π)
    }
    case Activation::clamped_silu: {
      const Floats limit = set_floats(clamped_silu_limit);
      const Floats gate = smaller(g, limit);
      const Floats one_more =
          add_floats(larger(smaller(u, limit), set_floats(-clamped_silu_limit)), set_floats(1));
      return multiply(times_sigmoid(gate, multiply(gate, set_floats(clamped_silu_alpha))), one_more);
    }
    case Activation::silu:
      break;
  }
  return multiply(times_sigmoid(g, g), u);
}

}  // namespace

void gate_tile(Activation activation, float* gate, const float* up, std::int64_t tokens) {
  for (std::int64_t i = 0; i < tokens * tile_rows; i += lanes)
    store_floats(gate + i, activated(activation, load_floats(gate + i), load_floats(up + i)));
}

void scatter_tile(const TileScatter& op) {
  for (std::int64_t t = 0; t < op.tokens; ++t) {
    float* const out = op.out + op.index[t] * op.out_stride;
    const float* const y = op.y + t * tile_rows;
    if (op.count == tile_rows) {
      const Floats share = set_floats(op.shares[t]);
      for (int i = 0; i < tile_rows; i += lanes) {
        store_floats(out + i, multiply_add(share, load_floats(y + i), load_floats(out + i)));
      }
    } else {
      for (int i = 0; i < op.count; ++i) out[i] += op.shares[t] * y[i];
    }
  }
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
