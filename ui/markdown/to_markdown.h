// Blocks as Markdown again: what "copy as Markdown" gives for a part of a message.
#pragma once

#include <QString>
#include <vector>

#include "ui/markdown/document.h"

namespace fovea::ui {

// A block, or the characters [begin, end) of its text; of a table always the whole.
struct BlockCut {
  const Block* block = nullptr;
  int begin = 0;
  int end = 0;
};

QString to_markdown(const std::vector<BlockCut>& cuts);

}  // namespace fovea::ui
