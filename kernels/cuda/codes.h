// The one decoder of each quantised type. Every kernel that reads quantised weights reads them through
// `decode`: 32 weights of a row as bytes with a scale and a minimum for each 16 of them.
#pragma once

#include <cstdint>

#include "kernels/cuda/fields.h"
#include "kernels/cuda/device_code.h"
#include "kernels/formats/blocks.h"
#include "kernels/formats/trellis.h"

namespace fovea::kernels::cuda {

// A unit of 32 weights in two halves of 16 adjacent columns each (unit_column):
// weight = scale[h] · q − minimum[h], where the q of half h are the signed bytes 16 h … 16 h + 15 of `q`.
struct Codes {
  std::uint32_t q[8];
  float scale[2];
  float minimum[2];
};

// The first column of a unit's half. Units are chosen such that 16 bytes of codes, read at once, are one
// unit.
template <Type type>
__device__ __forceinline__ int unit_column(int unit, int half) {
  if constexpr (type == Type::q4_k || type == Type::q5_k) {
    return unit / 2 * 64 + unit % 2 * 16 + 32 * half;
  } else if constexpr (type == Type::q6_k) {
    return unit / 4 * 128 + unit % 4 * 16 + 64 * half;
  } else if constexpr (type == Type::q2_k || type == Type::q3_k) {
    return unit / 4 * 128 + unit / 2 % 2 * 64 + unit % 2 * 16 + 32 * half;
  } else {
    return unit * 32 + 16 * half;
  }
}

// Where a row begins, for whoever reads it more than once: of a tile, and behind its blocks.
struct RowPlace {
  const std::byte* base = nullptr;
  int tile_blocks = 0;
  int first_block = 0;
};
// blocks: of a row; bytes: of a block.
__device__ __forceinline__ RowPlace place_of_row(const Weight& weight, std::int64_t row, bool packed,
                                                 std::int64_t blocks, int bytes) {
  const std::int64_t row_bytes = blocks * bytes;
  if (!packed) return {.base = weight.data + row * row_bytes};
  const std::int64_t tile = row / tile_rows;
  const std::int64_t left = weight.rows - tile * tile_rows;
  return {.base = weight.data + tile * tile_rows * row_bytes,
          .tile_blocks = static_cast<int>((left < tile_rows ? left : tile_rows) * blocks),
          .first_block = static_cast<int>(row % tile_rows * blocks)};
}

// A row of a matrix. `packed`: Packing::tiles, else Packing::rows.
template <Type type, bool packed>
class Row {
 public:
  __device__ __forceinline__ Row(const Weight& weight, std::int64_t row)
      : Row(place_of_row(weight, row, packed, weight.columns / elements, bytes)) {}
  __device__ __forceinline__ explicit Row(const RowPlace& place)
      : base_(place.base), tile_blocks_(place.tile_blocks), first_block_(place.first_block) {}

  // `words` × 4 bytes of a block's field from byte `at` on, a multiple of what is loaded.
  template <Field field, int words>
  __device__ __forceinline__ void load(int block, int at, std::uint32_t (&out)[words]) const {
    constexpr int alignment = field_alignment<type, field, packed>;
    const std::byte* const from = address<field>(block) + at;
    if constexpr (alignment == 16 && words % 4 == 0) {
#pragma unroll
      for (int i = 0; i < words; i += 4) {
        const auto four = load_constant<Words4>(from + 4 * i);
#pragma unroll
        for (int k = 0; k < 4; ++k) out[i + k] = four.v[k];
      }
    } else if constexpr (alignment >= 8 && words % 2 == 0) {
#pragma unroll
      for (int i = 0; i < words; i += 2) {
        const auto two = load_constant<Words2>(from + 4 * i);
        out[i] = two.v[0];
        out[i + 1] = two.v[1];
      }
    } else if constexpr (alignment >= 4) {
#pragma unroll
      for (int i = 0; i < words; ++i) out[i] = load_constant<std::uint32_t>(from + 4 * i);
    } else if constexpr (alignment == 2) {
#pragma unroll
      for (int i = 0; i < words; ++i) {
        out[i] = load_constant<std::uint16_t>(from + 4 * i) |
                 static_cast<std::uint32_t>(load_constant<std::uint16_t>(from + 4 * i + 2)) << 16;
      }
    } else {
#pragma unroll
      for (int i = 0; i < words; ++i) {
        out[i] = 0;
#pragma unroll
        for (int b = 0; b < 4; ++b)
          out[i] |= static_cast<std::uint32_t>(load_constant<std::uint8_t>(from + 4 * i + b)) << (8 * b);
      }
    }
  }
  // 0, by a path that no compiler sees through: tiles are aligned. And another value for each thread as far
  // as it knows: what is the same for all it would keep where byte shuffles cannot read it.
  __device__ __forceinline__ std::uint32_t zero() const {
    if constexpr (!packed) return 0;
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(base_)) & 1U & threadIdx.x;
  }
  // A hint that the codes of a unit will be read soon.
  __device__ __forceinline__ void prefetch_codes(int unit) const {
    constexpr int units = elements / 32;
    constexpr Field codes = Fields<type>::codes;
    prefetch(address<codes>(unit / units) + unit % units * (codes.bytes / units));
  }
  template <Field field>
  __device__ __forceinline__ std::uint16_t half_word(int block, int at = 0) const {
    return load_constant<std::uint16_t>(address<field>(block) + at);
  }
  template <Field field>
  __device__ __forceinline__ std::uint32_t byte(int block, int at = 0) const {
    return load_constant<std::uint8_t>(address<field>(block) + at);
  }

