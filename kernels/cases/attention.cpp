// Cases of attention.
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/cases/cache.h"
#include "kernels/cases/quantised.h"
#include "kernels/formats/formats.h"

namespace fovea::kernels::cases {

namespace {

constexpr double unit = 0x1p-24;

// Where the first position is told.
enum class Told : std::uint8_t { on_the_host, in_memory };
constexpr std::int64_t above = 123;  // what the host says too much then

struct AttentionShape {
  CacheShape cache;
  std::int64_t group = 1;  // query heads for each kv head
  std::int64_t first = 0;
  std::int64_t tokens = 1;
  std::int64_t window = 0;
  std::int64_t padding = 0;
  double spread = 1;  // of the queries: large makes the softmax pick single keys
  Told told = Told::on_the_host;
  bool with_quantised = false;
  bool with_sinks = false;
  bool beside = false;  // one token that is not alone
};

class AttentionCase final : public Case {
 public:
  static std::string label(const AttentionShape& s) {
    return "attention " + s.cache.text() + ", " + std::to_string(s.cache.kv_heads * s.group) + " heads, " +
           std::to_string(s.tokens) + " tokens at " + std::to_string(s.first) +
           (s.window > 0 ? ", window " + std::to_string(s.window) : "") + (s.spread > 1 ? ", peaked" : "") +
           (s.told == Told::in_memory ? ", told in memory" : "") + (s.with_quantised ? ", quantised" : "") +
           (s.with_sinks ? ", sinks" : "") + (s.beside ? ", beside others" : "");
  }

  AttentionCase(Random& random, const AttentionShape& shape) : s_(shape) {
    heads_ = s_.cache.kv_heads * s_.group;
    scale_ = static_cast<float>(1 / std::sqrt(static_cast<double>(s_.cache.head_dim)));
    name = label(shape);
    q_ = normals(random, s_.tokens * stride(), s_.spread);
    if (s_.with_sinks) {
      sinks_ = normals(random, heads_, 3);
      // One that takes nothing, and one that takes almost everything.
      sinks_.front() = -200;
      sinks_.back() = 20;
    }
    const std::int64_t positions = s_.first + s_.tokens;
    const std::int64_t pages = (positions + s_.cache.page_tokens - 1) / s_.cache.page_tokens;
    for (std::int64_t i = 0; i < pages; ++i) {
      keys_.push_back(random_page(random, i));
      values_.push_back(random_page(random, i));
    }
    double pairs = 0;
    for (std::int64_t t = 0; t < s_.tokens; ++t)
      pairs += static_cast<double>(s_.first + t - first_seen(t) + 1);
    work.bytes = 2.0 * static_cast<double>(positions * s_.cache.kv_heads *
                                           row_bytes(s_.cache.type, s_.cache.head_dim));
    work.operations = 4.0 * pairs * static_cast<double>(heads_ * s_.cache.head_dim);
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    std::vector<std::byte*> keys;
    std::vector<std::byte*> values;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      keys.push_back(memory.page(s_.cache.type, s_.cache.page_elements(), &keys_[i]));
      values.push_back(memory.page(s_.cache.type, s_.cache.page_elements(), &values_[i]));
    }
    const float* q = memory.input(q_);
    float* out = memory.output<float>(s_.tokens * heads_ * s_.cache.head_dim);
    Attention a{.q = q,
                .q_stride = stride(),
                .first = s_.first,
                .tokens = s_.tokens,
                .heads = heads_,
                .scale = scale_,
                .window = s_.window,
                .sinks = sinks_.empty() ? nullptr : memory.input(sinks_),
                .pages = {memory.table(keys), memory.table(values), s_.cache.page_tokens, s_.cache.type,
                          s_.cache.kv_heads, s_.cache.head_dim},
                .out = out,
                .alone = s_.tokens == 1 && !s_.beside};
    if (s_.told == Told::in_memory) {
      a.first += above;
      a.position = memory.input<std::int32_t>({static_cast<std::int32_t>(s_.first)});
    }
    std::optional<QuantisedReader> reader;
    if (s_.with_quantised)
      a.quantised = reader.emplace(memory, s_.tokens, heads_ * s_.cache.head_dim).quantised();
    return [&memory, a, reader](Stream& stream) {
      memory.device().operations().attention(a, stream);
      if (reader) reader->read(a.out, stream);
    };
  }

