// A block as plain text: what is copied, searched and read aloud. It needs no layout.
#pragma once

#include <QString>

#include "ui/markdown/document.h"

namespace fovea::ui {

// The marker of a list item, with the spaces of its depth: "  • ". Empty for other blocks.
QString text_prefix(const Block& block);

// With the prefix. Table cells are separated by tabs, rows by line feeds. A rule and the summary of a
// reasoning section have no text.
QString block_text(const Block& block);

// The formula that a place in block_text() lies within, not at its ends; else begin and end are that place.
struct FormulaRange {
  int begin = 0;
  int end = 0;
};
FormulaRange formula_around(const Block& block, int position);

// What stands between the texts of two blocks that follow each other.
QString text_between(const Block& before, const Block& after);

}  // namespace fovea::ui