 private:
  static constexpr int elements = elements_of<type>;
  static constexpr int bytes = bytes_of<type>;

  template <Field field>
  __device__ __forceinline__ const std::byte* address(int block) const {
    if constexpr (packed) {
      return base_ + std::int64_t{tile_blocks_} * bytes_before<type, field> +
             std::int64_t{first_block_ + block} * field.bytes;
    } else {
      return base_ + std::int64_t{block} * bytes + field.offset;
    }
  }

  const std::byte* base_ = nullptr;
  int tile_blocks_ = 0;
  int first_block_ = 0;
};

// Sixteen bytes to be looked up by four bits.
struct Table {
  std::uint32_t v[4];
};
template <typename Byte>
constexpr Table table_of(const Byte (&values)[16], unsigned more = 0) {
  Table table = {};
  for (int i = 0; i < 16; ++i)
    table.v[i / 4] |=
        static_cast<std::uint32_t>(static_cast<std::uint8_t>(values[i] + static_cast<int>(more)))
        << (8 * (i % 4));
  return table;
}

constexpr Table iq4_table = table_of(formats::iq4_values);
constexpr unsigned mxfp4_zero = 12;  // so that no entry is negative
constexpr Table mxfp4_table = table_of(formats::mxfp4_values, mxfp4_zero);
template <Type type>
struct TrellisCode {
  static constexpr formats::TrellisTables tables = type == Type::q4_f   ? formats::q4_f_tables
                                                   : type == Type::q4_e ? formats::q4_e_tables
                                                   : type == Type::q3_f ? formats::q3_f_tables
                                                                        : formats::q2_f_tables;
  static constexpr Table first = table_of(tables.first);
  static constexpr Table second = table_of(tables.second);
};

// The entries for the four nibbles of the word's low half, and for those of its high one. `zero` is 0, and
// the compiler does not know it: what it may compute from constants alone, it computes anew for each use
// instead of keeping it in a register.
template <Table table>
__device__ __forceinline__ void look_up(std::uint32_t nibbles, std::uint32_t zero, std::uint32_t& low,
                                        std::uint32_t& high) {
  const std::uint32_t entries = nibbles & 0x77777777U;  // of either eight
  // Byte k of the first eight's or, where the nibble's high bit is set, of the last's.
  const std::uint32_t choices = (nibbles >> 1 & 0x44444444U) | 0x32103210U;
  std::uint32_t halves[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t first = __byte_perm(table.v[0] + zero, table.v[1], entries >> 16 * i);
    const std::uint32_t last = __byte_perm(table.v[2] + zero, table.v[3], entries >> 16 * i);
    halves[i] = __byte_perm(first, last, choices >> 16 * i);
  }
  low = halves[0];
  high = halves[1];
}

// Bit i of `bits` becomes bit 4 of byte i.
__device__ __forceinline__ std::uint32_t fifth_bits(std::uint32_t bits) {
  return (bits << 4 & 0x10U) | (bits << 11 & 0x1000U) | (bits << 18 & 0x100000U) | (bits << 25 & 0x10000000U);
}

