// Lines of the languages that are not made of statements.
#pragma once

#include "ui/markdown/highlight.h"

namespace fovea::ui {

std::vector<SyntaxRun> highlight_markup_line(QStringView line, LexerState& state);
std::vector<SyntaxRun> highlight_css_line(QStringView line, LexerState& state);
std::vector<SyntaxRun> highlight_markdown_line(QStringView line, LexerState& state);
std::vector<SyntaxRun> highlight_diff_line(QStringView line);

}  // namespace fovea::ui
