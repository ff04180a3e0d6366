#include "engine/grammar/rules.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <queue>
#include <utility>

#include "engine/core/result.h"
#include "engine/grammar/errors.h"

namespace fovea::grammar {
namespace {

// Spells an automaton's characters in bytes.
class Lowering {
 public:
  explicit Lowering(const Draft& draft) : draft_(draft), rules_(draft.rules.size()) {}

  // False: beyond the limits.
  bool run() {
    for (std::uint32_t rule = 0; rule < draft_.rules.size(); ++rule) {
      const auto automaton = without_epsilon(draft_.rules[rule].automaton);
      if (!automaton || !add_rule(rule, *automaton)) return false;
    }
    return true;
  }

  Rules result() const {
    Rules rules;
    rules.rules = rules_;
    for (const State& state : states_) {
      rules.states.push_back({static_cast<std::uint32_t>(rules.edges.size()),
                              static_cast<std::uint32_t>(state.edges.size()),
                              static_cast<std::uint32_t>(rules.calls.size()),
                              static_cast<std::uint32_t>(state.calls.size()), state.rule, state.accepting});
      rules.edges.insert(rules.edges.end(), state.edges.begin(), state.edges.end());
      rules.calls.insert(rules.calls.end(), state.calls.begin(), state.calls.end());
    }
    return rules;
  }

 private:
  struct State {
    std::vector<Rules::ByteEdge> edges;
    std::vector<Rules::Call> calls;
    std::uint32_t rule = 0;
    bool accepting = false;
  };

  std::uint32_t add_state(std::uint32_t rule) {
    states_.push_back({{}, {}, rule, false});
    return static_cast<std::uint32_t>(states_.size() - 1);
  }

  bool add_rule(std::uint32_t rule, const Automaton& automaton) {
    const auto first = static_cast<std::uint32_t>(states_.size());
    rules_[rule] = {first, draft_.rules[rule].inlined, false};
    for (std::size_t i = 0; i < automaton.states.size(); ++i) add_state(rule);
    for (std::uint32_t i = 0; i < automaton.states.size(); ++i) {
      states_[first + i].accepting = automaton.states[i].accepting;
      for (const Edge& edge : automaton.states[i].edges) {
        if (edge.kind == Edge::Kind::call) {
          states_[first + i].calls.push_back({edge.value, first + edge.to});
          ++edges_;
        } else if (edge.kind == Edge::Kind::byte) {
          const auto byte = static_cast<std::uint8_t>(edge.value);
          states_[first + i].edges.push_back({byte, byte, first + edge.to});
          ++edges_;
        } else {
          add_characters(first + i, edge.value, first + edge.to);
        }
        if (states_.size() > Limits::states || edges_ > Limits::edges) return false;
      }
    }
    return true;
  }

  // Characters of one byte are edges; the others together are a call, so that a rule has one state for each
  // character however many bytes spell it.
  void add_characters(std::uint32_t from, std::uint32_t set, std::uint32_t to) {
    for (const CharacterRange& range : draft_.sets[set].ranges()) {
      if (range.first > 0x7F) break;
      states_[from].edges.push_back({static_cast<std::uint8_t>(range.first),
                                     static_cast<std::uint8_t>(std::min(range.last, char32_t{0x7F})), to});
      ++edges_;
    }
    const CharacterSet beyond = draft_.sets[set] & CharacterSet::of({{0x80, 0x10FFFF}});
    if (beyond.empty()) return;
    const std::uint32_t rule = rule_of_bytes(beyond);  // which adds states
    states_[from].calls.push_back({rule, to});
    ++edges_;
  }

  std::uint32_t rule_of_bytes(const CharacterSet& set) {
    const auto [at, is_new] = rule_of_set_.try_emplace(set, static_cast<std::uint32_t>(rules_.size()));
    const std::uint32_t rule = at->second;
    if (!is_new) return rule;
    rules_.emplace_back();
    const std::uint32_t start = add_state(rule);
    rules_[rule] = {start, true, false};
    std::vector<std::vector<ByteRange>> sequences;
    for (const CharacterRange& range : set.ranges()) append_utf8_ranges(range, sequences);
    std::map<std::vector<ByteRange>, std::uint32_t> state_before;  // what is still to be read
    const std::uint32_t end = add_state(rule);
    states_[end].accepting = true;
    state_before[{}] = end;
    for (const auto& sequence : sequences) {
      std::uint32_t from = start;
      for (std::size_t i = 0; i < sequence.size(); ++i) {
        const std::vector<ByteRange> rest(sequence.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                          sequence.end());
        const auto [next, unseen] = state_before.try_emplace(rest, 0);
        if (unseen) next->second = add_state(rule);
        states_[from].edges.push_back({sequence[i].first, sequence[i].last, next->second});
        ++edges_;
        if (!unseen) break;  // the way from there on is there
        from = next->second;
      }
    }
    return rule;
  }

