#include "ui/markdown/parts.h"

#include <algorithm>
#include <utility>

namespace fovea::ui {
namespace {

constexpr qsizetype kLongestText = 4000;  // characters of a paragraph's or code's part
constexpr std::size_t kCellsOfPart = 600;

// Where the first part of the text ends; its size if it needs no parts. What stands there in the text
// (a line break, a space) belongs to neither part where `drop` says so.
qsizetype end_of_part(const QString& text, qsizetype begin, QChar line_break, bool& drop) {
  drop = false;
  int lines = 0;
  for (qsizetype i = begin; i < text.size(); ++i) {
    if (text[i] == line_break && ++lines == kLinesOfPart) {
      drop = true;
      return i;
    }
    if (i - begin < kLongestText) continue;
    if (text[i] == line_break || text[i].isSpace()) {
      drop = true;
      return i;
    }
    // Nothing to break at: between two characters, but never inside one.
    if (i - begin >= 2 * kLongestText && !text[i].isLowSurrogate() && !text[i].isMark() &&
        text[i] != QChar(0x200d)) {
      return i;
    }
  }
  return text.size();
}

// The runs of [begin, end), moved to 0.
std::vector<Run> cut_runs(const std::vector<Run>& runs, qsizetype begin, qsizetype end) {
  std::vector<Run> out;
  for (const Run& run : runs) {
    const qsizetype first = std::max<qsizetype>(run.start, begin);
    const qsizetype last = std::min<qsizetype>(run.start + run.length, end);
    if (first >= last) continue;
    out.push_back(run);
    out.back().start = static_cast<int>(first - begin);
    out.back().length = static_cast<int>(last - first);
    if (out.back().length != run.length) out.back().tex.clear();  // a piece is no formula
  }
  return out;
}

void push_text_parts(Block block, std::vector<Block>& blocks) {
  const QChar line_break(block.kind == BlockKind::code ? u'\n' : u'\u2028');
  const StyledText whole = std::exchange(block.content, {});
  qsizetype begin = 0;
  for (;;) {
    bool drop = false;
    const qsizetype end = end_of_part(whole.text, begin, line_break, drop);
    Block part = block;
    part.content.text = whole.text.mid(begin, end - begin);
    part.content.runs = cut_runs(whole.runs, begin, end);
    if (block.part > 0) part.marker.clear();
    part.more = end < whole.text.size();
    blocks.push_back(std::move(part));
    if (end >= whole.text.size()) return;
    begin = end + (drop ? 1 : 0);
    ++block.part;
  }
}

void push_table_parts(Block block, std::vector<Block>& blocks) {
  std::vector<TableRow> rows = std::exchange(block.rows, {});
  const std::size_t columns = rows.empty() ? 1 : std::max<std::size_t>(1, rows[0].cells.size());
  const std::size_t rows_of_part = std::max<std::size_t>(1, kCellsOfPart / columns);
  for (std::size_t begin = 0; begin < rows.size() || begin == 0; begin += rows_of_part) {
    const std::size_t end = std::min(rows.size(), begin + rows_of_part);
    Block part = block;
    part.rows.assign(std::make_move_iterator(rows.begin() + static_cast<std::ptrdiff_t>(begin)),
                     std::make_move_iterator(rows.begin() + static_cast<std::ptrdiff_t>(end)));
    if (block.part > 0) part.marker.clear();
    part.more = end < rows.size();
    blocks.push_back(std::move(part));
    ++block.part;
  }
}

}  // namespace

void push_parts(Block block, std::vector<Block>& blocks) {
  switch (block.kind) {
    case BlockKind::paragraph:
    case BlockKind::heading:
    case BlockKind::code:
      push_text_parts(std::move(block), blocks);
      break;
    case BlockKind::table:
      push_table_parts(std::move(block), blocks);
      break;
    default:
      blocks.push_back(std::move(block));
  }
}

}  // namespace fovea::ui
