#include "engine/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <algorithm>
#include <optional>
#include <pcre2.h>
#include <utility>

#include "engine/core/result.h"
#include "engine/text/character_class.h"
#include "engine/text/errors.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

constexpr std::uint32_t match_limit = 20'000'000;
constexpr std::uint32_t heap_limit_kib = 64 << 10;
constexpr std::size_t jit_stack_bytes = 8 << 20;

// PCRE2's Unicode tables are older than those of Hugging Face's expressions, and it counts U+180E as white
// space. Where such a character stands, an older one of the same class and length is matched in its place.
char32_t stand_in(char32_t c) {
  if (c == 0x180E) return 0x2060;
  const std::uint8_t kind = character_classes()[c];
  const bool short_one = c < 0x10000;
  if (kind & class_upper) return short_one ? 0x1E00 : 0x10400;
  if (kind & class_lower) return short_one ? 0x1E01 : 0x10428;
  if (kind & class_letter) return short_one ? 0x3042 : c >= 0x20000 ? 0x20000 : 0x10330;
  if (kind & class_mark) return short_one ? 0x0E31 : 0x101FD;
  if (kind & class_number) return short_one ? 0x0966 : 0x104A0;
  if (kind & class_punctuation) return short_one ? 0x2010 : 0x10100;
  if (kind & class_symbol) return short_one ? 0x2190 : 0x10137;
  return c;
}

// True when `out` is to be matched instead of the text; offsets are the same.
bool with_stand_ins(std::string_view text, std::string& out) {
  const char* const end = text.data() + text.size();
  bool changed = false;
  for (const char* at = text.data(); at < end;) {
    if (static_cast<unsigned char>(*at) < 0xE0) {
      ++at;
      continue;
    }
    const char* const start = at;
    const char32_t c = next_code_point(at);
    if (c != 0x180E && !is_recent_character(c)) continue;
    if (!changed) out = text;
    changed = true;
    const std::string other = to_utf8(stand_in(c));
    out.replace(static_cast<std::size_t>(start - text.data()), other.size(), other);
  }
  return changed;
}

bool is_script(std::string_view name) {
  const std::string probe = "\\p{sc:" + std::string(name) + "}";
  int code = 0;
  std::size_t offset = 0;
  pcre2_code* const compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(probe.data()), probe.size(),
                                             PCRE2_UTF, &code, &offset, nullptr);
  pcre2_code_free(compiled);
  return compiled != nullptr;
}

// What Hugging Face's expressions (Oniguruma's) mean otherwise than PCRE2's, spelled so that it means the
// same: a script's name is the script without its extensions, and \w and \b take marks, connectors and all
// that is alphabetic for words. Nothing for classes inside classes, which PCRE2 does not have.
std::optional<std::string> spelled_for_pcre2(std::string_view expression) {
  constexpr std::string_view word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
  const std::string alone =
      std::string(word) + "²³¹¼½¾";  // outside of a class these are taken for words, too
  const std::string in = "[" + alone + "]";
  std::string out;
  bool in_class = false;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const std::string_view rest = expression.substr(at);
    if (in_class && rest.starts_with("[:")) {  // [:alpha:]
      const std::size_t named = std::min(rest.find(":]"), rest.size() - 2) + 2;
      out += rest.substr(0, named);
      at += named - 1;
      continue;
    }
    if (in_class && (rest[0] == '[' || rest.starts_with("&&"))) return {};
    if (rest[0] == '[' && !in_class) {
      in_class = true;
      const std::size_t open = rest.starts_with("[^") ? 2 : 1;
      // A bracket that closes nothing yet is a character.
      const std::size_t taken = open + (rest.substr(open).starts_with(']') ? 1 : 0);
      out += rest.substr(0, taken);
      at += taken - 1;
      continue;
    }
    if (rest[0] == ']') in_class = false;
    if (rest[0] != '\\' || rest.size() == 1) {
      out += rest[0];
      continue;
    }
    ++at;
    if (rest[1] == 'b' && !in_class) {
      out += "(?:(?<=" + in + ")(?!" + in + ")|(?<!" + in + ")(?=" + in + "))";
    } else if (rest[1] == 'w') {
      out += in_class ? word : std::string_view(in);
    } else if (rest[1] == 'W' && !in_class) {
      out += "[^" + alone + "]";
    } else if (rest.starts_with("\\p{") || rest.starts_with("\\P{")) {
      const std::size_t name = rest.substr(3).starts_with('^') ? 4 : 3;
      const std::size_t end = std::min(rest.find('}'), rest.size());
      out += rest.substr(0, name);
      if (end > name + 2 && is_script(rest.substr(name, end - name))) out += "sc:";
      at += name - 2;
    } else {
      out += rest.substr(0, 2);
    }
  }
  return out;
}

}  // namespace

