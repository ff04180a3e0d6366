#include "kernels/cpu/attention_inputs.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/formats/formats.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

void store_halves(const float* x, std::int64_t count, std::byte* out) {
  std::int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + lanes <= count; i += lanes) {
    const __m256i halves = _mm512_cvtps_ph(load_floats(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 2 * i), halves);
  }
#elif defined(__AVX2__)
  for (; i + lanes <= count; i += lanes) {
    const __m128i halves = _mm256_cvtps_ph(load_floats(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i), halves);
  }
#endif
  formats::quantize(Type::f16, x + i, count - i, out + 2 * i);
}

// Blocks of 32 with the scale max / 127; codes rounded to nearest even.
void store_q8(const float* x, std::int64_t count, std::byte* out) {
  for (std::int64_t begin = 0; begin < count; begin += 32, out += 34) {
    Floats most = set_floats(0);
    for (std::int64_t i = 0; i < 32; i += lanes)
      most = larger(most, magnitude_of(load_floats(x + begin + i)));
    const float scale = largest(most) / 127;
    formats::quantize(Type::f16, &scale, 1, out);
    // Below this the f16 scale is zero, and 1 / scale need not be finite.
    const float inverse = scale < 1e-8F ? 0.0F : 1 / scale;
    for (std::int64_t i = 0; i < 32; i += lanes) {
      const Ints codes = to_nearest(multiply(load_floats(x + begin + i), set_floats(inverse)));
      store_bytes(reinterpret_cast<int8_t*>(out + 2 + i), codes);
    }
  }
}

void store_row(Type type, const float* x, std::int64_t count, std::byte* out) {
  switch (type) {
    case Type::f16:
      return store_halves(x, count, out);
    case Type::q8_0:
      return store_q8(x, count, out);
    default:
      memcpy(out, x, static_cast<std::size_t>(count) * sizeof(float));
  }
}

}  // namespace

void store_heads(const KvPages& pages, std::byte* const* list, std::int64_t position, const float* x) {
  const BlockShape shape = block_shape(pages.type);
  const std::int64_t bytes = pages.head_dim / shape.elements * shape.bytes;
  std::byte* const page = list[position / pages.page_tokens];
  for (std::int64_t head = 0; head < pages.kv_heads; ++head) {
    const std::int64_t offset = (head * pages.page_tokens + position % pages.page_tokens) * bytes;
    store_row(pages.type, x + head * pages.head_dim, pages.head_dim, page + offset);
  }
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
