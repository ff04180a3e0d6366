#include "engine/grammar/stacks.h"

#include <algorithm>

namespace fovea::grammar {
namespace {

constexpr std::size_t most_entries = 4096;  // of a node
constexpr std::uint16_t most_depth = 4096;
constexpr std::size_t most_bytes = std::size_t{256} << 20;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::span<const Stacks::Entry> entries, bool ends, bool is_unknown) {
  std::uint64_t hash = (ends ? 2U : 1U) + (is_unknown ? 4U : 0U);
  for (const auto& [state, below] : entries) hash = mixed(hash, std::uint64_t{state} << 32 | below);
  return hash;
}

std::uint32_t sum_of_distances(std::uint32_t a, std::uint32_t b) {
  return a > unreachable - b ? unreachable : a + b;
}

// The place in an open table for what has this hash and is equal to an id; a power of two of places, doubled
// before it is half full. `hash_of_id` is asked for what is there when it grows.
template <class Equal, class HashOfId>
std::uint32_t& place_in(std::vector<std::uint32_t>& table, std::size_t count, std::uint64_t hash, Equal equal,
                        HashOfId hash_of_id) {
  constexpr std::uint32_t free = ~std::uint32_t{0};
  if (table.size() < 2 * (count + 1)) {
    std::vector<std::uint32_t> larger(std::max<std::size_t>(64, table.size() * 2), free);
    for (const std::uint32_t id : table) {
      if (id == free) continue;
      std::size_t at = hash_of_id(id) & (larger.size() - 1);
      while (larger[at] != free) at = (at + 1) & (larger.size() - 1);
      larger[at] = id;
    }
    table = std::move(larger);
  }
  std::size_t at = hash & (table.size() - 1);
  while (table[at] != free && !equal(table[at])) at = (at + 1) & (table.size() - 1);
  return table[at];
}

}  // namespace

Stacks::Stacks(const Rules& rules, std::span<const std::uint32_t> distance,
               std::span<const std::uint32_t> classes)
    : rules_(rules),
      distance_(distance),
      classes_(classes),
      place_(rules.states.size()),
      place_round_(rules.states.size(), 0) {
  intern({}, false, false);
  intern({}, true, false);
  intern({}, false, true);
}

Stacks::Id Stacks::start() {
  begin_closure();
  add(rules_.rules[0].start, bottom);
  return close();
}

Stacks::Id Stacks::make_step(Id from, std::uint8_t byte) {
  begin_closure();
  for (std::uint32_t i = 0; i < nodes_[from].count; ++i) {
    const Entry entry = entries_[nodes_[from].first + i];
    for (const Rules::ByteEdge& edge : rules_.edges_of(entry.state)) {
      if (edge.first <= byte && byte <= edge.last) add(edge.to, entry.below);
    }
  }
  const Id to = close();
  if (nodes_[from].row == unset) {
    nodes_[from].row = static_cast<std::uint32_t>(steps_.size());
    steps_.resize(steps_.size() + rules_.byte_classes, unset);
  }
  steps_[nodes_[from].row + rules_.class_of_byte[byte]] = to;
  return to;
}

void Stacks::begin_closure() {
  ++round_;
  open_.clear();
  queue_.clear();
  ends_ = is_unknown_ = false;
}

void Stacks::add(std::uint32_t state, Id below) {
  if (place_round_[state] != round_) {
    place_round_[state] = round_;
    place_[state] = static_cast<std::uint32_t>(open_.size());
    open_.push_back({state, below});
    queue_.push_back(place_[state]);
    return;
  }
  Entry& entry = open_[place_[state]];
  const Id both = unite(entry.below, below);
  if (both == entry.below) return;
  entry.below = both;
  queue_.push_back(place_[state]);
}

void Stacks::add_all(Id node) {
  ends_ = ends_ || nodes_[node].ends;
  is_unknown_ = is_unknown_ || nodes_[node].is_unknown;
  for (std::uint32_t i = 0; i < nodes_[node].count; ++i) {
    const Entry entry = entries_[nodes_[node].first + i];
    add(entry.state, entry.below);
  }
}

// What is reached without reading: rules that are called, and what follows rules that may end.
Stacks::Id Stacks::close() {
  while (!queue_.empty()) {
    const Entry entry = open_[queue_.back()];
    queue_.pop_back();
    if (rules_.states[entry.state].accepting) add_all(entry.below);
    for (const Rules::Call& call : rules_.calls_of(entry.state)) {
      Id below = entry.below;
      if (!rules_.only_ends(call.to)) {
        const Entry frame{call.to, entry.below};
        below = intern({&frame, 1}, false, false);
      }
      add(rules_.rules[call.rule].start, below);
    }
    if (open_.size() > 4 * most_entries) {
      overflowed_ = true;
      return dead;
    }
  }
  std::erase_if(open_, [&](const Entry& entry) { return rules_.states[entry.state].edge_count == 0; });
  std::ranges::sort(open_, {}, &Entry::state);
  if (open_.size() > most_entries || bytes() > most_bytes) {
    overflowed_ = true;
    return dead;
  }
  const Id id = intern(open_, ends_, is_unknown_);
  if (nodes_[id].depth < most_depth) return id;
  overflowed_ = true;
  return dead;
}

