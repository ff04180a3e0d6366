#include "ui/markdown/to_markdown.h"

#include <QStringList>
#include <algorithm>

namespace fovea::ui {
namespace {

// Characters that would mean something in Markdown are escaped where they stand in plain text.
QString escaped(const QString& text) {
  QString out;
  for (qsizetype i = 0; i < text.size(); ++i) {
    const QChar c = text[i];
    if (QStringLiteral("\\`*_[]<>|~").contains(c)) {
      const bool inside_word = c == QLatin1Char('_') && i > 0 && i + 1 < text.size() &&
                               text[i - 1].isLetterOrNumber() && text[i + 1].isLetterOrNumber();
      if (!inside_word) out += QLatin1Char('\\');
    }
    const QChar next = i + 1 < text.size() ? text[i + 1] : QChar();
    if (c == QLatin1Char('&') && (next.isLetter() || next == QLatin1Char('#'))) out += QLatin1Char('\\');
    if (c == QChar(QChar::LineSeparator)) {
      out += QStringLiteral("  \n");
    } else {
      out += c;
    }
  }
  return out;
}

// A text's runs end and begin where the style changes; marks go around them.
QString styled(const StyledText& text, int begin, int end) {
  QString out;
  int at = begin;
  for (const Run& run : text.runs) {
    const int first = std::max(run.start, at);
    const int last = std::min(run.start + run.length, end);
    if (first >= last) continue;
    out += escaped(text.text.mid(at, first - at));
    at = last;
    if (!run.source.isEmpty()) {
      out += run.source;
      continue;
    }
    const QString inside = text.text.mid(first, last - first);
    if ((run.style & formula) != 0) {
      out += inside;
      continue;
    }
    QString marks;
    if (run.style & bold) marks += QStringLiteral("**");
    if (run.style & italic) marks += QLatin1Char('*');
    if (run.style & strike) marks += QStringLiteral("~~");
    QString closing;
    for (const QChar mark : marks) closing.prepend(mark);
    const QString body =
        run.style & inline_code ? QLatin1Char('`') + inside + QLatin1Char('`') : escaped(inside);
    const QString marked = marks + body + closing;
    out += run.link.isEmpty() ? marked : QStringLiteral("[%1](%2)").arg(marked, run.link);
  }
  if (at < end) out += escaped(text.text.mid(at, end - at));
  return out;
}

QString table(const Block& block) {
  QString out;
  for (const TableRow& row : block.rows) {
    QString line = QStringLiteral("|");
    for (const StyledText& cell : row.cells) {
      line += QLatin1Char(' ') + styled(cell, 0, static_cast<int>(cell.text.size())) + QStringLiteral(" |");
    }
    out += (out.isEmpty() ? QString() : QStringLiteral("\n")) + line;
    if (!row.header) continue;
    out += QStringLiteral("\n|");
    for (const Qt::Alignment alignment : row.alignment) {
      out += alignment == Qt::AlignRight     ? QStringLiteral("--:|")
             : alignment == Qt::AlignHCenter ? QStringLiteral(":-:|")
                                             : QStringLiteral("---|");
    }
  }
  return out;
}

QString body_of(const BlockCut& cut, bool fence_begins, bool fence_ends) {
  const Block& block = *cut.block;
  switch (block.kind) {
    case BlockKind::rule:
      return QStringLiteral("---");
    case BlockKind::table:
      return table(block);
    case BlockKind::code: {
      QString out = block.content.text.mid(cut.begin, cut.end - cut.begin);
      if (fence_begins) out.prepend(QStringLiteral("```%1\n").arg(block.language));
      if (fence_ends) out += QStringLiteral("\n```");
      return out;
    }
    case BlockKind::heading:
      return QString(block.level, QLatin1Char('#')) + QLatin1Char(' ') +
             styled(block.content, cut.begin, cut.end);
    case BlockKind::reasoning:
      return {};
    default:
      return styled(block.content, cut.begin, cut.end);
  }
}

QString marker_of(const Block& block) {
  if (block.marker.isEmpty()) return {};
  if (block.marker == QStringLiteral("☐")) return QStringLiteral("- [ ] ");
  if (block.marker == QStringLiteral("☑")) return QStringLiteral("- [x] ");
  return block.marker[0].isDigit() ? block.marker + QLatin1Char(' ') : QStringLiteral("- ");
}

// Quotes and lists around the block's lines.
QString nested(const Block& block, const QString& body) {
  const QString quotes = QStringLiteral("> ").repeated(block.quote_depth);
  const QString indent = QStringLiteral("   ").repeated(std::max(0, block.list_depth - 1));
  const QString marker = marker_of(block);
  const QString rest(block.list_depth == 0 ? 0 : marker.isEmpty() ? 3 : marker.size(), QLatin1Char(' '));
  QStringList lines = body.split(QLatin1Char('\n'));
  for (qsizetype i = 0; i < lines.size(); ++i) {
    const bool begins = i == 0 && !marker.isEmpty();
    lines[i] = quotes + indent + (begins ? marker : rest) + lines[i];
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

QString to_markdown(const std::vector<BlockCut>& cuts) {
  QString out;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const Block& block = *cuts[i].block;
    const bool continues = block.part > 0 && i > 0;
    const bool goes_on = block.more && i + 1 < cuts.size();
    const QString body = body_of(cuts[i], !continues, !goes_on);
    if (block.kind == BlockKind::reasoning) continue;
    if (!out.isEmpty()) {
      const bool tight = continues || (block.list_depth > 0 && !block.marker.isEmpty());
      out += tight ? QStringLiteral("\n") : QStringLiteral("\n\n");
    }
    out += nested(block, body);
  }
  return out;
}

}  // namespace fovea::ui
