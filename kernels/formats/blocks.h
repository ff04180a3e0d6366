// Block layouts of the quantised types as they lie in a file. Plain structs without functions, so that
// sources compiled for one instruction set may include them.
//
// In every type of 32 elements with 4-bit codes, the low nibble of qs[i] is element i and the high nibble
// element i + 16; "d" is the block's scale as f16 bits and "m" its minimum.
#pragma once

#include <cstdint>

#include "kernels/api/types.h"

namespace fovea::kernels::formats {

// 4.5 bits: x = d · (q − 8)
struct BlockQ4_0 {
  std::uint16_t d;
  std::uint8_t qs[16];
};

// 5 bits: x = d · q + m
struct BlockQ4_1 {
  std::uint16_t d;
  std::uint16_t m;
  std::uint8_t qs[16];
};

// 5.5 bits: x = d · (q − 16); bit i of qh is the fifth bit of element i
struct BlockQ5_0 {
  std::uint16_t d;
  std::uint8_t qh[4];
  std::uint8_t qs[16];
};

// 6 bits: x = d · q + m
struct BlockQ5_1 {
  std::uint16_t d;
  std::uint16_t m;
  std::uint8_t qh[4];
  std::uint8_t qs[16];
};

// 8.5 bits: x = d · q
struct BlockQ8_0 {
  std::uint16_t d;
  std::int8_t qs[32];
};

// 2.625 bits: 16 groups of 16, x = d · (scale & 15) · q − dmin · (scale >> 4).
// Each half of 128 elements takes 32 bytes: bits 2j and 2j + 1 of byte i are element 32j + i of the half.
struct BlockQ2_K {
  std::uint8_t scales[16];
  std::uint8_t qs[64];
  std::uint16_t d;
  std::uint16_t dmin;
};

// 3.4375 bits: 16 groups of 16, x = d · (scale − 32) · (q − 4), q's high bit in hmask.
// qs as in Q2_K; bit j of hmask[i] is the high bit of element 32j + i. scales: 16 × 6 bits.
struct BlockQ3_K {
  std::uint8_t hmask[32];
  std::uint8_t qs[64];
  std::uint8_t scales[12];
  std::uint16_t d;
};

// 4.5 bits: 8 groups of 32, x = d · scale · q − dmin · min; scales: 8 × (6 + 6) bits.
// Each 64 elements take 32 bytes: low nibbles the first 32, high nibbles the others.
struct BlockQ4_K {
  std::uint16_t d;
  std::uint16_t dmin;
  std::uint8_t scales[12];
  std::uint8_t qs[128];
};

// 5.5 bits: as Q4_K; bit j of qh[i] is the fifth bit of element 32j + i.
struct BlockQ5_K {
  std::uint16_t d;
  std::uint16_t dmin;
  std::uint8_t scales[12];
  std::uint8_t qh[32];
  std::uint8_t qs[128];
};

// 6.5625 bits: 16 groups of 16, x = d · scale · (q − 32).
// Each half of 128 elements takes 64 bytes of ql (nibbles: low for the first 64 elements, high for the
// others) and 32 bytes of qh (bits 2j and 2j + 1 of byte i belong to element 32j + i of the half).
struct BlockQ6_K {
  std::uint8_t ql[128];
  std::uint8_t qh[64];
  std::int8_t scales[16];
  std::uint16_t d;
};

// 4.5 bits: x = d · iq4_values[q]
struct BlockIq4_Nl {
  std::uint16_t d;
  std::uint8_t qs[16];
};

// 4.25 bits: 8 groups of 32, x = d · (scale − 32) · iq4_values[q]; scale: 4 bits in scales_l, 2 in scales_h.
struct BlockIq4_Xs {
  std::uint16_t d;
  std::uint16_t scales_h;
  std::uint8_t scales_l[4];
  std::uint8_t qs[128];
};

// 4.25 bits: x = 2^(e − 128) · mxfp4_values[q]
struct BlockMxfp4 {
  std::uint8_t e;
  std::uint8_t qs[16];
};

// 4.25, 3.25 and 2.25 bits: trellis codes, see trellis.h. e is the scale.
struct BlockQ4_F {
  std::uint8_t e;
  std::uint8_t qs[16];  // low nibble of qs[i]: column i, high nibble: column i + 16
};
struct BlockQ4_E : BlockQ4_F {};
struct BlockQ3_F {
  std::uint8_t e;
  std::uint8_t qs[8];  // bits 2 (g % 4) and 2 (g % 4) + 1 of qs[4 (g / 4) + b]: column 4 g + b
  std::uint8_t qh[4];  // bit g of qh[b]: column 4 g + b
};
struct BlockQ2_F {
  std::uint8_t e;
  std::uint8_t qs[8];  // as in Q3_F
};

inline constexpr std::int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
// Twice the e2m1 values, so that they are integers.
inline constexpr std::int8_t mxfp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static_assert(sizeof(BlockQ4_0) == block_shape(Type::q4_0).bytes && bits_per_weight(Type::q4_0) == 4.5);
static_assert(sizeof(BlockQ4_1) == block_shape(Type::q4_1).bytes && bits_per_weight(Type::q4_1) == 5);
static_assert(sizeof(BlockQ5_0) == block_shape(Type::q5_0).bytes && bits_per_weight(Type::q5_0) == 5.5);
static_assert(sizeof(BlockQ5_1) == block_shape(Type::q5_1).bytes && bits_per_weight(Type::q5_1) == 6);
static_assert(sizeof(BlockQ8_0) == block_shape(Type::q8_0).bytes && bits_per_weight(Type::q8_0) == 8.5);
static_assert(sizeof(BlockQ2_K) == block_shape(Type::q2_k).bytes && bits_per_weight(Type::q2_k) == 2.625);
static_assert(sizeof(BlockQ3_K) == block_shape(Type::q3_k).bytes && bits_per_weight(Type::q3_k) == 3.4375);
static_assert(sizeof(BlockQ4_K) == block_shape(Type::q4_k).bytes && bits_per_weight(Type::q4_k) == 4.5);
static_assert(sizeof(BlockQ5_K) == block_shape(Type::q5_k).bytes && bits_per_weight(Type::q5_k) == 5.5);
static_assert(sizeof(BlockQ6_K) == block_shape(Type::q6_k).bytes && bits_per_weight(Type::q6_k) == 6.5625);
static_assert(sizeof(BlockIq4_Nl) == block_shape(Type::iq4_nl).bytes && bits_per_weight(Type::iq4_nl) == 4.5);
static_assert(sizeof(BlockIq4_Xs) == block_shape(Type::iq4_xs).bytes &&
              bits_per_weight(Type::iq4_xs) == 4.25);
static_assert(sizeof(BlockMxfp4) == block_shape(Type::mxfp4).bytes && bits_per_weight(Type::mxfp4) == 4.25);
static_assert(sizeof(BlockQ4_F) == block_shape(Type::q4_f).bytes && bits_per_weight(Type::q4_f) == 4.25);
static_assert(sizeof(BlockQ4_E) == block_shape(Type::q4_e).bytes && bits_per_weight(Type::q4_e) == 4.25);
static_assert(sizeof(BlockQ3_F) == block_shape(Type::q3_f).bytes && bits_per_weight(Type::q3_f) == 3.25);
static_assert(sizeof(BlockQ2_F) == block_shape(Type::q2_f).bytes && bits_per_weight(Type::q2_f) == 2.25);

}  // namespace fovea::kernels::formats
