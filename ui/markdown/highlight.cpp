#include "ui/markdown/highlight.h"

#include "ui/markdown/languages.h"
#include "ui/markdown/markup_lexer.h"

namespace fovea::ui {
namespace {

constexpr int kLongestLine = 4000;  // what is behind is not coloured
using Mode = LexerState::Mode;

bool begins_word(QChar c) {
  return c.isLetter() || c == QLatin1Char('_');
}
bool in_word(QChar c) {
  return c.isLetterOrNumber() || c == QLatin1Char('_');
}

// One line of a language that LanguageFacts describes.
class LineLexer {
 public:
  LineLexer(Language language, const LanguageFacts& facts, QStringView line, LexerState& state)
      : language_(language), facts_(facts), line_(line), state_(state) {}

  std::vector<SyntaxRun> take() {
    if (state_.mode != Mode::code) resume();
    if (facts_.preprocessor && at_ == 0 && preprocessor()) return std::move(runs_);
    while (at_ < line_.size()) step();
    return std::move(runs_);
  }

 private:
  bool starts(const QString& text) const { return !text.isEmpty() && line_.sliced(at_).startsWith(text); }
  QChar peek(qsizetype ahead = 0) const { return at_ + ahead < line_.size() ? line_[at_ + ahead] : QChar(); }
  void add(qsizetype begin, qsizetype end, Syntax kind) {
    if (end <= begin) return;
    if (!runs_.empty() && runs_.back().kind == kind && runs_.back().start + runs_.back().length == begin) {
      runs_.back().length += static_cast<int>(end - begin);
    } else {
      runs_.push_back({static_cast<int>(begin), static_cast<int>(end - begin), kind});
    }
  }

  void resume() {
    if (state_.mode == Mode::comment) {
      comment_rest(0);
    } else {
      string_rest(0);
    }
  }

  void step() {
    const QChar c = line_[at_];
    if (c.isSpace()) {
      ++at_;
    } else if (starts(facts_.line_comment) && comment_may_begin()) {
      add(at_, line_.size(), Syntax::comment);
      at_ = line_.size();
    } else if (starts(facts_.comment_begin)) {
      const qsizetype begin = at_;
      at_ += facts_.comment_begin.size();
      state_ = {Mode::comment, 1, facts_.comment_end};
      comment_rest(begin);
    } else if (facts_.raw_strings && raw_string()) {
    } else if (facts_.lifetimes && c == QLatin1Char('\'') && lifetime()) {
    } else if (facts_.quotes.contains(c) && quote_may_begin()) {
      string(c);
    } else if (c.isDigit() || (c == QLatin1Char('.') && peek(1).isDigit())) {
      number();
    } else if (begins_word(c)) {
      word();
    } else if (facts_.decorators && c == QLatin1Char('@') && begins_word(peek(1))) {
      marked(Syntax::meta);
    } else if (facts_.attributes && c == QLatin1Char('#') &&
               (peek(1) == QLatin1Char('[') || peek(1) == QLatin1Char('!'))) {
      const qsizetype close = line_.indexOf(QLatin1Char(']'), at_);
      const qsizetype end = close < 0 ? line_.size() : close + 1;
      add(at_, end, Syntax::meta);
      at_ = end;
    } else if (facts_.dollars && c == QLatin1Char('$')) {
      variable();
    } else {
      ++at_;
    }
  }

  // In a shell, and in a value without quotes, # only begins a comment after a space …
  bool comment_may_begin() const {
    const bool has_bare_words = language_ == Language::shell || language_ == Language::config;
    return !has_bare_words || at_ == 0 || line_[at_ - 1].isSpace();
  }
  // … and an apostrophe inside such a value is one.
  bool quote_may_begin() const {
    return language_ != Language::config || at_ == 0 || !in_word(line_[at_ - 1]);
  }

  void comment_rest(qsizetype begin) {
    while (at_ < line_.size()) {
      if (facts_.nested_comments && starts(facts_.comment_begin)) {
        ++state_.depth;
        at_ += facts_.comment_begin.size();
      } else if (starts(facts_.comment_end)) {
        at_ += facts_.comment_end.size();
        if (--state_.depth <= 0) {
          state_ = {};
          break;
        }
      } else {
        ++at_;
      }
    }
    add(begin, at_, Syntax::comment);
  }

  void string_rest(qsizetype begin) {
    const bool raw = state_.depth == 1;  // no escapes
    while (at_ < line_.size()) {
      if (!raw && line_[at_] == QLatin1Char('\\')) {
        at_ = std::min(at_ + 2, line_.size());
      } else if (starts(state_.closer)) {
        at_ += state_.closer.size();
        state_ = {};
        break;
      } else {
        ++at_;
      }
    }
    add(begin, at_, Syntax::string);
  }

