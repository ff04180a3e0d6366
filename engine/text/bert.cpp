#include "engine/text/bert.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "engine/text/character_class.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

struct CodeRange {
  char32_t first, last;
};
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

bool in(std::span<const CodeRange> ranges, char32_t c) {
  const auto range = std::ranges::lower_bound(ranges, c, {}, &CodeRange::last);
  return range != ranges.end() && c >= range->first;
}

template <class Function>
void each(std::string_view text, Function function) {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) function(next_code_point(at));
}

}  // namespace

bool is_bert_punctuation(char32_t c) {
  return in(punctuation_ranges, c);
}

bool run(const CleanTextStep&, std::string_view text, std::string& out) {
  each(text, [&](char32_t c) {
    if (in(control_ranges, c)) return;
    append_utf8(out, (character_classes()[c] & class_space) != 0 ? U' ' : c);
  });
  return true;
}

bool run(const SeparateHanStep&, std::string_view text, std::string& out) {
  if (is_ascii(text)) return false;
  each(text, [&](char32_t c) {
    const bool han = in(han_ranges, c);
    if (han) out += ' ';
    append_utf8(out, c);
    if (han) out += ' ';
  });
  return true;
}

bool run(const DropNonspacingStep&, std::string_view text, std::string& out) {
  if (is_ascii(text)) return false;
  each(text, [&](char32_t c) {
    if (!in(nonspacing_ranges, c)) append_utf8(out, c);
  });
  return true;
}

}  // namespace fovea::text
