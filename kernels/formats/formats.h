// Quantised block layouts: dequantisation of every storage type, and quantisers for tests and the KV cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/types.h"

namespace fovea::kernels::formats {

// Exactly the values that the file means. count is a multiple of the type's block elements.
void dequantize(Type type, const std::byte* source, std::int64_t count, float* out);

// f32, f16, bf16 (round to nearest even), q8_0, q4_0, q4_1, q5_0, q5_1: the reference packers.
bool can_quantize(Type type);
void quantize(Type type, const float* source, std::int64_t count, std::byte* out);

float f16_to_f32(std::uint16_t);
std::uint16_t f32_to_f16(float);  // round to nearest even
float bf16_to_f32(std::uint16_t);
std::uint16_t f32_to_bf16(float);  // round to nearest even

}  // namespace fovea::kernels::formats
