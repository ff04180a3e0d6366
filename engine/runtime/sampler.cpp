#include "engine/runtime/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"
#include "engine/text/tokenizer.h"

namespace fovea::runtime {
namespace {

constexpr float lowest = -std::numeric_limits<float>::infinity();

// Descending logits, then ascending ids.
bool before(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

TokenId largest(std::span<const float> logits) {
  std::size_t best = 0;
  float best_logit = lowest;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (logits[id] > best_logit) {
      best = id;
      best_logit = logits[id];
    }
  }
  return static_cast<TokenId>(best);
}

// e^x for x ≤ 0 within 2e-7 of its value; below -87, and for not-a-number, e^-87. Without branches, so that
// compilers turn a loop of fixed length into SIMD: the softmax over a large vocabulary needs it.
inline float exp_of_negative(float x) {
  x = x > -87 ? x : -87;
  const float doublings = x * 1.44269504F;
  const auto whole = static_cast<std::int32_t>(doublings - 0.5F);
  const float f = (doublings - static_cast<float>(whole)) * 0.693147181F;  // in ±0.35
  float sum = 1.0F / 5040;
  sum = sum * f + 1.0F / 720;
  sum = sum * f + 1.0F / 120;
  sum = sum * f + 1.0F / 24;
  sum = sum * f + 1.0F / 6;
  sum = sum * f + 0.5F;
  sum = sum * f + 1;
  sum = sum * f + 1;
  return sum * std::bit_cast<float>((whole + 127) << 23);
}

// out = exp((logits − top) · scale); returns its sum. An infinite top or scale leaves nothing to its lessers.
double softmax_weights(std::span<const float> logits, float top, float scale, float* out) {
  constexpr std::size_t block = 16;
  double sum = 0;
  std::size_t id = 0;
  if (std::isinf(top) || std::isinf(scale)) {
    for (; id < logits.size(); ++id) sum += static_cast<double>(out[id] = logits[id] == top ? 1.0F : 0.0F);
    return sum;
  }
  for (; id + block <= logits.size(); id += block) {
    float lanes[block];  // a copy: the compiler need not ask whether logits and out overlap
    std::copy_n(logits.begin() + static_cast<std::ptrdiff_t>(id), block, lanes);
    for (float& lane : lanes) lane = exp_of_negative((lane - top) * scale);
    std::copy_n(lanes, block, out + id);
    double partial[2] = {0, 0};
    for (std::size_t i = 0; i < block; i += 2) {
      partial[0] += static_cast<double>(lanes[i]);
      partial[1] += static_cast<double>(lanes[i + 1]);
    }
    sum += partial[0] + partial[1];
  }
  for (; id < logits.size(); ++id) {
    out[id] = exp_of_negative((logits[id] - top) * scale);
    sum += static_cast<double>(out[id]);
  }
  return sum;
}

std::unexpected<Error> out_of_range(const char* name, double value, Phrase range) {
  return fail(phrases::option_place(name), errors::value_out_of_range(value, std::move(range)));
}

}  // namespace

std::uint64_t random_seed() {
  std::random_device device;
  const std::uint64_t seed = (static_cast<std::uint64_t>(device()) << 32) | device();
  return seed == 0 ? 1 : seed;
}

std::unordered_set<TokenId> sequence_breakers(const text::Tokenizer& tokenizer) {
  std::unordered_set<TokenId> breakers;
  for (TokenId id = 0; id < static_cast<TokenId>(tokenizer.vocabulary()); ++id) {
    if (tokenizer.is_control(id) || tokenizer.piece(id).find_first_of("\n:\"*") != std::string::npos)
      breakers.insert(id);
  }
  return breakers;
}

Result<Sampler> Sampler::create(SamplingSettings settings, std::int64_t vocabulary,
                                const std::unordered_set<TokenId>* breakers) {
  const auto& s = settings;
  // Written so that a not-a-number is refused too.
  if (!(s.temperature >= 0 && s.temperature <= 100))
    return out_of_range("temperature", s.temperature, phrases::from_to(0, 100));
  if (s.top_k < 0) return out_of_range("top_k", s.top_k, phrases::off_or_more());
  if (!(s.top_p > 0 && s.top_p <= 1)) return out_of_range("top_p", s.top_p, phrases::one_is_off());
  if (!(s.min_p >= 0 && s.min_p <= 1)) return out_of_range("min_p", s.min_p, phrases::from_off_to(0, 1));
  if (!(s.repetition_penalty > 0 && s.repetition_penalty <= 100))
    return out_of_range("repetition_penalty", s.repetition_penalty, phrases::above_zero_to_off(100, 1));
  if (!(std::abs(s.presence_penalty) <= 100))
    return out_of_range("presence_penalty", s.presence_penalty, phrases::from_to_off(-100, 100, 0));
  if (!(std::abs(s.frequency_penalty) <= 100))
    return out_of_range("frequency_penalty", s.frequency_penalty, phrases::from_to_off(-100, 100, 0));
  if (s.penalty_window < -1)
    return out_of_range("penalty_window", s.penalty_window, phrases::all_off_or_more());
  if (!(s.dry_multiplier >= 0 && s.dry_multiplier <= 100))
    return out_of_range("dry_multiplier", s.dry_multiplier, phrases::from_off_to(0, 100));
  if (!(s.dry_base >= 1 && s.dry_base <= 100))
    return out_of_range("dry_base", s.dry_base, phrases::from_to(1, 100));
  if (s.dry_allowed_length < 1)
    return out_of_range("dry_allowed_length", s.dry_allowed_length, phrases::from_on(1));
  if (s.dry_window < -1) return out_of_range("dry_window", s.dry_window, phrases::all_off_or_more());
  if (settings.seed == 0) settings.seed = random_seed();
  return Sampler(settings, vocabulary, breakers);
}

Sampler::Sampler(SamplingSettings settings, std::int64_t vocabulary,
                 const std::unordered_set<TokenId>* breakers)
    : settings_(settings),
      vocabulary_(static_cast<std::size_t>(vocabulary)),
      random_(settings.seed),
      breakers_(breakers) {
  const bool penalties = (settings_.repetition_penalty != 1 || settings_.presence_penalty != 0 ||
                          settings_.frequency_penalty != 0) &&
                         settings_.penalty_window != 0;
  if (!penalties) settings_.penalty_window = 0;
  if (settings_.dry_multiplier == 0) settings_.dry_window = 0;
  if (penalties || settings_.dry_window != 0) penalised_.resize(static_cast<std::size_t>(vocabulary));
}

void Sampler::accept(TokenId token) {
  if (penalised_.empty()) return;
  history_.push_back(token);
  if (settings_.penalty_window == 0) return;
  ++counts_[token];
  const auto window = static_cast<std::size_t>(settings_.penalty_window);
  if (settings_.penalty_window < 0 || history_.size() <= window) return;
  const auto left = counts_.find(history_[history_.size() - 1 - window]);
  if (--left->second == 0) counts_.erase(left);
}

bool Sampler::allows(TokenId token) const {
  const auto id = static_cast<std::size_t>(token);
  return allowed_.empty() || (id / 32 < allowed_.size() && (allowed_[id / 32] >> (id % 32) & 1) != 0);
}

// What is not allowed gets a logit of minus infinity. Where all that is allowed has it, too (or none), the
// lowest of those ids is certain.
std::span<const float> Sampler::mask(std::span<const float> logits) {
  if (allowed_.empty()) return logits;
  masked_.assign(logits.size(), lowest);
  std::optional<std::size_t> first;
  bool any = false;
  for (std::size_t word = 0; word < allowed_.size(); ++word) {
    for (std::uint32_t bits = allowed_[word]; bits != 0; bits &= bits - 1) {
      const std::size_t id = word * 32 + static_cast<std::size_t>(std::countr_zero(bits));
      if (id >= logits.size()) break;
      if (!first) first = id;
      masked_[id] = logits[id];
      any = any || logits[id] > lowest;
    }
  }
  if (!any && first) masked_[*first] = 0;
  return masked_;
}

std::span<const float> Sampler::penalise(std::span<const float> logits) {
  if (history_.empty()) return logits;
  penalised_.assign(logits.begin(), logits.end());
  for (const auto& [token, count] : counts_) {
    if (static_cast<std::size_t>(token) >= penalised_.size()) continue;
    float& logit = penalised_[static_cast<std::size_t>(token)];
    logit = logit > 0 ? logit / settings_.repetition_penalty : logit * settings_.repetition_penalty;
    logit -= settings_.presence_penalty + static_cast<float>(count) * settings_.frequency_penalty;
  }
  penalise_repeats();
  return penalised_;
}

// The passage that a token may go on with is what was said since the last breaker, or the end of it. The
// Z-algorithm, going back from the newest token, finds in linear time how much of it stands before each token
// of the window.
void Sampler::penalise_repeats() {
  const std::size_t window = settings_.dry_window < 0
                                 ? history_.size()
                                 : std::min(history_.size(), static_cast<std::size_t>(settings_.dry_window));
  const auto back = [this](std::size_t steps) { return history_[history_.size() - 1 - steps]; };
  std::size_t most = 0;  // of a passage
  while (most < window && !breaks(back(most))) ++most;
  if (most < static_cast<std::size_t>(settings_.dry_allowed_length)) return;

  // repeats_[k]: how many tokens before the k newest equal the newest ones.
  repeats_.assign(window, 0);
  longest_.clear();
  std::size_t from = 0, until = 0;  // the repeat that reaches back farthest begins and ends here
  for (std::size_t k = 1; k < window; ++k) {
    std::size_t n =
        k < until ? std::min(static_cast<std::size_t>(repeats_[k - from]), until - k) : std::size_t{0};
    while (n < most && k + n < window && back(n) == back(k + n)) ++n;
    repeats_[k] = static_cast<std::int32_t>(n);
    if (k + n > until) {
      from = k;
      until = k + n;
    }
    if (repeats_[k] < settings_.dry_allowed_length) continue;
    std::int32_t& longest = longest_[back(k - 1)];
    longest = std::max(longest, repeats_[k]);
  }
  for (const auto& [token, length] : longest_) {
    if (static_cast<std::size_t>(token) >= penalised_.size() || breaks(token)) continue;
    const float penalty =
        settings_.dry_multiplier *
        std::pow(settings_.dry_base, static_cast<float>(length - settings_.dry_allowed_length));
    penalised_[static_cast<std::size_t>(token)] -= std::min(penalty, std::numeric_limits<float>::max());
  }
}

TokenId Sampler::sample(std::span<const float> logits) {
  return draw(filter(logits));
}

std::optional<TokenId> Sampler::sample(const layers::TopKLogits& likely) {
  const std::span<const Candidate> left = filter(likely);
  if (left.empty()) return std::nullopt;
  return draw(left);
}

TokenId Sampler::draw(std::span<const Candidate> left) {
  if (left.size() == 1) return left.front().token;
  double point = random_.uniform();
  for (const Candidate& candidate : left) {
    point -= candidate.probability;
    if (point < 0) return candidate.token;
  }
  return left.back().token;  // the sum of the probabilities is 1 but for rounding
}

std::span<const Candidate> Sampler::filter(std::span<const float> logits) {
  logits = penalise(mask(logits));
  if (settings_.temperature == 0) {
    const TokenId best = largest(logits);
    candidates_.assign(1, {best, logits[static_cast<std::size_t>(best)], 1});
    return candidates_;
  }
  if (keeps_top_k()) {
    keep_top_k(logits);
  } else {
    keep_likely(logits);
  }
  if (candidates_.empty()) candidates_.push_back({largest(logits), 0, 1});
  return finish();
}

bool Sampler::may_need_few() const {
  return penalised_.empty() &&
         (settings_.temperature == 0 || keeps_top_k() || settings_.top_p < 1 || settings_.min_p > 0);
}

std::span<const Candidate> Sampler::filter(const layers::TopKLogits& likely) {
  candidates_.clear();
  if (!may_need_few()) return candidates_;
  for (std::size_t i = 0; i < likely.ids.size(); ++i)
    if (allows(likely.ids[i])) candidates_.push_back({likely.ids[i], likely.logits[i], 1});
  if (candidates_.empty()) return candidates_;
  if (settings_.temperature == 0) {
    candidates_.resize(1);
    return candidates_;
  }
  bool decide = std::isfinite(candidates_.front().logit);
  if (decide && keeps_top_k()) {
    const auto k = static_cast<std::size_t>(settings_.top_k);
    decide = k <= candidates_.size();
    candidates_.resize(std::min(k, candidates_.size()));
    std::erase_if(candidates_, [](const Candidate& candidate) { return candidate.logit == lowest; });
    weigh(0);
  } else if (!allowed_.empty()) {
    decide = false;  // what the allowed ones weigh together is not known
  } else if (decide) {
    // Those that are not listed are less likely than the last one is.
    const double listed = weigh(likely.weight) / likely.weight;
    const double bound = static_cast<double>(settings_.min_p) * candidates_.front().probability;
    decide = candidates_.size() == vocabulary_ || candidates_.back().probability < bound ||
             (settings_.top_p < 1 && listed >= static_cast<double>(settings_.top_p));
    std::ranges::sort(candidates_, {}, &Candidate::token);  // as keep_likely() has them
  }
  if (decide) return finish();
  candidates_.clear();
  return candidates_;
}

std::span<const Candidate> Sampler::finish() {
  keep_top_p();
  keep_min_p();

  double sum = 0;
  for (const Candidate& candidate : candidates_) sum += candidate.probability;
  for (Candidate& candidate : candidates_) candidate.probability /= sum;
  return candidates_;
}

bool Sampler::keeps_top_k() const {
  return settings_.top_k > 0 && static_cast<std::size_t>(settings_.top_k) < vocabulary_;
}

// One pass: a candidate enters a buffer of 2k when it beats the k-th best of the last cut.
void Sampler::keep_top_k(std::span<const float> logits) {
  const auto k = static_cast<std::size_t>(settings_.top_k);
  candidates_.clear();
  float bound = lowest;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (!(logits[id] > bound)) continue;
    candidates_.push_back({static_cast<TokenId>(id), logits[id], 0});
    if (candidates_.size() < 2 * k) continue;
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(k) - 1,
                     candidates_.end(), before);
    candidates_.resize(k);
    bound = candidates_.back().logit;
  }
  std::sort(candidates_.begin(), candidates_.end(), before);
  candidates_.resize(std::min(k, candidates_.size()));

  weigh(0);
}