  // A score is off by its float summation, 2^-24 · √d · |q| |k| · scale, and by the rounding of its distance
  // from the largest score; exp turns that into a relative error e of each weight. A weighted mean of values
  // moves by at most 2 e · max |v|; summing L of them in floats adds √L roundings. Random signs: three of
  // each will do.
  //
  // A device may multiply half floats, if those hold the cache: then a q8_0 cache's entries and, of many
  // queries, queries and weights are rounded by 2^-12 on average, of a score's products each on its own.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result = out_tolerance();
    if (!s_.with_quantised) return result;
    const std::vector<float> read(reference.begin() + std::ssize(result), reference.end());
    const std::vector<double> of_quantised =
        QuantisedReader::tolerance(read, result, heads_ * s_.cache.head_dim);
    result.insert(result.end(), of_quantised.begin(), of_quantised.end());
    return result;
  }

 private:
  std::vector<double> out_tolerance() const {
    const auto dim = static_cast<std::size_t>(s_.cache.head_dim);
    const bool halves = s_.cache.type == Type::q8_0 || (s_.tokens >= 9 && s_.cache.type != Type::f32);
    const double rounding = halves ? 0x1p-12 : 0;
    std::vector<double> result;
    for (std::int64_t t = 0; t < s_.tokens; ++t) {
      const double length = static_cast<double>(s_.first + t - first_seen(t) + 1);
      for (std::int64_t head = 0; head < heads_; ++head) {
        double squares = 0;
        for (std::size_t i = 0; i < dim; ++i)
          squares += std::pow(q_[static_cast<std::size_t>(t * stride() + head * s_.cache.head_dim) + i], 2);
        const double product = std::sqrt(squares) * largest_key_norm() * scale_;
        const double root = std::sqrt(static_cast<double>(dim));
        const double weight_error = unit * (product * (root / 4 + 2) + 4);
        const double allowed = 3 * largest_value_ * (2 * weight_error + unit * (std::sqrt(length) + 4)) +
                               largest_value_ * rounding * (1.5 * product / root + 2);
        result.insert(result.end(), dim, allowed);
      }
    }
    return result;
  }

  std::int64_t stride() const { return heads_ * s_.cache.head_dim + s_.padding; }
  std::int64_t first_seen(std::int64_t t) const {
    return s_.window > 0 ? std::max<std::int64_t>(0, s_.first + t - s_.window + 1) : 0;
  }
  double largest_key_norm() const {
    return largest_value_ * std::sqrt(static_cast<double>(s_.cache.head_dim)) / 2.5;
  }

  // Positions after the last token are poison: whoever reads them shows NaN.
  std::vector<std::byte> random_page(Random& random, std::int64_t page) {
    const CacheShape& cache = s_.cache;
    std::vector<float> content = normals(random, cache.page_elements());
    std::vector<std::byte> bytes(static_cast<std::size_t>(row_bytes(cache.type, cache.page_elements())));
    for (const float value : content) largest_value_ = std::fmax(largest_value_, std::fabs(value));
    formats::quantize(cache.type, content.data(), cache.page_elements(), bytes.data());
    const std::int64_t bytes_each = row_bytes(cache.type, cache.head_dim);
    for (std::int64_t i = 0; i < cache.kv_heads * cache.page_tokens; ++i) {
      if (page * cache.page_tokens + i % cache.page_tokens < s_.first + s_.tokens) continue;
      std::fill_n(bytes.begin() + i * bytes_each, bytes_each, std::byte{poison_byte});
    }
    return bytes;
  }

