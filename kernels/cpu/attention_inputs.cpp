// What attention needs of a token's q, k and v: their norms, the rotary embedding, and the cache's page.
#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/formats/formats.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

// Sines and cosines of position · frequency for up to this many frequencies at a time.
constexpr std::int64_t batch = 64;

struct Turns {
  float cosine[batch];
  float sine[batch];
};

// The angles are formed and reduced in double: a float angle would be wrong by 6e-8 of itself, which is a lot
// at position 100,000.
void turns_of(std::int32_t position, const float* frequency, std::int64_t count, float magnitude,
              Turns& out) {
  constexpr double quarters_per_radian = 0.63661977236758134308;
  constexpr double radians_per_quarter = 1.57079632679489661923;
  float rest[batch] = {};            // −π/4 … π/4
  std::int32_t quarter[batch] = {};  // the angle is rest + quarter · π/2
  for (std::int64_t i = 0; i < count; ++i) {
    const double angle = static_cast<double>(position) * static_cast<double>(frequency[i]);
    const double turned = angle * quarters_per_radian;
    const auto nearest = static_cast<std::int64_t>(turned < 0 ? turned - 0.5 : turned + 0.5);
    rest[i] = static_cast<float>(angle - static_cast<double>(nearest) * radians_per_quarter);
    quarter[i] = static_cast<std::int32_t>(nearest & 3);
  }
  for (std::int64_t i = 0; i < count; i += lanes) {
    const Floats r = load_floats(rest + i);
    const Floats square = multiply(r, r);
    Floats sine = multiply_add(square, set_floats(-1.958792439e-4F), set_floats(8.332748516e-3F));
    sine = multiply_add(multiply(r, square), multiply_add(sine, square, set_floats(-1.666666466e-1F)), r);
    Floats cosine = multiply_add(square, set_floats(2.454386496e-5F), set_floats(-1.388827144e-3F));
    cosine = multiply_add(cosine, square, set_floats(4.166666417e-2F));
    cosine = multiply_add(multiply(square, square), cosine,
                          multiply_add(square, set_floats(-0.5F), set_floats(1)));
    store_floats(out.sine + i, multiply(sine, set_floats(magnitude)));
    store_floats(out.cosine + i, multiply(cosine, set_floats(magnitude)));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const float s = out.sine[i];
    const float c = out.cosine[i];
    const bool swapped = (quarter[i] & 1) != 0;
    out.sine[i] = (quarter[i] & 2) != 0 ? -(swapped ? c : s) : (swapped ? c : s);
    out.cosine[i] = ((quarter[i] + 1) & 2) != 0 ? -(swapped ? s : c) : (swapped ? s : c);
  }
}

// x pairs element i of `low` with element i of `high`.
void turn_halves(float* low, float* high, std::int64_t count, const Turns& turns) {
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Floats a = load_floats(low + i);
    const Floats b = load_floats(high + i);
    const Floats cosine = load_floats(turns.cosine + i);
    const Floats sine = load_floats(turns.sine + i);
    store_floats(low + i, subtract(multiply(a, cosine), multiply(b, sine)));
    store_floats(high + i, multiply_add(a, sine, multiply(b, cosine)));
  }
  for (; i < count; ++i) {
    const float a = low[i];
    const float b = high[i];
    low[i] = a * turns.cosine[i] - b * turns.sine[i];
    high[i] = a * turns.sine[i] + b * turns.cosine[i];
  }
}

void turn_neighbours(float* x, std::int64_t count, const Turns& turns) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float a = x[2 * i];
    const float b = x[2 * i + 1];
    x[2 * i] = a * turns.cosine[i] - b * turns.sine[i];
    x[2 * i + 1] = a * turns.sine[i] + b * turns.cosine[i];
  }
}

// The rotary embedding of the operation's heads: q [heads, head_dim], k [kv_heads, head_dim] or null.
void turn_heads(const AttentionInputs& op, std::int32_t position, float* q, float* k) {
  const std::int64_t half = op.rotary / 2;
  const std::int64_t dim = op.pages.head_dim;
  Turns turns;
  for (std::int64_t i = 0; i < half; i += batch) {
    const std::int64_t count = half - i < batch ? half - i : batch;
    turns_of(position, op.inverse_frequency + i, count, op.magnitude, turns);
    for (std::int64_t head = 0; head < (k ? op.heads + op.pages.kv_heads : op.heads); ++head) {
      float* const x = head < op.heads ? q + head * dim : k + (head - op.heads) * dim;
      if (op.style == RotaryStyle::half_split) {
        turn_halves(x + i, x + half + i, count, turns);
      } else {
        turn_neighbours(x + 2 * i, count, turns);
      }
    }
  }
}

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

// x [kv_heads, head_dim] into the keys or values of a position, each head with a norm without weights where
// `norm_eps` is given.
void store_heads(const KvPages& pages, std::byte* const* list, std::int64_t position, const float* x,
                 const float* norm_eps = nullptr) {
  const BlockShape shape = block_shape(pages.type);
  const std::int64_t bytes = pages.head_dim / shape.elements * shape.bytes;
  std::byte* const page = list[position / pages.page_tokens];
  for (std::int64_t head = 0; head < pages.kv_heads; ++head) {
    const std::int64_t offset = (head * pages.page_tokens + position % pages.page_tokens) * bytes;
    const float* from = x + head * pages.head_dim;
    float normed[max_head_dim];
    if (norm_eps) {
      norm_rows(from, nullptr, *norm_eps, 1, pages.head_dim, normed);
      from = normed;
    }
    store_row(pages.type, from, pages.head_dim, page + offset);
  }
}

// Each head of q from where its gate stands behind it.
void take_queries(const AttentionInputs& op, std::int64_t token, float* q) {
  const std::int64_t dim = op.pages.head_dim;
  const float* const from = op.gated_q + token * op.heads * 2 * dim;
  for (std::int64_t head = 0; head < op.heads; ++head)
    memcpy(q + head * dim, from + head * 2 * dim, static_cast<std::size_t>(dim) * sizeof(float));
}

}  // namespace

void attention_inputs(const AttentionInputs& op, Stream& stream) {
  const KvPages& pages = op.pages;
  // A token of a large model is some microseconds' work: fewer are not worth waking a thread for.
  on_cpu(stream).pool().for_chunks(op.tokens, 8, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      float* const q = op.q + t * op.q_stride;
      float* const k = op.k ? op.k + t * op.k_stride : nullptr;
      if (op.gated_q) take_queries(op, t, q);
      if (op.q_norm) norm_rows(q, op.q_norm, op.eps, op.heads, pages.head_dim, q);
      // Values first: they may be the keys before their norm.
      if (k)
        store_heads(pages, pages.values, op.positions[t], op.v + t * op.v_stride,
                    op.v_norm ? &op.eps : nullptr);
      if (k && op.k_norm) norm_rows(k, op.k_norm, op.eps, pages.kv_heads, pages.head_dim, k);
      turn_heads(op, op.positions[t], q, k);
      if (k) store_heads(pages, pages.keys, op.positions[t], k);
    }
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
