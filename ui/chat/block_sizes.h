// The proportions of blocks. Lengths are in em: heights of a line of the body font.
#pragma once

#include <QtGlobal>

namespace fovea::ui {

constexpr int kDeepestIndent = 8;   // deeper nesting stays readable at this indent
constexpr qreal kBodyLines = 1.22;  // line height, of the font's own
constexpr qreal kCodeLines = 1.12;
constexpr qreal kFormulaLines = 2;  // about so high is a displayed formula
constexpr qreal kFormulaAir = 0.1;  // around a formula that is higher than its line
constexpr qreal kHeadingScale[] = {1.5, 1.28, 1.12, 1.0, 1.0, 1.0};  // font size, by level

constexpr qreal kListIndent = 1.5;
constexpr qreal kQuoteIndent = 1.0;
constexpr qreal kReasoningIndent = 1.0;
constexpr qreal kCodePadding = 0.75;
constexpr qreal kCopyButton = 2.2;  // its width
constexpr qreal kCellPadding = 0.6;
constexpr qreal kCellAir = 0.35;

}  // namespace fovea::ui
