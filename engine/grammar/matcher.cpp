#include "engine/grammar/matcher.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/core/result.h"
#include "engine/grammar/alike_states.h"
#include "engine/grammar/errors.h"
#include "engine/grammar/plain_steps.h"
#include "engine/grammar/rules.h"
#include "engine/grammar/stacks.h"
#include "engine/grammar/walk.h"

namespace fovea::grammar {
namespace {

// Of one grammar, besides what one mask takes: beyond it what was followed and made so far is forgotten.
constexpr std::size_t stacks_bytes = std::size_t{96} << 20;
constexpr std::size_t masks_bytes = std::size_t{64} << 20;
// From this depth on an answer only comes closer to its end.
constexpr std::uint16_t depth_to_turn_at = 1000;

// Ways that take one token along bytes of which each is the only one.
std::vector<Jump> jumps(const Rules& rules, const VocabularyTrie& vocabulary) {
  constexpr std::size_t most = 1 << 21;
  const auto nodes = vocabulary.nodes();
  std::array<std::uint32_t, 256> first;
  first.fill(VocabularyTrie::none);
  for (std::uint32_t i = 0; i < nodes.size(); i = nodes[i].end) first[nodes[i].byte] = i;

  std::vector<Jump> found;
  for (std::uint32_t state = 0; state < rules.states.size() && found.size() < most; ++state) {
    for (const Rules::ByteEdge& edge : rules.edges_of(state)) {
      if (edge.first != edge.last) continue;
      std::uint32_t node = first[edge.first];
      std::uint32_t to = edge.to;
      while (node != VocabularyTrie::none) {
        if (nodes[node].token != VocabularyTrie::none && nodes[node].depth > 1) found.push_back({state, to});
        const auto next = rules.edges_of(to);
        if (next.size() != 1 || next[0].first != next[0].last) break;
        std::uint32_t child = node + 1;
        while (child < nodes[node].end && nodes[child].byte != next[0].first) child = nodes[child].end;
        node = child < nodes[node].end ? child : VocabularyTrie::none;
        to = next[0].to;
      }
    }
  }
  return found;
}

}  // namespace

struct Matcher::Followed {
  Followed(const Rules& rules, std::span<const std::uint32_t> distance,
           std::span<const std::uint32_t> classes)
      : stacks(rules, distance, classes), plain(rules, stacks) {}

  struct Mask {
    std::vector<std::uint32_t> bits;
    bool is_plain = false;           // Walk::within_plain() made it: it has no TopMask
    std::uint32_t own_distance = 0;  // the largest after an allowed token that is not of its TopMask
    std::uint32_t top_distance = 0;  // of its TopMask
  };

  Stacks stacks;
  PlainSteps plain;
  // By Node::alike.
  std::unordered_map<std::uint32_t, TopMask> tops;
  std::unordered_map<std::uint32_t, Mask> masks;
  std::size_t mask_bytes = 0;
};

struct TokenMasks::Parts {
  Grammar grammar;
  std::shared_ptr<const VocabularyTrie> vocabulary;
  std::vector<std::uint32_t> distance, classes;  // of the grammar's states
  std::mutex mutex;                              // for all below, and all Followed
  std::shared_ptr<Matcher::Followed> followed;

  Parts(Grammar given, std::shared_ptr<const VocabularyTrie> tokens)
      : grammar(std::move(given)), vocabulary(std::move(tokens)) {
    const Rules& rules = grammar.rules();
    distance = distances(rules, vocabulary->single_bytes(), jumps(rules, *vocabulary));
    classes = alike_states(rules, distance, vocabulary->longest());
    renew();
  }

  void renew() { followed = std::make_shared<Matcher::Followed>(grammar.rules(), distance, classes); }

  // Before a matcher goes on: with what is followed now, or with something new where that is too much.
  void catch_up(Matcher& matcher) {
    if (followed->stacks.bytes() > stacks_bytes || followed->stacks.overflowed()) renew();
    if (matcher.followed_ == followed) return;
    matcher.at_ = followed->stacks.adopt(matcher.followed_->stacks, matcher.at_);
    matcher.followed_ = followed;
  }

  const Matcher::Followed::Mask& mask_at(Stacks::Id at) {
    Matcher::Followed& all = *followed;
    const std::uint32_t key = all.stacks[at].alike;
    if (const auto found = all.masks.find(key); found != all.masks.end()) return found->second;
    if (all.mask_bytes > masks_bytes) {
      all.masks.clear();
      all.tops.clear();
      all.mask_bytes = 0;
    }
    Walk walk(all.stacks, *vocabulary);
    Matcher::Followed::Mask& mask = all.masks[key];
    mask.bits.resize(vocabulary->mask_words());
    all.mask_bytes += mask.bits.size() * 4;
    if (const auto largest = walk.within_plain(at, all.plain, unreachable, mask.bits)) {
      mask.is_plain = true;
      mask.own_distance = *largest;
      allow_twins(mask.bits);
      return mask;
    }
    std::uint32_t slack = 0;
    const Stacks::Id top_at = all.stacks.truncated(at, slack);
    const auto [top, is_new] = all.tops.try_emplace(all.stacks[top_at].alike);
    if (is_new) {
      top->second = walk.top(top_at);
      all.mask_bytes += (top->second.bits.size() + top->second.undecided.size()) * 4;
    }
    mask.bits = top->second.bits;
    mask.top_distance = top->second.distance;
    mask.own_distance = walk.decide(at, top->second.undecided, unreachable, mask.bits);
    allow_twins(mask.bits);
    return mask;
  }

