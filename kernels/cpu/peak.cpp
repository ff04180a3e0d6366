// Loops that do nothing but keep the vector units or the memory busy, for ceiling.cpp.
#include "kernels/cpu/dot.h"
#include "kernels/cpu/numeric.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {
// Independent chains, enough to hide the latency of the longest step, few enough to stay in registers.
constexpr int chains = lanes == 4 ? 8 : 12;
}  // namespace

double float_work(std::int64_t rounds, float* sink) {
  Floats sums[chains];
  // Chains that begin alike would be computed once.
#pragma GCC unroll 16
  for (int i = 0; i < chains; ++i) sums[i] = set_floats(*sink + static_cast<float>(i));
  const Floats factor = set_floats(0.999F);
  const Floats step = set_floats(1e-3F);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (Floats& sum : sums) sum = multiply_add(sum, factor, step);
  }
#pragma GCC unroll 16
  for (const Floats& sum : sums) *sink += largest(sum);
  return 2.0 * lanes * chains * static_cast<double>(rounds);
}

double byte_work(std::int64_t rounds, float* sink) {
  Ints sums[chains];
#pragma GCC unroll 16
  for (int i = 0; i < chains; ++i) sums[i] = set_ints(i + static_cast<int32_t>(*sink));
  const Ints x = set_ints(0x01020304);
#if defined(__AVX512VNNI__) || !defined(__AVX2__)
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (Ints& sum : sums) sum = dot_lane(sum, sum, x);
  }
#else
  // Products of unsigned and signed bytes, summed in 16 bits: each step reads the sum as the next bytes.
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (Ints& sum : sums) sum = add_words(pair_products(sum, x), x);
  }
#endif
#pragma GCC unroll 16
  for (const Ints& sum : sums) *sink += static_cast<float>(sum_of(sum));
  return 2.0 * 4 * lanes * chains * static_cast<double>(rounds);
}

void read_work(const std::byte* memory, std::int64_t bytes, float* sink) {
  constexpr std::int64_t vector_bytes = lanes * 4;
  Ints all[8];
#pragma GCC unroll 16
  for (Ints& part : all) part = set_ints(0);
  for (std::int64_t at = 0; at + 8 * vector_bytes <= bytes; at += 8 * vector_bytes) {
#pragma GCC unroll 16
    for (int i = 0; i < 8; ++i) all[i] = bits_or(all[i], load_ints(memory + at + i * vector_bytes));
  }
#pragma GCC unroll 16
  for (const Ints& part : all) *sink += static_cast<float>(sum_of(part));
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
