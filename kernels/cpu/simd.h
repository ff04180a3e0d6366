// One vector of the instruction set that this file is compiled for: `lanes` floats, or as many 32-bit
// integers whose four bytes are also used on their own. Everything lies in the set's own namespace.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstddef>

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

// Of one 32-bit lane: acc + w0·x0 + w1·x1 + w2·x2 + w3·x3 over unsigned bytes w and signed bytes x, for every
// w. Without VNNI (and with more than the baseline) there is only a 16-bit sum that saturates: dot_bytes() in
// dot.h works around it.
#if defined(__AVX512VNNI__) || !defined(__AVX2__)
constexpr bool full_byte_dot = true;
#else
constexpr bool full_byte_dot = false;
#endif

#if defined(__AVX512F__)

constexpr int lanes = 16;
using Floats = __m512;
using Ints = __m512i;

static inline Ints load_ints(const void* p) {
  return _mm512_loadu_si512(p);
}
static inline Ints set_ints(int32_t v) {
  return _mm512_set1_epi32(v);
}
static inline Ints bits_and(Ints a, Ints b) {
  return _mm512_and_si512(a, b);
}
static inline Ints bits_or(Ints a, Ints b) {
  return _mm512_or_si512(a, b);
}
static inline Ints bits_xor(Ints a, Ints b) {
  return _mm512_xor_si512(a, b);
}
static inline Ints add_ints(Ints a, Ints b) {
  return _mm512_add_epi32(a, b);
}
static inline Ints shift_left(Ints a, int n) {
  return _mm512_slli_epi32(a, static_cast<unsigned>(n));
}
static inline Ints shift_right(Ints a, int n) {
  return _mm512_srli_epi32(a, static_cast<unsigned>(n));
}
static inline Ints shift_right_signed(Ints a, int n) {
  return _mm512_srai_epi32(a, static_cast<unsigned>(n));
}
static inline Ints load_u16(const void* p) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
static inline Ints load_u8(const void* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
// Byte i of the result is table[byte i of index]; every byte of index is below 16.
static inline Ints lookup(const int8_t* table, Ints index) {
  const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(entries), index);
}
// In every 32-bit lane, byte i of the result is byte (i + 1) % 4.
static inline Ints next_bytes(Ints a) {
  return _mm512_ror_epi32(a, 8);
}
static inline Floats load_floats(const void* p) {
  return _mm512_loadu_ps(p);
}
static inline void store_floats(void* p, Floats v) {
  _mm512_storeu_ps(p, v);
}
static inline void store_ints(void* p, Ints v) {
  _mm512_storeu_si512(p, v);
}
static inline Floats set_floats(float v) {
  return _mm512_set1_ps(v);
}
static inline Floats load_f16(const void* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
static inline Floats to_floats(Ints a) {
  return _mm512_cvtepi32_ps(a);
}
static inline Ints to_nearest(Floats a) {
  return _mm512_cvtps_epi32(a);
}
static inline Floats as_floats(Ints a) {
  return _mm512_castsi512_ps(a);
}
static inline Ints as_ints(Floats a) {
  return _mm512_castps_si512(a);
}
static inline Floats multiply(Floats a, Floats b) {
  return _mm512_mul_ps(a, b);
}
static inline Floats add_floats(Floats a, Floats b) {
  return _mm512_add_ps(a, b);
}
static inline Floats divide(Floats a, Floats b) {
  return _mm512_div_ps(a, b);
}
static inline Floats smaller(Floats a, Floats b) {
  return _mm512_min_ps(a, b);
}
static inline Floats larger(Floats a, Floats b) {
  return _mm512_max_ps(a, b);
}
static inline Floats multiply_add(Floats a, Floats b, Floats c) {
  return _mm512_fmadd_ps(a, b, c);
}
static inline float largest(Floats a) {
  return _mm512_reduce_max_ps(a);
}
static inline int32_t sum_of(Ints a) {
  return _mm512_reduce_add_epi32(a);
}
// The lanes, each within −128 … 127, as bytes.
static inline void store_bytes(int8_t* p, Ints v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v));
}