// 16 bytes of nibbles: the low ones are half 0, the high ones half 1.
template <int words>
__device__ __forceinline__ void split_nibbles(const std::uint32_t (&bytes)[words], std::uint32_t (&q)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    q[i] = bytes[i] & 0x0F0F0F0FU;
    q[i + 4] = bytes[i] >> 4 & 0x0F0F0F0FU;
  }
}

__device__ __forceinline__ void set_both(Codes& codes, float scale, float minimum) {
  codes.scale[0] = codes.scale[1] = scale;
  codes.minimum[0] = codes.minimum[1] = minimum;
}

// The value after each in the ring of trellis.h, behind the last group of four columns.
__device__ __forceinline__ std::uint32_t next_in_ring(std::uint32_t first_group) {
  return first_group >> 8 | first_group << 24;
}

__device__ __forceinline__ float trellis_scale(std::uint32_t e) {
  return __uint_as_float(e << 20) * formats::trellis_scale_unit;
}

// The nibbles of a word of trellis codes, by groups: those of the first in the low half, those of the second
// in the high one. So tiles have them (fields.h); in the file's order a byte has one of each.
template <bool packed>
__device__ __forceinline__ std::uint32_t nibbles_by_group(std::uint32_t word) {
  return packed ? word : parted_nibbles(word);
}

// Each nibble of `word`, which has two groups', without its lowest bits, above which stand those of the group
// behind its own: of `word` itself, and of `next` behind the second.
template <int bits>
__device__ __forceinline__ std::uint32_t nibbles_from_bit(std::uint32_t word, std::uint32_t next) {
  constexpr std::uint32_t kept = 0x11111111U * (0xFU >> bits);
  const std::uint32_t behind = word >> 16 | next << 16;
  return (word >> bits & kept) | (behind << (4 - bits) & ~kept);
}

// next_in_ring() of a group of nibbles in the low half.
__device__ __forceinline__ std::uint32_t next_nibbles_in_ring(std::uint32_t first_group) {
  return (first_group >> 4 & 0xFFFU) | first_group << 12;
}

// What a table of bytes below 128 has for the nibbles of two groups, in two parts that are to be added: for
// each nibble the table's half that it points into, and zero.
struct Parts {
  std::uint32_t v[2][2];  // [group, part]
  __device__ __forceinline__ std::uint32_t sum(int group) const { return v[group][0] + v[group][1]; }
  // Less a number below 128, of sums that are not larger than it by 128: no byte carries into the next.
  template <unsigned less>
  __device__ __forceinline__ std::uint32_t signed_sum(int group) const {
    return (v[group][0] + v[group][1] + (0x80U - less) * 0x01010101U) ^ 0x80808080U;
  }
};
template <Table table>
__device__ __forceinline__ Parts look_up_parts(std::uint32_t nibbles, std::uint32_t zero) {
  static_assert(((table.v[0] | table.v[1] | table.v[2] | table.v[3]) & 0x80808080U) == 0);
  const std::uint32_t flipped = nibbles ^ 0x88888888U;
  Parts parts;
#pragma unroll
  for (int group = 0; group < 2; ++group) {
    parts.v[group][0] = permute_or_fill(table.v[0] + zero, table.v[1], nibbles >> 16 * group);
    parts.v[group][1] = permute_or_fill(table.v[2] + zero, table.v[3], flipped >> 16 * group);
  }
  return parts;
}

