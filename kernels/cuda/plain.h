// Weights that are floats of 32 or 16 bits: elements, and products of a row with float activations.
#pragma once

#include <cstdint>

#include "kernels/cuda/platform.h"

namespace fovea::kernels::cuda {

#define FOVEA_PLAIN_TYPES(X) X(f32) X(f16) X(bf16)

template <Type type>
constexpr int plain_bytes = type == Type::f32 ? 4 : 2;

// The 16-bit float in a word's lower half; what is above it does not count.
template <Type type>
FOVEA_DEVICE float plain_half(std::uint32_t bits) {
  if constexpr (type == Type::f16) {
    return half_to_float(static_cast<std::uint16_t>(bits));
  } else {
    return float_of_bits(bits << 16);
  }
}

template <Type type>
FOVEA_DEVICE float plain_element(const std::byte* row, std::int64_t i) {
  if constexpr (type == Type::f32) {
    return load_constant<float>(row + 4 * i);
  } else {
    return plain_half<type>(load_constant<std::uint16_t>(row + 2 * i));
  }
}

// This lane's share of the products of a row [columns] with `tokens` rows of x, `stride` floats apart. 16
// bytes of weights at once where the row is aligned.
template <Type type, int tokens>
FOVEA_DEVICE void add_plain_products(const std::byte* row, std::int64_t columns,
                                     const float* const (&x)[tokens], int lane, int lanes,
                                     float (&sums)[tokens]) {
  constexpr int bytes = plain_bytes<type>;
  constexpr int at_once = 16 / bytes;
  std::int64_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(row) % 16 == 0) {
    done = columns / at_once * at_once;
    for (std::int64_t i = std::int64_t{lane} * at_once; i < done; i += std::int64_t{lanes} * at_once) {
      const auto words = load_constant<Words4>(row + i * bytes);
      FOVEA_UNROLL for (int k = 0; k < at_once; ++k) {
        float weight;
        if constexpr (type == Type::f32) {
          weight = float_of_bits(words.v[k]);
        } else {
          weight = plain_half<type>(words.v[k / 2] >> (16 * (k % 2)));
        }
        FOVEA_UNROLL for (int t = 0; t < tokens; ++t) sums[t] += weight * x[t][i + k];
      }
    }
  }
  for (std::int64_t i = done + lane; i < columns; i += lanes) {
    const float weight = plain_element<type>(row, i);
    FOVEA_UNROLL for (int t = 0; t < tokens; ++t) sums[t] += weight * x[t][i];
  }
}

}  // namespace fovea::kernels::cuda
