// Where the fields of a type's blocks lie: one after the other in each block (Packing::rows, the file's
// order), or in planes (Packing::tiles), which this device's kernels load fastest.
//
// A tile is 16 rows (fewer at the matrix's end). It holds one plane for each field: the field of all blocks
// of the tile's first row, then of the second … Planes of fields with the larger alignment come first, so
// that each field stands at an address that its size divides, up to 16. The bytes are those of the file, but
// that in words of codes that are looked up the nibbles stand in another order (parted_nibbles). Whoever
// changes the order raises the version in engine/precision/fingerprint.cpp, so that stores are made anew.
#pragma once

#include <cstdint>

#include "kernels/api/operations.h"
#include "kernels/cuda/device_code.h"

namespace fovea::kernels::cuda {

constexpr int tile_rows = 16;

struct Field {
  int offset;  // in the file's block
  int bytes;
};

// Each type's fields, and their planes in order.
template <Type type>
struct Fields;

template <>
struct Fields<Type::q4_0> {
  static constexpr Field codes = {2, 16}, scale = {0, 2};
  static constexpr Field planes[] = {codes, scale};
};
template <>
struct Fields<Type::q4_1> {
  static constexpr Field codes = {4, 16}, scale = {0, 4};
  static constexpr Field planes[] = {codes, scale};
};
template <>
struct Fields<Type::q5_0> {
  static constexpr Field codes = {6, 16}, high = {2, 4}, scale = {0, 2};
  static constexpr Field planes[] = {codes, high, scale};
};
template <>
struct Fields<Type::q5_1> {
  static constexpr Field codes = {8, 16}, high = {4, 4}, scale = {0, 4};
  static constexpr Field planes[] = {codes, high, scale};
};
template <>
struct Fields<Type::q8_0> {
  static constexpr Field codes = {2, 32}, scale = {0, 2};
  static constexpr Field planes[] = {codes, scale};
};
template <>
struct Fields<Type::q2_k> {
  static constexpr Field codes = {16, 64}, scales = {0, 16}, scale = {80, 4};
  static constexpr Field planes[] = {codes, scales, scale};
};
template <>
struct Fields<Type::q3_k> {
  static constexpr Field codes = {32, 64}, high = {0, 32}, scales = {96, 12}, scale = {108, 2};
  static constexpr Field planes[] = {codes, high, scales, scale};
};
template <>
struct Fields<Type::q4_k> {
  static constexpr Field codes = {16, 128}, scales = {0, 16};
  static constexpr Field planes[] = {codes, scales};
};
template <>
struct Fields<Type::q5_k> {
  static constexpr Field codes = {48, 128}, high = {16, 32}, scales = {0, 16};
  static constexpr Field planes[] = {codes, high, scales};
};
template <>
struct Fields<Type::q6_k> {
  static constexpr Field codes = {0, 128}, high = {128, 64}, scales = {192, 16}, scale = {208, 2};
  static constexpr Field planes[] = {codes, high, scales, scale};
};
template <>
struct Fields<Type::iq4_nl> : Fields<Type::q4_0> {};
template <>
struct Fields<Type::iq4_xs> {
  static constexpr Field codes = {8, 128}, scales = {0, 8};
  static constexpr Field planes[] = {codes, scales};
};
template <>
struct Fields<Type::mxfp4> {
  static constexpr Field codes = {1, 16}, scale = {0, 1};
  static constexpr Field planes[] = {codes, scale};
};
template <>
struct Fields<Type::q4_f> : Fields<Type::mxfp4> {};
template <>
struct Fields<Type::q4_e> : Fields<Type::mxfp4> {};
template <>
struct Fields<Type::q3_f> {
  static constexpr Field codes = {1, 8}, high = {9, 4}, scale = {0, 1};
  static constexpr Field planes[] = {codes, high, scale};
};
template <>
struct Fields<Type::q2_f> {
  static constexpr Field codes = {1, 8}, scale = {0, 1};
  static constexpr Field planes[] = {codes, scale};
};

// A word whose bytes have two nibbles each: the low ones in the low half, in the bytes' order, then the high
// ones.
__host__ __device__ __forceinline__ std::uint32_t parted_nibbles(std::uint32_t word) {
  std::uint32_t halves[2] = {word & 0x0F0F0F0FU, word >> 4 & 0x0F0F0F0FU};
#pragma unroll
  for (std::uint32_t& half : halves) {
    half = (half | half >> 4) & 0x00FF00FFU;
    half = (half | half >> 8) & 0xFFFFU;
  }
  return halves[0] | halves[1] << 16;
}
// Whether tiles have a field so: codes that are looked up, by the nibbles of four adjacent columns.
template <Type type>
constexpr bool has_parted_nibbles(const Field& field) {
  if constexpr (is_trellis(type) || type == Type::mxfp4 || type == Type::iq4_nl || type == Type::iq4_xs) {
    if (field.offset == Fields<type>::codes.offset) return true;
  }
  if constexpr (type == Type::q3_f) return field.offset == Fields<type>::high.offset;
  return false;
}

constexpr int alignment_of(int bytes) {
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}
constexpr int smaller_of(int a, int b) {
  return a < b ? a : b;
}

// Device code may use constants, but not call the host's functions that make them.
template <Type type>
constexpr int elements_of = static_cast<int>(block_shape(type).elements);
template <Type type>
constexpr int bytes_of = static_cast<int>(block_shape(type).bytes);

template <Type type>
constexpr int sum_of_planes_before(Field field) {
  int bytes = 0;
  for (const Field& plane : Fields<type>::planes) {
    if (plane.offset == field.offset) break;
    bytes += plane.bytes;
  }
  return bytes;
}
// Bytes of a block in the planes before that of `field`.
template <Type type, Field field>
constexpr int bytes_before = sum_of_planes_before<type>(field);

// What the address of a field can be relied on to be a multiple of, where rows begin at a multiple of 16.
template <Type type, Field field, bool packed>
constexpr int field_alignment =
    packed ? alignment_of(field.bytes) : smaller_of(alignment_of(bytes_of<type>), alignment_of(field.offset));

template <Type type>
constexpr bool planes_are_whole() {
  int bytes = 0;
  int alignment = 16;
  for (const Field& plane : Fields<type>::planes) {
    bytes += plane.bytes;
    if (alignment_of(plane.bytes) > alignment) return false;
    alignment = alignment_of(plane.bytes);
  }
  return bytes == block_shape(type).bytes;
}

}  // namespace fovea::kernels::cuda
