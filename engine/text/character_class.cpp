#include "engine/text/character_class.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utf8proc.h>
#include <vector>

namespace fovea::text {
namespace {

// The first code point of a range, shifted left by 8, and its class; bit 31: not in Unicode 14.
constexpr std::uint32_t ranges[] = {
#include "unicode_classes.inc"
};
constexpr std::uint32_t recent_bit = std::uint32_t{1} << 31;
constexpr std::size_t code_points = 0x110000;

struct Tables {
  std::vector<std::uint8_t> classes = std::vector<std::uint8_t>(code_points);
  std::vector<bool> recent = std::vector<bool>(code_points);

  Tables() {
    for (std::size_t i = 0; i < std::size(ranges); ++i) {
      const auto first_of = [](std::uint32_t range) { return (range & ~recent_bit) >> 8; };
      const std::size_t first = first_of(ranges[i]);
      const std::size_t behind = i + 1 < std::size(ranges) ? first_of(ranges[i + 1]) : code_points;
      std::fill_n(classes.begin() + static_cast<std::ptrdiff_t>(first), behind - first,
                  static_cast<std::uint8_t>(ranges[i] & 0xFF));
      if (ranges[i] & recent_bit)
        std::fill_n(recent.begin() + static_cast<std::ptrdiff_t>(first), behind - first, true);
    }
  }
};

const Tables& tables() {
  static const Tables made;
  return made;
}

}  // namespace

const std::uint8_t* character_classes() {
  return tables().classes.data();
}

bool is_recent_character(char32_t c) {
  return tables().recent[c];
}

bool is_word_character(char32_t c) {
  if (character_classes()[c] & (class_letter | class_mark)) return true;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D;
}

}  // namespace fovea::text
