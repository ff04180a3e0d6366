#include "engine/text/character_class.h"

#include <utf8proc.h>
#include <vector>

namespace fovea::text {
namespace {

std::uint8_t class_of(utf8proc_int32_t c) {
  if ((c >= 0x09 && c <= 0x0D) || c == 0x85) return class_space;
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return class_letter | class_upper;
    case UTF8PROC_CATEGORY_LL:
      return class_letter | class_lower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return class_letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return class_number;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return class_mark;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return class_space;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return class_punctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return class_symbol;
    default:
      return 0;
  }
}

std::vector<std::uint8_t> make_classes() {
  std::vector<std::uint8_t> classes(0x110000);
  for (utf8proc_int32_t c = 0; c < 0x110000; ++c) classes[static_cast<std::size_t>(c)] = class_of(c);
  return classes;
}

}  // namespace

const std::uint8_t* character_classes() {
  static const std::vector<std::uint8_t> classes = make_classes();
  return classes.data();
}

bool is_word_character(char32_t c) {
  if (character_classes()[c] & (class_letter | class_mark)) return true;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D;
}

}  // namespace fovea::text