  AttentionShape s_;
  std::int64_t heads_ = 0;
  float scale_ = 0;
  double largest_value_ = 0;
  std::vector<float> q_;
  std::vector<float> sinks_;  // or empty
  std::vector<std::vector<std::byte>> keys_;
  std::vector<std::vector<std::byte>> values_;
};

void add(Cases& cases, Random& random, const AttentionShape& shape) {
  cases.push_back(std::make_unique<AttentionCase>(random, shape));
}

}  // namespace

void add_attention_sweep(Cases& cases, Random& random) {
  for (const Type type : {Type::f32, Type::f16, Type::q8_0}) {
    add(cases, random, {{type, 1, 32, 16}, 1, 0, 1, 0, 0});
    add(cases, random, {{type, 2, 64, 16}, 3, 15, 1, 0, 0});
    add(cases, random, {{type, 2, 64, 16}, 4, 16, 2, 0, 9});
    add(cases, random, {{type, 4, 128, 64}, 8, 700, 1, 0, 0});
    add(cases, random, {{type, 1, 128, 32}, 7, 333, 3, 0, 0});
    // Few rows over a long cache: every number of them, splits that are longer than the shortest, windows.
    for (const int rows : {1, 2, 3, 5, 6, 7, 9, 12, 15})
      add(cases, random, {{type, 1, 96, 16}, rows, 261 + 13 * rows, 1, 0, 0});
    add(cases, random, {{type, 2, 128, 64}, 8, 4200, 2, 0, 0});
    add(cases, random, {{type, 1, 64, 24}, 3, 5000, 1, 0, 0});
    add(cases, random, {{type, 1, 64, 16}, 2, 700, 5, 300, 0});
    add(cases, random, {{type, 1, 64, 16}, 2, 700, 5, 3, 0});
    add(cases, random, {{type, 2, 256, 16}, 8, 40, 1, 0, 0});
    add(cases, random, {.cache = {type, 1, 64, 16}, .group = 3, .first = 900, .beside = true});
    add(cases, random, {.cache = {type, 2, 64, 16}, .group = 4, .first = 700, .window = 300, .beside = true});
    add(cases, random, {{type, 1, 512, 16}, 4, 150, 1, 0, 0});  // Gemma 4's global layers
    add(cases, random, {{type, 2, 512, 16}, 9, 20, 11, 0, 0});
    add(cases, random, {{type, 1, 512, 32}, 2, 300, 3, 50, 0});
    add(cases, random, {{type, 3, 64, 16}, 3, 0, 67, 0, 3});
    add(cases, random, {{type, 2, 96, 13}, 2, 5, 50, 0, 0});  // pages that no tile divides
    add(cases, random, {{type, 1, 64, 64}, 5, 130, 33, 0, 0});
    add(cases, random, {{type, 2, 128, 32}, 4, 0, 200, 0, 0});
    add(cases, random, {{type, 2, 64, 16}, 2, 90, 1, 20, 0});  // windows
    add(cases, random, {{type, 2, 64, 16}, 2, 0, 100, 17, 0});
    add(cases, random, {{type, 1, 64, 16}, 8, 300, 40, 64, 0});
    add(cases, random, {{type, 1, 32, 16}, 1, 50, 9, 1, 0});
    add(cases, random, {{type, 2, 64, 16}, 2, 120, 20, 1000, 0});
    add(cases, random, {{type, 2, 64, 32}, 2, 100, 30, 0, 0, 30});  // a softmax with one winner
    add(cases, random, {{type, 2, 64, 32}, 2, 400, 1, 0, 0, 30});
    add(cases, random, {{type, 1, 256, 16}, 5, 70, 20, 0, 0});
    add(cases, random, {{type, 1, 128, 32}, 2, 600, 9, 0, 0});
    add(cases, random, {{type, 2, 64, 16}, 2, 37, 11, 0, 0, 1, Told::in_memory});
    add(cases, random, {{type, 2, 64, 16}, 2, 90, 40, 20, 0, 1, Told::in_memory});
    for (const int first : {0, 1, 31, 200, 700})
      add(cases, random, {{type, 2, 64, 16}, 4, first, 1, 0, 0, 1, Told::in_memory});
    add(cases, random, {{type, 2, 64, 16}, 2, 90, 3, 20, 0, 1, Told::in_memory});
  }
  // Sinks, in each form of the operation: one and several KV splits, few queries and many, windows.
  for (const Type type : {Type::f32, Type::f16, Type::q8_0}) {
    const auto sinks = [&](const CacheShape& cache, std::int64_t group, std::int64_t first,
                           std::int64_t tokens, std::int64_t window, double spread = 1) {
      add(cases, random, {cache, group, first, tokens, window, 0, spread, Told::on_the_host, false, true});
    };
    sinks({type, 2, 64, 16}, 4, 0, 1, 0);
    sinks({type, 2, 64, 16}, 8, 700, 1, 0);
    sinks({type, 2, 64, 16}, 8, 700, 3, 128);
    sinks({type, 2, 64, 16}, 2, 400, 1, 0, 30);
    sinks({type, 2, 64, 16}, 3, 0, 67, 0);
    sinks({type, 2, 64, 16}, 4, 300, 40, 128);
    sinks({type, 1, 128, 32}, 2, 600, 9, 0);
    if (type != Type::q8_0) sinks({type, 3, 46, 13}, 2, 300, 3, 0);
  }
  // Quantised activations, of one KV split and of several, of heads that are no whole warps, of too many
  // tokens.
  for (const Type type : {Type::f32, Type::f16}) {
    const auto quantised = [&](const CacheShape& cache, std::int64_t group, std::int64_t first,
                               std::int64_t tokens) {
      add(cases, random, {cache, group, first, tokens, 0, 0, 1, Told::on_the_host, true});
    };
    quantised({type, 2, 64, 16}, 3, 15, 1);
    quantised({type, 2, 64, 16}, 3, 700, 1);
    quantised({type, 1, 128, 64}, 4, 600, 8);
    quantised({type, 2, 80, 16}, 1, 300, 3);
    quantised({type, 2, 64, 16}, 2, 300, 9);
  }
  // Head sizes that fill no vector.
  for (const Type type : {Type::f32, Type::f16}) {
    add(cases, random, {{type, 2, 1, 5}, 2, 9, 3, 0, 0});
    add(cases, random, {{type, 2, 1, 5}, 2, 9, 13, 0, 0});
    add(cases, random, {{type, 2, 6, 4}, 3, 11, 9, 0, 1});
    add(cases, random, {{type, 1, 46, 16}, 3, 100, 1, 0, 0});
    add(cases, random, {{type, 1, 46, 16}, 3, 7, 40, 0, 0});
    add(cases, random, {{type, 3, 80, 16}, 1, 61, 18, 0, 0});
    add(cases, random, {{type, 1, 192, 16}, 2, 61, 18, 30, 0});
  }
}

void add_attention_benchmarks(Benchmarks& all) {
  const auto add = [&all](const AttentionShape& shape) {
    all.push_back({AttentionCase::label(shape), [=] {
                     Random random(4);
                     return std::make_unique<AttentionCase>(random, shape);
                   }});
  };
  // Qwen3-30B-A3B and SmolLM2, decoding and one chunk of prefill.
  for (const Type type : {Type::f16, Type::q8_0, Type::f32}) {
    for (const CacheShape& cache : {CacheShape{type, 4, 128, 64}, CacheShape{type, 3, 64, 64}}) {
      const std::int64_t group = cache.kv_heads == 4 ? 8 : 3;
      for (const std::int64_t first : {512, 4096, 8191, 32767}) add({cache, group, first, 1});
      for (const std::int64_t first : {0, 3584, 7680}) add({cache, group, first, 512});
    }
  }
}

}  // namespace fovea::kernels::cases