  const Draft& draft_;
  std::vector<State> states_;
  std::vector<Rules::Rule> rules_;
  std::map<CharacterSet, std::uint32_t> rule_of_set_;
  std::size_t edges_ = 0;
};

std::uint32_t sum(std::uint32_t a, std::uint32_t b) {
  return a > unreachable - b ? unreachable : a + b;
}

// Edges from which nothing leads to the end of a rule go.
void drop_dead_ends(Rules& rules, std::span<const std::uint32_t> distance) {
  Rules kept;
  for (Rules::State& state : rules.states) {
    const auto edges = std::span(rules.edges).subspan(state.edges, state.edge_count);
    const auto calls = std::span(rules.calls).subspan(state.calls, state.call_count);
    state.edges = static_cast<std::uint32_t>(kept.edges.size());
    state.calls = static_cast<std::uint32_t>(kept.calls.size());
    for (const Rules::ByteEdge& edge : edges) {
      if (distance[edge.to] != unreachable) kept.edges.push_back(edge);
    }
    for (const Rules::Call& call : calls) {
      if (distance[call.to] != unreachable && distance[rules.rules[call.rule].start] != unreachable) {
        kept.calls.push_back(call);
      }
    }
    state.edge_count = static_cast<std::uint32_t>(kept.edges.size()) - state.edges;
    state.call_count = static_cast<std::uint32_t>(kept.calls.size()) - state.calls;
  }
  rules.edges = std::move(kept.edges);
  rules.calls = std::move(kept.calls);
}

// The rules that a rule may begin with.
std::vector<std::uint32_t> first_calls(const Rules& rules, std::uint32_t rule) {
  std::vector<std::uint32_t> called;
  std::vector<std::uint32_t> states{rules.rules[rule].start};
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (const Rules::Call& call : rules.calls_of(states[i])) {
      called.push_back(call.rule);
      if (rules.rules[call.rule].nullable && std::ranges::find(states, call.to) == states.end()) {
        states.push_back(call.to);
      }
    }
  }
  return called;
}

// A rule that may begin with itself; -1: there is none.
std::int64_t left_recursive_rule(const Rules& rules) {
  enum class Mark : std::uint8_t { fresh, open, done };
  std::vector<Mark> marks(rules.rules.size(), Mark::fresh);
  struct Visit {
    std::uint32_t rule;
    std::vector<std::uint32_t> calls;
  };
  std::vector<Visit> path;
  for (std::uint32_t root = 0; root < rules.rules.size(); ++root) {
    if (marks[root] != Mark::fresh) continue;
    marks[root] = Mark::open;
    path.push_back({root, first_calls(rules, root)});
    while (!path.empty()) {
      if (path.back().calls.empty()) {
        marks[path.back().rule] = Mark::done;
        path.pop_back();
        continue;
      }
      const std::uint32_t next = path.back().calls.back();
      path.back().calls.pop_back();
      if (marks[next] == Mark::open) return next;
      if (marks[next] == Mark::done) continue;
      marks[next] = Mark::open;
      path.push_back({next, first_calls(rules, next)});
    }
  }
  return -1;
}

void classify_bytes(Rules& rules) {
  std::bitset<257> begins;
  for (const Rules::ByteEdge& edge : rules.edges) {
    begins.set(edge.first);
    begins.set(edge.last + 1U);
  }
  std::uint8_t current = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (byte > 0 && begins[byte]) ++current;
    rules.class_of_byte[byte] = current;
  }
  rules.byte_classes = current + 1U;
}

}  // namespace

// Knuth's generalisation of Dijkstra's algorithm: a call costs what its rule and the way behind it cost.
std::vector<std::uint32_t> distances(const Rules& rules, const std::array<bool, 256>& bytes,
                                     std::span<const Jump> jumps) {
  struct Way {
    std::uint32_t from, cost, rest;  // rest: the state whose distance is added, too
  };
  const std::size_t count = rules.states.size();
  std::vector<std::vector<Way>> ways(count);  // by the state that they lead to
  constexpr std::uint32_t none = unreachable;
  for (std::uint32_t state = 0; state < count; ++state) {
    for (const Rules::ByteEdge& edge : rules.edges_of(state)) {
      if (std::any_of(bytes.begin() + edge.first, bytes.begin() + edge.last + 1, std::identity())) {
        ways[edge.to].push_back({state, 1, none});
      }
    }
    for (const Rules::Call& call : rules.calls_of(state)) {
      const std::uint32_t start = rules.rules[call.rule].start;
      ways[call.to].push_back({state, 0, start});
      ways[start].push_back({state, 0, call.to});
    }
  }
  for (const Jump& jump : jumps) ways[jump.to].push_back({jump.from, 1, none});

  std::vector<std::uint32_t> distance(count, unreachable);
  std::vector<bool> settled(count, false);
  using Item = std::pair<std::uint32_t, std::uint32_t>;  // distance, state
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
  for (std::uint32_t state = 0; state < count; ++state) {
    if (!rules.states[state].accepting) continue;
    distance[state] = 0;
    queue.push({0, state});
  }
  while (!queue.empty()) {
    const auto [so_far, state] = queue.top();
    queue.pop();
    if (settled[state]) continue;
    settled[state] = true;
    for (const Way& way : ways[state]) {
      if (way.rest != none && !settled[way.rest]) continue;
      const std::uint32_t cost = sum(sum(so_far, way.cost), way.rest == none ? 0 : distance[way.rest]);
      if (cost >= distance[way.from]) continue;
      distance[way.from] = cost;
      queue.push({cost, way.from});
    }
  }
  return distance;
}

Result<Rules> compile(const Draft& draft, const Phrase& where) {
  Lowering lowering(draft);
  if (draft.rules.size() > Limits::rules || !lowering.run()) {
    return fail(where, errors::grammar_too_large(Limits::rules, Limits::states, Limits::edges));
  }
  Rules rules = lowering.result();
  std::array<bool, 256> any_byte;
  any_byte.fill(true);
  const std::vector<std::uint32_t> distance = distances(rules, any_byte, {});
  if (distance[rules.rules[0].start] == unreachable) return fail(where, errors::grammar_without_answer());
  drop_dead_ends(rules, distance);
  for (Rules::Rule& rule : rules.rules) rule.nullable = distance[rule.start] == 0;
  if (const std::int64_t rule = left_recursive_rule(rules); rule >= 0) {
    return fail(where, errors::grammar_left_recursion(draft.rules[static_cast<std::size_t>(rule)].name));
  }
  classify_bytes(rules);
  return rules;
}

}  // namespace fovea::grammar
