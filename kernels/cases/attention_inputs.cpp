// Cases of attention_inputs.
#include <cmath>

#include "kernels/cases/cache.h"
#include "kernels/cases/case.h"

namespace fovea::kernels::cases {

namespace {

constexpr double unit = 0x1p-24;  // relative rounding of a float
constexpr double smallest = 1e-37;

struct InputsShape {
  CacheShape cache;
  std::int64_t group = 1;  // query heads for each kv head
  std::int64_t rotary = 0;
  std::int64_t first = 0;
  std::int64_t tokens = 1;
  bool norms = false;
  RotaryStyle style = RotaryStyle::half_split;
  std::int64_t padding = 0;
  bool jumping = false;  // positions are apart, further each time
  bool gated = false;    // each head of q comes with a gate
  bool v_norm = false;
  bool v_is_k = false;
  bool without_k = false;
};

class AttentionInputsCase final : public Case {
 public:
  AttentionInputsCase(Random& random, const InputsShape& shape) : s_(shape) {
    const CacheShape& cache = s_.cache;
    heads_ = cache.kv_heads * s_.group;
    name = "attention_inputs " + cache.text() + ", " + std::to_string(heads_) + " heads, " +
           std::to_string(s_.rotary) +
           (s_.style == RotaryStyle::half_split ? " half split, " : " interleaved, ") +
           std::to_string(s_.tokens) + " tokens at " + std::to_string(s_.first) +
           (s_.jumping ? ", jumping" : "") + (s_.norms ? ", norms" : "") + (s_.gated ? ", gated" : "") +
           (s_.v_norm ? ", values normed" : "") + (s_.v_is_k ? ", values are keys" : "") +
           (s_.without_k ? ", queries alone" : "");
    q_ = normals(random, s_.tokens * (heads_ * cache.head_dim + s_.padding));
    if (s_.gated) gated_q_ = normals(random, s_.tokens * heads_ * 2 * cache.head_dim);
    k_ = normals(random, s_.tokens * (cache.kv_heads * cache.head_dim + s_.padding));
    v_ = normals(random, s_.tokens * (cache.kv_heads * cache.head_dim + 2 * s_.padding));
    for (std::int64_t i = 0; i < cache.head_dim; ++i) k_[static_cast<std::size_t>(i)] = 0;  // a zero row
    if (s_.norms) {
      q_norm_ = normals(random, cache.head_dim);
      k_norm_ = normals(random, cache.head_dim);
    }
    for (std::int64_t t = 0; t < s_.tokens; ++t)
      positions_.push_back(static_cast<std::int32_t>(s_.first + (s_.jumping ? t * t : t)));
    for (std::int64_t i = 0; i < s_.rotary / 2; ++i) {
      frequency_.push_back(static_cast<float>(
          std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(s_.rotary))));
    }
    work.bytes = static_cast<double>(s_.tokens) *
                 static_cast<double>(8 * (heads_ + cache.kv_heads) * cache.head_dim +
                                     2 * cache.kv_heads * row_bytes(cache.type, cache.head_dim));
    work.operations = 6.0 * static_cast<double>(s_.tokens * (heads_ + cache.kv_heads) * cache.head_dim);
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    const CacheShape& cache = s_.cache;
    AttentionInputs a;
    a.q = memory.in_out(q_);
    if (s_.gated) a.gated_q = memory.input(gated_q_);
    if (!s_.without_k) {
      a.k = memory.used_up(k_);
      a.v = s_.v_is_k ? a.k : memory.input(v_);
    }
    a.v_norm = s_.v_norm;
    a.q_stride = heads_ * cache.head_dim + s_.padding;
    a.k_stride = cache.kv_heads * cache.head_dim + s_.padding;
    a.v_stride = s_.v_is_k ? a.k_stride : cache.kv_heads * cache.head_dim + 2 * s_.padding;
    a.tokens = s_.tokens;
    a.heads = heads_;
    a.positions = memory.input(positions_);
    if (s_.norms) {
      a.q_norm = memory.input(q_norm_);
      a.k_norm = memory.input(k_norm_);
    }
    a.eps = 1e-6F;
    a.rotary = s_.rotary;
    a.inverse_frequency = memory.input(frequency_);
    a.magnitude = 1.25F;
    a.style = s_.style;
    // Pages are there where there are positions.
    const std::int64_t pages = positions_.back() / cache.page_tokens + 1;
    std::vector<std::byte*> keys(static_cast<std::size_t>(pages));
    std::vector<std::byte*> values(keys);
    for (const std::int32_t position : positions_) {
      const auto page = static_cast<std::size_t>(position / cache.page_tokens);
      if (keys[page]) continue;
      keys[page] = memory.page(cache.type, cache.page_elements(), nullptr);
      values[page] = memory.page(cache.type, cache.page_elements(), nullptr);
    }
    a.pages = {memory.table(keys), memory.table(values), cache.page_tokens,
               cache.type,         cache.kv_heads,       cache.head_dim};
    return [&memory, a](Stream& stream) { memory.device().operations().attention_inputs(a, stream); };
  }

  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    const std::int64_t dim = s_.cache.head_dim;
    std::vector<double> result(reference.size(), 0.0);
    for (std::int64_t t = 0; t < s_.tokens; ++t) {
      for (std::int64_t head = 0; head < heads_; ++head) {
        const auto at = t * (heads_ * dim + s_.padding) + head * dim;
        allow_roundings(reference.data() + at, result.data() + at);
      }
    }
    // Pages of keys and of values in turn.
    bool keys = true;
    for (auto page = static_cast<std::int64_t>(q_.size()); page < std::ssize(reference);
         page += s_.cache.page_elements(), keys = !keys) {
      for (std::int64_t entry = page; entry < page + s_.cache.page_elements(); entry += dim) {
        const float* const values = reference.data() + entry;
        if (std::isnan(*values)) continue;
        double* const allowed = result.data() + entry;
        if (keys) allow_roundings(values, allowed);
        if (!keys && s_.v_norm) allow_norm(values, allowed);
        allow_storage(values, keys ? s_.norms || s_.rotary > 0 : s_.v_norm, allowed);
      }
    }
    return result;
  }

