// How a tile block of each quantised type becomes vectors of small unsigned weights, scales and minimums.
//
// Each type is a struct with
//   elements, bytes   of the file's block
//   halves            scales for each 32 columns: 1, or 2 when they change every 16 columns
//   has_minimum       weight = scale · q + minimum (else scale · (q − 2^offset_bits), offset_bits ≥ 0)
//   largest           the largest q; 255 means: any byte
//   signed_weights    q are signed bytes (only where the set has no full byte dot product)
// and is made from a tile block and a part of its rows (part · lanes …). unpack(s, u) gives columns
// 32 s … 32 s + 31. Layouts inside a block are those of GGUF.
#pragma once

#include "kernels/cpu/simd.h"
#include "kernels/cpu/tiles.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

template <int Halves>
struct Unpacked {
  Ints q[8];  // q[g]: columns 4 g … 4 g + 3 of each row
  Floats scale[Halves];
  Floats minimum[Halves];
};

constexpr int row_of_ints = tile_rows * 4;  // bytes of one interleaved 32-bit field

// One part of a tile block.
struct TileBlock {
  const std::byte* base;
  int part;

  Ints ints(int offset, int i = 0) const {
    return load_ints(base + offset + i * row_of_ints + part * lanes * 4);
  }
  Floats f16(int offset) const { return load_f16(base + offset + part * lanes * 2); }
  Ints u16(int offset) const { return load_u16(base + offset + part * lanes * 2); }
  Ints u8(int offset) const { return load_u8(base + offset + part * lanes); }
};

static inline Ints nibbles(Ints v, int shift) {
  return bits_and(shift_right(v, shift), set_ints(0x0f0f0f0f));
}
static inline Ints byte_of(Ints v, int i) {
  return bits_and(shift_right(v, 8 * i), set_ints(0xff));
}
static inline Ints signed_byte_of(Ints v, int i) {
  return shift_right_signed(shift_left(v, 24 - 8 * i), 24);
}

// 16 bytes for each row whose low nibbles are columns 0 … 15 and whose high nibbles columns 16 … 31.
static inline void unpack_nibbles(const TileBlock& block, int offset, Ints* q) {
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) {
    const Ints v = block.ints(offset, i);
    q[i] = nibbles(v, 0);
    q[4 + i] = nibbles(v, 4);
  }
}
// Bit g of each byte becomes bit 4 of the bytes of q[g].
static inline void add_fifth_bits(Ints bits, Ints* q) {
#pragma GCC unroll 8
  for (int g = 0; g < 8; ++g) {
    q[g] = bits_or(
        q[g], bits_and(g < 4 ? shift_left(bits, 4 - g) : shift_right(bits, g - 4), set_ints(0x10101010)));
  }
}

template <Type>
struct Block;

struct Block32 {
  static constexpr int elements = 32;
  static constexpr int halves = 1;
  static constexpr bool has_minimum = false;
  static constexpr bool signed_weights = false;
  static constexpr int offset_bits = -1;
  TileBlock block;
};

template <>
struct Block<Type::q4_0> : Block32 {
  static constexpr int bytes = 18, offset_bits = 3, largest = 15;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = block.f16(0);
    unpack_nibbles(block, 32, u.q);
  }
};

template <>
struct Block<Type::q4_1> : Block32 {
  static constexpr int bytes = 20, largest = 15;
  static constexpr bool has_minimum = true;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = block.f16(0);
    u.minimum[0] = block.f16(32);
    unpack_nibbles(block, 64, u.q);
  }
};

template <>
struct Block<Type::q5_0> : Block32 {
  static constexpr int bytes = 22, offset_bits = 4, largest = 31;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = block.f16(0);
    unpack_nibbles(block, 96, u.q);
    add_fifth_bits(block.ints(32), u.q);
  }
};

template <>
struct Block<Type::q5_1> : Block32 {
  static constexpr int bytes = 24, largest = 31;
  static constexpr bool has_minimum = true;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = block.f16(0);
    u.minimum[0] = block.f16(32);
    unpack_nibbles(block, 128, u.q);
    add_fifth_bits(block.ints(64), u.q);
  }
};

template <>
struct Block<Type::q8_0> : Block32 {
  static constexpr int bytes = 34, largest = 255;
  static constexpr int offset_bits = full_byte_dot ? 7 : -1;
  static constexpr bool signed_weights = !full_byte_dot;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = block.f16(0);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const Ints v = block.ints(32, i);
      u.q[i] = full_byte_dot ? v : bits_xor(v, set_ints(static_cast<int32_t>(0x80808080U)));
    }
  }
};