// Blocks of 32: one unit each.
template <Type type, bool packed>
__device__ __forceinline__ Codes decode_plain_block(const Row<type, packed>& row, int block) {
  using F = Fields<type>;
  Codes c;
  if constexpr (type == Type::q4_0) {
    std::uint32_t qs[4];
    row.template load<F::codes>(block, 0, qs);
    split_nibbles(qs, c.q);
    const float d = half_to_float(row.template half_word<F::scale>(block));
    set_both(c, d, 8 * d);
  } else if constexpr (type == Type::q4_1) {
    std::uint32_t qs[4];
    std::uint32_t scale[1];
    row.template load<F::codes>(block, 0, qs);
    row.template load<F::scale>(block, 0, scale);
    split_nibbles(qs, c.q);
    set_both(c, half_to_float(static_cast<std::uint16_t>(scale[0])),
             -half_to_float(static_cast<std::uint16_t>(scale[0] >> 16)));
  } else if constexpr (type == Type::q5_0 || type == Type::q5_1) {
    std::uint32_t qs[4];
    std::uint32_t high[1];
    row.template load<F::codes>(block, 0, qs);
    row.template load<F::high>(block, 0, high);
    split_nibbles(qs, c.q);
#pragma unroll
    for (int i = 0; i < 8; ++i) c.q[i] |= fifth_bits(high[0] >> (4 * i));
    const float d = half_to_float(row.template half_word<F::scale>(block));
    if constexpr (type == Type::q5_0) {
      set_both(c, d, 16 * d);
    } else {
      set_both(c, d, -half_to_float(row.template half_word<F::scale>(block, 2)));
    }
  } else {
    static_assert(type == Type::q8_0);
    row.template load<F::codes>(block, 0, c.q);
    set_both(c, half_to_float(row.template half_word<F::scale>(block)), 0);
  }
  return c;
}

// q2_k and q3_k.
template <Type type, bool packed>
__device__ __forceinline__ Codes decode_pairs(const Row<type, packed>& row, int unit) {
  using F = Fields<type>;
  constexpr int units = elements_of<type> / 32;
  const int block = unit / units;
  const int u = unit % units;
  Codes c;
  // 16 bytes hold the pairs of four times 16 columns; this unit takes two of the four.
  std::uint32_t qs[4];
  const int shift = u / 2 % 2 * 4;
  row.template load<F::codes>(block, u / 4 * 32 + u % 2 * 16, qs);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    c.q[i] = qs[i] >> shift & 0x03030303U;
    c.q[i + 4] = qs[i] >> (shift + 2) & 0x03030303U;
  }
  const int group = u / 4 * 8 + u / 2 % 2 * 4 + u % 2;
  if constexpr (type == Type::q2_k) {
    const float d = half_to_float(row.template half_word<F::scale>(block));
    const float dmin = half_to_float(row.template half_word<F::scale>(block, 2));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::uint32_t scales = row.template byte<F::scales>(block, group + 2 * h);
      c.scale[h] = d * static_cast<float>(scales & 15U);
      c.minimum[h] = dmin * static_cast<float>(scales >> 4);
    }
  } else {
    std::uint32_t high[4];
    row.template load<F::high>(block, u % 2 * 16, high);
    const int bit = u / 4 * 4 + u / 2 % 2 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      c.q[i] |= (high[i] >> bit & 0x01010101U) << 2;
      c.q[i + 4] |= (high[i] >> (bit + 1) & 0x01010101U) << 2;
    }
    const float d = half_to_float(row.template half_word<F::scale>(block));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int g = group + 2 * h;
      const std::uint32_t low = row.template byte<F::scales>(block, g % 8) >> (g / 8 * 4) & 15U;
      const std::uint32_t top = row.template byte<F::scales>(block, 8 + g % 4) >> (2 * (g / 4)) & 3U;
      c.scale[h] = d * static_cast<float>(static_cast<int>(low | top << 4) - 32);
      c.minimum[h] = 4 * c.scale[h];
    }
  }
  return c;
}

// q4_k and q5_k.
template <Type type, bool packed>
__device__ __forceinline__ Codes decode_nibbles(const Row<type, packed>& row, int unit) {
  using F = Fields<type>;
  constexpr int units = elements_of<type> / 32;
  const int block = unit / units;
  const int u = unit % units;
  Codes c;
  std::uint32_t qs[4];
  std::uint32_t head[4];  // d, dmin, then 12 bytes of scales
  row.template load<F::codes>(block, 16 * u, qs);
  row.template load<F::scales>(block, 0, head);
  split_nibbles(qs, c.q);
  if constexpr (type == Type::q5_k) {
    std::uint32_t high[4];
    row.template load<F::high>(block, u % 2 * 16, high);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      c.q[i] |= (high[i] >> (u / 2 * 2) & 0x01010101U) << 4;
      c.q[i + 4] |= (high[i] >> (u / 2 * 2 + 1) & 0x01010101U) << 4;
    }
  }
  const float d = half_to_float(static_cast<std::uint16_t>(head[0]));
  const float dmin = half_to_float(static_cast<std::uint16_t>(head[0] >> 16));
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int g = u / 2 * 2 + h;
    const int at = 8 * (g % 4);
    std::uint32_t scale;
    std::uint32_t minimum;
    if (g < 4) {
      scale = head[1] >> at & 63U;
      minimum = head[2] >> at & 63U;
    } else {
      const std::uint32_t nibbles = head[3] >> at;
      scale = (nibbles & 15U) | (head[1] >> (at + 6) & 3U) << 4;
      minimum = (nibbles >> 4 & 15U) | (head[2] >> (at + 6) & 3U) << 4;
    }
    c.scale[h] = d * static_cast<float>(scale);
    c.minimum[h] = dmin * static_cast<float>(minimum);
  }
  return c;
}

