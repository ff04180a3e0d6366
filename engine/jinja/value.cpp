#include "engine/jinja/value.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/jinja/errors.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

constexpr std::size_t absent = static_cast<std::size_t>(-1);
constexpr std::int64_t most_weight = std::int64_t{1} << 40;
constexpr std::size_t few = 8;  // up to here a linear search beats a table

// Whether a double holds a whole number that an Int can hold too.
bool whole_double(double d) {
  return std::isfinite(d) && std::abs(d) < 0x1p126 && d == std::trunc(d);
}

std::size_t mix(std::size_t a, std::size_t b) {
  return a * 0x9e3779b97f4a7c15ULL + (b ^ (a >> 29));
}

std::size_t hash_whole(Int value) {
  const auto low = static_cast<std::uint64_t>(value);
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return mix(std::hash<std::uint64_t>{}(low) + 0x51ed27, std::hash<std::uint64_t>{}(high));
}

std::size_t hash_bytes(std::string_view bytes) {
  return std::hash<std::string_view>{}(bytes);
}

bool equal_numbers(const Value& a, const Value& b) {
  if (a.is_whole() && b.is_whole()) return a.whole() == b.whole();
  if (a.is_real() && b.is_real()) return a.real() == b.real();
  const double d = a.is_real() ? a.real() : b.real();
  const Int i = a.is_real() ? b.whole() : a.whole();
  return whole_double(d) && static_cast<Int>(d) == i;
}

bool equal_items(const std::vector<Value>& a, const std::vector<Value>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), equal);
}

bool equal_sequences(const Sequence& a, const Sequence& b) {
  if (a.kind == SequenceKind::values || b.kind == SequenceKind::values) return &a == &b;
  const bool a_is_set = a.kind == SequenceKind::keys || a.kind == SequenceKind::items;
  const bool b_is_set = b.kind == SequenceKind::keys || b.kind == SequenceKind::items;
  if (a_is_set != b_is_set) return false;
  if (!a_is_set) return a.kind == b.kind && equal_items(a.items, b.items);
  return a.items.size() == b.items.size() &&
         std::all_of(a.items.begin(), a.items.end(), [&](const Value& item) {
           return std::any_of(b.items.begin(), b.items.end(), [&](const Value& o) { return equal(item, o); });
         });
}

bool equal_dicts(const Dict& a, const Dict& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const Dict::Entry& entry) {
    const Value* other = b.find(entry.first);
    return other && equal(entry.second, *other);
  });
}

}  // namespace

Value Value::undefined(Error when_used) {
  return Value(std::in_place, Undefined{std::make_shared<const Error>(std::move(when_used))});
}

Value Value::text(std::string bytes, bool markup) {
  auto text = std::make_shared<Text>();
  text->length = count_points(bytes);
  text->bytes = std::move(bytes);
  text->markup = markup;
  return Value(std::in_place, TextPointer(std::move(text)));
}

Error Value::when_used() const {
  const Undefined& undefined = std::get<Undefined>(data_);
  return undefined.when_used ? *undefined.when_used : errors::jinja_undefined();
}

bool Value::same(const Value& other) const {
  if (data_.index() != other.data_.index()) return false;
  if (is_none()) return true;
  if (is_boolean()) return boolean() == other.boolean();
  if (is_integer()) return whole() == other.whole();
  if (is_real()) return real() == other.real();
  if (is_text()) return &text() == &other.text();
  if (is_sequence()) return &sequence() == &other.sequence();
  if (is_dict()) return &dict() == &other.dict();
  if (is_object()) return &object() == &other.object();
  return std::get<Undefined>(data_).when_used == std::get<Undefined>(other.data_).when_used;
}

int Value::height() const {
  if (is_sequence()) return sequence().height;
  if (is_dict()) return dict().height();
  if (is_object()) return object().height();
  return 0;
}

std::int64_t Value::weight() const {
  if (is_text()) return 1 + static_cast<std::int64_t>(bytes().size() / 64);
  if (is_sequence()) return sequence().weight;
  if (is_dict()) return dict().weight();
  return 1;
}

void measure(Sequence& s) {
  s.height = 1;
  s.weight = 1;
  for (const Value& item : s.items) {
    s.height = std::max(s.height, item.height() + 1);
    s.weight = std::min(s.weight + item.weight(), most_weight);
  }
}

