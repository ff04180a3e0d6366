// Activations as 8-bit integers: what quantised weights are multiplied with.
#pragma once

#include <cstdint>

#include "kernels/cuda/codes.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/device_code.h"
#include "kernels/cuda/tile.h"

namespace fovea::kernels::cuda {

// x ≈ scale · q, with a scale for each `group` columns.
struct Quantised {
  std::int8_t* q = nullptr;   // [rows, columns], rows aligned to 16
  Floats2* halves = nullptr;  // [rows, columns / 16]: the scale, and scale · Σ q
  std::int64_t columns = 0;   // a multiple of 32
};
// 16 where each lane multiplies by itself and a scale costs little, 32 for tiles: a product on tensor cores
// is that long. Such a scale stands in both halves.
enum class Group : std::uint8_t { of_16 = 16, of_32 = 32 };

// The values of a lane's 16 or 32 lanes as its lane gives them: the quantised value; `half` is the same in
// all 16 lanes. All lanes of the warp call it.
__device__ __forceinline__ int quantise_group(float value, Group group, Floats2& half) {
  float largest = fabsf(value);
  for (unsigned apart = static_cast<unsigned>(group) / 2; apart > 0; apart /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(whole_warp, largest, apart));
  // What is too small to be divided by counts as zero.
  const float scale = largest > 1e-35F ? largest / 127.0F : 0.0F;
  const int q = scale > 0.0F ? __float2int_rn(value / scale) : 0;
  int sum = q;
  for (unsigned apart = 8; apart > 0; apart /= 2) sum += __shfl_xor_sync(whole_warp, sum, apart);
  half.v[0] = scale;
  half.v[1] = scale * static_cast<float>(sum);
  return q;
}

// Element i of the rows, in groups of 16. All lanes of the warp call it, with 32 adjacent elements.
__device__ __forceinline__ void store_quantised(float value, const Quantised& out, std::int64_t i) {
  Floats2 half;
  out.q[i] = static_cast<std::int8_t>(quantise_group(value, Group::of_16, half));
  if (i % 16 == 0) out.halves[i / 16] = half;
}

// What an operation is given (kernels/api/operations.h) is these arrays, with groups of 16, one after the
// other. One that cannot be is empty.
static_assert(max_quantised_rows < fewest_in_tiles);
inline Quantised quantised_arrays(const std::byte* quantised, std::int64_t rows, std::int64_t columns) {
  if (!quantised || rows > max_quantised_rows || columns % 32 != 0) return {};
  auto* const q = reinterpret_cast<std::int8_t*>(const_cast<std::byte*>(quantised));
  return {q, reinterpret_cast<Floats2*>(q + rows * columns), columns};
}

void quantise(const float* x, std::int64_t rows, Group, const Quantised& out, CudaStream&);
// Into the scratch memory.
Quantised quantise(const float* x, std::int64_t rows, std::int64_t columns, Group, Scratch&, CudaStream&);
// What is given, or where there is none what is made of x in the scratch memory.
Quantised given_or_quantised(const std::byte* quantised, const float* x, std::int64_t rows,
                             std::int64_t columns, Scratch&, CudaStream&);
constexpr std::int64_t quantised_bytes(std::int64_t rows, std::int64_t columns) {
  return rows * columns + rows * columns / 16 * 8 + 512;
}

// Activations as pairs of bfloat16, rows filled up with zeros to whole steps of loading.
struct Rounded {
  std::uint32_t* pairs = nullptr;  // [rows, stride / 2]
  std::int64_t stride = 0;         // in columns
};
constexpr std::int64_t rounded_stride(std::int64_t columns) {
  return (columns + 31) / 32 * 32;
}
__device__ __forceinline__ std::uint32_t pair_of(float first, float second) {
  return float_to_bfloat16(first) | static_cast<std::uint32_t>(float_to_bfloat16(second)) << 16;
}
Rounded round_rows(const float* x, std::int64_t rows, std::int64_t columns, Scratch&, CudaStream&);
constexpr std::int64_t rounded_bytes(std::int64_t rows, std::int64_t columns) {
  return rows * rounded_stride(columns) * 2 + 256;
}

// What tiles multiply: those of the forms that are given.
inline TileInputs tile_inputs(const float* x, std::int64_t columns, const Rounded& rounded,
                              const Quantised& quantised) {
  return {.floats = x,
          .float_stride = columns,
          .pairs = rounded.pairs,
          .pair_stride = rounded.stride / 2,
          .q = quantised.q,
          .q_stride = quantised.columns,
          .halves = quantised.halves,
          .half_stride = quantised.columns / 16};
}

// This lane's share of the products of a row of weights with rows `row[t]` of x.
template <Type type, bool packed, int tokens>
__device__ __forceinline__ void add_products(const Row<type, packed>& weights, const Quantised& x,
                                             const std::int64_t (&rows)[tokens], int lane, int lanes,
                                             float (&sums)[tokens]) {
  const int units = static_cast<int>(x.columns / 32);
  int begin[tokens];  // 32 bits are enough, and half the registers and arithmetic
#pragma unroll
  for (int t = 0; t < tokens; ++t) begin[t] = static_cast<int>(rows[t] * x.columns);
  for (int unit = lane; unit < units; unit += lanes) {
    const Codes codes = decode(weights, unit);
#pragma unroll
    for (int t = 0; t < tokens; ++t) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int at = begin[t] + unit_column<type>(unit, h);
        const auto q = load_written<Words4>(x.q + at);
        const auto half = load_written<Floats2>(x.halves + (at >> 4));
        int dot = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          dot = __dp4a(static_cast<int>(codes.q[4 * h + i]), static_cast<int>(q.v[i]), dot);
        }
        sums[t] += codes.scale[h] * (half.v[0] * static_cast<float>(dot)) - codes.minimum[h] * half.v[1];
      }
    }
  }
}

}  // namespace fovea::kernels::cuda