  // The tokens after which the end is at most so far; bits are clear.
  void mask_near(Stacks::Id at, std::uint32_t distance, std::span<std::uint32_t> bits) {
    Matcher::Followed& all = *followed;
    const Matcher::Followed::Mask& mask = mask_at(at);
    std::uint32_t slack = 0;
    const Stacks::Id top_at = mask.is_plain ? Stacks::dead : all.stacks.truncated(at, slack);
    const bool top_is_near = mask.top_distance <= distance && slack <= distance - mask.top_distance;
    if (top_is_near && mask.own_distance <= distance) {
      std::ranges::copy(mask.bits, bits.begin());
      return;
    }
    Walk walk(all.stacks, *vocabulary);
    if (mask.is_plain) {
      // What is alike has the same mask, and need not be led to one place.
      if (!walk.within_plain(at, all.plain, distance, bits)) walk.within(at, distance, bits);
    } else if (top_is_near) {
      // Made for the mask, and forgotten only with it.
      const TopMask& top = all.tops.at(all.stacks[top_at].alike);
      std::ranges::copy(top.bits, bits.begin());
      walk.decide(at, top.undecided, distance, bits);
    } else {
      walk.within(at, distance, bits);
    }
    allow_twins(bits);
  }

  void allow_twins(std::span<std::uint32_t> bits) const {
    for (const auto& [token, twin] : vocabulary->twins()) {
      if (bits[token / 32] >> (token % 32) & 1) set_bit(bits, twin);
    }
  }
};

TokenMasks::TokenMasks(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TokenMasks::~TokenMasks() = default;

Result<std::shared_ptr<TokenMasks>> TokenMasks::make(Grammar grammar,
                                                     std::shared_ptr<const VocabularyTrie> vocabulary) {
  auto parts = std::make_unique<Parts>(std::move(grammar), std::move(vocabulary));
  const Rules& rules = parts->grammar.rules();
  if (parts->distance[rules.rules[0].start] == unreachable) {
    return fail(phrases::given_grammar(), errors::grammar_vocabulary());
  }
  return std::shared_ptr<TokenMasks>(new TokenMasks(std::move(parts)));
}

Matcher TokenMasks::start() {
  const std::lock_guard lock(parts_->mutex);
  return Matcher(shared_from_this(), parts_->followed, parts_->followed->stacks.start());
}

std::int64_t TokenMasks::shortest_answer() {
  return start().tokens_to_complete();
}

Result<void> Matcher::mask(std::span<std::uint32_t> bits) {
  return mask_within(unreachable, bits);
}

Result<void> Matcher::mask_within(std::int64_t tokens_left, std::span<std::uint32_t> bits) {
  TokenMasks::Parts& parts = *masks_->parts_;
  const std::lock_guard lock(parts.mutex);
  parts.catch_up(*this);
  Stacks& stacks = followed_->stacks;
  if (stacks[at_].depth > depth_to_turn_at) {
    tokens_left = std::min(tokens_left, std::int64_t{stacks[at_].distance});
  }
  std::ranges::fill(bits, 0U);
  if (tokens_left <= 0) return {};
  const auto distance = static_cast<std::uint32_t>(std::min(tokens_left, std::int64_t{unreachable}) - 1);
  parts.mask_near(at_, distance, bits);
  if (stacks.overflowed()) return fail(phrases::given_grammar(), errors::grammar_too_ambiguous());
  return {};
}

Result<bool> Matcher::accept(TokenId token) {
  const VocabularyTrie& vocabulary = *masks_->parts_->vocabulary;
  if (token < 0 || static_cast<std::size_t>(token) >= vocabulary.size()) return false;
  const std::string_view bytes = vocabulary.bytes(static_cast<std::uint32_t>(token));
  if (bytes.empty()) return false;
  return accept_bytes(bytes);
}

Result<bool> Matcher::accept_bytes(std::string_view bytes) {
  TokenMasks::Parts& parts = *masks_->parts_;
  const std::lock_guard lock(parts.mutex);
  parts.catch_up(*this);
  Stacks& stacks = followed_->stacks;
  Stacks::Id at = at_;
  for (const char byte : bytes) {
    at = stacks.step(at, static_cast<std::uint8_t>(byte));
    if (at != Stacks::dead) continue;
    if (stacks.overflowed()) return fail(phrases::given_grammar(), errors::grammar_too_ambiguous());
    return false;
  }
  at_ = at;
  return true;
}

bool Matcher::is_complete() const {
  const std::lock_guard lock(masks_->parts_->mutex);
  return followed_->stacks[at_].ends;
}

bool Matcher::must_end() const {
  const std::lock_guard lock(masks_->parts_->mutex);
  const Stacks::Node& node = followed_->stacks[at_];
  return node.ends && node.count == 0;
}

std::int64_t Matcher::tokens_to_complete() const {
  const std::lock_guard lock(masks_->parts_->mutex);
  return followed_->stacks[at_].distance;
}

}  // namespace fovea::grammar
