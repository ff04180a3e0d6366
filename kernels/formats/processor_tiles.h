// The order in which the processor keeps weights, Packing::tiles of its device, word by word: for the code
// that packs them so, and for devices that are given weights in this order. kernels/cpu/tiles.h says what it
// is good for.
//
// A tile is 16 rows. It holds a tile block for each block of the rows: the fields of 16 blocks one after the
// other, and each field interleaved: first the first word of every row, then the second. The last tile of a
// matrix is filled up with zero rows.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/api/types.h"

namespace fovea::kernels::processor_tiles {

constexpr int rows = 16;  // of a tile

enum class Word : std::uint8_t {
  byte,         // 8 bits
  half,         // 16 bits
  word,         // 32 bits
  turned_word,  // 32 bits, the top bit of each byte turned: signed bytes become bytes with an offset of 128
  fifth_bits,   // 32 single bits: bit 4 g + b moves to bit g of byte b
};
constexpr int bytes_of(Word word) {
  return word == Word::byte ? 1 : word == Word::half ? 2 : 4;
}

// `count` words at `offset` of a block of the file.
struct Field {
  Word word;
  int count;
  int offset;
  constexpr int bytes() const { return count * bytes_of(word); }
};

// The fields of each type, in the order of its tile blocks.
constexpr Field f32_fields[] = {{Word::word, 1, 0}};
constexpr Field f16_fields[] = {{Word::half, 1, 0}};
constexpr Field q4_0_fields[] = {{Word::half, 1, 0}, {Word::word, 4, 2}};
constexpr Field q4_1_fields[] = {{Word::half, 1, 0}, {Word::half, 1, 2}, {Word::word, 4, 4}};
constexpr Field q5_0_fields[] = {{Word::half, 1, 0}, {Word::fifth_bits, 1, 2}, {Word::word, 4, 6}};
constexpr Field q5_1_fields[] = {
    {Word::half, 1, 0}, {Word::half, 1, 2}, {Word::fifth_bits, 1, 4}, {Word::word, 4, 8}};
constexpr Field q8_0_fields[] = {{Word::half, 1, 0}, {Word::turned_word, 8, 2}};
constexpr Field mxfp4_fields[] = {{Word::byte, 1, 0}, {Word::word, 4, 1}};
constexpr Field q4_f_fields[] = {{Word::byte, 1, 0}, {Word::word, 4, 1}};
constexpr Field q3_f_fields[] = {{Word::byte, 1, 0}, {Word::word, 2, 1}, {Word::word, 1, 9}};
constexpr Field q2_f_fields[] = {{Word::byte, 1, 0}, {Word::word, 2, 1}};
constexpr Field q2_k_fields[] = {
    {Word::word, 4, 0}, {Word::word, 16, 16}, {Word::half, 1, 80}, {Word::half, 1, 82}};
constexpr Field q3_k_fields[] = {
    {Word::word, 8, 0}, {Word::word, 16, 32}, {Word::word, 3, 96}, {Word::half, 1, 108}};
constexpr Field q4_k_fields[] = {
    {Word::half, 1, 0}, {Word::half, 1, 2}, {Word::word, 3, 4}, {Word::word, 32, 16}};
constexpr Field q5_k_fields[] = {
    {Word::half, 1, 0}, {Word::half, 1, 2}, {Word::word, 3, 4}, {Word::word, 8, 16}, {Word::word, 32, 48}};
constexpr Field q6_k_fields[] = {
    {Word::half, 1, 208}, {Word::word, 4, 192}, {Word::word, 32, 0}, {Word::word, 16, 128}};
constexpr Field iq4_xs_fields[] = {
    {Word::half, 1, 0}, {Word::half, 1, 2}, {Word::word, 1, 4}, {Word::word, 32, 8}};

constexpr std::span<const Field> fields_of(Type type) {
  switch (type) {
    case Type::f32:
      return f32_fields;
    case Type::f16:
    case Type::bf16:
      return f16_fields;
    case Type::q4_0:
    case Type::iq4_nl:
      return q4_0_fields;
    case Type::q4_1:
      return q4_1_fields;
    case Type::q5_0:
      return q5_0_fields;
    case Type::q5_1:
      return q5_1_fields;
    case Type::q8_0:
      return q8_0_fields;
    case Type::q2_k:
      return q2_k_fields;
    case Type::q3_k:
      return q3_k_fields;
    case Type::q4_k:
      return q4_k_fields;
    case Type::q5_k:
      return q5_k_fields;
    case Type::q6_k:
      return q6_k_fields;
    case Type::iq4_xs:
      return iq4_xs_fields;
    case Type::mxfp4:
      return mxfp4_fields;
    case Type::q4_f:
    case Type::q4_e:
      return q4_f_fields;
    case Type::q3_f:
      return q3_f_fields;
    case Type::q2_f:
      return q2_f_fields;
  }
  return {};
}

constexpr bool fields_fill_blocks() {
  for (const Type type : {Type::f32, Type::f16, Type::q4_0, Type::q4_1, Type::q5_0, Type::q5_1, Type::q8_0,
                          Type::q2_k, Type::q3_k, Type::q4_k, Type::q5_k, Type::q6_k, Type::iq4_xs,
                          Type::mxfp4, Type::q4_f, Type::q4_e, Type::q3_f, Type::q2_f}) {
    int bytes = 0;
    for (const Field& field : fields_of(type)) bytes += field.bytes();
    if (bytes != block_shape(type).bytes) return false;
  }
  return true;
}
static_assert(fields_fill_blocks());

// The 8 × 4 matrix of bits [g][b] becomes [b][g].
constexpr std::uint32_t spread_fifth_bits(std::uint32_t v) {
  std::uint32_t out = 0;
  for (int i = 0; i < 32; ++i) out |= (v >> i & 1U) << (i % 4 * 8 + i / 4);
  return out;
}

// A word of the file as a tile has it.
constexpr std::uint32_t packed(Word word, std::uint32_t v) {
  if (word == Word::turned_word) return v ^ 0x80808080U;
  if (word == Word::fifth_bits) return spread_fifth_bits(v);
  return v;
}

}  // namespace fovea::kernels::processor_tiles
