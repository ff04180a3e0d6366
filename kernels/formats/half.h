// 16-bit floats by bit arithmetic. `static`, so that sources compiled for one instruction set may include it.
#pragma once

#include <cstdint>
#include <cstring>

namespace fovea::kernels::formats {

static inline float float_from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static inline std::uint32_t bits_of_float(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00U) return float_from_bits(sign | 0x7F800000U | (magnitude & 0x3FFU) << 13);
  if (magnitude >= 0x0400U) return float_from_bits(sign | ((magnitude << 13) + (112U << 23)));
  // Zero or subnormal: the magnitude counts steps of 2^-24.
  const float value = static_cast<float>(magnitude) * 0x1p-24F;
  return sign != 0 ? -value : value;
}

// Round to nearest even; overflow gives infinity, a NaN stays one.
static inline std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = bits_of_float(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U | (magnitude >> 13 & 0x3FFU));
  if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // ≥ 65520
  if (magnitude < 0x38800000U) {
    // Below 2^-14: adding 0.5 puts the steps of 2^-24 into the lowest mantissa bits, rounded by the adder.
    const float shifted = float_from_bits(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (bits_of_float(shifted) - 0x3F000000U));
  }
  const std::uint32_t rounded = magnitude + 0xFFFU + (magnitude >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - (112U << 23)) >> 13));
}

static inline float bfloat16_to_float(std::uint16_t bits) {
  return float_from_bits(static_cast<std::uint32_t>(bits) << 16);
}

// Round to nearest even; a NaN stays one (made quiet).
static inline std::uint16_t float_to_bfloat16(float value) {
  const std::uint32_t bits = bits_of_float(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

}  // namespace fovea::kernels::formats