#elif defined(__AVX2__)

constexpr int lanes = 8;
using Floats = __m256;
using Ints = __m256i;

static inline Ints load_ints(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
static inline Ints set_ints(int32_t v) {
  return _mm256_set1_epi32(v);
}
static inline Ints bits_and(Ints a, Ints b) {
  return _mm256_and_si256(a, b);
}
static inline Ints bits_or(Ints a, Ints b) {
  return _mm256_or_si256(a, b);
}
static inline Ints bits_xor(Ints a, Ints b) {
  return _mm256_xor_si256(a, b);
}
static inline Ints add_ints(Ints a, Ints b) {
  return _mm256_add_epi32(a, b);
}
static inline Ints shift_left(Ints a, int n) {
  return _mm256_slli_epi32(a, n);
}
static inline Ints shift_right(Ints a, int n) {
  return _mm256_srli_epi32(a, n);
}
static inline Ints shift_right_signed(Ints a, int n) {
  return _mm256_srai_epi32(a, n);
}
static inline Ints load_u16(const void* p) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
static inline Ints load_u8(const void* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
}
static inline Ints lookup(const int8_t* table, Ints index) {
  const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(entries), index);
}
static inline Ints next_bytes(Ints a) {
  return _mm256_shuffle_epi8(a, _mm256_set_epi8(12, 15, 14, 13, 8, 11, 10, 9, 4, 7, 6, 5, 0, 3, 2, 1, 12, 15,
                                                14, 13, 8, 11, 10, 9, 4, 7, 6, 5, 0, 3, 2, 1));
}
static inline Floats load_floats(const void* p) {
  return _mm256_loadu_ps(static_cast<const float*>(p));
}
static inline void store_floats(void* p, Floats v) {
  _mm256_storeu_ps(static_cast<float*>(p), v);
}
static inline void store_ints(void* p, Ints v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), v);
}
static inline Floats set_floats(float v) {
  return _mm256_set1_ps(v);
}
static inline Floats load_f16(const void* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
static inline Floats to_floats(Ints a) {
  return _mm256_cvtepi32_ps(a);
}
static inline Ints to_nearest(Floats a) {
  return _mm256_cvtps_epi32(a);
}
static inline Floats as_floats(Ints a) {
  return _mm256_castsi256_ps(a);
}
static inline Ints as_ints(Floats a) {
  return _mm256_castps_si256(a);
}
static inline Floats multiply(Floats a, Floats b) {
  return _mm256_mul_ps(a, b);
}
static inline Floats add_floats(Floats a, Floats b) {
  return _mm256_add_ps(a, b);
}
static inline Floats divide(Floats a, Floats b) {
  return _mm256_div_ps(a, b);
}
static inline Floats smaller(Floats a, Floats b) {
  return _mm256_min_ps(a, b);
}
static inline Floats larger(Floats a, Floats b) {
  return _mm256_max_ps(a, b);
}
static inline Floats multiply_add(Floats a, Floats b, Floats c) {
  return _mm256_fmadd_ps(a, b, c);
}
static inline float largest(Floats a) {
  __m128 v = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  v = _mm_max_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}
static inline int32_t sum_of(Ints a) {
  __m128i v = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1)));
}
static inline void store_bytes(int8_t* p, Ints v) {
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
}

#else

// The baseline: the compiler's own vectors, four lanes wide.
constexpr int lanes = 4;
typedef float Floats __attribute__((vector_size(16)));
typedef int32_t Ints __attribute__((vector_size(16)));
typedef uint32_t Unsigned __attribute__((vector_size(16)));