// The sixteen values of IQ4_NL and IQ4_XS, and the same plus 128.
static constexpr int8_t nonlinear_signed[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                1,    13,   25,  38,  53,  69,  89,  113};
static constexpr uint8_t nonlinear_unsigned[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                                   129, 141, 153, 166, 181, 197, 217, 241};

static inline void look_up_nonlinear(Ints* q) {
  const int8_t* const table =
      full_byte_dot ? reinterpret_cast<const int8_t*>(nonlinear_unsigned) : nonlinear_signed;
#pragma GCC unroll 8
  for (int g = 0; g < 8; ++g) q[g] = lookup(table, q[g]);
}

template <>
struct Block<Type::iq4_nl> : Block32 {
  static constexpr int bytes = 18, largest = 255;
  static constexpr int offset_bits = full_byte_dot ? 7 : -1;
  static constexpr bool signed_weights = !full_byte_dot;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = block.f16(0);
    unpack_nibbles(block, 32, u.q);
    look_up_nonlinear(u.q);
  }
};

// Twice FP4's values, plus 16.
static constexpr int8_t fp4_shifted[16] = {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};

template <>
struct Block<Type::mxfp4> : Block32 {
  static constexpr int bytes = 17, offset_bits = 4, largest = 28;
  void unpack(int, Unpacked<1>& u) const {
    // 2^(e − 128), the exponent's scale halved because the table holds doubled values; below 2^-126 the float
    // is subnormal: 2^-127 for e = 1, 2^-128 for e = 0.
    const Ints e = block.u8(0);
    const Ints normal = shift_left(add_ints(e, set_ints(-1)), 23);
    const Ints is_tiny = shift_right_signed(add_ints(e, set_ints(-2)), 31);  // all ones for e < 2
    const Ints tiny = shift_left(add_ints(e, set_ints(1)), 21);
    u.scale[0] =
        as_floats(bits_or(bits_and(is_tiny, tiny), bits_and(bits_xor(is_tiny, set_ints(-1)), normal)));
    unpack_nibbles(block, 16, u.q);
#pragma GCC unroll 8
    for (int g = 0; g < 8; ++g) u.q[g] = lookup(fp4_shifted, u.q[g]);
  }
};

struct Block256 {
  static constexpr int elements = 256;
  static constexpr int halves = 1;
  static constexpr bool has_minimum = false;
  static constexpr bool signed_weights = false;
  static constexpr int offset_bits = -1;
};

// The 6-bit scales and minimums of Q4_K and Q5_K: eight each in 12 bytes.
struct PackedScales {
  Ints words[3];
  Ints scale(int s) const {
    if (s < 4) return bits_and(shift_right(words[0], 8 * s), set_ints(0x3f));
    const int shift = 8 * (s - 4);
    return bits_or(bits_and(shift_right(words[2], shift), set_ints(0x0f)),
                   bits_and(shift_right(words[0], shift + 2), set_ints(0x30)));
  }
  Ints minimum(int s) const {
    if (s < 4) return bits_and(shift_right(words[1], 8 * s), set_ints(0x3f));
    const int shift = 8 * (s - 4);
    return bits_or(bits_and(shift_right(words[2], shift + 4), set_ints(0x0f)),
                   bits_and(shift_right(words[1], shift + 2), set_ints(0x30)));
  }
};

template <>
struct Block<Type::q4_k> : Block256 {
  static constexpr int bytes = 144, largest = 15;
  static constexpr bool has_minimum = true;
  TileBlock block;
  Floats d, d_minimum;
  PackedScales scales;

  explicit Block(TileBlock b)
      : block(b), d(b.f16(0)), d_minimum(b.f16(32)), scales{{b.ints(64, 0), b.ints(64, 1), b.ints(64, 2)}} {}
  void unpack(int s, Unpacked<1>& u) const {
    u.scale[0] = multiply(d, to_floats(scales.scale(s)));
    u.minimum[0] = multiply(multiply(d_minimum, set_floats(-1)), to_floats(scales.minimum(s)));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) u.q[i] = nibbles(block.ints(256, s / 2 * 8 + i), s % 2 * 4);
  }
};

template <>
struct Block<Type::q5_k> : Block256 {
  static constexpr int bytes = 176, largest = 31;
  static constexpr bool has_minimum = true;
  TileBlock block;
  Floats d, d_minimum;
  PackedScales scales;

  explicit Block(TileBlock b)
      : block(b), d(b.f16(0)), d_minimum(b.f16(32)), scales{{b.ints(64, 0), b.ints(64, 1), b.ints(64, 2)}} {}
  void unpack(int s, Unpacked<1>& u) const {
    u.scale[0] = multiply(d, to_floats(scales.scale(s)));
    u.minimum[0] = multiply(multiply(d_minimum, set_floats(-1)), to_floats(scales.minimum(s)));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const Ints high = bits_and(shift_right(block.ints(256, i), s), set_ints(0x01010101));
      u.q[i] = bits_or(nibbles(block.ints(768, s / 2 * 8 + i), s % 2 * 4), shift_left(high, 4));
    }
  }
};

