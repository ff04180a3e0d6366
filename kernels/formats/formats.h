// Quantised block layouts: dequantisation of every storage type, and quantisers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/types.h"

namespace fovea::kernels::formats {

// Exactly the values that the file means. count is a multiple of the type's block elements.
void dequantize(Type type, const std::byte* source, std::int64_t count, float* out);

// f32, f16, bf16 (round to nearest even), q8_0, q4_0, q4_1, q5_0, q5_1: the reference packers. q4_f, q4_e,
// q3_f, q2_f: as quantize_rows does without importance, but a block with a value that is not finite becomes
// zero.
bool can_quantize(Type type);
void quantize(Type type, const float* source, std::int64_t count, std::byte* out);

// weights [rows, columns] in the least squared error that the format's search finds, where the square in each
// column counts `importance` times ([columns], ≥ 0, any scale; null: all alike). Every type that
// can_quantize; the reference packers ignore the importance. columns is a multiple of the type's block.
//
// The scales of q4_f, q4_e, q3_f and q2_f reach from 2^-27 to 120: weights below 1e-7 become zero, weights of
// more than 3,720 are clipped to it. A column without importance keeps whatever falls to it, unless that is
// so for all columns that are not zero in a block: then they count alike.
//
// False, and out is undefined, when a weight or an importance is not finite, or an importance is negative.
bool quantize_rows(Type type, const float* weights, std::int64_t rows, std::int64_t columns,
                   const float* importance, std::byte* out);

float f16_to_f32(std::uint16_t);
std::uint16_t f32_to_f16(float);  // round to nearest even
float bf16_to_f32(std::uint16_t);
std::uint16_t f32_to_bf16(float);  // round to nearest even

}  // namespace fovea::kernels::formats
