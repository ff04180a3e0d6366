#include "app/live/measures/snapshot_ring.h"

#include <algorithm>
#include <vector>

namespace fovea::app {
namespace {

constexpr float recent_use_scale = 1.0F / 1024;
constexpr std::int64_t frames_between_whole_ones = 64;
constexpr std::size_t max_changes = 32'768;

// What of a unit changed, before its new values.
enum Changed : std::uint8_t {
  changed_tier = 1,
  changed_target = 2,
  changed_hot = 4,
  changed_uses = 8,
  one_hotter = 16,
  one_colder = 32,
};

char* put_varint(char* out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) *out++ = static_cast<char>(0x80 | (value & 0x7F));
  *out++ = static_cast<char>(value);
  return out;
}

class Bytes {
 public:
  explicit Bytes(const std::string& bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  bool empty() const { return at_ == end_; }
  std::uint8_t byte() { return static_cast<std::uint8_t>(*at_++); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint8_t next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
      if (next < 128) return value;
    }
  }

 private:
  const char* at_;
  const char* end_;
};

std::string encode_whole(const MapFrame& frame) {
  std::string out;
  for (const auto* plane : {&frame.tier, &frame.target, &frame.hot}) out.append(plane->begin(), plane->end());
  for (const std::uint32_t uses : frame.uses) {
    char varint[10];
    out.append(varint, put_varint(varint, uses));
  }
  return out;
}

void decode_whole(const std::string& bytes, MapFrame& frame) {
  Bytes in(bytes);
  for (auto* plane : {&frame.tier, &frame.target, &frame.hot})
    for (std::uint8_t& each : *plane) each = in.byte();
  for (std::uint32_t& uses : frame.uses) uses = static_cast<std::uint32_t>(in.varint());
}

// A frame's, which bytes that are written cannot change.
struct Planes {
  explicit Planes(const MapFrame& frame)
      : tier(frame.tier.data()),
        target(frame.target.data()),
        hot(frame.hot.data()),
        uses(frame.uses.data()) {}
  const std::uint8_t* tier;
  const std::uint8_t* target;
  const std::uint8_t* hot;
  const std::uint32_t* uses;
};

// Writes what changed of a unit, behind how many units before it did not; `out` has room for most_bytes. Most
// of it is written without asking first, and overwritten where it is not wanted: which units change cannot be
// foretold.
constexpr std::size_t most_bytes = 10 + 1 + 3 + 10;
char* encode_unit(const Planes& before, const Planes& now, std::size_t unit, std::size_t gap, char* out,
                  bool& any) {
  const bool tier = before.tier[unit] != now.tier[unit], target = before.target[unit] != now.target[unit];
  const bool uses = before.uses[unit] != now.uses[unit];
  const int hotter = int{now.hot[unit]} - int{before.hot[unit]};
  const std::uint8_t hot = hotter == 0    ? 0
                           : hotter == 1  ? one_hotter
                           : hotter == -1 ? one_colder
                                          : changed_hot;
  const auto changed = static_cast<std::uint8_t>((tier ? changed_tier : 0) | (target ? changed_target : 0) |
                                                 (uses ? changed_uses : 0) | hot);
  any = changed != 0;
  out = put_varint(out, gap);
  *out++ = static_cast<char>(changed);
  *out = static_cast<char>(now.tier[unit]);
  out += tier ? 1 : 0;
  *out = static_cast<char>(now.target[unit]);
  out += target ? 1 : 0;
  *out = static_cast<char>(now.hot[unit]);
  out += hot == changed_hot ? 1 : 0;
  char* const behind = put_varint(out, now.uses[unit] - before.uses[unit]);
  return uses ? behind : out;
}

std::string encode_difference(const MapFrame& before, const MapFrame& now, std::vector<char>& scratch) {
  scratch.resize(now.size() * most_bytes);
  char* out = scratch.data();
  const Planes old(before), fresh(now);
  const std::size_t units = now.size();
  std::size_t next = 0;
  for (std::size_t unit = 0; unit < units; ++unit) {
    bool any = false;
    char* const behind = encode_unit(old, fresh, unit, unit - next, out, any);
    out = any ? behind : out;
    next = any ? unit + 1 : next;
  }
  return {scratch.data(), out};
}

void apply_difference(const std::string& bytes, MapFrame& frame) {
  Bytes in(bytes);
  for (std::size_t unit = 0; !in.empty(); ++unit) {
    unit += in.varint();
    const std::uint8_t changed = in.byte();
    if (changed & changed_tier) frame.tier[unit] = in.byte();
    if (changed & changed_target) frame.target[unit] = in.byte();
    if (changed & changed_hot) frame.hot[unit] = in.byte();
    if (changed & one_hotter) ++frame.hot[unit];
    if (changed & one_colder) --frame.hot[unit];
    if (changed & changed_uses) frame.uses[unit] += static_cast<std::uint32_t>(in.varint());
  }
}

void resize(MapFrame& frame, std::int64_t layers, std::int64_t units_per_layer) {
  frame.layers = layers;
  frame.units_per_layer = units_per_layer;
  const auto units = static_cast<std::size_t>(layers * units_per_layer);
  for (auto* plane : {&frame.tier, &frame.target, &frame.hot}) plane->resize(units);
  frame.uses.resize(units);
}

void read_units(const Snapshot& snapshot, MapFrame& frame) {
  resize(frame, snapshot.layers, snapshot.units_per_layer);
  frame.hot_is_recent_use =
      std::ranges::all_of(snapshot.units, [](const UnitState& state) { return state.hotness == 0; });
  const ui::HotnessCodes code;
  const bool by_use = frame.hot_is_recent_use;
  std::uint8_t* const tier = frame.tier.data();
  std::uint8_t* const target = frame.target.data();
  std::uint8_t* const hot = frame.hot.data();
  std::uint32_t* const uses = frame.uses.data();
  for (std::size_t unit = 0, units = frame.size(); unit < units; ++unit) {
    const UnitState state = snapshot.units[unit];
    tier[unit] = state.tier;
    target[unit] = state.target;
    hot[unit] = code(by_use ? recent_use_scale * state.recent_tokens : state.hotness);
    uses[unit] = state.uses;
  }
}

bool same(const DecisionState& a, const DecisionState& b) {
  return a.unit == b.unit && a.from == b.from && a.to == b.to && a.token == b.token;
}

bool is_set(const DecisionState& decision) {
  return decision.unit >= 0 && (decision.from != no_tier || decision.to != no_tier);
}

bool same_shape(const MapFrame& frame, const Snapshot& snapshot) {
  return frame.layers == snapshot.layers && frame.units_per_layer == snapshot.units_per_layer;
}

std::size_t size_of(const Moment& moment) {
  return sizeof(Moment) + moment.bytes->capacity() + moment.numbers.tiers.size() * sizeof(TierState) +
         moment.numbers.pools.size() * sizeof(PoolState);
}

}  // namespace

