// The integer dot products of a block's weights with an activation block, for a vector of rows.
#pragma once

#include "kernels/cpu/blocks.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

#if defined(__AVX512VNNI__)

[[gnu::always_inline]] static inline Ints dot_lane(Ints sum, Ints w, Ints x) {
  return _mm512_dpbusd_epi32(sum, w, x);
}

#elif defined(__AVX512F__)

[[gnu::always_inline]] static inline Ints pair_products(Ints w, Ints x) {
  return _mm512_maddubs_epi16(w, x);
}
[[gnu::always_inline]] static inline Ints add_words(Ints a, Ints b) {
  return _mm512_add_epi16(a, b);
}
[[gnu::always_inline]] static inline Ints pair_sums(Ints words) {
  return _mm512_madd_epi16(words, _mm512_set1_epi16(1));
}
[[gnu::always_inline]] static inline Ints signed_products(Ints w, Ints x) {
  const Ints turned = _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(w), _mm512_setzero_si512(), x);
  return pair_products(_mm512_abs_epi8(w), turned);
}

#elif defined(__AVX2__)

[[gnu::always_inline]] static inline Ints pair_products(Ints w, Ints x) {
  return _mm256_maddubs_epi16(w, x);
}
[[gnu::always_inline]] static inline Ints add_words(Ints a, Ints b) {
  return _mm256_add_epi16(a, b);
}
[[gnu::always_inline]] static inline Ints pair_sums(Ints words) {
  return _mm256_madd_epi16(words, _mm256_set1_epi16(1));
}
[[gnu::always_inline]] static inline Ints signed_products(Ints w, Ints x) {
  return pair_products(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
}

#else

[[gnu::always_inline]] static inline Ints dot_lane(Ints sum, Ints w, Ints x) {
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) sum += byte_of(w, i) * signed_byte_of(x, i);
  return sum;
}

#endif

[[gnu::always_inline]] static inline Ints activation_bytes(const int8_t* x, int group) {
  return set_ints(load_int(x + 4 * group));
}

#if !defined(__AVX512VNNI__) && defined(__AVX2__)

// The 16-bit sums over groups First … End − 1.
template <int First, int End>
[[gnu::always_inline]] static inline Ints word_sums(const Ints* q, const int8_t* x) {
  const Ints words = pair_products(q[First], activation_bytes(x, First));
  if constexpr (First + 1 == End) {
    return words;
  } else {
    return add_words(words, word_sums<First + 1, End>(q, x));
  }
}

#endif

// start + Σ over groups First … End − 1.
template <typename B, int First, int End>
[[gnu::always_inline]] static inline Ints dot_groups(Ints start, const Ints* q, const int8_t* x) {
#if defined(__AVX512VNNI__) || !defined(__AVX2__)
  start = dot_lane(start, q[First], activation_bytes(x, First));
  constexpr int next = First + 1;
#else
  // As many groups as a signed 16-bit sum of byte products can hold.
  constexpr int fit = B::signed_weights ? 1 : 32767 / (2 * 127 * B::largest);
  static_assert(fit >= 1);
  constexpr int next = First + fit < End ? First + fit : End;
  if constexpr (B::signed_weights) {
    start = add_ints(start, pair_sums(signed_products(q[First], activation_bytes(x, First))));
  } else {
    start = add_ints(start, pair_sums(word_sums<First, next>(q, x)));
  }
#endif
  if constexpr (next < End) {
    return dot_groups<B, next, End>(start, q, x);
  } else {
    return start;
  }
}

[[gnu::always_inline]] static inline Ints first_value(int offset_bits, int32_t sum) {
  return offset_bits >= 0 ? shift_left(set_ints(-sum), offset_bits) : set_ints(0);
}

// y + the block's weights · x, for one token.
template <typename B>
[[gnu::always_inline]] static inline Floats add_product(const Unpacked<B::halves>& u,
                                                        const ActivationBlock& x, Floats y) {
  if constexpr (B::halves == 1) {
    const Ints dot = dot_groups<B, 0, 8>(first_value(B::offset_bits, x.sum), u.q, x.q);
    y = multiply_add(to_floats(dot), multiply(u.scale[0], set_floats(x.scale)), y);
    if constexpr (B::has_minimum) y = multiply_add(u.minimum[0], set_floats(x.scaled_sum), y);
  } else {
    const Ints first = dot_groups<B, 0, 4>(first_value(B::offset_bits, x.half_sum[0]), u.q, x.q);
    const Ints second = dot_groups<B, 4, 8>(first_value(B::offset_bits, x.half_sum[1]), u.q, x.q);
    const Floats scale = set_floats(x.scale);
    y = multiply_add(to_floats(first), multiply(u.scale[0], scale), y);
    y = multiply_add(to_floats(second), multiply(u.scale[1], scale), y);
    if constexpr (B::has_minimum) {
      y = multiply_add(u.minimum[0], set_floats(x.scaled_half_sum[0]), y);
      y = multiply_add(u.minimum[1], set_floats(x.scaled_half_sum[1]), y);
    }
  }
  return y;
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
