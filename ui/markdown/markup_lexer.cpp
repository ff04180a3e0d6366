#include "ui/markdown/markup_lexer.h"

namespace fovea::ui {
namespace {

using Mode = LexerState::Mode;

void add(std::vector<SyntaxRun>& runs, qsizetype begin, qsizetype end, Syntax kind) {
  if (end > begin) runs.push_back({static_cast<int>(begin), static_cast<int>(end - begin), kind});
}

bool in_name(QChar c) {
  return c.isLetterOrNumber() || c == QLatin1Char('-') || c == QLatin1Char('_') || c == QLatin1Char(':');
}

// From `at`, which is inside what the state says, to behind its closer or to the end of the line.
qsizetype to_closer(QStringView line, qsizetype at, LexerState& state, LexerState after) {
  const qsizetype close = line.indexOf(state.closer, at);
  if (close < 0) return line.size();
  const qsizetype end = close + state.closer.size();
  state = std::move(after);
  return end;
}

qsizetype quoted(QStringView line, qsizetype at) {
  const qsizetype close = line.indexOf(line[at], at + 1);
  return close < 0 ? line.size() : close + 1;
}

// Attributes, up to the end of the tag.
qsizetype tag_inside(QStringView line, qsizetype at, LexerState& state, std::vector<SyntaxRun>& runs) {
  while (at < line.size()) {
    const QChar c = line[at];
    if (c == QLatin1Char('>')) {
      add(runs, at, at + 1, Syntax::meta);
      state = {};
      return at + 1;
    }
    if (c == QLatin1Char('"') || c == QLatin1Char('\'')) {
      const qsizetype end = quoted(line, at);
      add(runs, at, end, Syntax::string);
      at = end;
    } else if (in_name(c)) {
      const qsizetype begin = at;
      while (at < line.size() && in_name(line[at])) ++at;
      add(runs, begin, at, Syntax::property);
    } else {
      ++at;
    }
  }
  return at;
}

}  // namespace

std::vector<SyntaxRun> highlight_markup_line(QStringView line, LexerState& state) {
  std::vector<SyntaxRun> runs;
  qsizetype at = 0;
  while (at < line.size()) {
    if (state.mode == Mode::comment) {
      const qsizetype begin = at;
      at = to_closer(line, at, state, {});
      add(runs, begin, at, Syntax::comment);
    } else if (state.mode == Mode::tag) {
      at = tag_inside(line, at, state, runs);
    } else if (line.sliced(at).startsWith(u"<!--")) {
      const qsizetype begin = at;
      state = {Mode::comment, 0, QStringLiteral("-->")};
      at = to_closer(line, at + 4, state, {});
      add(runs, begin, at, Syntax::comment);
    } else if (line[at] == QLatin1Char('<') && at + 1 < line.size() &&
               (line[at + 1].isLetter() || QStringLiteral("/!?").contains(line[at + 1]))) {
      const qsizetype begin = at++;
      if (QStringLiteral("/!?").contains(line[at])) ++at;
      while (at < line.size() && in_name(line[at])) ++at;
      add(runs, begin, at, Syntax::meta);
      state = {Mode::tag, 0, {}};
    } else if (line[at] == QLatin1Char('&')) {
      const qsizetype begin = at++;
      while (at < line.size() && (line[at].isLetterOrNumber() || line[at] == QLatin1Char('#'))) ++at;
      if (at < line.size() && line[at] == QLatin1Char(';')) add(runs, begin, ++at, Syntax::number);
    } else {
      ++at;
    }
  }
  return runs;
}

std::vector<SyntaxRun> highlight_css_line(QStringView line, LexerState& state) {
  std::vector<SyntaxRun> runs;
  qsizetype at = 0;
  while (at < line.size()) {
    const QChar c = line[at];
    if (state.mode == Mode::comment || line.sliced(at).startsWith(u"/*")) {
      const qsizetype begin = at;
      if (state.mode != Mode::comment) {
        state.mode = Mode::comment;
        state.closer = QStringLiteral("*/");
        at += 2;
      }
      at = to_closer(line, at, state, {Mode::code, state.depth, {}});
      add(runs, begin, at, Syntax::comment);
    } else if (c == QLatin1Char('"') || c == QLatin1Char('\'')) {
      const qsizetype end = quoted(line, at);
      add(runs, at, end, Syntax::string);
      at = end;
    } else if (c == QLatin1Char('{')) {
      ++state.depth;
      ++at;
    } else if (c == QLatin1Char('}')) {
      state.depth = std::max(0, state.depth - 1);
      ++at;
    } else if (c.isDigit() || (c == QLatin1Char('#') && state.depth > 0)) {
      const qsizetype begin = at++;
      while (at < line.size() &&
             (line[at].isLetterOrNumber() || line[at] == QLatin1Char('.') || line[at] == QLatin1Char('%')))
        ++at;
      add(runs, begin, at, Syntax::number);
    } else if (in_name(c) || c == QLatin1Char('@') || c == QLatin1Char('.') || c == QLatin1Char('#')) {
      const qsizetype begin = at++;
      while (at < line.size() && in_name(line[at]) && line[at] != QLatin1Char(':')) ++at;
      const bool before_colon = at < line.size() && line[at] == QLatin1Char(':');
      if (c == QLatin1Char('@')) {
        add(runs, begin, at, Syntax::keyword);
      } else if (state.depth == 0) {
        add(runs, begin, at, Syntax::meta);
      } else if (before_colon) {
        add(runs, begin, at, Syntax::property);
      } else if (at < line.size() && line[at] == QLatin1Char('(')) {
        add(runs, begin, at, Syntax::function);
      }
    } else {
      ++at;
    }
  }
  return runs;
}

std::vector<SyntaxRun> highlight_markdown_line(QStringView line, LexerState& state) {
  std::vector<SyntaxRun> runs;
  const QStringView trimmed = line.trimmed();
  const bool fence = trimmed.startsWith(u"```") || trimmed.startsWith(u"~~~");
  if (fence) {
    state = state.mode == Mode::string ? LexerState{} : LexerState{Mode::string, 0, {}};
    add(runs, 0, line.size(), Syntax::string);
    return runs;
  }
  if (state.mode == Mode::string) {
    add(runs, 0, line.size(), Syntax::string);
    return runs;
  }
  if (trimmed.startsWith(QLatin1Char('#'))) {
    add(runs, 0, line.size(), Syntax::keyword);
    return runs;
  }
  if (trimmed.startsWith(QLatin1Char('>'))) {
    add(runs, 0, line.size(), Syntax::comment);
    return runs;
  }
  qsizetype at = trimmed.data() - line.data();
  if (trimmed.size() > 1 && QStringLiteral("-*+").contains(trimmed[0]) && trimmed[1].isSpace()) {
    add(runs, at, at + 1, Syntax::meta);
    at += 2;
  }
  while (at < line.size()) {
    if (line[at] == QLatin1Char('`')) {
      const qsizetype end = quoted(line, at);
      add(runs, at, end, Syntax::string);
      at = end;
    } else if (line.sliced(at).startsWith(u"](")) {
      const qsizetype close = line.indexOf(QLatin1Char(')'), at);
      const qsizetype end = close < 0 ? line.size() : close;
      add(runs, at + 2, end, Syntax::property);
      at = end;
    } else {
      ++at;
    }
  }
  return runs;
}

std::vector<SyntaxRun> highlight_diff_line(QStringView line) {
  std::vector<SyntaxRun> runs;
  if (line.startsWith(u"+++") || line.startsWith(u"---") || line.startsWith(u"diff ") ||
      line.startsWith(u"index ")) {
    add(runs, 0, line.size(), Syntax::meta);
  } else if (line.startsWith(u"@@")) {
    add(runs, 0, line.size(), Syntax::function);
  } else if (line.startsWith(u'+')) {
    add(runs, 0, line.size(), Syntax::added);
  } else if (line.startsWith(u'-')) {
    add(runs, 0, line.size(), Syntax::removed);
  }
  return runs;
}

}  // namespace fovea::ui
