// What attention reads, the KV cache's pages and attention over them.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/formats/formats.h"
#include "kernels/reference/functions.h"
#include "kernels/reference/operations.h"

namespace fovea::kernels::reference {
namespace {

// The bytes of one head's key or value at a position.   [head_dim]
std::byte* entry(const KvPages& pages, std::byte* const* list, std::int64_t position, std::int64_t head) {
  const std::int64_t bytes = row_bytes(pages.type, pages.head_dim);
  return list[position / pages.page_tokens] +
         (head * pages.page_tokens + position % pages.page_tokens) * bytes;
}

std::vector<float> read(const KvPages& pages, std::byte* const* list, std::int64_t position,
                        std::int64_t head) {
  std::vector<float> result(static_cast<std::size_t>(pages.head_dim));
  formats::dequantize(pages.type, entry(pages, list, position, head), pages.head_dim, result.data());
  return result;
}

// out = Σ_p softmax_p(scale · q · k_p) v_p over positions first … last, one query of one head; `sink` is one
// more score of the softmax, or null.
void attend(const float* q, const KvPages& pages, std::int64_t head, std::int64_t first, std::int64_t last,
            double scale, const float* sink, float* out) {
  std::vector<double> scores;
  for (std::int64_t p = first; p <= last; ++p) {
    const std::vector<float> key = read(pages, pages.keys, p, head);
    double score = 0;
    for (std::int64_t i = 0; i < pages.head_dim; ++i)
      score += static_cast<double>(q[i]) * key[static_cast<std::size_t>(i)];
    scores.push_back(score * scale);
  }
  double largest = *std::max_element(scores.begin(), scores.end());
  if (sink) largest = std::max<double>(largest, *sink);
  double total = sink ? std::exp(*sink - largest) : 0;
  std::vector<double> sum(static_cast<std::size_t>(pages.head_dim), 0.0);
  for (std::int64_t p = first; p <= last; ++p) {
    const double weight = std::exp(scores[static_cast<std::size_t>(p - first)] - largest);
    const std::vector<float> value = read(pages, pages.values, p, head);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * value[i];
    total += weight;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) out[i] = static_cast<float>(sum[i] / total);
}

// A head of v.   [head_dim]
std::vector<float> normed_value(const AttentionInputs& a, const float* head) {
  std::vector<double> x(head, head + a.pages.head_dim);
  const double factor = a.v_norm ? norm_factor(x.data(), a.pages.head_dim, a.eps) : 1;
  for (double& value : x) value *= factor;
  return {x.begin(), x.end()};
}

// A head of q or k, normed and turned.   [head_dim]
std::vector<float> prepared(const AttentionInputs& a, const float* head, const float* norm,
                            std::int64_t position) {
  std::vector<double> x(head, head + a.pages.head_dim);
  if (norm) {
    const double factor = norm_factor(x.data(), a.pages.head_dim, a.eps);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= factor * norm[i];
  }
  const auto half = static_cast<std::size_t>(a.rotary / 2);
  for (std::size_t i = 0; i < half; ++i) {
    double& first = a.style == RotaryStyle::half_split ? x[i] : x[2 * i];
    double& second = a.style == RotaryStyle::half_split ? x[i + half] : x[2 * i + 1];
    const double angle = static_cast<double>(position) * a.inverse_frequency[i];
    const double cosine = std::cos(angle) * a.magnitude;
    const double sine = std::sin(angle) * a.magnitude;
    const double real = first * cosine - second * sine;
    second = first * sine + second * cosine;
    first = real;
  }
  return {x.begin(), x.end()};
}

}  // namespace

void attention_inputs(const AttentionInputs& a, Stream&) {
  const KvPages& pages = a.pages;
  assert(a.rotary % 2 == 0 && a.rotary <= pages.head_dim);
  for (std::int64_t t = 0; t < a.tokens; ++t) {
    const std::int64_t position = a.positions[t];
    for (std::int64_t head = 0; head < a.heads; ++head) {
      float* const q = a.q + t * a.q_stride + head * pages.head_dim;
      const float* const from = a.gated_q ? a.gated_q + (t * a.heads + head) * 2 * pages.head_dim : q;
      std::ranges::copy(prepared(a, from, a.q_norm, position), q);
    }
    for (std::int64_t head = 0; a.k && head < pages.kv_heads; ++head) {
      const std::int64_t offset = head * pages.head_dim;
      const std::vector<float> k = prepared(a, a.k + t * a.k_stride + offset, a.k_norm, position);
      const std::vector<float> v = normed_value(a, a.v + t * a.v_stride + offset);
      formats::quantize(pages.type, k.data(), pages.head_dim, entry(pages, pages.keys, position, head));
      formats::quantize(pages.type, v.data(), pages.head_dim, entry(pages, pages.values, position, head));
    }
  }
}

void attention(const Attention& a, Stream&) {
  const KvPages& pages = a.pages;
  assert(a.heads % pages.kv_heads == 0);
  const std::int64_t group = a.heads / pages.kv_heads;
  for (std::int64_t t = 0; t < a.tokens; ++t) {
    const std::int64_t last = (a.position ? *a.position : a.first) + t;
    const std::int64_t first = a.window > 0 ? std::max<std::int64_t>(0, last - a.window + 1) : 0;
    for (std::int64_t head = 0; head < a.heads; ++head) {
      attend(a.q + t * a.q_stride + head * pages.head_dim, pages, head / group, first, last, a.scale,
             a.sinks ? a.sinks + head : nullptr, a.out + (t * a.heads + head) * pages.head_dim);
    }
  }
}

}  // namespace fovea::kernels::reference
