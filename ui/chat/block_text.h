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

// What stands between the texts of two blocks that follow each other.
QString text_between(const Block& before, const Block& after);

}  // namespace fovea::ui
