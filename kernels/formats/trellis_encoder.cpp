#include "kernels/formats/trellis_encoder.h"

namespace fovea::kernels::formats {

#define FOVEA_DECLARE_ENCODER(set)                                                               \
  namespace set {                                                                                \
  void encode_trellis_pair(Type, const TrellisBlock (&)[2]);                                     \
  void add_products(const float* errors, const float* factors, std::int64_t count, float* sums); \
  }
FOVEA_DECLARE_ENCODER(scalar)
#if defined(FOVEA_FORMATS_X86)
FOVEA_DECLARE_ENCODER(avx2)
#endif
#undef FOVEA_DECLARE_ENCODER

namespace {

constexpr TrellisEncoder all[] = {
    {"scalar", scalar::encode_trellis_pair, scalar::add_products},
#if defined(FOVEA_FORMATS_X86)
    {"avx2", avx2::encode_trellis_pair, avx2::add_products},
#endif
};

std::size_t count_available() {
#if defined(FOVEA_FORMATS_X86)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") ? 2 : 1;
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
