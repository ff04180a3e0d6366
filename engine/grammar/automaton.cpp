#include "engine/grammar/automaton.h"

#include <map>
#include <utility>

namespace fovea::grammar {
namespace {

bool connect_repetition(Automaton& automaton, std::uint32_t from, const Expression& repetition,
                        std::uint32_t to) {
  const Expression& what = repetition.parts[0];
  std::uint32_t at = from;
  for (std::uint32_t i = 0; i < repetition.least; ++i) {
    const std::uint32_t next = automaton.add_state();
    if (!connect(automaton, at, what, next)) return false;
    at = next;
  }
  if (repetition.most == Expression::unbounded) {
    const std::uint32_t loop = automaton.add_state();
    automaton.add_epsilon(at, loop);
    automaton.add_epsilon(loop, to);
    return connect(automaton, loop, what, loop);
  }
  for (std::uint32_t i = repetition.least; i < repetition.most; ++i) {
    automaton.add_epsilon(at, to);
    const std::uint32_t next = automaton.add_state();
    if (!connect(automaton, at, what, next)) return false;
    at = next;
  }
  automaton.add_epsilon(at, to);
  return true;
}

// The states that are reached from one without reading.
class Closure {
 public:
  explicit Closure(const Automaton& automaton)
      : automaton_(automaton), seen_in_(automaton.states.size(), 0) {}

  std::span<const std::uint32_t> of(std::uint32_t state, bool at_end) {
    ++round_;
    states_.clear();
    add(state);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      for (const Edge& edge : automaton_.states[states_[i]].edges) {
        if (edge.kind == Edge::Kind::epsilon || (edge.kind == Edge::Kind::at_start && state == 0) ||
            (edge.kind == Edge::Kind::at_end && at_end)) {
          add(edge.to);
        }
      }
    }
    return states_;
  }

 private:
  void add(std::uint32_t state) {
    if (std::exchange(seen_in_[state], round_) != round_) states_.push_back(state);
  }

  const Automaton& automaton_;
  std::vector<std::uint32_t> seen_in_;
  std::vector<std::uint32_t> states_;
  std::uint32_t round_ = 0;
};

}  // namespace

bool connect(Automaton& automaton, std::uint32_t from, const Expression& expression, std::uint32_t to) {
  using Kind = Expression::Kind;
  if (automaton.states.size() > Limits::states) return false;
  switch (expression.kind) {
    case Kind::at_start:
      automaton.add(from, Edge::Kind::at_start, 0, to);
      return true;
    case Kind::at_end:
      automaton.add(from, Edge::Kind::at_end, 0, to);
      return true;
    case Kind::characters:
      automaton.add(from, Edge::Kind::characters, expression.value, to);
      return true;
    case Kind::byte:
      automaton.add(from, Edge::Kind::byte, expression.value, to);
      return true;
    case Kind::call:
      automaton.add(from, Edge::Kind::call, expression.value, to);
      return true;
    case Kind::repetition:
      return connect_repetition(automaton, from, expression, to);
    case Kind::alternatives:
      for (const Expression& part : expression.parts) {
        if (!connect(automaton, from, part, to)) return false;
      }
      return true;
    case Kind::sequence:
      break;
  }
  for (std::size_t i = 0; i < expression.parts.size(); ++i) {
    const std::uint32_t next = i + 1 == expression.parts.size() ? to : automaton.add_state();
    if (!connect(automaton, from, expression.parts[i], next)) return false;
    from = next;
  }
  if (expression.parts.empty()) automaton.add_epsilon(from, to);
  return true;
}

void connect(Automaton& automaton, CharacterSets& sets, std::uint32_t from, std::string_view text,
             std::uint32_t to) {
  if (text.empty()) automaton.add_epsilon(from, to);
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t set = sets.intern(take_code_point(text, at));
    const std::uint32_t next = at == text.size() ? to : automaton.add_state();
    automaton.add(from, Edge::Kind::characters, set, next);
    from = next;
  }
}

void connect_control(Automaton& automaton, CharacterSets& sets, std::uint32_t from, std::string_view name,
                     std::uint32_t to) {
  const std::uint32_t begin = automaton.add_state(), end = automaton.add_state();
  automaton.add(from, Edge::Kind::byte, control_mark, begin);
  connect(automaton, sets, begin, name, end);
  automaton.add(end, Edge::Kind::byte, control_mark, to);
}

