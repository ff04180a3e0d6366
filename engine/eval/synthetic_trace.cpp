#include "engine/eval/synthetic_trace.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/eval/errors.h"

namespace fovea::eval {
namespace {

constexpr int max_draws = 100;  // of one choice; then the hottest expert that is left

// xoshiro256** of Blackman and Vigna, seeded by SplitMix64: the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9E3779B97F4A7C15U;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
      word = z ^ (z >> 31);
    }
  }
  std::uint64_t next() {
    const std::uint64_t result = rotl(state_[1] * 5, 7) * 9, t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  std::int32_t below(std::int64_t n) {
    return static_cast<std::int32_t>(((next() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
  }
  void shuffle(std::vector<std::int32_t>& values) {
    for (std::int64_t i = std::ssize(values) - 1; i > 0; --i)
      std::swap(values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(below(i + 1))]);
  }

 private:
  static std::uint64_t rotl(std::uint64_t x, int k) { return x << k | x >> (64 - k); }
  std::uint64_t state_[4];
};

// Draws ranks in proportion to their weights in constant time (Walker's alias method, Vose's construction).
class RankSampler {
 public:
  RankSampler(SyntheticRouting::Skew skew, double strength, std::int32_t experts) {
    using Skew = SyntheticRouting::Skew;
    std::vector<double> weights;
    for (std::int32_t rank = 0; rank < experts; ++rank) {
      if (skew == Skew::uniform) weights.push_back(1);
      if (skew == Skew::zipf) weights.push_back(std::pow(rank + 1, -strength));
      if (skew == Skew::exponential) weights.push_back(std::exp(-strength * rank / experts));
    }
    const double mean = std::reduce(weights.begin(), weights.end()) / experts;
    std::vector<std::int32_t> small, large;
    for (std::int32_t rank = 0; rank < experts; ++rank) {
      weights[index(rank)] /= mean;
      (weights[index(rank)] < 1 ? small : large).push_back(rank);
    }
    cut_.assign(index(experts), 1);
    other_.assign(index(experts), 0);
    while (!small.empty() && !large.empty()) {
      const std::int32_t s = small.back(), l = large.back();
      small.pop_back();
      cut_[index(s)] = weights[index(s)];
      other_[index(s)] = l;
      weights[index(l)] -= 1 - weights[index(s)];
      if (weights[index(l)] >= 1) continue;
      large.pop_back();
      small.push_back(l);
    }
  }
  std::int32_t draw(Random& random) const {
    const std::int32_t rank = random.below(std::ssize(cut_));
    return random.uniform() < cut_[index(rank)] ? rank : other_[index(rank)];
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  std::vector<double> cut_;
  std::vector<std::int32_t> other_;
};

std::size_t pair_index(std::int32_t a, std::int32_t b, std::int32_t kinds) {  // a < b
  return static_cast<std::size_t>(a * kinds - a * (a + 1) / 2 + b - a - 1);
}

class SyntheticTrace final : public PassSource {
 public:
  explicit SyntheticTrace(const SyntheticRouting& settings)
      : s_(settings),
        sampler_(settings.skew, settings.skew_strength, settings.experts),
        random_(settings.seed) {
    shape_.model = "synthetic " + std::to_string(s_.layers) + "x" + std::to_string(s_.experts);
    shape_.used = s_.used;
    const auto bytes = static_cast<std::int64_t>(static_cast<double>(s_.parameters) * s_.file_bits / 8);
    for (std::int64_t layer = 0; layer < s_.layers; ++layer)
      shape_.layers.push_back(
          {.layer = layer, .experts = s_.experts, .parameters = s_.parameters, .file_bytes = bytes});
    rewind();
  }

  const TraceShape& shape() const override { return shape_; }

  void rewind() override {
    random_ = Random(s_.seed);
    token_ = 0;
    ranks_.clear();
    for (std::int64_t layer = 0; layer < s_.layers; ++layer) plant_ranks();
    if (s_.text != 0) random_ = Random(random_.next() ^ s_.text);
    before_.assign(index(s_.layers * s_.used), -1);
    chosen_.assign(index(s_.used), 0);
    gates_.assign(index(s_.used), 0);
    tokens_of_.assign(index(s_.experts), 0);
    gate_of_.assign(index(s_.experts), 0);
  }

  Result<bool> next(TracePass& pass) override {
    if (token_ >= s_.tokens) return false;
    const std::int64_t phase_tokens = (s_.tokens + s_.phases - 1) / s_.phases;
    const std::int64_t phase = token_ / phase_tokens, in_phase = token_ % phase_tokens;
    const std::int64_t left = std::min(phase_tokens - in_phase, s_.tokens - token_);
    pass.prefill = in_phase < s_.prompt;
    pass.tokens = pass.prefill ? std::min({s_.chunk, s_.prompt - in_phase, left}) : 1;
    pass.entropy = -1;
    pass.routed.assign(shape_.layers.size(), static_cast<std::int32_t>(pass.tokens));
    pass.uses.clear();
    const auto kind = static_cast<std::int32_t>(phase % s_.kinds);
    for (std::int64_t layer = 0; layer < s_.layers; ++layer) route(layer, kind, pass);
    token_ += pass.tokens;
    return true;
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::vector<std::int32_t>& ranks(std::int64_t layer, std::int32_t kind) {
    return ranks_[index(layer * s_.kinds + kind)];
  }
  double overlap(std::int32_t a, std::int32_t b) const {
    return s_.overlap.size() == 1 ? s_.overlap.front() : s_.overlap[pair_index(a, b, s_.kinds)];
  }

  // The ranks [rank → expert] of one layer for each kind of work: a kind's hottest take the wanted number of
  // each earlier kind's, and the rest from those that are hot for none of them while there are any.
  void plant_ranks() {
    std::vector<std::vector<std::int32_t>> tops;
    for (std::int32_t kind = 0; kind < s_.kinds; ++kind) {
      std::vector<std::int32_t> hot_for(index(s_.experts));  // how many earlier kinds
      for (const auto& top : tops) {
        for (const std::int32_t expert : top) ++hot_for[index(expert)];
      }
      std::vector<bool> taken(index(s_.experts));
      std::vector<std::int32_t> top;
      const auto take = [&](std::vector<std::int32_t> from, std::int64_t count, std::int32_t max_hot) {
        random_.shuffle(from);
        for (const std::int32_t expert : from) {
          if (count <= 0 || std::ssize(top) == top_size()) return;
          if (taken[index(expert)] || hot_for[index(expert)] > max_hot) continue;
          taken[index(expert)] = true;
          top.push_back(expert);
          --count;
        }
      };
      for (std::int32_t earlier = 0; earlier < kind; ++earlier) {
        const double wanted = overlap(earlier, kind) * top_size();
        const auto count = static_cast<std::int64_t>(wanted + random_.uniform());  // right on average
        take(tops[index(earlier)], count, 1);
      }
      std::vector<std::int32_t> all(index(s_.experts));
      std::iota(all.begin(), all.end(), 0);
      take(all, top_size(), 0);
      take(all, top_size(), s_.kinds);
      random_.shuffle(top);
      tops.push_back(top);
      random_.shuffle(all);
      for (const std::int32_t expert : all) {
        if (!taken[index(expert)]) top.push_back(expert);
      }
      ranks_.push_back(std::move(top));
    }
  }
  std::int32_t top_size() const { return std::min(synthetic_hottest, s_.experts); }

  void route(std::int64_t layer, std::int32_t kind, TracePass& pass) {
    auto& rank_to_expert = ranks(layer, kind);
    std::int32_t* const before = before_.data() + layer * s_.used;
    touched_.clear();
    for (std::int64_t token = 0; token < pass.tokens; ++token) {
      drift(rank_to_expert);
      choose(rank_to_expert, before);
      weigh();
      for (std::size_t i = 0; i < chosen_.size(); ++i) {
        const auto expert = index(chosen_[i]);
        if (tokens_of_[expert]++ == 0) touched_.push_back(chosen_[i]);
        gate_of_[expert] += gates_[i];
        before[i] = chosen_[i];
      }
    }
    std::ranges::sort(touched_);
    const auto first = static_cast<std::int32_t>(layer * s_.experts);
    for (const std::int32_t expert : touched_) {
      pass.uses.push_back(
          {.unit = first + expert, .tokens = tokens_of_[index(expert)], .gate_sum = gate_of_[index(expert)]});
      tokens_of_[index(expert)] = 0;
      gate_of_[index(expert)] = 0;
    }
  }

  void drift(std::vector<std::int32_t>& rank_to_expert) {
    if (s_.drift <= 0) return;
    for (double left = s_.drift; left > 0; --left) {
      if (left < 1 && random_.uniform() >= left) break;
      std::swap(rank_to_expert[index(random_.below(s_.experts))],
                rank_to_expert[index(random_.below(s_.experts))]);
    }
  }

  // Different experts, by rank; with some luck those of the token before.
  void choose(const std::vector<std::int32_t>& rank_to_expert, const std::int32_t* before) {
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const auto end = chosen_.begin() + static_cast<std::ptrdiff_t>(i);
      std::int32_t expert = before[i];
      if (expert < 0 || s_.repeat <= 0 || random_.uniform() >= s_.repeat ||
          std::find(chosen_.begin(), end, expert) != end) {
        const auto is_taken = [&] { return std::find(chosen_.begin(), end, expert) != end; };
        int draws = 0;
        do {
          expert = rank_to_expert[index(sampler_.draw(random_))];
        } while (is_taken() && ++draws < max_draws);
        for (std::size_t rank = 0; is_taken(); ++rank) expert = rank_to_expert[rank];
      }
      chosen_[i] = expert;
    }
  }

  // Gates that add up to 1 and differ by a few times, as a softmax over the chosen ones does.
  void weigh() {
    float sum = 0;
    for (float& gate : gates_) sum += gate = 0.25F + static_cast<float>(random_.uniform());
    for (float& gate : gates_) gate /= sum;
  }

  SyntheticRouting s_;
  TraceShape shape_;
  RankSampler sampler_;
  Random random_;
  std::int64_t token_ = 0;
  std::vector<std::vector<std::int32_t>> ranks_;  // [layers, kinds][rank]
  std::vector<std::int32_t> before_;              // [layers, used]
  std::vector<std::int32_t> chosen_, touched_, tokens_of_;
  std::vector<float> gates_, gate_of_;
};

std::unexpected<Error> wrong(const char* setting, Error error) {
  return fail(phrases::synthetic_setting_place(setting), std::move(error));
}

bool is_share(double x) {
  return x >= 0 && x <= 1;
}

constexpr double max_skew = 50, max_drift = 1000;
constexpr std::int32_t max_kinds = 64;

Result<void> check_settings(const SyntheticRouting& s) {
  if (s.layers < 1 || s.layers > max_trace_layers)
    return wrong("layers", errors::synthetic_count(max_trace_layers));
  if (s.experts < 1 || s.experts > max_trace_experts)
    return wrong("experts", errors::synthetic_count(max_trace_experts));
  if (s.used < 1 || s.used > s.experts) return wrong("top", errors::synthetic_top());
  if (s.skew != SyntheticRouting::Skew::uniform && !(s.skew_strength >= 0 && s.skew_strength <= max_skew))
    return wrong("skew", errors::synthetic_skew(max_skew));
  if (s.tokens < 1) return wrong("tokens", errors::synthetic_no_tokens());
  if (s.phases < 1 || s.phases > s.tokens) return wrong("phases", errors::synthetic_phases());
  if (s.kinds < 1 || s.kinds > max_kinds) return wrong("kinds", errors::synthetic_count(max_kinds));
  const auto pairs = static_cast<std::size_t>(s.kinds * (s.kinds - 1) / 2);
  if (s.overlap.size() != 1 && s.overlap.size() != pairs)
    return wrong("overlap", errors::synthetic_overlaps(pairs));
  if (!std::ranges::all_of(s.overlap, is_share)) return wrong("overlap", errors::synthetic_overlap());
  if (!(s.repeat >= 0 && s.repeat < 1)) return wrong("repeat", errors::synthetic_repeat());
  if (!(s.drift >= 0 && s.drift <= max_drift)) return wrong("drift", errors::synthetic_drift(max_drift));
  if (s.prompt < 0) return wrong("prompt", errors::setting_out_of_range(phrases::range_0_or_more()));
  if (s.chunk < 1 || s.chunk > max_trace_tokens)
    return wrong("chunk", errors::setting_out_of_range(phrases::range_1_or_more()));
  if (s.parameters < 1 || s.file_bits <= 0) return wrong("parameters", errors::synthetic_parameters());
  return {};
}

}  // namespace

Result<std::unique_ptr<PassSource>> make_synthetic(const SyntheticRouting& settings) {
  FOVEA_CHECK(check_settings(settings));
  return std::make_unique<SyntheticTrace>(settings);
}

}  // namespace fovea::eval

namespace fovea {

Result<SyntheticRouting> synthetic_like(const std::string& model) {
  SyntheticRouting s;
  if (model == "qwen3-30b-a3b") {
    s.skew = SyntheticRouting::Skew::exponential;
    s.skew_strength = 9.2;
    s.kinds = 3;
    s.phases = 6;
    s.overlap = {0.12, 0.11, 0.47};  // prose and mathematics, prose and code, mathematics and code
    return s;
  }
  if (model == "qwen3-next-80b-a3b") {
    s.experts = 512;
    s.used = 10;
    s.skew = SyntheticRouting::Skew::exponential;
    s.skew_strength = 6;
    s.kinds = 1;
    s.phases = 1;
    s.repeat = 0.3;
    s.drift = 0.1;
    s.parameters = 3'145'728;  // 3 · 2048 · 512
    return s;
  }
  return fail(phrases::option_place("synthetic"), errors::synthetic_unknown_model(model));
}

}  // namespace fovea
