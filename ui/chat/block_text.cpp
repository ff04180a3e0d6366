#include "ui/chat/block_text.h"

namespace fovea::ui {

QString text_prefix(const Block& block) {
  if (block.marker.isEmpty()) return {};
  return QString(2 * (block.list_depth - 1), QLatin1Char(' ')) + block.marker + QLatin1Char(' ');
}

QString block_text(const Block& block) {
  QString text = text_prefix(block);
  if (block.kind == BlockKind::table) {
    for (const TableRow& row : block.rows) {
      if (&row != &block.rows.front()) text += QLatin1Char('\n');
      for (const StyledText& cell : row.cells) {
        if (&cell != &row.cells.front()) text += QLatin1Char('\t');
        text += cell.text;
      }
    }
  } else {
    text += block.content.text;
  }
  text.replace(QChar(QChar::LineSeparator), QLatin1Char('\n'));
  return text;
}

namespace {

FormulaRange formula_in(const StyledText& text, int offset, int position) {
  for (const Run& run : text.runs) {
    const int begin = offset + run.start, end = begin + run.length;
    if (!run.tex.isEmpty() && position > begin && position < end) return {begin, end};
  }
  return {position, position};
}

}  // namespace

FormulaRange formula_around(const Block& block, int position) {
  int offset = static_cast<int>(text_prefix(block).size());
  if (block.kind != BlockKind::table) return formula_in(block.content, offset, position);
  for (const TableRow& row : block.rows) {
    for (const StyledText& cell : row.cells) {
      const int length = static_cast<int>(cell.text.size());
      if (position <= offset + length) return formula_in(cell, offset, position);
      offset += length + 1;  // the tab, or the line feed
    }
    if (row.cells.empty()) ++offset;
  }
  return {position, position};
}

QString text_between(const Block& before, const Block& after) {
  const bool items = before.list_depth > 0 && after.list_depth > 0 && !after.marker.isEmpty();
  return after.part > 0 || items ? QStringLiteral("\n") : QStringLiteral("\n\n");
}

}  // namespace fovea::ui
