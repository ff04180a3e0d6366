#include "engine/text/bert.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "engine/text/character_class.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

constexpr CodeRange control_ranges[] = {
#include "unicode_bert_control.inc"
};
constexpr CodeRange nonspacing_ranges[] = {
#include "unicode_bert_nonspacing.inc"
};
constexpr CodeRange punctuation_ranges[] = {
#include "unicode_bert_punctuation.inc"
};
constexpr CodeRange han_ranges[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                    {0x20000, 0x2A6DF}, {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF},
                                    {0x2F800, 0x2FA1F}};

}  // namespace

bool is_bert_punctuation(char32_t c) {
  return in_ranges(punctuation_ranges, c);
}

bool run(const CleanTextStep&, std::string_view text, std::string& out) {
  for_each_code_point(text, [&](char32_t c) {
    if (in_ranges(control_ranges, c)) return;
    append_utf8(out, is_space(c) ? U' ' : c);
  });
  return true;
}

bool run(const SeparateHanStep&, std::string_view text, std::string& out) {
  if (is_ascii(text)) return false;
  for_each_code_point(text, [&](char32_t c) {
    const bool han = in_ranges(han_ranges, c);
    if (han) out += ' ';
    append_utf8(out, c);
    if (han) out += ' ';
  });
  return true;
}

bool run(const DropNonspacingStep&, std::string_view text, std::string& out) {
  if (is_ascii(text)) return false;
  for_each_code_point(text, [&](char32_t c) {
    if (!in_ranges(nonspacing_ranges, c)) append_utf8(out, c);
  });
  return true;
}

}  // namespace fovea::text
