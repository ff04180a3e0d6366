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

QString text_between(const Block& before, const Block& after) {
  const bool items = before.list_depth > 0 && after.list_depth > 0 && !after.marker.isEmpty();
  return after.part > 0 || items ? QStringLiteral("\n") : QStringLiteral("\n\n");
}

}  // namespace fovea::ui
