// The KV cache's pages and attention over them.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/formats/formats.h"
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

// out = Σ_p softmax_p(scale · q · k_p) v_p over positions first … last, one query of one head.
void attend(const float* q, const KvPages& pages, std::int64_t head, std::int64_t first, std::int64_t last,
            double scale, float* out) {
  std::vector<double> scores;
  for (std::int64_t p = first; p <= last; ++p) {
    const std::vector<float> key = read(pages, pages.keys, p, head);
    double score = 0;
    for (std::int64_t i = 0; i < pages.head_dim; ++i)
      score += static_cast<double>(q[i]) * key[static_cast<std::size_t>(i)];
    scores.push_back(score * scale);
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  std::vector<double> sum(static_cast<std::size_t>(pages.head_dim), 0.0);
  for (std::int64_t p = first; p <= last; ++p) {
    const double weight = std::exp(scores[static_cast<std::size_t>(p - first)] - largest);
    const std::vector<float> value = read(pages, pages.values, p, head);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * value[i];
    total += weight;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) out[i] = static_cast<float>(sum[i] / total);
}

}  // namespace

void kv_store(const KvStore& a, Stream&) {
  const KvPages& pages = a.pages;
  const std::int64_t first = a.position ? *a.position : a.first;
  for (std::int64_t t = 0; t < a.tokens; ++t) {
    for (std::int64_t head = 0; head < pages.kv_heads; ++head) {
      const std::int64_t offset = head * pages.head_dim;
      formats::quantize(pages.type, a.k + t * a.k_stride + offset, pages.head_dim,
                        entry(pages, pages.keys, first + t, head));
      formats::quantize(pages.type, a.v + t * a.v_stride + offset, pages.head_dim,
                        entry(pages, pages.values, first + t, head));
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
             a.out + (t * a.heads + head) * pages.head_dim);
    }
  }
}

}  // namespace fovea::kernels::reference
