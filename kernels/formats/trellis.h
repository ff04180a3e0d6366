// The trellis codes of Q4_F, Q4_E, Q3_F and Q2_F.
//
// The 32 weights of a block form a ring: ring position 8 b + g is column 4 g + b (b < 4, g < 8), so that
// neighbours in the ring stand in the same byte of consecutive groups of four columns. A weight's value
// depends on its own bits and on those of the weights that follow it in the ring, eight bits in all:
//
//   value[p] = first[i] + second[j] − 32, an integer from −32 to 31; weight = scale · value
//
//   Q4_F, Q4_E: i = n[p],                    j = n[p + 1]                 n: the 4 bits of each weight
//   Q3_F:       i = c[p] | c[p + 1] << 2,    j = h[p] | h[p + 1] << 1 | h[p + 2] << 2 | h[p + 3] << 3
//   Q2_F:       i = c[p] | c[p + 1] << 2,    j = c[p + 2] | c[p + 3] << 2     c: 2 bits, h: 1 bit
//
// A choice of bits for all weights is a closed path through a trellis, which the encoder finds with
// Viterbi's algorithm. The reachable values lie much closer together than 2^bits levels would, which is
// worth about 1 to 1.4 dB; the two small tables keep decoding at two byte shuffles and an addition. They
// were found by Lloyd's algorithm (encode, solve for the tables, repeat) on normal and Student-t values;
// those of Q4_E, which differs from Q4_F in nothing else, on values that do not gather around zero: uniform
// ones, ones of random sign and mantissa with one exponent, and grids of four bits with a scale for each
// block.
//
// The scale is one byte e: an unsigned float with 5 exponent bits and 3 mantissa bits,
// (8 + e % 8) · 2^(e / 8 − 28), and below e = 8 (subnormal) e · 2^-27; e = 0 is zero.
#pragma once

#include <cstdint>

namespace fovea::kernels::formats {

struct TrellisTables {
  std::uint8_t first[16];
  std::uint8_t second[16];
};

// Constants of internal linkage: sources compiled for one instruction set include them.
constexpr TrellisTables q4_f_tables = {{0, 8, 13, 21, 26, 40, 22, 32, 15, 18, 19, 17, 11, 5, 24, 29},
                                       {11, 20, 17, 15, 11, 17, 20, 7, 14, 0, 9, 12, 7, 13, 17, 13}};
constexpr TrellisTables q4_e_tables = {{1, 4, 9, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 51, 56, 59},
                                       {0, 4, 0, 4, 0, 4, 0, 0, 4, 0, 0, 4, 0, 4, 0, 4}};
constexpr TrellisTables q3_f_tables = {{26, 20, 12, 5, 16, 9, 27, 21, 0, 22, 8, 16, 21, 39, 16, 27},
                                       {9, 15, 10, 22, 17, 12, 15, 7, 0, 11, 21, 15, 11, 24, 19, 14}};
constexpr TrellisTables q2_f_tables = {{1, 13, 27, 23, 30, 11, 22, 43, 19, 28, 8, 20, 25, 33, 13, 18},
                                       {11, 14, 20, 2, 3, 0, 12, 10, 20, 7, 19, 16, 10, 17, 4, 10}};
constexpr int trellis_zero = 32;
constexpr float trellis_scale_unit = 0x1p102F;  // times the float whose bits are e << 20

}  // namespace fovea::kernels::formats