std::size_t fresh_decisions(const SnapshotNumbers& now, const SnapshotNumbers& before) {
  std::size_t fresh = 0;
  while (fresh < now.decisions.size() && is_set(now.decisions[fresh]) &&
         !same(now.decisions[fresh], before.decisions.front()))
    ++fresh;
  return fresh;
}

SnapshotRing::SnapshotRing(RingLimits limits) : limits_(limits) {}

void SnapshotRing::clear() {
  const std::uint64_t next = generation_ + 1;
  *this = SnapshotRing(limits_);
  generation_ = next;
}

void SnapshotRing::add(const Snapshot& snapshot, double seconds) {
  // A use count that falls is another engine's.
  const bool restarted = !moments_.empty() && snapshot.tokens < moments_.back().numbers.tokens;
  if (!moments_.empty() && (!same_shape(latest_, snapshot) || restarted)) clear();
  MapFrame now;
  read_units(snapshot, now);
  Moment moment{.seconds = moments_.empty() ? seconds : std::max(seconds, moments_.back().seconds),
                .numbers = snapshot,
                .hot_is_recent_use = now.hot_is_recent_use,
                .whole = moments_.empty() || ++since_whole_ >= frames_between_whole_ones,
                .bytes = {}};
  if (!moments_.empty()) note_changes(snapshot, moment.seconds, latest_);
  moment.bytes = std::make_shared<const std::string>(
      moment.whole ? encode_whole(now) : encode_difference(latest_, now, scratch_));
  if (moment.whole) since_whole_ = 0;
  memory_bytes_ += size_of(moment);
  moments_.push_back(std::move(moment));
  latest_ = std::move(now);
  while (memory_bytes_ > limits_.bytes || oldest_has_passed()) {
    if (!drop_oldest()) break;
  }
}