template <>
struct Block<Type::q6_k> : Block256 {
  static constexpr int bytes = 210, halves = 2, offset_bits = 5, largest = 63;
  TileBlock block;
  Floats d;

  explicit Block(TileBlock b) : block(b), d(b.f16(0)) {}
  void unpack(int s, Unpacked<2>& u) const {
    const int half = s / 4;
    const int quarter = s % 4;
    const Ints word = block.ints(32, s / 2);
#pragma GCC unroll 8
    for (int h = 0; h < 2; ++h) u.scale[h] = multiply(d, to_floats(signed_byte_of(word, s % 2 * 2 + h)));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const Ints high =
          bits_and(shift_right(block.ints(2336, half * 8 + i), 2 * quarter), set_ints(0x03030303));
      const Ints low = nibbles(block.ints(288, half * 16 + quarter % 2 * 8 + i), quarter / 2 * 4);
      u.q[i] = bits_or(low, shift_left(high, 4));
    }
  }
};

template <>
struct Block<Type::q2_k> : Block256 {
  static constexpr int bytes = 84, halves = 2, largest = 3;
  static constexpr bool has_minimum = true;
  TileBlock block;
  Floats d, d_minimum;

  explicit Block(TileBlock b) : block(b), d(b.f16(1280)), d_minimum(b.f16(1312)) {}
  void unpack(int s, Unpacked<2>& u) const {
    const Ints word = block.ints(0, s / 2);
#pragma GCC unroll 8
    for (int h = 0; h < 2; ++h) {
      const Ints both = byte_of(word, s % 2 * 2 + h);
      u.scale[h] = multiply(d, to_floats(bits_and(both, set_ints(0x0f))));
      u.minimum[h] = multiply(multiply(d_minimum, set_floats(-1)), to_floats(shift_right(both, 4)));
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      u.q[i] = bits_and(shift_right(block.ints(256, s / 4 * 8 + i), s % 4 * 2), set_ints(0x03030303));
    }
  }
};

template <>
struct Block<Type::q3_k> : Block256 {
  static constexpr int bytes = 110, halves = 2, offset_bits = 2, largest = 7;
  TileBlock block;
  Floats d;
  Ints scales[3];

  explicit Block(TileBlock b)
      : block(b), d(b.f16(1728)), scales{b.ints(1536, 0), b.ints(1536, 1), b.ints(1536, 2)} {}
  // Scale i: low four bits in byte i % 8 (its low or high nibble), high two in byte 8 + i % 4.
  Ints scale(int i) const {
    const Ints low = bits_and(shift_right(scales[i % 8 / 4], i % 4 * 8 + i / 8 * 4), set_ints(0x0f));
    const Ints high = bits_and(shift_right(scales[2], i % 4 * 8 + i / 4 * 2), set_ints(0x03));
    return add_ints(bits_or(low, shift_left(high, 4)), set_ints(-32));
  }
  void unpack(int s, Unpacked<2>& u) const {
#pragma GCC unroll 8
    for (int h = 0; h < 2; ++h) u.scale[h] = multiply(d, to_floats(scale(2 * s + h)));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const Ints low = bits_and(shift_right(block.ints(512, s / 4 * 8 + i), s % 4 * 2), set_ints(0x03030303));
      const Ints high = bits_and(shift_right(block.ints(0, i), s), set_ints(0x01010101));
      u.q[i] = bits_or(low, shift_left(high, 2));
    }
  }
};

template <>
struct Block<Type::iq4_xs> : Block256 {
  static constexpr int bytes = 136, largest = 255;
  static constexpr int offset_bits = full_byte_dot ? 7 : -1;
  static constexpr bool signed_weights = !full_byte_dot;
  TileBlock block;
  Floats d;
  Ints scales_high, scales_low;

  explicit Block(TileBlock b) : block(b), d(b.f16(0)), scales_high(b.u16(32)), scales_low(b.ints(64)) {}
  void unpack(int s, Unpacked<1>& u) const {
    const Ints low = bits_and(shift_right(scales_low, 4 * s), set_ints(0x0f));
    const Ints high = bits_and(shift_right(scales_high, 2 * s), set_ints(0x03));
    u.scale[0] = multiply(d, to_floats(add_ints(bits_or(low, shift_left(high, 4)), set_ints(-32))));
    unpack_nibbles(block, 128 + s * 4 * row_of_ints, u.q);
    look_up_nonlinear(u.q);
  }
};

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
