#include "app/history/word_tokenizer.h"

#include <array>
#include <sqlite3.h>
#include <string>
#include <utf8proc.h>

namespace fovea::app::history {
namespace {

// The start of an endless word (Base64, a hash) is enough to find it.
constexpr std::size_t kMaxBytesOfAWord = 128;

enum class Kind : std::uint8_t {
  separator,
  letter,   // part of a word
  single,   // a word of its own, with the marks that follow
  mark,     // belongs to what stands before it
  ignored,  // as if it were not there
};

bool between(std::int32_t point, std::int32_t first, std::int32_t last) {
  return point >= first && point <= last;
}

bool is_removed_mark(std::int32_t point) {
  return between(point, 0x0300, 0x036F)  // accents
         || between(point, 0x0591, 0x05BD) || point == 0x05BF || between(point, 0x05C1, 0x05C2) ||
         between(point, 0x05C4, 0x05C5) || point == 0x05C7  // Hebrew points
         || between(point, 0x0610, 0x061A)                  // Arabic
         || between(point, 0x064B, 0x065F) || point == 0x0670 || between(point, 0x06D6, 0x06ED) ||
         between(point, 0x1AB0, 0x1AFF) || between(point, 0x1DC0, 0x1DFF) ||
         between(point, 0xFE00, 0xFE0F);  // variation selectors
}

bool is_written_without_spaces(std::int32_t point) {
  return between(point, 0x0E00, 0x0EFF)       // Thai, Lao
         || between(point, 0x0F00, 0x0FFF)    // Tibetan
         || between(point, 0x1000, 0x109F)    // Burmese
         || between(point, 0x1780, 0x17FF)    // Khmer
         || between(point, 0x2E80, 0x2FDF)    // radicals
         || between(point, 0x3005, 0x312F)    // kana, bopomofo
         || between(point, 0x31A0, 0x31FF)    //
         || between(point, 0x3400, 0x9FFF)    // Han
         || between(point, 0xA000, 0xA4CF)    // Yi
         || between(point, 0xF900, 0xFAFF)    // Han
         || between(point, 0xFF66, 0xFF9D)    // half-width kana
         || between(point, 0x1B000, 0x1B16F)  // kana
         || between(point, 0x20000, 0x3FFFF);
}

Kind kind_of(std::int32_t point) {
  if (is_removed_mark(point) || point == 0x0640) return Kind::ignored;  // tatweel only stretches a word
  if (point == 0xFF9E || point == 0xFF9F) return Kind::mark;            // of half-width kana
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
    case UTF8PROC_CATEGORY_CO:
      return is_written_without_spaces(point) ? Kind::single : Kind::letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return Kind::mark;
    case UTF8PROC_CATEGORY_CF:
      return Kind::ignored;  // joiners, direction marks, soft hyphens
    case UTF8PROC_CATEGORY_SO:
      return between(point, 0x2500, 0x25FF) ? Kind::separator : Kind::single;  // not the lines of tables
    default:
      return Kind::separator;
  }
}

class Walker {
 public:
  Walker(std::string_view text, WordSink& sink) : text_(text), sink_(sink) {}

  void walk() {
    while (at_ < text_.size() && going_) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      byte < 0x80 ? ascii(byte) : point();
    }
    if (going_) end_word();
  }

 private:
  void ascii(unsigned char byte) {
    const bool upper = byte >= 'A' && byte <= 'Z';
    if (upper || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9')) {
      if (single_) end_word();
      const char folded = static_cast<char>(upper ? byte + ('a' - 'A') : byte);
      add({&folded, 1}, 1);
    } else {
      end_word();
      ++at_;
    }
  }