std::deque<Moment>::const_iterator SnapshotRing::second_whole() const {
  return std::find_if(moments_.begin() + 1, moments_.end(), [](const Moment& m) { return m.whole; });
}

// The first group is not needed to look back as far as the limit says.
bool SnapshotRing::oldest_has_passed() const {
  const auto next = second_whole();
  return next != moments_.end() && next->seconds <= moments_.back().seconds - limits_.seconds;
}

// Drops the frames before the second whole one.
bool SnapshotRing::drop_oldest() {
  const auto next = second_whole();
  if (next == moments_.end()) return false;
  for (auto each = moments_.cbegin(); each != next; ++each) memory_bytes_ -= size_of(*each);
  first_ += next - moments_.begin();
  moments_.erase(moments_.begin(), next);
  return true;
}

void SnapshotRing::note_changes(const Snapshot& snapshot, double seconds, const MapFrame& before) {
  std::vector<std::int32_t> explained;
  for (std::size_t i = fresh_decisions(snapshot, moments_.back().numbers); i-- > 0;) {
    changes_.push_back({.seconds = seconds, .decision = snapshot.decisions[i], .explained = true});
    explained.push_back(snapshot.decisions[i].unit);
  }
  for (std::size_t unit = 0; unit < before.size(); ++unit) {
    if (before.tier[unit] == snapshot.units[unit].tier) continue;
    if (std::ranges::find(explained, static_cast<std::int32_t>(unit)) != explained.end()) continue;
    changes_.push_back({.seconds = seconds,
                        .decision = {.unit = static_cast<std::int32_t>(unit),
                                     .from = before.tier[unit],
                                     .to = snapshot.units[unit].tier,
                                     .token = snapshot.tokens},
                        .explained = false});
  }
  while (changes_.size() > max_changes) changes_.pop_front();
}

std::int64_t SnapshotRing::at(double seconds) const {
  const auto found = std::ranges::lower_bound(moments_, seconds, {}, &Moment::seconds);
  return first_ + (found - moments_.begin());
}

std::vector<ui::UnitChange> SnapshotRing::last_changes(double until_seconds) const {
  std::vector<ui::UnitChange> last(latest_.size());
  for (const TierChange& change : changes_) {
    if (change.seconds > until_seconds) break;
    const std::int64_t unit = change.decision.unit;
    if (unit < 0 || unit >= std::ssize(last)) continue;
    last[static_cast<std::size_t>(unit)] = {.seconds_ago = until_seconds - change.seconds,
                                            .decision = change.decision,
                                            .explained = change.explained};
  }
  return last;
}

std::vector<ui::UnitChange> SnapshotRing::changes_of(std::int64_t unit, double until_seconds) const {
  std::vector<ui::UnitChange> found;
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    if (change->seconds > until_seconds || change->decision.unit != unit) continue;
    found.push_back({.seconds_ago = until_seconds - change->seconds,
                     .decision = change->decision,
                     .explained = change->explained});
  }
  return found;
}

std::vector<ui::FreshChange> fresh_changes(const SnapshotRing& ring, double until, double now) {
  std::vector<ui::FreshChange> fresh;
  const auto& changes = ring.changes();
  for (auto each = changes.rbegin(); each != changes.rend() && now - each->seconds < fresh_seconds; ++each) {
    if (each->seconds <= until && each->decision.unit >= 0)
      fresh.push_back({.unit = each->decision.unit,
                       .freshness = 1 - (now - each->seconds) / fresh_seconds,
                       .is_up = each->decision.to < each->decision.from});
  }
  return fresh;
}

bool FrameCursor::seek(const SnapshotRing& ring, std::int64_t index) {
  if (index < ring.first() || index >= ring.end()) return false;
  if (generation_ != ring.generation_) reset();
  generation_ = ring.generation_;
  if (index == index_) return true;
  const bool forward = index_ >= ring.first() && index_ < index;
  std::int64_t from = index;
  while (!ring.moment(from).whole && !(forward && from == index_ + 1)) --from;
  resize(frame_, ring.latest_.layers, ring.latest_.units_per_layer);
  for (; from <= index; ++from) {
    const Moment& moment = ring.moment(from);
    moment.whole ? decode_whole(*moment.bytes, frame_) : apply_difference(*moment.bytes, frame_);
  }
  frame_.hot_is_recent_use = ring.moment(index).hot_is_recent_use;
  index_ = index;
  return true;
}

}  // namespace fovea::app