struct Regex::Code {
  explicit Code(pcre2_code* compiled) : code(compiled) {}
  ~Code() { pcre2_code_free(code); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  pcre2_code* code;
};

Result<Regex> Regex::compile(std::string_view expression, const Phrase& where) {
  const std::string_view shown = expression.substr(0, 120);
  const auto spelled = spelled_for_pcre2(expression);
  if (!spelled) return fail(where, errors::regex_class(shown));
  int code = 0;
  std::size_t offset = 0;
  pcre2_code* compiled =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelled->data()), spelled->size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &offset, nullptr);
  if (!compiled) {
    char reason[256] = {};
    pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(reason), sizeof reason);
    return fail(where, errors::regex_not_understood(shown, offset, Said{reason}));
  }
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // without it the interpreter matches, slower
  Regex regex;
  regex.code_ = std::make_shared<const Code>(compiled);
  return regex;
}

struct Regex::Search::Space {
  explicit Space(std::shared_ptr<const Code> shared)
      : code(std::move(shared)),
        data(pcre2_match_data_create_from_pattern(code->code, nullptr)),
        context(pcre2_match_context_create(nullptr)) {
    if (!context) return;
    pcre2_set_match_limit(context, match_limit);
    pcre2_set_heap_limit(context, heap_limit_kib);
  }
  ~Space() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    if (stack) pcre2_jit_stack_free(stack);
  }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  int match(std::string_view text, std::size_t at) {
    const auto run = [&] {
      return pcre2_match(code->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                         PCRE2_NO_UTF_CHECK, data, context);
    };
    const int found = run();
    if (found != PCRE2_ERROR_JIT_STACKLIMIT || stack) return found;
    stack = pcre2_jit_stack_create(32 << 10, jit_stack_bytes, nullptr);
    if (!stack) return found;
    pcre2_jit_stack_assign(context, nullptr, stack);
    return run();
  }

  std::shared_ptr<const Code> code;
  pcre2_match_data* data;
  pcre2_match_context* context;
  pcre2_jit_stack* stack = nullptr;  // only for a text that the thread's own stack is too small for
};

Regex::Search::Search(const Regex& regex) : space_(std::make_unique<Space>(regex.code_)) {}
Regex::Search::~Search() = default;
Regex::Search::Search(Search&&) noexcept = default;

void Regex::Search::find_all(std::string_view text, std::vector<Match>& matches) {
  std::string changed;
  if (with_stand_ins(text, changed)) text = changed;
  if (!space_->data || !space_->context) return;
  std::size_t at = 0;
  std::size_t last_end = ~std::size_t{0};
  while (at <= text.size()) {
    if (space_->match(text, at) < 0) return;
    const std::size_t* const range = pcre2_get_ovector_pointer(space_->data);
    const Match match{range[0], range[1]};
    if (match.begin < at || match.end < match.begin) return;  // \K turned the match around
    at = match.end;
    if (match.end > match.begin || match.begin != last_end) matches.push_back(match);
    last_end = match.end;
    if (match.end > match.begin) continue;
    ++at;  // an empty match: go on behind the next character
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
}

}  // namespace fovea::text