  void string(QChar quote) {
    const qsizetype begin = at_;
    const QString triple(3, quote);
    const bool is_triple = facts_.triple_quotes && starts(triple);
    at_ += is_triple ? 3 : 1;
    const bool raw = facts_.doubled_quotes || (language_ == Language::shell && quote == QLatin1Char('\'')) ||
                     (language_ == Language::go && quote == QLatin1Char('`'));
    state_ = {Mode::string, raw ? 1 : 0, is_triple ? triple : QString(quote)};
    string_rest(begin);
    if (language_ == Language::json && !runs_.empty()) colour_key();
    const bool continues = line_.endsWith(QLatin1Char('\\')) && !raw;
    if (!is_triple && !facts_.multiline_quotes.contains(quote) && !continues) state_ = {};
  }

  // A JSON string before a colon is a key.
  void colour_key() {
    qsizetype next = at_;
    while (next < line_.size() && line_[next].isSpace()) ++next;
    if (next < line_.size() && line_[next] == QLatin1Char(':')) runs_.back().kind = Syntax::property;
  }

  // R"x(…)x" of C++, r"…" and r#"…"# of Rust.
  bool raw_string() {
    const qsizetype begin = at_;
    if (begin > 0 && in_word(line_[begin - 1])) return false;
    if (language_ == Language::cpp && peek() == QLatin1Char('R') && peek(1) == QLatin1Char('"')) {
      const qsizetype open = line_.indexOf(QLatin1Char('('), at_);
      if (open < 0 || open - at_ > 18) return false;
      const QString name = line_.sliced(at_ + 2, open - at_ - 2).toString();
      at_ = open + 1;
      state_ = {Mode::string, 1, QLatin1Char(')') + name + QLatin1Char('"')};
    } else if (language_ == Language::rust && peek() == QLatin1Char('r')) {
      qsizetype hashes = 0;
      while (peek(1 + hashes) == QLatin1Char('#')) ++hashes;
      if (peek(1 + hashes) != QLatin1Char('"')) return false;
      at_ += hashes + 2;
      state_ = {Mode::string, 1, QLatin1Char('"') + QString(hashes, QLatin1Char('#'))};
    } else {
      return false;
    }
    string_rest(begin);
    return true;
  }

  bool lifetime() {
    if (!begins_word(peek(1)) || peek(2) == QLatin1Char('\'')) return false;
    const qsizetype begin = at_++;
    while (at_ < line_.size() && in_word(line_[at_])) ++at_;
    add(begin, at_, Syntax::property);
    return true;
  }

  void number() {
    const qsizetype begin = at_;
    while (at_ < line_.size()) {
      const QChar c = line_[at_];
      const bool sign = (c == QLatin1Char('+') || c == QLatin1Char('-')) && at_ > begin &&
                        line_[at_ - 1].toLower() == QLatin1Char('e') &&
                        line_[begin + 1 < line_.size() ? begin + 1 : begin].toLower() != QLatin1Char('x');
      const bool separator = c == QLatin1Char('\'') && language_ == Language::cpp && in_word(peek(1));
      if (!in_word(c) && c != QLatin1Char('.') && !sign && !separator) break;
      if (c == QLatin1Char('.') && peek(1) == QLatin1Char('.')) break;  // a range
      ++at_;
    }
    add(begin, at_, Syntax::number);
  }

  void word() {
    const qsizetype begin = at_;
    while (at_ < line_.size() && (in_word(line_[at_]) || (joins(line_[at_]) && in_word(peek(1))))) ++at_;
    QString text = line_.sliced(begin, at_ - begin).toString();
    if (facts_.ignores_case) text = text.toLower();
    if (facts_.quotes.contains(peek()) && text.size() <= 2 && !facts_.doubled_quotes && is_prefix(text)) {
      const QChar quote = peek();
      string(quote);
      add_prefix(begin, text.size());
      return;
    }
    if (language_ == Language::config && is_key()) {
      add(begin, at_, Syntax::property);
    } else if (facts_.keywords.contains(text)) {
      add(begin, at_, Syntax::keyword);
    } else if (facts_.types.contains(text)) {
      add(begin, at_, Syntax::type);
    } else if (calls()) {
      add(begin, at_, Syntax::function);
    } else if (facts_.capital_types && text[0].isUpper()) {
      add(begin, at_, Syntax::type);
    } else if (language_ == Language::shell && peek() == QLatin1Char('=')) {
      add(begin, at_, Syntax::property);
    }
  }

