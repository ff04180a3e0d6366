#include "engine/grammar/characters.h"

#include <algorithm>
#include <string>

#include "engine/text/utf8.h"

namespace fovea::grammar {
namespace {

constexpr CharacterRange below_surrogates{0, 0xD7FF};
constexpr CharacterRange above_surrogates{0xE000, 0x10FFFF};

}  // namespace

CharacterSet CharacterSet::all() {
  return of({below_surrogates, above_surrogates});
}

CharacterSet CharacterSet::of(std::initializer_list<CharacterRange> ranges) {
  CharacterSet set;
  for (const CharacterRange& range : ranges) set.add(range.first, range.last);
  return set;
}

void CharacterSet::normalize() {
  std::ranges::sort(ranges_);
  std::vector<CharacterRange> joined;
  for (const CharacterRange& range : ranges_) {
    if (!joined.empty() && range.first <= joined.back().last + 1) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  ranges_ = std::move(joined);
}

CharacterSet& CharacterSet::add(char32_t first, char32_t last) {
  for (const CharacterRange& part : {below_surrogates, above_surrogates}) {
    const char32_t from = std::max(first, part.first);
    const char32_t to = std::min(last, part.last);
    if (from <= to) ranges_.push_back({from, to});
  }
  normalize();
  return *this;
}

CharacterSet& CharacterSet::add(const CharacterSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  normalize();
  return *this;
}

CharacterSet CharacterSet::complement() const {
  CharacterSet rest;
  char32_t next = 0;
  for (const CharacterRange& range : ranges_) {
    if (range.first > next) rest.add(next, range.first - 1);
    next = range.last + 1;
  }
  if (next <= above_surrogates.last) rest.add(next, above_surrogates.last);
  return rest;
}

CharacterSet CharacterSet::operator&(const CharacterSet& other) const {
  CharacterSet common;
  auto left = ranges_.begin();
  auto right = other.ranges_.begin();
  while (left != ranges_.end() && right != other.ranges_.end()) {
    const char32_t first = std::max(left->first, right->first);
    const char32_t last = std::min(left->last, right->last);
    if (first <= last) common.ranges_.push_back({first, last});
    (left->last < right->last ? left : right)++;
  }
  return common;
}

bool CharacterSet::contains(char32_t c) const {
  return std::ranges::any_of(ranges_, [&](const CharacterRange& r) { return r.first <= c && c <= r.last; });
}

std::uint32_t CharacterSets::intern(const CharacterSet& set) {
  const auto [at, is_new] = ids_.try_emplace(set, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(set);
  return at->second;
}

void append_utf8_ranges(CharacterRange range, std::vector<std::vector<ByteRange>>& out) {
  // Where the number of bytes changes.
  for (const char32_t last : {char32_t{0x7F}, char32_t{0x7FF}, char32_t{0xFFFF}}) {
    if (range.first <= last && last < range.last) {
      append_utf8_ranges({range.first, last}, out);
      append_utf8_ranges({last + 1, range.last}, out);
      return;
    }
  }
  // Where the bytes behind one that differs are not all from 0x80 to 0xBF.
  for (int i = 1; i < 4; ++i) {
    const char32_t low = (char32_t{1} << (6 * i)) - 1;
    if ((range.first & ~low) == (range.last & ~low)) break;
    if ((range.first & low) != 0 && range.first > 0x7F) {
      append_utf8_ranges({range.first, range.first | low}, out);
      append_utf8_ranges({(range.first | low) + 1, range.last}, out);
      return;
    }
    if ((range.last & low) != low && range.last > 0x7F) {
      append_utf8_ranges({range.first, (range.last & ~low) - 1}, out);
      append_utf8_ranges({range.last & ~low, range.last}, out);
      return;
    }
  }
  const std::string first = text::to_utf8(range.first);
  const std::string last = text::to_utf8(range.last);
  std::vector<ByteRange>& bytes = out.emplace_back();
  for (std::size_t i = 0; i < first.size(); ++i) {
    bytes.push_back({static_cast<std::uint8_t>(first[i]), static_cast<std::uint8_t>(last[i])});
  }
}

char32_t take_code_point(std::string_view text, std::size_t& at) {
  const text::Utf8Prefix prefix = text::utf8_prefix(text.substr(at));
  if (prefix.kind != text::Utf8Prefix::Kind::valid) return no_code_point;
  const char* from = text.data() + at;
  at += prefix.bytes;
  return text::next_code_point(from);
}

}  // namespace fovea::grammar
