#include "kernels/formats/trellis_encoder.h"

namespace fovea::kernels::formats {

#define FOVEA_DECLARE_ENCODER(set)                                                                           \
  namespace set {                                                                                            \
  void encode_trellis(Type, const TrellisBlock*, int count);                                                 \
  void add_products(const float* const* errors, int rows, const float* factors, std::int64_t count,          \
                    float (*sums)[32]);                                                                      \
  void subtract_products(const double* rows, std::int64_t stride, std::int64_t row_count,                    \
                         const double* factors, std::int64_t count, double* sums, std::int64_t sums_stride); \
  }
FOVEA_DECLARE_ENCODER(scalar)
#if defined(FOVEA_FORMATS_X86)
FOVEA_DECLARE_ENCODER(avx2)
FOVEA_DECLARE_ENCODER(avx512)
#endif
#undef FOVEA_DECLARE_ENCODER

namespace {

constexpr TrellisEncoder all[] = {
    {"scalar", 2, scalar::encode_trellis, scalar::add_products, scalar::subtract_products},
#if defined(FOVEA_FORMATS_X86)
    {"avx2", 2, avx2::encode_trellis, avx2::add_products, avx2::subtract_products},
    {"avx512", 4, avx512::encode_trellis, avx512::add_products, avx512::subtract_products},
#endif
};

std::size_t count_available() {
#if defined(FOVEA_FORMATS_X86)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return 1;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return avx512 ? 3 : 2;
#else
  return 1;
#endif
}

}  // namespace

std::span<const TrellisEncoder> trellis_encoders() {
  static const std::size_t count = count_available();
  return {all, count};
}

}  // namespace fovea::kernels::formats