 private:
  // The norm's sum of squares is off by at most √n roundings in effect, halved by the root; a few more for
  // the products. Each turned element is of its pair's size, times the roundings of sine, cosine and two
  // products. The angle must be more exact than a float: positions reach 10^6, where one would be wrong by
  // 0.06.
  double norm_roundings() const { return std::sqrt(static_cast<double>(s_.cache.head_dim)) + 6; }
  void allow_norm(const float* head, double* allowed) const {
    for (std::int64_t i = 0; i < s_.cache.head_dim; ++i)
      allowed[i] = norm_roundings() * unit * std::fabs(head[i]) + smallest;
  }
  void allow_roundings(const float* head, double* allowed) const {
    const double norm = s_.norms ? norm_roundings() : 0;
    for (std::int64_t i = 0; i < s_.cache.head_dim; ++i) {
      double size = std::fabs(head[i]);
      double roundings = norm;
      if (i < s_.rotary) {
        const std::int64_t half = s_.rotary / 2;
        const std::int64_t other = s_.style == RotaryStyle::interleaved ? i ^ 1 : (i + half) % s_.rotary;
        size = std::hypot(head[i], head[other]);
        roundings += 8;
      }
      allowed[i] = roundings * unit * size + (roundings > 0 ? smallest : 0);
    }
  }

  // f32 and f16 are exact (f16 rounds to nearest even) but where what is stored is not: then the next half
  // float is allowed. q8_0 may break ties differently: one step of the largest of 32 values / 127, and the
  // next half float as the scale.
  void allow_storage(const float* head, bool inexact, double* allowed) const {
    if (s_.cache.type == Type::f32) return;
    for (std::int64_t i = 0; i < s_.cache.head_dim; ++i) {
      const double next_half = std::fabs(head[i]) * 0x1p-10 + 0x1p-24;
      if (s_.cache.type == Type::f16) {
        if (inexact) allowed[i] += next_half;
        continue;
      }
      double largest = 0;
      for (std::int64_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j)
        largest = std::fmax(largest, std::fabs(head[j]));
      allowed[i] += 1.01 * largest / 127 + next_half;
    }
  }

