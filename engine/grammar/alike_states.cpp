#include "engine/grammar/alike_states.h"

#include <algorithm>
#include <unordered_map>

namespace fovea::grammar {
namespace {

constexpr std::size_t most_work = 20'000'000;  // edges looked at

struct Signature {
  std::vector<std::uint64_t> words;
  bool operator==(const Signature&) const = default;
};
struct SignatureHash {
  std::size_t operator()(const Signature& signature) const {
    std::uint64_t hash = 1;
    for (const std::uint64_t word : signature.words) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

// What a state accepts, told by the classes for texts that are a byte shorter.
Signature signature_of(const Rules& rules, std::uint32_t state, std::uint32_t distance,
                       std::span<const std::uint32_t> shorter) {
  const bool is_inlined = rules.rules[rules.states[state].rule].inlined;  // Stacks::truncated() asks
  Signature signature{
      {std::uint64_t{distance} << 2 | (is_inlined ? 2U : 0U) | (rules.states[state].accepting ? 1U : 0U)}};
  for (const Rules::ByteEdge& edge : rules.edges_of(state)) {
    signature.words.push_back(std::uint64_t{edge.first} << 40 | std::uint64_t{edge.last} << 32 |
                              shorter[edge.to]);
  }
  for (const Rules::Call& call : rules.calls_of(state)) {
    // A rule that may be empty leaves the same length to what follows: then it must be the same state.
    signature.words.push_back((std::uint64_t{1} << 62) | call.rule);
    signature.words.push_back(rules.rules[call.rule].nullable ? (std::uint64_t{1} << 61) | call.to
                                                              : shorter[call.to]);
  }
  return signature;
}

}  // namespace

std::vector<std::uint32_t> alike_states(const Rules& rules, std::span<const std::uint32_t> distance,
                                        std::size_t bytes) {
  const std::size_t states = rules.states.size();
  const std::size_t work = states + rules.edges.size() + rules.calls.size();
  std::vector<std::uint32_t> classes(distance.begin(), distance.end());
  std::size_t count = 0;
  for (std::size_t length = 0; length <= bytes; ++length) {
    if ((length + 1) * work > most_work) return {};
    std::unordered_map<Signature, std::uint32_t, SignatureHash> ids;
    std::vector<std::uint32_t> next(states);
    for (std::uint32_t state = 0; state < states; ++state) {
      next[state] = ids.try_emplace(signature_of(rules, state, distance[state], classes),
                                    static_cast<std::uint32_t>(ids.size()))
                        .first->second;
    }
    classes = std::move(next);
    if (ids.size() == count) break;  // longer texts tell no more apart
    count = ids.size();
  }
  if (count == states) classes.clear();
  return classes;
}

}  // namespace fovea::grammar
