// Weights that are floats of 32 or 16 bits: elements, and products of a row with float activations.
#pragma once

#include <cstdint>

#include "kernels/cuda/device_code.h"

namespace fovea::kernels::cuda {

template <Type type>
constexpr int plain_bytes = type == Type::f32 ? 4 : 2;

// The 16-bit float in a word's lower half; what is above it does not count.
template <Type type>
__device__ __forceinline__ float plain_half(std::uint32_t bits) {
  if constexpr (type == Type::f16) {
    return half_to_float(static_cast<std::uint16_t>(bits));
  } else {
    return __uint_as_float(bits << 16);
  }
}

template <Type type>
__device__ __forceinline__ float plain_element(const std::byte* row, std::int64_t i) {
  if constexpr (type == Type::f32) {
    return load_constant<float>(row + 4 * i);
  } else {
    return plain_half<type>(load_constant<std::uint16_t>(row + 2 * i));
  }
}

// `count` adjacent floats, a multiple of 4; aligned: at an address that 16 divides.
template <int count>
__device__ __forceinline__ void load_floats(const float* from, bool aligned, float (&out)[count]) {
  if (aligned) {
#pragma unroll
    for (int k = 0; k < count; k += 4) {
      const auto four = load_written<Floats4>(from + k);
#pragma unroll
      for (int i = 0; i < 4; ++i) out[k + i] = four.v[i];
    }
  } else {
#pragma unroll
    for (int k = 0; k < count; ++k) out[k] = from[k];
  }
}

// This lane's share of the products of a row [columns] with `tokens` rows of x. Where the row is aligned, a
// load is 16 bytes of weights, and `under_way` loads come before the first product.
template <Type type, int under_way, int tokens>
__device__ __forceinline__ void add_plain_products(const std::byte* row, std::int64_t columns,
                                                   const float* const (&x)[tokens], int lane, int lanes,
                                                   float (&sums)[tokens]) {
  constexpr int bytes = plain_bytes<type>;
  constexpr int at_once = 16 / bytes;
  std::int64_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(row) % 16 == 0) {
    bool aligned = true;
#pragma unroll
    for (int t = 0; t < tokens; ++t) aligned &= reinterpret_cast<std::uintptr_t>(x[t]) % 16 == 0;
    done = columns / at_once * at_once;
    const auto multiply = [&](std::int64_t i, const Words4& words) {
#pragma unroll
      for (int t = 0; t < tokens; ++t) {
        float values[at_once];
        load_floats(x[t] + i, aligned, values);
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          const std::uint32_t word = words.v[k * bytes / 4];
          const float weight =
              type == Type::f32 ? __uint_as_float(word) : plain_half<type>(word >> (16 * (k % 2)));
          sums[t] += weight * values[k];
        }
      }
    };
    const std::int64_t step = std::int64_t{lanes} * at_once;
    std::int64_t i = std::int64_t{lane} * at_once;
    for (; i + (under_way - 1) * step < done; i += under_way * step) {
      Words4 words[under_way];
#pragma unroll
      for (int k = 0; k < under_way; ++k) words[k] = load_constant<Words4>(row + (i + k * step) * bytes);
#pragma unroll
      for (int k = 0; k < under_way; ++k) multiply(i + k * step, words[k]);
    }
    for (; i < done; i += step) multiply(i, load_constant<Words4>(row + i * bytes));
  }
  for (std::int64_t i = done + lane; i < columns; i += lanes) {
    const float weight = plain_element<type>(row, i);
#pragma unroll
    for (int t = 0; t < tokens; ++t) sums[t] += weight * x[t][i];
  }
}

}  // namespace fovea::kernels::cuda