// Of candidates in descending order: the probabilities where all weigh `sum` (0: they are all), relative to
// the first one's weight. Returns what they weigh together.
double Sampler::weigh(double sum) {
  if (candidates_.empty()) return 0;
  std::vector<float> kept(candidates_.size());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = candidates_[i].logit;
  weights_.resize(kept.size());
  const double theirs = softmax_weights(kept, kept.front(), 1 / settings_.temperature, weights_.data());
  for (std::size_t i = 0; i < kept.size(); ++i)
    candidates_[i].probability = static_cast<double>(weights_[i]) / (sum > 0 ? sum : theirs);
  return theirs;
}

// The softmax runs over all logits; candidates are those that top-p or min-p could keep, in the order of ids.
void Sampler::keep_likely(std::span<const float> logits) {
  candidates_.clear();
  const float top = logits[static_cast<std::size_t>(largest(logits))];
  weights_.resize(logits.size());
  const double sum = softmax_weights(logits, top, 1 / settings_.temperature, weights_.data());
  // All tokens below (1 − top_p) / n together stay below 1 − top_p, so the top-p set needs none of them. The
  // largest weight is 1; the 0.999 leaves the exact comparison with min_p to keep_min_p().
  const double for_top_p =
      (1 - static_cast<double>(settings_.top_p)) / static_cast<double>(logits.size()) * sum;
  const double for_min_p = 0.999 * static_cast<double>(settings_.min_p);
  const auto bound = static_cast<float>(std::max({for_top_p, for_min_p, 1e-37}));
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (weights_[id] >= bound)
      candidates_.push_back({static_cast<TokenId>(id), logits[id], static_cast<double>(weights_[id]) / sum});
  }
}

