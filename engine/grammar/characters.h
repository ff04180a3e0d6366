// Sets of code points.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace fovea::grammar {

struct CharacterRange {
  char32_t first, last;
  auto operator<=>(const CharacterRange&) const = default;
};

// Sorted ranges that do not touch. Surrogates, which UTF-8 cannot spell, are in none.
class CharacterSet {
 public:
  CharacterSet() = default;
  static CharacterSet all();
  static CharacterSet of(std::initializer_list<CharacterRange> ranges);

  CharacterSet& add(char32_t first, char32_t last);
  CharacterSet& add(char32_t c) { return add(c, c); }
  CharacterSet& add(const CharacterSet& other);
  CharacterSet complement() const;
  CharacterSet operator&(const CharacterSet& other) const;

  bool empty() const { return ranges_.empty(); }
  bool contains(char32_t c) const;
  const std::vector<CharacterRange>& ranges() const { return ranges_; }
  auto operator<=>(const CharacterSet&) const = default;

 private:
  void normalize();

  std::vector<CharacterRange> ranges_;
};

// Each set once.
class CharacterSets {
 public:
  std::uint32_t intern(const CharacterSet& set);
  std::uint32_t intern(char32_t c) { return intern(CharacterSet::of({{c, c}})); }
  // References last until the next intern().
  const CharacterSet& operator[](std::uint32_t id) const { return sets_[id]; }

 private:
  std::vector<CharacterSet> sets_;
  std::map<CharacterSet, std::uint32_t> ids_;
};

struct ByteRange {
  std::uint8_t first, last;
  auto operator<=>(const ByteRange&) const = default;
};

// What UTF-8 spells a range of code points with: sequences of ranges of bytes, of which each byte may be any
// of its range, appended to `out`. The range holds no surrogates.
void append_utf8_ranges(CharacterRange range, std::vector<std::vector<ByteRange>>& out);

// The code point at `at`, which moves behind it; -1 where `text` is not UTF-8.
char32_t take_code_point(std::string_view text, std::size_t& at);
inline constexpr char32_t no_code_point = static_cast<char32_t>(-1);

}  // namespace fovea::grammar