  // Parts of a word inside it.
  bool joins(QChar c) const {
    const bool config = language_ == Language::config;
    return (c == QLatin1Char('-') && (config || language_ == Language::shell)) ||
           (c == QLatin1Char('.') && config);
  }

  // "name: value", "name = value"; a colon inside a word is none.
  bool is_key() const {
    qsizetype next = at_;
    while (next < line_.size() && line_[next].isSpace()) ++next;
    if (next == line_.size()) return false;
    if (line_[next] == QLatin1Char('=')) return true;
    return line_[next] == QLatin1Char(':') && (next + 1 == line_.size() || line_[next + 1].isSpace());
  }

  // f"…", rb'…', u8"…", L'…'
  bool is_prefix(const QString& text) const {
    const bool python = language_ == Language::python;
    const bool c = language_ == Language::c || language_ == Language::cpp;
    const bool rust = language_ == Language::rust;
    if (c)
      return text == QLatin1String("L") || text == QLatin1String("u8") ||
             text.toLower() == QLatin1String("u");
    if (rust) return text == QLatin1String("b");
    return python && QStringLiteral("f r b u rb br fr rf").split(QLatin1Char(' ')).contains(text.toLower());
  }
  void add_prefix(qsizetype begin, qsizetype length) {
    if (runs_.empty() || runs_.back().start != begin + length) return;
    runs_.back().start = static_cast<int>(begin);
    runs_.back().length += static_cast<int>(length);
  }

  bool calls() const {
    if (language_ == Language::shell || language_ == Language::sql || language_ == Language::config)
      return false;
    return peek() == QLatin1Char('(') || (peek() == QLatin1Char('!') && language_ == Language::rust);
  }

  void marked(Syntax kind) {
    const qsizetype begin = at_++;
    while (at_ < line_.size() && (in_word(line_[at_]) || line_[at_] == QLatin1Char('.'))) ++at_;
    add(begin, at_, kind);
  }

  void variable() {
    const qsizetype begin = at_++;
    if (peek() == QLatin1Char('{')) {
      const qsizetype close = line_.indexOf(QLatin1Char('}'), at_);
      at_ = close < 0 ? line_.size() : close + 1;
    } else if (begins_word(peek())) {
      while (at_ < line_.size() && in_word(line_[at_])) ++at_;
    } else if (at_ < line_.size() && !line_[at_].isSpace() && peek() != QLatin1Char('(') &&
               !facts_.quotes.contains(peek())) {
      ++at_;
    }
    add(begin, at_, Syntax::property);
  }

  bool preprocessor() {
    qsizetype first = 0;
    while (first < line_.size() && line_[first].isSpace()) ++first;
    if (first >= line_.size() || line_[first] != QLatin1Char('#')) return false;
    qsizetype end = first + 1;
    while (end < line_.size() && line_[end].isSpace()) ++end;
    while (end < line_.size() && in_word(line_[end])) ++end;
    add(first, end, Syntax::meta);
    at_ = end;
    if (line_.sliced(first, end - first).contains(u"include")) {
      qsizetype open = end;
      while (open < line_.size() && line_[open].isSpace()) ++open;
      const qsizetype close =
          open < line_.size() && line_[open] == QLatin1Char('<') ? line_.indexOf(QLatin1Char('>'), open) : -1;
      if (close > 0) {
        add(open, close + 1, Syntax::string);
        at_ = close + 1;
      }
    }
    while (at_ < line_.size()) step();
    return true;
  }

  Language language_;
  const LanguageFacts& facts_;
  QStringView line_;
  LexerState& state_;
  qsizetype at_ = 0;
  std::vector<SyntaxRun> runs_;
};

}  // namespace

std::vector<SyntaxRun> highlight_line(Language language, QStringView line, LexerState& state) {
  if (line.size() > kLongestLine) line = line.first(kLongestLine);
  switch (language) {
    case Language::none:
      return {};
    case Language::markup:
      return highlight_markup_line(line, state);
    case Language::css:
      return highlight_css_line(line, state);
    case Language::markdown:
      return highlight_markdown_line(line, state);
    case Language::diff:
      return highlight_diff_line(line);
    default:
      return LineLexer(language, facts_of(language), line, state).take();
  }
}

std::vector<SyntaxRun> highlight(Language language, QStringView text, LexerState& state) {
  std::vector<SyntaxRun> runs;
  qsizetype begin = 0;
  while (begin <= text.size()) {
    qsizetype end = text.indexOf(QLatin1Char('\n'), begin);
    if (end < 0) end = text.size();
    for (SyntaxRun run : highlight_line(language, text.sliced(begin, end - begin), state)) {
      run.start += static_cast<int>(begin);
      runs.push_back(run);
    }
    begin = end + 1;
  }
  return runs;
}

}  // namespace fovea::ui
