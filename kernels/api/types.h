// Storage types of tensors, with GGUF's numbering where GGUF has them, and their block sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fovea::kernels {

// Values below 200 are GGUF's `ggml_type` numbers, so that a file's type field converts by a checked cast.
// Those from 200 are Fovea's own formats, for rows of any multiple of 32: no GGUF file has them.
enum class Type : std::uint8_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq4_nl = 20,
  iq4_xs = 23,
  bf16 = 30,
  mxfp4 = 39,
  q4_f = 200,
  q3_f = 201,
  q2_f = 202,
  q4_e = 203,
};

constexpr bool is_gguf_type(Type type) {
  return static_cast<int>(type) < 200;
}

// The trellis codes (kernels/formats/trellis.h): blocks of 32 weights with one scale byte.
constexpr bool is_trellis(Type type) {
  return type == Type::q4_f || type == Type::q4_e || type == Type::q3_f || type == Type::q2_f;
}

// A row is a whole number of blocks; `elements` weights take `bytes` bytes.
struct BlockShape {
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
};

// Elements 0 for a number that is not a supported type. Always inlined, so that no object which is compiled
// for one instruction set defines it for all.
[[gnu::always_inline]] constexpr BlockShape block_shape(Type type) {
  switch (type) {
    case Type::f32:
      return {1, 4};
    case Type::f16:
      return {1, 2};
    case Type::bf16:
      return {1, 2};
    case Type::q4_0:
      return {32, 18};
    case Type::q4_1:
      return {32, 20};
    case Type::q5_0:
      return {32, 22};
    case Type::q5_1:
      return {32, 24};
    case Type::q8_0:
      return {32, 34};
    case Type::q2_k:
      return {256, 84};
    case Type::q3_k:
      return {256, 110};
    case Type::q4_k:
      return {256, 144};
    case Type::q5_k:
      return {256, 176};
    case Type::q6_k:
      return {256, 210};
    case Type::iq4_nl:
      return {32, 18};
    case Type::iq4_xs:
      return {256, 136};
    case Type::mxfp4:
      return {32, 17};
    case Type::q4_f:
    case Type::q4_e:
      return {32, 17};
    case Type::q3_f:
      return {32, 13};
    case Type::q2_f:
      return {32, 9};
  }
  return {};
}

// "Q4_0", "BF16" …: the names that GGUF tools print.
constexpr std::string_view type_name(Type type) {
  switch (type) {
    case Type::f32:
      return "F32";
    case Type::f16:
      return "F16";
    case Type::bf16:
      return "BF16";
    case Type::q4_0:
      return "Q4_0";
    case Type::q4_1:
      return "Q4_1";
    case Type::q5_0:
      return "Q5_0";
    case Type::q5_1:
      return "Q5_1";
    case Type::q8_0:
      return "Q8_0";
    case Type::q2_k:
      return "Q2_K";
    case Type::q3_k:
      return "Q3_K";
    case Type::q4_k:
      return "Q4_K";
    case Type::q5_k:
      return "Q5_K";
    case Type::q6_k:
      return "Q6_K";
    case Type::iq4_nl:
      return "IQ4_NL";
    case Type::iq4_xs:
      return "IQ4_XS";
    case Type::mxfp4:
      return "MXFP4";
    case Type::q4_f:
      return "Q4_F";
    case Type::q4_e:
      return "Q4_E";
    case Type::q3_f:
      return "Q3_F";
    case Type::q2_f:
      return "Q2_F";
  }
  return "unknown";
}

// Bytes of one row of `columns` weights. `columns` must be a multiple of the block's elements.
constexpr std::int64_t row_bytes(Type type, std::int64_t columns) {
  const BlockShape block = block_shape(type);
  return columns / block.elements * block.bytes;
}

constexpr double bits_per_weight(Type type) {
  const BlockShape block = block_shape(type);
  return 8.0 * static_cast<double>(block.bytes) / static_cast<double>(block.elements);
}

}  // namespace fovea::kernels
