// Tile blocks of the trellis codes (kernels/formats/trellis.h) as small unsigned weights. A weight is the sum
// of two looked-up bytes, less 32; the next weight in the ring stands in the same byte of the next group,
// after the last group in the next byte of the first.
#pragma once

#include "kernels/cpu/blocks.h"
#include "kernels/formats/trellis.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

struct TrellisBlock32 {
  static constexpr int elements = 32;
  static constexpr int halves = 1;
  static constexpr bool has_minimum = false;
  static constexpr bool signed_weights = false;
  static constexpr int offset_bits = 5, largest = 63;
  TileBlock block;

  Floats scale() const {
    return multiply(as_floats(shift_left(block.u8(0), 20)), set_floats(formats::trellis_scale_unit));
  }
};

static inline Ints look_up_sum(const formats::TrellisTables& tables, Ints first, Ints second) {
  // Bytes with offset: no sum of two entries exceeds 63.
  return add_ints(lookup(reinterpret_cast<const int8_t*>(tables.first), first),
                  lookup(reinterpret_cast<const int8_t*>(tables.second), second));
}

// pairs[g] holds ring positions p and p + 1 of two bits each: nibbles, from the 64 bits of each row.
static inline void unpack_pairs(const TileBlock& block, Ints* pairs) {
  const Ints mask = set_ints(0x0f0f0f0f);
  const Ints low = block.ints(tile_rows, 0);
  const Ints high = block.ints(tile_rows, 1);
  const Ints around = next_bytes(low);
  const Ints upper = set_ints(0x0c0c0c0c);
  const Ints lower = set_ints(0x03030303);
#pragma GCC unroll 3
  for (int g = 0; g < 3; ++g) {
    pairs[g] = bits_and(shift_right(low, 2 * g), mask);
    pairs[4 + g] = bits_and(shift_right(high, 2 * g), mask);
  }
  pairs[3] = bits_or(bits_and(shift_right(low, 6), lower), bits_and(shift_left(high, 2), upper));
  pairs[7] = bits_or(bits_and(shift_right(high, 6), lower), bits_and(shift_left(around, 2), upper));
}

// The nibbles of ring positions p and p + 1 say which values are looked up.
static inline void look_up_nibbles(const formats::TrellisTables& tables, const TileBlock& block, Ints* q) {
  Ints n[9];
  unpack_nibbles(block, tile_rows, n);
  n[8] = next_bytes(n[0]);
#pragma GCC unroll 8
  for (int g = 0; g < 8; ++g) q[g] = look_up_sum(tables, n[g], n[g + 1]);
}

template <>
struct Block<Type::q4_f> : TrellisBlock32 {
  static constexpr int bytes = 17;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = scale();
    look_up_nibbles(formats::q4_f_tables, block, u.q);
  }
};

template <>
struct Block<Type::q4_e> : TrellisBlock32 {
  static constexpr int bytes = 17;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = scale();
    look_up_nibbles(formats::q4_e_tables, block, u.q);
  }
};

template <>
struct Block<Type::q3_f> : TrellisBlock32 {
  static constexpr int bytes = 13;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = scale();
    Ints pairs[8];
    unpack_pairs(block, pairs);
    const Ints mask = set_ints(0x0f0f0f0f);
    const Ints high = block.ints(tile_rows + 2 * row_of_ints);
    // Bits 8 … 11 of the ring seen from each byte are the first four of the next byte.
    const Ints around = next_bytes(high);
#pragma GCC unroll 8
    for (int g = 0; g < 8; ++g) {
      Ints four = shift_right(high, g);
      if (g > 4) {
        const Ints own = set_ints(0x01010101 * (0xff >> g));
        const Ints next = set_ints(0x01010101 * ((0xff << (8 - g)) & 0x0f));
        four = bits_or(bits_and(four, own), bits_and(shift_left(around, 8 - g), next));
      } else {
        four = bits_and(four, mask);
      }
      u.q[g] = look_up_sum(formats::q3_f_tables, pairs[g], four);
    }
  }
};

template <>
struct Block<Type::q2_f> : TrellisBlock32 {
  static constexpr int bytes = 9;
  void unpack(int, Unpacked<1>& u) const {
    u.scale[0] = scale();
    Ints pairs[10];
    unpack_pairs(block, pairs);
    pairs[8] = next_bytes(pairs[0]);
    pairs[9] = next_bytes(pairs[1]);
#pragma GCC unroll 8
    for (int g = 0; g < 8; ++g) u.q[g] = look_up_sum(formats::q2_f_tables, pairs[g], pairs[g + 2]);
  }
};

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