  InputsShape s_;
  std::int64_t heads_ = 0;
  std::vector<float> q_;
  std::vector<float> gated_q_;
  std::vector<float> k_;
  std::vector<float> v_;
  std::vector<float> q_norm_;
  std::vector<float> k_norm_;
  std::vector<std::int32_t> positions_;
  std::vector<float> frequency_;
};

}  // namespace

void add_attention_inputs_sweep(Cases& cases, Random& random) {
  const auto add = [&](const InputsShape& shape) {
    cases.push_back(std::make_unique<AttentionInputsCase>(random, shape));
  };
  constexpr auto split = RotaryStyle::half_split;
  constexpr auto turns = RotaryStyle::interleaved;
  for (const Type type : {Type::f32, Type::f16, Type::q8_0}) {
    for (const bool norms : {false, true}) {
      add({{type, 3, 64, 16}, 2, 64, 0, 1, norms, split, 0});
      add({{type, 3, 64, 16}, 1, 64, 15, 1, norms, turns, 5});
      add({{type, 3, 64, 16}, 4, 64, 14, 5, norms, split, 5});
      add({{type, 1, 96, 7}, 3, 96, 6, 9, norms, turns, 0});
      add({{type, 2, 128, 32}, 8, 128, 3, 70, norms, split, 0});
      add({{type, 2, 256, 16}, 2, 64, 100, 3, norms, split, 7});  // a quarter turns
      add({{type, 1, 32, 16}, 1, 0, 4, 2, norms, split, 1});      // none does
    }
    for (const RotaryStyle style : {split, turns})
      add({{type, 1, 128, 64}, 4, 128, 1000000, 40, true, style, 128, true});
  }
  for (const bool norms : {false, true}) {
    add({.cache = {Type::f32, 2, 64, 16},
         .group = 3,
         .rotary = 16,
         .tokens = 5,
         .norms = norms,
         .gated = true});
    add({.cache = {Type::f16, 1, 46, 16},
         .group = 4,
         .rotary = 12,
         .first = 30,
         .tokens = 2,
         .norms = norms,
         .gated = true});
  }
  // Gemma's: norms of values, one projection for keys and values, another layer's cache, large heads.
  for (const Type type : {Type::f32, Type::f16, Type::q8_0}) {
    for (const bool norms : {false, true}) {
      add({.cache = {type, 2, 64, 16},
           .group = 2,
           .rotary = 64,
           .first = 14,
           .tokens = 5,
           .norms = norms,
           .padding = 3,
           .v_norm = true});
      add({.cache = {type, 1, 512, 16},
           .group = 3,
           .rotary = 512,
           .tokens = 2,
           .norms = norms,
           .v_norm = norms,
           .v_is_k = true});
      add({.cache = {type, 2, 96, 16},
           .group = 3,
           .rotary = 96,
           .first = 7,
           .tokens = 3,
           .norms = norms,
           .without_k = true});
    }
  }
  // Head sizes that fill no vector.
  for (const Type type : {Type::f32, Type::f16}) {
    for (const RotaryStyle style : {split, turns}) {
      add({{type, 1, 2, 5}, 1, 2, 3, 2, false, style, 0});
      add({{type, 2, 10, 16}, 3, 6, 8190, 4, true, style, 3, true});
      add({{type, 1, 46, 13}, 2, 46, 131071, 2, false, style, 1});
      add({{type, 1, 80, 16}, 1, 80, 5, 3, true, style, 0});
    }
  }
}

void add_attention_inputs_benchmarks(Benchmarks& all) {
  // Qwen3-30B-A3B, decoding and one chunk of prefill.
  for (const Type type : {Type::f16, Type::q8_0}) {
    for (const std::int64_t tokens : {1, 512}) {
      const InputsShape shape = {.cache = {type, 4, 128, 64},
                                 .group = 8,
                                 .rotary = 128,
                                 .first = 512,
                                 .tokens = tokens,
                                 .norms = true};
      Random random(5);
      all.push_back({AttentionInputsCase(random, shape).name, [shape] {
                       Random own(5);
                       return std::make_unique<AttentionInputsCase>(own, shape);
                     }});
    }
  }
}

}  // namespace fovea::kernels::cases