// State n + 1 is behind the mark's first n characters.
Automaton text_without(CharacterSets& sets, std::string_view mark) {
  Automaton automaton;
  const auto length = static_cast<std::uint32_t>(mark.size());
  for (std::uint32_t n = 0; n < length; ++n) automaton.add_state();
  const auto character = [mark](std::uint32_t n) { return static_cast<char32_t>(mark[n]); };
  for (std::uint32_t state = 0; state <= length; ++state) {
    const std::uint32_t read = state == 0 ? 0 : state - 1;
    automaton.states[state].accepting = true;
    CharacterSet others = CharacterSet::of({{character(read), character(read)}});
    if (read + 1 < length)
      automaton.add(state, Edge::Kind::characters, sets.intern(character(read)), read + 2);
    if (read > 0) {
      automaton.add(state, Edge::Kind::characters, sets.intern(character(0)), 2);
      others.add(character(0));
    }
    automaton.add(state, Edge::Kind::characters, sets.intern(others.complement()), 1);
  }
  return automaton;
}

std::optional<Automaton> without_epsilon(const Automaton& automaton) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  Automaton result;
  std::vector<std::uint32_t> new_of(automaton.states.size(), none);
  std::vector<std::uint32_t> old_of{0};
  new_of[0] = 0;
  Closure closure(automaton);
  std::size_t edges = 0;
  for (std::uint32_t state = 0; state < old_of.size(); ++state) {
    for (const std::uint32_t at : closure.of(old_of[state], false)) {
      for (const Edge& edge : automaton.states[at].edges) {
        const bool reads = edge.kind == Edge::Kind::characters || edge.kind == Edge::Kind::byte;
        if (!reads && edge.kind != Edge::Kind::call) continue;
        if (++edges > Limits::edges) return {};
        if (new_of[edge.to] == none) {
          new_of[edge.to] = result.add_state();
          old_of.push_back(edge.to);
        }
        result.add(state, edge.kind, edge.value, new_of[edge.to]);
      }
    }
    for (const std::uint32_t at : closure.of(old_of[state], true)) {
      if (automaton.states[at].accepting) result.states[state].accepting = true;
    }
  }
  return result;
}

std::optional<Automaton> intersection(const Automaton& left, const Automaton& right, CharacterSets& sets) {
  Automaton result;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> ids{{{0, 0}, 0}};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs{{0, 0}};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> common;  // of two sets
  std::size_t edges = 0;
  for (std::uint32_t state = 0; state < pairs.size(); ++state) {
    const Automaton::State& a = left.states[pairs[state].first];
    const Automaton::State& b = right.states[pairs[state].second];
    result.states[state].accepting = a.accepting && b.accepting;
    for (const Edge& x : a.edges) {
      for (const Edge& y : b.edges) {
        if (++edges > Limits::edges) return {};
        const auto [set, is_first] = common.try_emplace({x.value, y.value}, 0);
        if (is_first) set->second = sets.intern(CharacterSet(sets[x.value]) & sets[y.value]);
        if (sets[set->second].empty()) continue;
        const auto [to, is_new] =
            ids.try_emplace({x.to, y.to}, static_cast<std::uint32_t>(result.states.size()));
        if (is_new) {
          if (pairs.size() == Limits::states) return {};
          pairs.push_back({x.to, y.to});
          result.add_state();
        }
        result.add(state, Edge::Kind::characters, set->second, to->second);
      }
    }
  }
  return result;
}

std::uint32_t Draft::append(const Draft& other) {
  const auto first = static_cast<std::uint32_t>(rules.size());
  for (const Rule& rule : other.rules) {
    rules.push_back(rule);
    for (Automaton::State& state : rules.back().automaton.states) {
      for (Edge& edge : state.edges) {
        if (edge.kind == Edge::Kind::characters) edge.value = sets.intern(other.sets[edge.value]);
        if (edge.kind == Edge::Kind::call) edge.value += first;
      }
    }
  }
  return first;
}

}  // namespace fovea::grammar
