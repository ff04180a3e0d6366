#include "kernels/formats/trellis_encoder.h"

namespace fovea::kernels::formats {

#define FOVEA_DECLARE_ENCODER(set)                           \
  namespace set {                                            \
  void encode_trellis_pair(Type, const TrellisBlock (&)[2]); \
  }
FOVEA_DECLARE_ENCODER(scalar)
#if defined(FOVEA_FORMATS_X86)
FOVEA_DECLARE_ENCODER(avx2)
FOVEA_DECLARE_ENCODER(avx512)
#endif
#undef FOVEA_DECLARE_ENCODER

namespace {

constexpr TrellisEncoder all[] = {
    {"scalar", scalar::encode_trellis_pair},
#if defined(FOVEA_FORMATS_X86)
    {"avx2", avx2::encode_trellis_pair},
    {"avx512", avx512::encode_trellis_pair},
#endif
};

std::size_t count_available() {
#if defined(FOVEA_FORMATS_X86)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return 1;
  return __builtin_cpu_supports("avx512f") ? 3 : 2;
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
