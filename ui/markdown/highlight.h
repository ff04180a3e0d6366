// Colours for code: a lexer that takes one line at a time and carries its state to the next, so that code
// that grows is never read again from its beginning.
#pragma once

#include <QString>
#include <QStringView>
#include <cstdint>
#include <vector>

namespace fovea::ui {

enum class Syntax : std::uint8_t {
  keyword,
  type,
  function,
  string,
  number,
  comment,
  meta,      // preprocessor, decorators, tags
  property,  // keys, attributes, variables
  added,
  removed,
};

struct SyntaxRun {
  int start = 0;
  int length = 0;
  Syntax kind = Syntax::keyword;

  bool operator==(const SyntaxRun&) const = default;
};

// What an unfinished line leaves to the next one.
struct LexerState {
  enum class Mode : std::uint8_t { code, comment, string, tag };
  Mode mode = Mode::code;
  int depth = 0;   // of nested comments; in CSS, of braces
  QString closer;  // what ends the string or comment

  bool operator==(const LexerState&) const = default;
};

enum class Language : std::uint8_t {
  none,
  c,
  cpp,
  python,
  javascript,
  typescript,
  rust,
  go,
  java,
  swift,
  php,
  ruby,
  shell,
  json,
  config,  // YAML, TOML, INI
  markup,  // HTML and XML
  css,
  sql,
  markdown,
  diff,
};

// From a fence's info string ("c++", "ts", "language-py"); none if it is not known.
Language language_of(QStringView info);

// What the code block's label says: "Python", or the info string itself.
QString language_label(QStringView info);

// The line's runs, in order and apart; `state` becomes that of the next line.
std::vector<SyntaxRun> highlight_line(Language language, QStringView line, LexerState& state);

// The same for text of several lines; runs count from its beginning.
std::vector<SyntaxRun> highlight(Language language, QStringView text, LexerState& state);

}  // namespace fovea::ui