template <Type type, bool packed>
__device__ __forceinline__ Codes decode_q6_k(const Row<type, packed>& row, int unit) {
  using F = Fields<type>;
  constexpr int units = elements_of<type> / 32;
  const int block = unit / units;
  const int u = unit % units;
  Codes c;
  std::uint32_t low[4];
  std::uint32_t high[4];
  row.template load<F::codes>(block, u / 4 * 64 + u % 4 * 16, low);
  row.template load<F::high>(block, u / 4 * 32 + u % 2 * 16, high);
  split_nibbles(low, c.q);
  const int shift = u / 2 % 2 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    c.q[i] |= (high[i] >> shift & 0x03030303U) << 4;
    c.q[i + 4] |= (high[i] >> (shift + 4) & 0x03030303U) << 4;
  }
  const float d = half_to_float(row.template half_word<F::scale>(block));
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const auto scale =
        static_cast<std::int8_t>(row.template byte<F::scales>(block, u / 4 * 8 + u % 4 + 4 * h));
    c.scale[h] = d * static_cast<float>(scale);
    c.minimum[h] = 32 * c.scale[h];
  }
  return c;
}

// Bytes that a table gives for four bits each.
template <Type type, bool packed>
__device__ __forceinline__ Codes decode_looked_up(const Row<type, packed>& row, int unit) {
  using F = Fields<type>;
  constexpr int units = elements_of<type> / 32;
  const int block = unit / units;
  const int u = unit % units;
  Codes c;
  std::uint32_t qs[4];
  row.template load<F::codes>(block, 16 * u, qs);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t nibbles = nibbles_by_group<packed>(qs[i]);
    if constexpr (type == Type::mxfp4) {
      const Parts parts = look_up_parts<mxfp4_table>(nibbles, row.zero());
      c.q[i] = parts.signed_sum<mxfp4_zero>(0);
      c.q[i + 4] = parts.signed_sum<mxfp4_zero>(1);
    } else {
      look_up<iq4_table>(nibbles, row.zero(), c.q[i], c.q[i + 4]);
    }
  }
  if constexpr (type == Type::iq4_nl) {
    set_both(c, half_to_float(row.template half_word<F::scale>(block)), 0);
  } else if constexpr (type == Type::mxfp4) {
    // 2^(e − 128); the two smallest are subnormal.
    const std::uint32_t e = row.template byte<F::scale>(block);
    set_both(c, __uint_as_float(e < 2 ? 0x00200000U << e : (e - 1) << 23), 0);
  } else {
    std::uint32_t head[2];  // d, two high bits of the scales, then their nibbles
    row.template load<F::scales>(block, 0, head);
    const std::uint32_t low = head[1] >> (4 * u) & 15U;
    const std::uint32_t top = head[0] >> (16 + 2 * u) & 3U;
    const float d = half_to_float(static_cast<std::uint16_t>(head[0]));
    set_both(c, d * static_cast<float>(static_cast<int>(low | top << 4) - 32), 0);
  }
  return c;
}