// The fewest candidates whose probabilities reach top_p: halves the range in which the last one must lie.
void Sampler::keep_top_p() {
  if (settings_.top_p >= 1) return;
  ranked_ = candidates_;
  auto from = ranked_.begin();
  auto until = ranked_.end();
  double missing = static_cast<double>(settings_.top_p);
  while (until - from > 32) {
    const auto middle = from + (until - from) / 2;
    std::nth_element(from, middle, until, before);
    double sum = 0;
    for (auto it = from; it != middle; ++it) sum += it->probability;
    if (sum >= missing) {
      until = middle;
    } else {
      missing -= sum;
      from = middle;
    }
  }
  std::sort(from, until, before);
  auto last = from;
  for (; last + 1 != until && last->probability < missing; ++last) missing -= last->probability;
  const Candidate bound = *last;
  std::erase_if(candidates_, [&bound](const Candidate& candidate) { return before(bound, candidate); });
}

// Relative to the most probable candidate, which always stays.
void Sampler::keep_min_p() {
  if (settings_.min_p <= 0) return;
  double top = 0;
  for (const Candidate& candidate : candidates_) top = std::max(top, candidate.probability);
  const double bound = top * static_cast<double>(settings_.min_p);
  std::erase_if(candidates_, [bound](const Candidate& candidate) { return candidate.probability < bound; });
}

}  // namespace fovea::runtime