Stacks::Id Stacks::intern(std::span<const Entry> entries, bool ends, bool is_unknown) {
  const auto equal = [&](Id id) {
    const Node& node = nodes_[id];
    return node.ends == ends && node.is_unknown == is_unknown &&
           std::ranges::equal(entries_of(node), entries);
  };
  const auto hash_of_id = [&](Id id) {
    return hash_of(entries_of(nodes_[id]), nodes_[id].ends, nodes_[id].is_unknown);
  };
  std::uint32_t& place =
      place_in(table_, nodes_.size(), hash_of(entries, ends, is_unknown), equal, hash_of_id);
  if (place != unset) return place;
  const auto id = static_cast<Id>(nodes_.size());
  place = id;
  Node node{static_cast<std::uint32_t>(entries_.size()),
            static_cast<std::uint32_t>(entries.size()),
            ends || is_unknown ? 0 : unreachable,
            unset,
            id,
            0,
            ends,
            is_unknown};
  for (const Entry& entry : entries) {
    const Node& below = nodes_[entry.below];
    node.distance = std::min(node.distance, sum_of_distances(distance_[entry.state], below.distance));
    node.depth = std::max(node.depth, static_cast<std::uint16_t>(below.depth + 1));
  }
  if (!classes_.empty()) node.alike = intern_alike(entries, ends, is_unknown);
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  nodes_.push_back(node);
  return id;
}

std::uint32_t Stacks::intern_alike(std::span<const Entry> entries, bool ends, bool is_unknown) {
  std::vector<Entry> alike;
  alike.reserve(entries.size());
  for (const Entry& entry : entries) alike.push_back({classes_[entry.state], nodes_[entry.below].alike});
  const auto order = [](const Entry& a, const Entry& b) {
    return a.state != b.state ? a.state < b.state : a.below < b.below;
  };
  std::ranges::sort(alike, order);
  alike.erase(std::ranges::unique(alike).begin(), alike.end());
  const auto of = [&](std::uint32_t id) {
    return std::span<const Entry>(alike_entries_).subspan(alikes_[id].first, alikes_[id].count);
  };
  const auto equal = [&](std::uint32_t id) {
    return alikes_[id].ends == ends && alikes_[id].is_unknown == is_unknown &&
           std::ranges::equal(of(id), alike);
  };
  const auto hash_of_id = [&](std::uint32_t id) {
    return hash_of(of(id), alikes_[id].ends, alikes_[id].is_unknown);
  };
  std::uint32_t& place =
      place_in(alike_table_, alikes_.size(), hash_of(alike, ends, is_unknown), equal, hash_of_id);
  if (place != unset) return place;
  place = static_cast<std::uint32_t>(alikes_.size());
  alikes_.push_back({static_cast<std::uint32_t>(alike_entries_.size()),
                     static_cast<std::uint32_t>(alike.size()), ends, is_unknown});
  alike_entries_.insert(alike_entries_.end(), alike.begin(), alike.end());
  return place;
}

Stacks::Id Stacks::unite(Id a, Id b) {
  if (a == b || b == dead) return a;
  if (a == dead) return b;
  std::vector<Entry> both;
  both.reserve(nodes_[a].count + nodes_[b].count);
  std::uint32_t i = 0, j = 0;
  while (i < nodes_[a].count || j < nodes_[b].count) {
    const bool has_left = i < nodes_[a].count, has_right = j < nodes_[b].count;
    const Entry left = has_left ? entries_[nodes_[a].first + i] : Entry{};
    const Entry right = has_right ? entries_[nodes_[b].first + j] : Entry{};
    if (has_left && has_right && left.state == right.state) {
      both.push_back({left.state, unite(left.below, right.below)});
      ++i, ++j;
    } else if (!has_right || (has_left && left.state < right.state)) {
      both.push_back(left);
      ++i;
    } else {
      both.push_back(right);
      ++j;
    }
  }
  return intern(both, nodes_[a].ends || nodes_[b].ends, nodes_[a].is_unknown || nodes_[b].is_unknown);
}

Stacks::Id Stacks::truncated(Id id, std::uint32_t& slack) {
  slack = 0;
  const auto cut = [&](Id below) {
    slack = std::max(slack, nodes_[below].distance);
    return unknown;
  };
  std::vector<Entry> kept;
  for (std::uint32_t i = 0; i < nodes_[id].count; ++i) {
    const Entry entry = entries_[nodes_[id].first + i];
    if (!rules_.rules[rules_.states[entry.state].rule].inlined || nodes_[entry.below].count == 0) {
      kept.push_back({entry.state, cut(entry.below)});
      continue;
    }
    const Node below = nodes_[entry.below];
    std::vector<Entry> frames;
    for (std::uint32_t j = 0; j < below.count; ++j) {
      const Entry frame = entries_[below.first + j];
      frames.push_back({frame.state, cut(frame.below)});
    }
    kept.push_back({entry.state, intern(frames, false, below.ends || below.is_unknown)});
  }
  return intern(kept, nodes_[id].ends, nodes_[id].is_unknown);
}

Stacks::Id Stacks::adopt(const Stacks& other, Id id) {
  // What lies below a node was made before it: its number is smaller.
  std::vector<Id> needed{id};
  std::vector<bool> is_needed(id + std::size_t{1}, false);
  is_needed[id] = true;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    for (const Entry& entry : other.entries_of(other.nodes_[needed[i]])) {
      if (is_needed[entry.below]) continue;
      is_needed[entry.below] = true;
      needed.push_back(entry.below);
    }
  }
  std::ranges::sort(needed);
  std::vector<Id> here(id + std::size_t{1}, dead);
  std::vector<Entry> entries;
  for (const Id each : needed) {
    const Node& node = other.nodes_[each];
    entries.clear();
    for (const Entry& entry : other.entries_of(node)) entries.push_back({entry.state, here[entry.below]});
    here[each] = intern(entries, node.ends, node.is_unknown);
  }
  return here[id];
}

std::size_t Stacks::bytes() const {
  return nodes_.size() * sizeof(Node) + (entries_.size() + alike_entries_.size()) * sizeof(Entry) +
         (steps_.size() + table_.size() + alike_table_.size()) * sizeof(Id) + alikes_.size() * sizeof(Alike);
}

}  // namespace fovea::grammar
