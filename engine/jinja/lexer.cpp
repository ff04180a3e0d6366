#include "engine/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "engine/jinja/literals.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

// Line ends become \n, and one at the very end is dropped, as jinja2 does.
std::string normalized(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr std::array two_byte_symbols{"**", "//", "==", "!=", ">=", "<="};
constexpr std::string_view one_byte_symbols = "+-/*%~[](){}><=.:|,;";

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalized(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) root();
    add(TokenType::end, {});
    return std::move(tokens_);
  }

 private:
  struct RawEnd {
    std::size_t tag;  // where "{%" begins
    std::size_t end;  // after the tag and what it trims
    char sign;
  };

  std::string_view rest(std::size_t from) const { return std::string_view(source_).substr(from); }
  bool starts(std::size_t at, std::string_view text) const { return rest(at).starts_with(text); }
  std::size_t skip_space(std::size_t at) const { return source_.size() - strip_left(rest(at)).size(); }

  void add(TokenType type, std::string text, Value value = {}) {
    tokens_.push_back({type, line_, std::move(text), std::move(value)});
  }

  // Moves on, counting lines.
  void advance(std::size_t to) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    line_starting_ = to > at_ && source_[to - 1] == '\n';
    at_ = to;
  }

  // The text up to a tag at `tag`, as the tag's sign and lstrip_blocks leave it.
  void data(std::size_t tag, char sign, bool variable) {
    std::string_view text = std::string_view(source_).substr(at_, tag - at_);
    if (sign == '-') {
      text = strip_right(text);
    } else if (sign != '+' && !variable) {
      const std::size_t newline = text.rfind('\n');
      const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
      if ((begin > 0 || line_starting_) && strip_left(text.substr(begin)).empty())
        text = text.substr(0, begin);
    }
    if (!text.empty()) add(TokenType::data, std::string(text));
    advance(tag);
  }

  char sign_at(std::size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
  }

  void root() {
    std::size_t tag = at_;
    while ((tag = source_.find('{', tag)) != std::string::npos) {
      const char next = tag + 1 < source_.size() ? source_[tag + 1] : '\0';
      if (next == '%' || next == '{' || next == '#') break;
      ++tag;
    }
    if (tag == std::string::npos) {
      add(TokenType::data, source_.substr(at_));
      advance(source_.size());
      return;
    }
    const char kind = source_[tag + 1];
    const char sign = sign_at(tag + 2);
    data(tag, sign, kind == '{');
    const std::size_t inside = tag + 2 + (sign ? 1 : 0);
    if (kind == '#') return comment(inside);
    if (kind == '%') {
      if (const auto begin = raw_begin(inside)) return raw(*begin);
    }
    add(kind == '{' ? TokenType::variable_begin : TokenType::block_begin, {});
    advance(inside);
    while (!end_tag(kind == '{')) token();
  }

  void comment(std::size_t from) {
    const std::size_t close = source_.find("#}", from);
    if (close == std::string::npos) fail_at(line_, errors::jinja_open_comment());
    const char sign = close > from ? sign_at(close - 1) : '\0';
    advance(after_tag(close + 2, sign));
  }

  // Where the text goes on after a block or comment tag: '-' takes all white space, else one newline goes.
  std::size_t after_tag(std::size_t at, char sign) const {
    if (sign == '-') return skip_space(at);
    if (sign == '+') return at;
    return at < source_.size() && source_[at] == '\n' ? at + 1 : at;
  }

  std::optional<std::size_t> raw_begin(std::size_t at) const {
    at = skip_space(at);
    if (!starts(at, "raw")) return std::nullopt;
    at = skip_space(at + 3);
    if (starts(at, "-%}")) return skip_space(at + 3);
    if (starts(at, "%}")) return at + 2;
    return std::nullopt;
  }

  std::optional<RawEnd> raw_end(std::size_t from) const {
    for (std::size_t tag = from; (tag = source_.find("{%", tag)) != std::string::npos; tag += 2) {
      const char sign = sign_at(tag + 2);
      std::size_t at = skip_space(tag + 2 + (sign ? 1 : 0));
      if (!starts(at, "endraw")) continue;
      at = skip_space(at + 6);
      const char end_sign = sign_at(at);
      if (end_sign) ++at;
      if (starts(at, "%}")) return RawEnd{tag, after_tag(at + 2, end_sign), sign};
    }
    return std::nullopt;
  }

  void raw(std::size_t begin) {
    const int line = line_;
    advance(begin);
    const auto close = raw_end(begin);
    if (!close) fail_at(line, errors::jinja_open_raw());
    data(close->tag, close->sign, false);
    advance(close->end);
  }

  bool end_tag(bool variable) {
    if (at_ >= source_.size())
      fail_at(line_, variable ? errors::jinja_open_expression() : errors::jinja_open_tag());
    if (!brackets_.empty()) return false;
    const std::string_view close = variable ? "}}" : "%}";
    const char sign = sign_at(at_);
    if (starts(at_, close)) {
      add(variable ? TokenType::variable_end : TokenType::block_end, {});
      advance(variable ? at_ + 2 : after_tag(at_ + 2, '\0'));
      return true;
    }
    if (!sign || (variable && sign == '+') || !starts(at_ + 1, close)) return false;
    add(variable ? TokenType::variable_end : TokenType::block_end, {});
    advance(after_tag(at_ + 3, sign));
    return true;
  }

  void token() {
    const std::size_t space = skip_space(at_);
    if (space != at_) return advance(space);
    const char c = source_[at_];
    if (c >= '0' && c <= '9') return number();
    if (is_word(c)) return name();
    if (c == '\'' || c == '"') return text(c);
    symbol();
  }

  void name() {
    std::size_t end = at_;
    while (end < source_.size() && is_word(source_[end])) ++end;
    if (end < source_.size() && static_cast<unsigned char>(source_[end]) >= 0x80) not_ascii(end);
    add(TokenType::name, source_.substr(at_, end - at_));
    advance(end);
  }

  [[noreturn]] void not_ascii(std::size_t at) const {
    std::size_t next = at;
    next_point(source_, next);
    fail_at(line_, errors::jinja_not_ascii(source_.substr(at, next - at)));
  }

  void number() {
    const auto literal = read_number(rest(at_), at_ > 0 && source_[at_ - 1] == '.');
    if (!literal) fail_at(line_, literal.error());
    add(literal->value.is_real() ? TokenType::real : TokenType::integer, {}, literal->value);
    advance(at_ + literal->size);
  }

  void text(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail_at(line_, errors::jinja_open_string(std::string(1, quote)));
    auto content = unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1));
    if (!content) fail_at(line_, content.error());
    add(TokenType::text, *std::move(content));
    advance(end + 1);
  }

  void symbol() {
    for (const char* two : two_byte_symbols) {
      if (starts(at_, two)) {
        add(TokenType::symbol, two);
        return advance(at_ + 2);
      }
    }
    const char c = source_[at_];
    if (static_cast<unsigned char>(c) >= 0x80) not_ascii(at_);
    if (c == '\0' || one_byte_symbols.find(c) == std::string_view::npos) {
      fail_at(line_, errors::jinja_character(std::string(1, c)));
    }
    balance(c);
    add(TokenType::symbol, std::string(1, c));
    advance(at_ + 1);
  }

  void balance(char c) {
    if (c == '{') brackets_ += '}';
    if (c == '(') brackets_ += ')';
    if (c == '[') brackets_ += ']';
    if (c != '}' && c != ')' && c != ']') return;
    if (brackets_.empty()) fail_at(line_, errors::jinja_closes_nothing(std::string(1, c)));
    if (brackets_.back() != c)
      fail_at(line_, errors::jinja_unexpected(phrases::jinja_token(std::string(1, c)),
                                              phrases::jinja_token(std::string(1, brackets_.back()))));
    brackets_.pop_back();
  }

  const std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::string brackets_;  // the closing brackets we wait for
  std::vector<Token> tokens_;
};

}  // namespace

Phrase phrase_of(TokenType type) {
  switch (type) {
    case TokenType::data:
      return phrases::jinja_text();
    case TokenType::variable_begin:
      return phrases::jinja_token("{{");
    case TokenType::variable_end:
      return phrases::jinja_token("}}");
    case TokenType::block_begin:
      return phrases::jinja_token("{%");
    case TokenType::block_end:
      return phrases::jinja_token("%}");
    case TokenType::name:
      return phrases::jinja_name();
    case TokenType::text:
      return phrases::jinja_string();
    case TokenType::integer:
    case TokenType::real:
      return phrases::a_number();
    case TokenType::symbol:
      return phrases::jinja_symbol();
    case TokenType::end:
      return phrases::jinja_end();
  }
  return {};
}

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(source).run();
}

void TokenStream::expect(TokenType type) {
  if (!at(type)) unexpected(phrase_of(type));
  next();
}

Phrase TokenStream::describe(const Token& token) {
  const bool shown = token.type == TokenType::name || token.type == TokenType::symbol;
  return shown ? phrases::jinja_token(token.text) : phrase_of(token.type);
}

}  // namespace fovea::jinja
