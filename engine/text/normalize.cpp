#include "engine/text/normalize.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utf8proc.h>
#include <utility>

#include "engine/text/character_class.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

// The first characters of all forms but the compatibility ones are their own composition below U+0300.
bool below_combining(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0xCC) return false;
  return true;
}

// Code points that the normaliser of Hugging Face tokenizers is too old to know: it leaves them alone.
constexpr CodeRange inert_ranges[] = {
#include "unicode_inert.inc"
};

bool is_inert(char32_t c) {
  if (c == 0x11A7) return true;  // the place before Hangul's first final consonant: utf8proc 2.8 composes it
  return in_ranges(inert_ranges, c);
}

void append_mapped(std::string_view text, utf8proc_option_t options, std::string& out) {
  if (text.empty()) return;
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  if (size < 0) {  // no memory, or larger than the library can count
    out += text;
    return;
  }
  out.append(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size));
  std::free(mapped);
}

bool run(const UnicodeForm& step, std::string_view text, std::string& out) {
  if (is_ascii(text)) return false;
  using enum UnicodeForm::Form;
  if (step.form == nfc && below_combining(text)) return false;
  const int compose = step.form == nfc || step.form == nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  const int compatible = step.form == nfkc || step.form == nfkd ? UTF8PROC_COMPAT : 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | compose | compatible);
  // An inert character neither composes nor is reordered, so the text falls apart at it.
  const char* done = text.data();
  const char* const end = done + text.size();
  for (const char* at = done; at < end;) {
    const char* const start = at;
    if (static_cast<unsigned char>(*at) < 0xDF) {
      ++at;  // inert characters begin at U+07FD; a second byte is stepped over as well
      continue;
    }
    if (!is_inert(next_code_point(at))) continue;
    append_mapped({done, start}, options, out);
    out.append(start, at);
    done = at;
  }
  append_mapped({done, end}, options, out);
  return true;
}

bool run(const LowercaseStep&, std::string_view text, std::string& out) {
  for_each_code_point(text, [&](char32_t c) {
    if (c == 0x130) {
      out += "i\xCC\x87";  // the only letter with a longer small form
    } else {
      append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
  });
  return true;
}

bool run(const StripAccentsStep& step, std::string_view text, std::string& out) {
  for_each_code_point(text, [&](char32_t c) {
    const bool drop = step.nonspacing_only
                          ? utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_MN
                          : (character_classes()[c] & class_mark) != 0;
    if (!drop) append_utf8(out, c);
  });
  return true;
}

bool run(const StripStep& step, std::string_view text, std::string& out) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  while (step.left && begin < end) {
    const char* next = begin;
    if (!is_space(next_code_point(next))) break;
    begin = next;
  }
  while (step.right && end > begin) {
    const char* before = end;
    if (!is_space(previous_code_point(before))) break;
    end = before;
  }
  out.assign(begin, end);
  return true;
}

bool run(const PrependStep& step, std::string_view text, std::string& out) {
  if (text.empty()) return false;
  out = step.text;
  out += text;
  return true;
}

bool run(const ReplaceTextStep& step, std::string_view text, std::string& out) {
  if (text.find(step.from) == text.npos) return false;
  out = replace_all(text, step.from, step.to);
  return true;
}

bool run(const ReplaceRegexStep& step, std::string_view text, std::string& out) {
  std::vector<Match> matches;
  step.from.find_all(text, matches);
  if (matches.empty()) return false;
  std::size_t done = 0;
  for (const Match& match : matches) {
    out += text.substr(done, match.begin - done);
    out += step.to;
    done = match.end;
  }
  out += text.substr(done);
  return true;
}

bool run_longest(const CharacterMap& map, std::string_view text, std::string& out) {
  while (!text.empty()) {
    std::size_t bytes = utf8_prefix(text).bytes;
    if (const auto found = map.longest(text)) {
      out += found->replacement;
      bytes = found->bytes;
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return true;
}

constexpr std::size_t long_grapheme_bytes = 6;  // from here on a grapheme is replaced character by character

bool run(const CharacterMapStep& step, std::string_view text, std::string& out) {
  if (!step.by_grapheme) return run_longest(step.map, text, out);
  const auto put = [&](std::string_view part) {
    const auto found = step.map.shortest(part);
    out += found ? found->replacement : part;
  };
  const auto put_grapheme = [&](std::string_view grapheme) {
    if (grapheme.size() < long_grapheme_bytes && step.map.shortest(grapheme)) return put(grapheme);
    for (const char *at = grapheme.data(), *const end = at + grapheme.size(); at < end;) {
      const char* const start = at;
      next_code_point(at);
      put({start, at});
    }
  };
  const char* const end = text.data() + text.size();
  const char* begin = text.data();
  utf8proc_int32_t state = 0;
  char32_t before = 0;
  for (const char* at = begin; at < end;) {
    const char* const start = at;
    char32_t c = next_code_point(at);
    // A mark that utf8proc is too old to know belongs to its base all the same.
    if ((character_classes()[c] & class_mark) != 0 && is_recent_character(c)) c = 0x300;
    if (start > begin && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                                          static_cast<utf8proc_int32_t>(c), &state)) {
      put_grapheme({begin, start});
      begin = start;
    }
    before = c;
  }
  if (begin < end) put_grapheme({begin, end});
  return true;
}

}  // namespace

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  out.reserve(text.size());
  std::size_t done = 0;
  while (!from.empty()) {
    const std::size_t at = text.find(from, done);
    if (at == text.npos) break;
    out += text.substr(done, at - done);
    out += to;
    done = at + from.size();
  }
  out += text.substr(done);
  return out;
}

void add_bert_normalizer(const BertNormalizer& chosen, std::vector<NormalizeStep>& steps) {
  if (chosen.clean) steps.emplace_back(CleanTextStep{});
  if (chosen.han) steps.emplace_back(SeparateHanStep{});
  if (chosen.strip_accents) {
    steps.emplace_back(UnicodeForm{UnicodeForm::Form::nfd});
    steps.emplace_back(DropNonspacingStep{});
  }
  if (chosen.lowercase) steps.emplace_back(LowercaseStep{});
}

bool normalize(const std::vector<NormalizeStep>& steps, std::string_view text, std::string& out) {
  bool changed = false;
  std::string next;
  for (const NormalizeStep& step : steps) {
    next.clear();
    const std::string_view now = changed ? std::string_view(out) : text;
    if (!std::visit([&](const auto& chosen) { return run(chosen, now, next); }, step)) continue;
    std::swap(out, next);
    changed = true;
  }
  return changed;
}

}  // namespace fovea::text