  void point() {
    std::int32_t point = 0;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text_.data()) + at_;
    const utf8proc_ssize_t length =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text_.size() - at_), &point);
    if (length <= 0) {  // no UTF-8
      end_word();
      ++at_;
      return;
    }
    const auto size = static_cast<std::size_t>(length);
    Kind kind = kind_of(point);
    if (kind == Kind::mark) kind = word_.empty() ? Kind::separator : Kind::mark;
    if (kind == Kind::ignored) {
      at_ += size;
    } else if (kind == Kind::separator) {
      end_word();
      at_ += size;
    } else {
      if (kind == Kind::single || (single_ && kind == Kind::letter)) end_word();
      add(fold(point), size);
      single_ = kind == Kind::single || (single_ && kind == Kind::mark);
    }
  }

  // Decomposed, without case and removed marks, as UTF-8. A letter that folds to nothing stays as it is.
  std::string_view fold(std::int32_t point) {
    std::array<utf8proc_int32_t, 32> points;
    int boundary = 0;
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                                        UTF8PROC_CASEFOLD | UTF8PROC_STABLE);
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(point, points.data(), points.size(), options, &boundary);
    folded_size_ = 0;
    for (utf8proc_ssize_t i = 0; i < count && i < static_cast<utf8proc_ssize_t>(points.size()); ++i) {
      const auto folded = points[static_cast<std::size_t>(i)];
      const Kind kind = kind_of(folded);
      if (kind != Kind::ignored && kind != Kind::separator) append(folded);
    }
    if (folded_size_ == 0) append(point);
    return {folded_.data(), folded_size_};
  }

  void append(std::int32_t point) {
    if (folded_size_ + 4 > folded_.size()) return;
    folded_size_ += static_cast<std::size_t>(
        utf8proc_encode_char(point, reinterpret_cast<utf8proc_uint8_t*>(folded_.data() + folded_size_)));
  }

  void add(std::string_view folded, std::size_t size) {
    if (word_.empty()) start_ = at_;
    if (word_.size() + folded.size() <= kMaxBytesOfAWord) word_ += folded;
    at_ += size;
    end_ = at_;
  }

  void end_word() {
    if (!word_.empty()) going_ = sink_.word(word_, start_, end_);
    word_.clear();
    single_ = false;
  }

  std::string_view text_;
  WordSink& sink_;
  std::size_t at_ = 0;
  std::string word_;
  std::size_t start_ = 0, end_ = 0;  // of word_ in the text
  bool single_ = false;              // word_ is a character of a script without spaces
  bool going_ = true;
  std::array<char, 128> folded_;
  std::size_t folded_size_ = 0;
};

// --- FTS5's side

using TokenCallback = int (*)(void*, int, const char*, int, int, int);

class ToFts5 final : public WordSink {
 public:
  ToFts5(void* context, TokenCallback callback) : context_(context), callback_(callback) {}
  bool word(std::string_view folded, std::size_t start, std::size_t end) override {
    code = callback_(context_, 0, folded.data(), static_cast<int>(folded.size()), static_cast<int>(start),
                     static_cast<int>(end));
    return code == SQLITE_OK;
  }
  int code = SQLITE_OK;

 private:
  void* context_;
  TokenCallback callback_;
};

int create(void*, const char**, int, Fts5Tokenizer** out) {
  static char nothing;  // the tokeniser has no state
  *out = reinterpret_cast<Fts5Tokenizer*>(&nothing);
  return SQLITE_OK;
}

void destroy(Fts5Tokenizer*) {}

int tokenize(Fts5Tokenizer*, void* context, int, const char* text, int size, TokenCallback callback) {
  ToFts5 sink(context, callback);
  if (text && size > 0) walk_words({text, static_cast<std::size_t>(size)}, sink);
  return sink.code;
}

}  // namespace

void walk_words(std::string_view text, WordSink& sink) {
  Walker(text, sink).walk();
}

std::string_view tokenizer_version() {
  static const std::string version = std::string("1, utf8proc ") + utf8proc_version();
  return version;
}

int register_word_tokenizer(sqlite3* database) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, nullptr);
  if (code != SQLITE_OK) return code;
  fts5_api* api = nullptr;
  sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
  sqlite3_step(statement);
  code = sqlite3_finalize(statement);
  if (code != SQLITE_OK) return code;
  if (!api) return SQLITE_ERROR;
  fts5_tokenizer tokenizer{create, destroy, tokenize};
  return api->xCreateTokenizer(api, "fovea_words", nullptr, &tokenizer, nullptr);
}

}  // namespace fovea::app::history
