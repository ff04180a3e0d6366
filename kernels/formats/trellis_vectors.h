// Vectors of 16-bit numbers for trellis_viterbi.cpp. Functions have internal linkage, since the including
// source is compiled once for each instruction set.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace fovea::kernels::formats::FOVEA_FORMATS_SET {
namespace {

// 16-bit costs, added and subtracted with saturation.
#if defined(__AVX512BW__)
using Vector = __m512i;
Vector load(const int16_t* p) {
  return _mm512_load_si512(p);
}
void store(int16_t* p, Vector v) {
  _mm512_store_si512(p, v);
}
Vector repeat(int16_t v) {
  return _mm512_set1_epi16(v);
}
Vector plus(Vector a, Vector b) {
  return _mm512_adds_epi16(a, b);
}
Vector minus(Vector a, Vector b) {
  return _mm512_subs_epi16(a, b);
}
Vector smaller(Vector a, Vector b) {
  return _mm512_min_epi16(a, b);
}
Vector larger(Vector a, Vector b) {
  return _mm512_max_epi16(a, b);
}
// a · 2^n where that does not overflow.
Vector shifted(Vector a, int n) {
  return _mm512_sll_epi16(a, _mm_cvtsi32_si128(n));
}
// The upper halves of the products.
Vector high_product(Vector a, Vector b) {
  return _mm512_mulhi_epi16(a, b);
}
// a · b where that does not overflow.
Vector low_product(Vector a, Vector b) {
  return _mm512_mullo_epi16(a, b);
}
#elif defined(__AVX2__)
using Vector = __m256i;
Vector load(const int16_t* p) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
}
void store(int16_t* p, Vector v) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(p), v);
}
Vector repeat(int16_t v) {
  return _mm256_set1_epi16(v);
}
Vector plus(Vector a, Vector b) {
  return _mm256_adds_epi16(a, b);
}
Vector minus(Vector a, Vector b) {
  return _mm256_subs_epi16(a, b);
}
Vector smaller(Vector a, Vector b) {
  return _mm256_min_epi16(a, b);
}
Vector larger(Vector a, Vector b) {
  return _mm256_max_epi16(a, b);
}
// a · 2^n where that does not overflow.
Vector shifted(Vector a, int n) {
  return _mm256_sll_epi16(a, _mm_cvtsi32_si128(n));
}
// The upper halves of the products.
Vector high_product(Vector a, Vector b) {
  return _mm256_mulhi_epi16(a, b);
}
// a · b where that does not overflow.
Vector low_product(Vector a, Vector b) {
  return _mm256_mullo_epi16(a, b);
}
#elif defined(__SSE2__)
using Vector = __m128i;
Vector load(const int16_t* p) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(p));
}
void store(int16_t* p, Vector v) {
  _mm_store_si128(reinterpret_cast<__m128i*>(p), v);
}
Vector repeat(int16_t v) {
  return _mm_set1_epi16(v);
}
Vector plus(Vector a, Vector b) {
  return _mm_adds_epi16(a, b);
}
Vector minus(Vector a, Vector b) {
  return _mm_subs_epi16(a, b);
}
Vector smaller(Vector a, Vector b) {
  return _mm_min_epi16(a, b);
}
Vector larger(Vector a, Vector b) {
  return _mm_max_epi16(a, b);
}
Vector shifted(Vector a, int n) {
  return _mm_sll_epi16(a, _mm_cvtsi32_si128(n));
}
Vector high_product(Vector a, Vector b) {
  return _mm_mulhi_epi16(a, b);
}
Vector low_product(Vector a, Vector b) {
  return _mm_mullo_epi16(a, b);
}
#else
struct Vector {
  int16_t v[8];
};
int16_t saturated(int32_t v) {
  return static_cast<int16_t>(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
}
Vector load(const int16_t* p) {
  Vector v;
  memcpy(&v, p, sizeof v);
  return v;
}
void store(int16_t* p, Vector v) {
  memcpy(p, &v, sizeof v);
}
Vector repeat(int16_t v) {
  return {{v, v, v, v, v, v, v, v}};
}
Vector plus(Vector a, Vector b) {
  for (int i = 0; i < 8; ++i) a.v[i] = saturated(a.v[i] + b.v[i]);
  return a;
}
Vector minus(Vector a, Vector b) {
  for (int i = 0; i < 8; ++i) a.v[i] = saturated(a.v[i] - b.v[i]);
  return a;
}
Vector smaller(Vector a, Vector b) {
  for (int i = 0; i < 8; ++i) a.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i];
  return a;
}
Vector larger(Vector a, Vector b) {
  for (int i = 0; i < 8; ++i) a.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
  return a;
}
Vector shifted(Vector a, int n) {
  for (int i = 0; i < 8; ++i) a.v[i] = static_cast<int16_t>(a.v[i] * (1 << n));
  return a;
}
Vector high_product(Vector a, Vector b) {
  for (int i = 0; i < 8; ++i) a.v[i] = static_cast<int16_t>(a.v[i] * b.v[i] >> 16);
  return a;
}
Vector low_product(Vector a, Vector b) {
  for (int i = 0; i < 8; ++i) a.v[i] = static_cast<int16_t>(a.v[i] * b.v[i]);
  return a;
}
#endif

}  // namespace
}  // namespace fovea::kernels::formats::FOVEA_FORMATS_SET