static inline Ints load_ints(const void* p) {
  Ints v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline Ints set_ints(int32_t v) {
  return Ints{v, v, v, v};
}
static inline Ints bits_and(Ints a, Ints b) {
  return a & b;
}
static inline Ints bits_or(Ints a, Ints b) {
  return a | b;
}
static inline Ints bits_xor(Ints a, Ints b) {
  return a ^ b;
}
static inline Ints add_ints(Ints a, Ints b) {
  return a + b;
}
static inline Ints shift_left(Ints a, int n) {
  return reinterpret_cast<Ints>(reinterpret_cast<Unsigned>(a) << n);
}
static inline Ints shift_right(Ints a, int n) {
  return reinterpret_cast<Ints>(reinterpret_cast<Unsigned>(a) >> n);
}
static inline Ints shift_right_signed(Ints a, int n) {
  return a >> n;
}
static inline Ints load_u16(const void* p) {
  uint16_t v[4];
  memcpy(v, p, sizeof v);
  return Ints{v[0], v[1], v[2], v[3]};
}
static inline Ints load_u8(const void* p) {
  uint8_t v[4];
  memcpy(v, p, sizeof v);
  return Ints{v[0], v[1], v[2], v[3]};
}
static inline Ints lookup(const int8_t* table, Ints index) {
  uint8_t bytes[16];
  memcpy(bytes, &index, sizeof bytes);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(table[byte]);
  return load_ints(bytes);
}
static inline Ints next_bytes(Ints a) {
  return shift_right(a, 8) | shift_left(a, 24);
}
static inline Floats load_floats(const void* p) {
  Floats v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void store_floats(void* p, Floats v) {
  memcpy(p, &v, sizeof v);
}
static inline void store_ints(void* p, Ints v) {
  memcpy(p, &v, sizeof v);
}
static inline Floats set_floats(float v) {
  return Floats{v, v, v, v};
}
static inline Floats to_floats(Ints a) {
  return __builtin_convertvector(a, Floats);
}
static inline Ints to_nearest(Floats a) {
  // Adding and taking away 1.5 · 2^23 rounds to the nearest, ties to even, for |a| < 2^22.
  const Floats magic = set_floats(12582912.0F);
  return __builtin_convertvector((a + magic) - magic, Ints);
}
static inline Floats as_floats(Ints a) {
  return reinterpret_cast<Floats>(a);
}
static inline Ints as_ints(Floats a) {
  return reinterpret_cast<Ints>(a);
}
static inline Floats multiply(Floats a, Floats b) {
  return a * b;
}
static inline Floats add_floats(Floats a, Floats b) {
  return a + b;
}
static inline Floats divide(Floats a, Floats b) {
  return a / b;
}
static inline Floats smaller(Floats a, Floats b) {
  return a < b ? a : b;
}
static inline Floats larger(Floats a, Floats b) {
  return a > b ? a : b;
}
static inline Floats multiply_add(Floats a, Floats b, Floats c) {
  return a * b + c;
}
static inline Floats load_f16(const void* p) {
  // Shifted into place, a half is a float whose exponent is 112 too small; the product repairs it, subnormal
  // halves included. Infinities and NaN get the largest exponent back.
  const Ints half = load_u16(p);
  const Ints magnitude = shift_left(half & 0x7fff, 13);
  const Floats scaled = as_floats(magnitude) * as_floats(set_ints(0x77800000));
  const Ints special = (half & 0x7c00) == 0x7c00;
  return as_floats(as_ints(scaled) | (special & 0x7f800000) | shift_left(half & 0x8000, 16));
}
static inline float largest(Floats a) {
  float most = a[0];
  for (int i = 1; i < lanes; ++i) most = a[i] > most ? a[i] : most;
  return most;
}
static inline int32_t sum_of(Ints a) {
  return a[0] + a[1] + a[2] + a[3];
}
static inline void store_bytes(int8_t* p, Ints v) {
  for (int i = 0; i < lanes; ++i) p[i] = static_cast<int8_t>(v[i]);
}

#endif

static inline Floats magnitude_of(Floats a) {
  return as_floats(bits_and(as_ints(a), set_ints(0x7fffffff)));
}

// All of memory's bfloat16 values are the upper halves of floats.
static inline Floats load_bf16(const void* p) {
  return as_floats(shift_left(load_u16(p), 16));
}

static inline int32_t load_int(const void* p) {
  int32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
