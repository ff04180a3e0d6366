// The facts about programming languages that the lexer needs.
#pragma once

#include <QSet>
#include <QString>

#include "ui/markdown/highlight.h"

namespace fovea::ui {

struct LanguageFacts {
  QSet<QString> keywords;
  QSet<QString> types;  // and constants of the language
  QString line_comment;
  QString comment_begin, comment_end;
  bool nested_comments = false;
  QString quotes;            // characters that begin a string
  QString multiline_quotes;  // those of them whose strings go over lines
  bool triple_quotes = false;
  bool doubled_quotes = false;  // '' is a quote inside a string, and there are no backslashes
  bool ignores_case = false;
  bool preprocessor = false;  // # at the beginning of a line
  bool decorators = false;    // @name
  bool attributes = false;    // #[…]
  bool raw_strings = false;   // R"x(…)x" or r#"…"#
  bool lifetimes = false;     // 'a
  bool dollars = false;       // $NAME
  bool capital_types = false;
};

const LanguageFacts& facts_of(Language language);

}  // namespace fovea::ui