// q[g] = first[index a of the group g of four columns] + second[index b]. Indices overlap, so that words of
// the block have two groups' in their nibbles as they are, or shifted: they are looked up where they lie.
// `more` stands in each of q's bytes besides.
template <Type type, bool packed, unsigned more>
__device__ __forceinline__ Codes decode_trellis(const Row<type, packed>& row, int block) {
  using F = Fields<type>;
  using Code = TrellisCode<type>;
  constexpr bool is_q4 = type == Type::q4_f || type == Type::q4_e;
  // The compiler would add what it knows behind the other sums, in an operation of its own.
  const std::uint32_t all_more = more == 0 ? 0 : more * 0x01010101U | row.zero();
  Codes c;
  std::uint32_t first[8][2];  // in parts
  std::uint32_t second[10];   // by the group whose a it is, where b is a of a later group
  const auto set = [](const Parts& parts, std::uint32_t(&a)[2], std::uint32_t(&b)[2]) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      a[part] = parts.v[0][part];
      b[part] = parts.v[1][part];
    }
  };
  if constexpr (is_q4) {
    std::uint32_t qs[4];
    row.template load<F::codes>(block, 0, qs);
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      const std::uint32_t nibbles = nibbles_by_group<packed>(qs[g]);
      set(look_up_parts<Code::first>(nibbles, row.zero()), first[g], first[g + 4]);
      const Parts parts = look_up_parts<Code::second>(nibbles, row.zero());
      second[g] = parts.sum(0) + all_more;
      second[g + 4] = parts.sum(1) + all_more;
    }
  } else {
    static_assert(type == Type::q3_f || type == Type::q2_f);
    std::uint32_t qs[2];
    row.template load<F::codes>(block, 0, qs);
#pragma unroll
    for (std::uint32_t& word : qs) word = nibbles_by_group<packed>(word);
    // Pairs of bits: of a word four groups', and an index is a group's and the next one's.
    const std::uint32_t words[4] = {qs[0], nibbles_from_bit<2>(qs[0], qs[1]), qs[1],
                                    nibbles_from_bit<2>(qs[1], next_nibbles_in_ring(qs[0]))};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int g = i / 2 * 4 + i % 2;
      set(look_up_parts<Code::first>(words[i], row.zero()), first[g], first[g + 2]);
      if constexpr (type == Type::q2_f) {
        const Parts parts = look_up_parts<Code::second>(words[i], row.zero());
        second[g] = parts.sum(0) + all_more;
        second[g + 2] = parts.sum(1) + all_more;
      }
    }
    if constexpr (type == Type::q3_f) {
      // b is four groups' high bits, of which a nibble has one for each.
      std::uint32_t high[1];
      row.template load<F::high>(block, 0, high);
      const std::uint32_t all = nibbles_by_group<packed>(high[0]);
      const std::uint32_t next = next_nibbles_in_ring(all);
      const std::uint32_t four[4] = {all, nibbles_from_bit<1>(all, next), nibbles_from_bit<2>(all, next),
                                     nibbles_from_bit<3>(all, next)};
#pragma unroll
      for (int g = 0; g < 4; ++g) {
        const Parts parts = look_up_parts<Code::second>(four[g], row.zero());
        second[g] = parts.sum(0) + all_more;
        second[g + 4] = parts.sum(1) + all_more;
      }
    }
  }
  constexpr int later = is_q4 ? 1 : type == Type::q2_f ? 2 : 0;
#pragma unroll
  for (int g = 8; g < 8 + later; ++g) second[g] = next_in_ring(second[g - 8]);
#pragma unroll
  for (int g = 0; g < 8; ++g) c.q[g] = first[g][0] + first[g][1] + second[g + later];
  const float scale = trellis_scale(row.template byte<F::scale>(block));
  set_both(c, scale, formats::trellis_zero * scale);
  return c;
}

template <Type type>
constexpr bool is_trellis_of = is_trellis(type);
template <Type type, bool packed, unsigned more = 0>
__device__ __forceinline__ Codes decode(const Row<type, packed>& row, int unit) {
  static_assert(more == 0 || is_trellis_of<type>);
  if constexpr (type == Type::q2_k || type == Type::q3_k) {
    return decode_pairs(row, unit);
  } else if constexpr (type == Type::q4_k || type == Type::q5_k) {
    return decode_nibbles(row, unit);
  } else if constexpr (type == Type::q6_k) {
    return decode_q6_k(row, unit);
  } else if constexpr (type == Type::iq4_nl || type == Type::iq4_xs || type == Type::mxfp4) {
    return decode_looked_up(row, unit);
  } else if constexpr (type == Type::q4_f || type == Type::q4_e || type == Type::q3_f || type == Type::q2_f) {
    return decode_trellis<type, packed, more>(row, unit);
  } else {
    return decode_plain_block(row, unit);
  }
}

}  // namespace fovea::kernels::cuda
