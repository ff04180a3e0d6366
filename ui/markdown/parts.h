// Long blocks in parts of bounded size. Where a part ends depends only on what is before it, so that a block
// that grows keeps the parts it has.
#pragma once

#include <vector>

#include "ui/markdown/document.h"

namespace fovea::ui {

// Adds the block, or its parts, to `blocks`.
void push_parts(Block block, std::vector<Block>& blocks);

// Lines of code in a part.
constexpr int kLinesOfPart = 48;

}  // namespace fovea::ui
