// Functions of vectors that more than one operation needs: exponentials, sums, tails, transposition.
#pragma once

#include "kernels/cpu/simd.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

static inline Floats subtract(Floats a, Floats b) {
#if defined(__AVX512F__)
  return _mm512_sub_ps(a, b);
#elif defined(__AVX2__)
  return _mm256_sub_ps(a, b);
#else
  return a - b;
#endif
}

static inline float sum_of(Floats a) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps(a);
#elif defined(__AVX2__)
  __m128 v = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  v = _mm_add_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
#else
  return (a[0] + a[2]) + (a[1] + a[3]);
#endif
}

// `lanes` signed bytes.
static inline Ints load_s8(const void* p) {
#if defined(__AVX512F__)
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
#elif defined(__AVX2__)
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
#else
  int8_t v[lanes];
  memcpy(v, p, sizeof v);
  return Ints{v[0], v[1], v[2], v[3]};
#endif
}

// One f16.
static inline float half_at(const void* p) {
#if defined(__F16C__)
  uint16_t half;
  memcpy(&half, p, sizeof half);
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
#else
  uint16_t halves[lanes] = {};
  memcpy(halves, p, 2);
  return load_f16(halves)[0];
#endif
}

// The first `count` < lanes elements; the others are 0 and not read.
static inline Floats load_first(const float* p, std::int64_t count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1U), p);
#else
  float values[lanes] = {};
  for (std::int64_t i = 0; i < count; ++i) values[i] = p[i];
  return load_floats(values);
#endif
}

static inline void store_first(float* p, Floats a, std::int64_t count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << count) - 1U), a);
#else
  float values[lanes];
  store_floats(values, a);
  for (std::int64_t i = 0; i < count; ++i) p[i] = values[i];
#endif
}

// 2^a, to one unit in the last place; 0 below 2^-126, 2^127 at most.
static inline Floats exp2_of(Floats a) {
  // 2^a = 2^n · 2^f with n the nearest integer; the polynomial is fitted to 2^f on −½ … ½.
  const Floats x = smaller(larger(a, set_floats(-127)), set_floats(127));
  const Ints n = to_nearest(x);
  const Floats f = subtract(x, to_floats(n));
  Floats y = set_floats(1.546973217e-4F);
  y = multiply_add(y, f, set_floats(1.340043291e-3F));
  y = multiply_add(y, f, set_floats(9.618025273e-3F));
  y = multiply_add(y, f, set_floats(5.550327152e-2F));
  y = multiply_add(y, f, set_floats(2.402265072e-1F));
  y = multiply_add(y, f, set_floats(6.931471825e-1F));
  y = multiply_add(y, f, set_floats(1));
  // n = −127 makes an exponent field of 0: the product is zero.
  return multiply(y, as_floats(shift_left(add_ints(n, set_ints(127)), 23)));
}

// e^a for |a| below 88; flushed to 0 further down. The product with log2(e) is formed in two parts, so that
// its rounding does not grow with a.
static inline Floats exp_of(Floats a) {
  const Floats limited = smaller(larger(a, set_floats(-88)), set_floats(88));
  const Floats n = to_floats(to_nearest(multiply(limited, set_floats(1.44269504F))));
  // ln 2 = 0.693145751953125 (exact in few bits) + 1.42860677e-6
  Floats r = multiply_add(n, set_floats(-0.693145752F), limited);
  r = multiply_add(n, set_floats(-1.42860677e-6F), r);
  Floats y = set_floats(1.9841270e-4F);
  y = multiply_add(y, r, set_floats(1.3888889e-3F));
  y = multiply_add(y, r, set_floats(8.3333333e-3F));
  y = multiply_add(y, r, set_floats(4.1666667e-2F));
  y = multiply_add(y, r, set_floats(1.6666667e-1F));
  y = multiply_add(y, r, set_floats(0.5F));
  y = multiply_add(y, r, set_floats(1));
  y = multiply_add(y, r, set_floats(1));
  return multiply(y, as_floats(shift_left(add_ints(to_nearest(n), set_ints(127)), 23)));
}

// Some of a row's last elements, or a whole vector of them.
static inline Floats load_some(const float* x, std::int64_t count) {
  return count < lanes ? load_first(x, count) : load_floats(x);
}
static inline void store_some(float* x, Floats v, std::int64_t count) {
  count < lanes ? store_first(x, v, count) : store_floats(x, v);
}

static inline Floats sigmoid_of(Floats a) {
  return divide(set_floats(1), add_floats(set_floats(1), exp_of(subtract(set_floats(0), a))));
}

static inline Floats silu_of(Floats a) {
  return multiply(a, sigmoid_of(a));
}

// By its tanh: x σ(2 √(2/π) (x + 0.044715 x³)).
static inline Floats gelu_of(Floats a) {
  const Floats cube = multiply(multiply(a, a), a);
  const Floats z = multiply_add(cube, set_floats(0.044715F), a);
  return multiply(a, sigmoid_of(multiply(z, set_floats(1.59576912F))));
}

// rows[i] lane j becomes rows[j] lane i.
static inline void transpose(Floats (&rows)[lanes]) {
#if defined(__AVX512F__)
  Floats pairs[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 4) {
    const Floats a = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
    const Floats b = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
    const Floats c = _mm512_unpacklo_ps(rows[i + 2], rows[i + 3]);
    const Floats d = _mm512_unpackhi_ps(rows[i + 2], rows[i + 3]);
    pairs[i] = _mm512_shuffle_ps(a, c, 0x44);
    pairs[i + 1] = _mm512_shuffle_ps(a, c, 0xEE);
    pairs[i + 2] = _mm512_shuffle_ps(b, d, 0x44);
    pairs[i + 3] = _mm512_shuffle_ps(b, d, 0xEE);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i) {
    const Floats a = _mm512_shuffle_f32x4(pairs[i], pairs[i + 4], 0x88);
    const Floats b = _mm512_shuffle_f32x4(pairs[i], pairs[i + 4], 0xDD);
    const Floats c = _mm512_shuffle_f32x4(pairs[i + 8], pairs[i + 12], 0x88);
    const Floats d = _mm512_shuffle_f32x4(pairs[i + 8], pairs[i + 12], 0xDD);
    rows[i] = _mm512_shuffle_f32x4(a, c, 0x88);
    rows[i + 8] = _mm512_shuffle_f32x4(a, c, 0xDD);
    rows[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
    rows[i + 12] = _mm512_shuffle_f32x4(b, d, 0xDD);
  }
#elif defined(__AVX2__)
  Floats quads[8];
#pragma GCC unroll 16
  for (int i = 0; i < 8; i += 4) {
    const Floats a = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    const Floats b = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    const Floats c = _mm256_unpacklo_ps(rows[i + 2], rows[i + 3]);
    const Floats d = _mm256_unpackhi_ps(rows[i + 2], rows[i + 3]);
    quads[i] = _mm256_shuffle_ps(a, c, 0x44);
    quads[i + 1] = _mm256_shuffle_ps(a, c, 0xEE);
    quads[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
    quads[i + 3] = _mm256_shuffle_ps(b, d, 0xEE);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
    rows[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
  }
#else
  for (int i = 0; i < lanes; ++i) {
    for (int j = 0; j < i; ++j) {
      const float keep = rows[i][j];
      rows[i][j] = rows[j][i];
      rows[j][i] = keep;
    }
  }
#endif
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