template <class Equal>
std::size_t Dict::position(std::size_t hash, Equal equal) const {
  if (slots_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (hashes_[i] == hash && equal(entries_[i].first)) return i;
    }
    return absent;
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t i = slots_[slot] - 1;
    if (hashes_[i] == hash && equal(entries_[i].first)) return i;
  }
  return absent;
}

void Dict::rebuild(std::size_t slots) {
  slots_.assign(slots, 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = hashes_[i] & (slots - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots - 1);
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

void Dict::set(Value key, Value value) {
  height_ = std::max({height_, key.height() + 1, value.height() + 1});
  weight_ = std::min(weight_ + key.weight() + value.weight(), most_weight);
  const std::size_t h = jinja::hash(key);
  const std::size_t found = position(h, [&](const Value& k) { return equal(k, key); });
  if (found != absent) {
    entries_[found].second = std::move(value);
    return;
  }
  entries_.emplace_back(std::move(key), std::move(value));
  hashes_.push_back(h);
  if (entries_.size() <= few) return;
  if (entries_.size() * 2 > slots_.size()) {
    std::size_t slots = 32;
    while (slots < entries_.size() * 4) slots *= 2;
    rebuild(slots);
    return;
  }
  std::size_t slot = h & (slots_.size() - 1);
  while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = static_cast<std::uint32_t>(entries_.size());
}

const Value* Dict::find(const Value& key) const {
  const std::size_t i = position(jinja::hash(key), [&](const Value& k) { return equal(k, key); });
  return i == absent ? nullptr : &entries_[i].second;
}

const Value* Dict::find(std::string_view key) const {
  const std::size_t i =
      position(hash_bytes(key), [&](const Value& k) { return k.is_text() && k.bytes() == key; });
  return i == absent ? nullptr : &entries_[i].second;
}

bool truth(const Value& v) {
  if (v.is_undefined() || v.is_none()) return false;
  if (v.is_boolean()) return v.boolean();
  if (v.is_integer()) return v.whole() != 0;
  if (v.is_real()) return v.real() != 0;
  if (v.is_text()) return !v.bytes().empty();
  if (v.is_sequence()) return !v.sequence().items.empty();
  if (v.is_dict()) return v.dict().size() != 0;
  return true;
}

bool hashable(const Value& v) {
  if (v.is_dict()) return false;
  if (!v.is_sequence()) return true;
  if (v.is(SequenceKind::range)) return true;
  return v.is_tuple() && std::all_of(v.sequence().items.begin(), v.sequence().items.end(), hashable);
}

std::size_t hash(const Value& v) {
  if (v.is_undefined()) return 7;
  if (v.is_none()) return 11;
  if (v.is_whole()) return hash_whole(v.whole());
  if (v.is_real())
    return whole_double(v.real()) ? hash_whole(static_cast<Int>(v.real())) : std::hash<double>{}(v.real());
  if (v.is_text()) return hash_bytes(v.bytes());
  if (v.is_sequence()) {
    std::size_t h = 17;
    for (const Value& item : v.sequence().items) h = mix(h, hash(item));
    return h;
  }
  return v.is_object() ? std::hash<const void*>{}(&v.object()) : 23;
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.is_text() && b.is_text()) return a.bytes() == b.bytes();
  if (a.is_sequence() && b.is_sequence())
    return &a.sequence() == &b.sequence() || equal_sequences(a.sequence(), b.sequence());
  if (a.is_dict() && b.is_dict()) return equal_dicts(a.dict(), b.dict());
  if (a.is_undefined() || a.is_none()) return a.is_undefined() ? b.is_undefined() : b.is_none();
  return a.is_object() && b.is_object() && &a.object() == &b.object();
}

std::string type_name(const Value& v) {
  if (v.is_undefined()) return "Undefined";
  if (v.is_none()) return "NoneType";
  if (v.is_boolean()) return "bool";
  if (v.is_integer()) return "int";
  if (v.is_real()) return "float";
  if (v.is_text()) return v.text().markup ? "Markup" : "str";
  if (v.is_dict()) return "dict";
  if (v.is_object()) return v.object().type_name();
  switch (v.sequence().kind) {
    case SequenceKind::list:
      return "list";
    case SequenceKind::tuple:
      return "tuple";
    case SequenceKind::range:
      return "range";
    case SequenceKind::keys:
      return "dict_keys";
    case SequenceKind::values:
      return "dict_values";
    case SequenceKind::items:
      return "dict_items";
  }
  return "object";
}

std::string decimal(Int value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string digits;
  for (Int rest = value; rest != 0; rest /= 10) {
    const int digit = static_cast<int>(rest % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace fovea::jinja
