#include "ui/chat/block_layout.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/chat/block_sizes.h"
#include "ui/chat/block_text.h"
#include "ui/theme/syntax_colours.h"
#include "ui/theme/theme.h"

namespace fovea::ui {
namespace {

qreal line_height(const QFont& font) {
  return QFontMetricsF(font).height();
}

qreal indent_of(const Block& block, qreal em) {
  return (block.reasoning ? kReasoningIndent * em : 0) +
         std::min(block.quote_depth, kDeepestIndent) * kQuoteIndent * em +
         std::min(block.list_depth, kDeepestIndent) * kListIndent * em;
}

const QColor& colour_of(Syntax kind, const SyntaxColours& colours) {
  switch (kind) {
    case Syntax::keyword:
      return colours.keyword;
    case Syntax::type:
      return colours.type;
    case Syntax::function:
      return colours.function;
    case Syntax::string:
      return colours.string;
    case Syntax::number:
      return colours.number;
    case Syntax::comment:
      return colours.comment;
    case Syntax::meta:
      return colours.meta;
    case Syntax::property:
      return colours.property;
    case Syntax::added:
      return colours.added;
    case Syntax::removed:
      return colours.removed;
  }
  return colours.keyword;
}

}  // namespace

BlockLayout::BlockLayout(Block block, qreal width, const LayoutStyle& style, BlockContext context)
    : block_(std::move(block)), style_(style), context_(std::move(context)), width_(width) {
  lay_out();
  height_ = std::ceil(height_);
}

BlockLayout::~BlockLayout() = default;

qreal BlockLayout::em() const {
  return line_height(style_.body);
}

QFont BlockLayout::label_font() const {
  QFont font = style_.body;
  font.setPointSizeF(font.pointSizeF() * 0.85);
  return font;
}

QFont BlockLayout::heading_font() const {
  QFont font = style_.body;
  font.setBold(true);
  font.setPointSizeF(font.pointSizeF() * kHeadingScale[std::clamp(block_.level, 1, 6) - 1]);
  return font;
}

// --- layout

void BlockLayout::lay_out() {
  qreal left = std::min(indent_of(block_, em()), width_ / 2);
  const qreal available = std::max<qreal>(width_ - left, 3 * em());
  const int offset = static_cast<int>(text_prefix(block_).size());
  marker_box_ = QRectF(left - kListIndent * em(), 0, (kListIndent - 0.4) * em(), em() * kBodyLines);
  marker_at_right_ = block_.kind == BlockKind::paragraph && block_.content.text.isRightToLeft();
  if (marker_at_right_) {  // the list's indent is at the right then
    left = std::max<qreal>(0, left - std::min(block_.list_depth, kDeepestIndent) * kListIndent * em());
    marker_box_.moveLeft(left + available + 0.4 * em());
  }
  switch (block_.kind) {
    case BlockKind::rule:
      height_ = em();
      rules_.emplace_back(left, std::floor(height_ / 2), available, 1);
      break;
    case BlockKind::code:
      lay_out_code(left, available);
      break;
    case BlockKind::table:
      lay_out_table(left, available);
      break;
    case BlockKind::reasoning:
      lay_out_summary(left);
      break;
    case BlockKind::heading:
      height_ = add_piece(block_.content, offset, {left, 0}, available, {heading_font(), Qt::AlignLeft, 1.1});
      break;
    case BlockKind::formula: {
      QFont font = style_.body;
      font.setPointSizeF(font.pointSizeF() * 1.1);
      height_ = add_piece(block_.content, offset, {left, 0}, available, {font, Qt::AlignHCenter, 1.35});
      break;
    }
    case BlockKind::paragraph:
      height_ =
          add_piece(block_.content, offset, {left, 0}, available, {style_.body, Qt::AlignLeft, kBodyLines});
      break;
  }
}

void BlockLayout::lay_out_summary(qreal left) {
  const QFontMetricsF metrics(style_.body);
  const qreal text = metrics.horizontalAdvance(context_.summary);
  height_ = em() * 1.6;
  used_width_ = left + text + 2.4 * em();
  fold_button_ = QRectF(left, 0, text + 2.4 * em(), height_);
}

void BlockLayout::lay_out_code(qreal left, qreal width) {
  const qreal padding = kCodePadding * em();
  qreal top = 0;
  if (block_.part == 0) {
    const QFontMetricsF metrics(label_font());
    top = std::ceil(metrics.height() + 0.7 * em());
    const qreal button = kCopyButton * em();
    copy_button_ = QRectF(left + width - button, 0, button, top);
  }
  const qreal text = add_piece(block_.content, static_cast<int>(text_prefix(block_).size()),
                               {left + padding, top}, std::max<qreal>(width - 2 * padding, 2 * em()),
                               {style_.mono, Qt::AlignLeft, kCodeLines, true});
  height_ = std::ceil(top + text + (block_.more ? 0 : padding));
  code_box_ = QRectF(left, 0, width, height_);
  used_width_ = left + width;
}

// Natural widths where they fit; else the wide columns give way first.
std::vector<qreal> BlockLayout::column_widths(qreal available, const QFont& header_font) const {
  std::size_t columns = 1;
  for (const TableRow& row : block_.rows) columns = std::max(columns, row.cells.size());
  const qreal padding = 2 * kCellPadding * em();
  std::vector<qreal> widths(columns, padding + em());
  for (const TableRow& row : block_.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] =
          std::max(widths[i], natural_width(row.cells[i], row.header ? header_font : style_.body) + padding);
    }
  }
  if (std::accumulate(widths.begin(), widths.end(), 0.0) <= available) return widths;
  std::vector<qreal> sorted = widths;
  std::ranges::sort(sorted);
  qreal rest = available;
  qreal cap = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    cap = rest / static_cast<qreal>(sorted.size() - i);
    if (sorted[i] > cap) break;
    rest -= sorted[i];
  }
  for (qreal& width : widths) width = std::min(width, cap);
  return widths;
}

void BlockLayout::lay_out_table(qreal left, qreal width) {
  QFont header_font = style_.body;
  header_font.setBold(true);
  const std::vector<qreal> widths = column_widths(width, header_font);
  const qreal total = std::accumulate(widths.begin(), widths.end(), 0.0);
  const qreal padding = kCellPadding * em();
  const qreal air = kCellAir * em();
  int offset = static_cast<int>(text_prefix(block_).size());
  qreal y = 0;
  for (const TableRow& row : block_.rows) {
    qreal x = left;
    qreal tallest = em();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const qreal inner = std::max<qreal>(widths[i] - 2 * padding, 4);
      const Setting setting{row.header ? header_font : style_.body, row.alignment[i], kBodyLines};
      tallest = std::max(tallest, add_piece(row.cells[i], offset, {x + padding, y + air}, inner, setting));
      offset += static_cast<int>(row.cells[i].text.size()) + 1;  // the tab, or the line feed
      x += widths[i];
    }
    if (row.cells.empty()) ++offset;
    y = std::ceil(y + tallest + 2 * air);
    rules_.emplace_back(left, y - 1, total, 1);
  }
  height_ = y;
  used_width_ = left + total;
}

QList<QTextLayout::FormatRange> BlockLayout::formats_of(const StyledText& text,
                                                        const std::vector<LineFormula>& formulas) const {
  QList<QTextLayout::FormatRange> formats;
  for (const Run& run : text.runs) {
    const auto drawn = [&run](const LineFormula& each) {
      return run.start >= each.start && run.start + run.length <= each.start + each.length;
    };
    if ((run.style & formula) != 0 && std::ranges::any_of(formulas, drawn)) continue;
    QTextLayout::FormatRange range;
    range.start = run.start;
    range.length = run.length;
    if (run.style & inline_code) {
      range.format.setFontFamilies(style_.mono.families().isEmpty() ? QStringList(style_.mono.family())
                                                                    : style_.mono.families());
      range.format.setFontPointSize(style_.mono.pointSizeF());
      range.format.setFontFixedPitch(true);
      range.format.setBackground(code_background(style_.palette));
    }
    if (run.style & bold) range.format.setFontWeight(QFont::Bold);
    if (run.style & italic) range.format.setFontItalic(true);
    if (run.style & strike) range.format.setFontStrikeOut(true);
    if (!run.link.isEmpty()) {
      range.format.setForeground(style_.palette.color(QPalette::Link));
      range.format.setFontUnderline(true);
    }
    formats.append(range);
  }
  return formats;
}

QList<QTextLayout::FormatRange> BlockLayout::code_formats(const QString& code) {
  QList<QTextLayout::FormatRange> formats;
  LexerState state = context_.code_state;
  const SyntaxColours& colours = syntax_colours(style_.palette);
  for (const SyntaxRun& run : highlight(language_of(block_.language), code, state)) {
    QTextLayout::FormatRange range;
    range.start = run.start;
    range.length = run.length;
    range.format.setForeground(colour_of(run.kind, colours));
    formats.append(range);
  }
  code_state_after_ = state;
  return formats;
}

std::unique_ptr<QTextLayout> BlockLayout::make_layout(const StyledText& text, const Setting& setting,
                                                      const std::vector<LineFormula>& formulas) const {
  QString shown = text.text;
  shown.replace(QLatin1Char('\n'), QChar(QChar::LineSeparator));
  // A paragraph that begins in a right-to-left script stands at the right; code never does.
  const bool right = setting.alignment == Qt::AlignLeft && !setting.code && shown.isRightToLeft();
  QTextOption option(right ? Qt::Alignment(Qt::AlignRight | Qt::AlignAbsolute) : setting.alignment);
  option.setTextDirection(setting.code ? Qt::LeftToRight : right ? Qt::RightToLeft : Qt::LayoutDirectionAuto);
  option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  option.setTabStopDistance(QFontMetricsF(setting.font).horizontalAdvance(QLatin1Char(' ')) * 4);
  QList<QTextLayout::FormatRange> formats;
  if (!setting.code) formats = formats_of(text, formulas);
  make_room(shown, formats, formulas, setting.font);
  auto layout = std::make_unique<QTextLayout>(shown, setting.font);
  layout->setTextOption(option);
  layout->setFormats(formats);
  layout->setCacheEnabled(true);
  return layout;
}

qreal BlockLayout::natural_width(const StyledText& text, const QFont& font) const {
  const std::unique_ptr<QTextLayout> layout = make_layout(text, {font}, line_formulas(text, font, 1e6));
  layout->beginLayout();
  for (QTextLine line = layout->createLine(); line.isValid(); line = layout->createLine()) {
    line.setLineWidth(1e6);
  }
  layout->endLayout();
  return std::ceil(layout->maximumWidth()) + 1;
}

namespace {

// Where a wrapped line of code goes on: a little to the right of where its first line begins.
qreal hanging_indent(const QString& text, int line_start, qreal space) {
  int first = line_start;
  while (first > 0 && text[first - 1] != QChar(QChar::LineSeparator)) --first;
  if (first == line_start) return 0;
  int blanks = 0;
  while (first + blanks < text.size() && text[first + blanks] == QLatin1Char(' ')) ++blanks;
  return (std::min(blanks, 24) + 2) * space;
}

}  // namespace

qreal BlockLayout::add_piece(const StyledText& text, int offset, QPointF origin, qreal width,
                             const Setting& setting) {
  std::vector<LineFormula> formulas;
  if (!setting.code) formulas = line_formulas(text, setting.font, width);
  std::unique_ptr<QTextLayout> layout = make_layout(text, setting, formulas);
  if (setting.code) layout->setFormats(code_formats(text.text));
  const qreal space = QFontMetricsF(setting.font).horizontalAdvance(QLatin1Char(' '));
  const QString& shown = layout->text();
  qreal height = 0;
  int line_start = 0;
  layout->beginLayout();
  for (QTextLine line = layout->createLine(); line.isValid(); line = layout->createLine()) {
    qreal indent = setting.code && line_start < shown.size() ? hanging_indent(shown, line_start, space) : 0;
    if (indent > width / 2) indent = 0;
    line.setLineWidth(width - indent);
    const qreal air = line.height() * (setting.line_factor - 1) / 2;
    const LineReach reach = reach_of(line, formulas);
    const qreal formula_air = kFormulaAir * line.height();
    const qreal above = std::max(air, reach.above > 0 ? reach.above + formula_air - line.ascent() : 0);
    const qreal below = std::max(air, reach.above > 0 ? reach.below + formula_air - line.descent() : 0);
    line.setPosition({indent, height + above});
    height += above + line.height() + below;
    used_width_ = std::max(used_width_, origin.x() + indent + line.naturalTextWidth());
    line_start = line.textStart() + line.textLength();
  }
  layout->endLayout();
  const bool simple = std::ranges::none_of(shown, [](QChar c) {
    const QChar::Direction direction = c.direction();
    return direction == QChar::DirR || direction == QChar::DirAL || c.isSurrogate();
  });
  std::shared_ptr<const MathFonts> fonts = formulas.empty() ? nullptr : math_fonts(setting.font);
  pieces_.push_back(
      {std::move(layout), origin, offset, text.runs, std::move(formulas), std::move(fonts), simple});
  return height;
}

// --- places

namespace {

// A place within a formula is the nearer of its ends.
int whole_position(const std::vector<LineFormula>& formulas, int position) {
  for (const LineFormula& formula : formulas) {
    const int end = formula.start + formula.length;
    if (position <= formula.start || position >= end) continue;
    return position - formula.start < formula.length / 2 + 1 ? formula.start : end;
  }
  return position;
}

}  // namespace

int BlockLayout::position_at(QPointF point) const {
  // The piece that contains the point, else the nearest one.
  const Piece* best = nullptr;
  qreal best_distance = 0;
  for (const Piece& piece : pieces_) {
    const QRectF box = piece.layout->boundingRect().translated(piece.origin);
    const qreal dx = std::max({box.left() - point.x(), point.x() - box.right(), 0.0});
    const qreal dy = std::max({box.top() - point.y(), point.y() - box.bottom(), 0.0});
    if (!best || dx + dy < best_distance) {
      best_distance = dx + dy;
      best = &piece;
    }
  }
  if (!best) return 0;
  const QPointF local = point - best->origin;
  const int lines = best->layout->lineCount();
  for (int i = 0; i < lines; ++i) {
    const QTextLine line = best->layout->lineAt(i);
    const qreal next = i + 1 < lines ? best->layout->lineAt(i + 1).y() : 0;
    if (i + 1 == lines || local.y() < (line.y() + line.height() + next) / 2) {
      return best->offset + whole_position(best->formulas, line.xToCursor(local.x()));
    }
  }
  return best->offset;
}

const BlockLayout::Piece* BlockLayout::piece_of(int position) const {
  const Piece* best = pieces_.empty() ? nullptr : &pieces_.front();
  for (const Piece& piece : pieces_) {
    if (piece.offset <= position) best = &piece;
  }
  return best;
}

QRectF BlockLayout::cursor_at(int position) const {
  const Piece* piece = piece_of(position);
  if (!piece) return {0, 0, 1, height_};
  const int local = std::clamp(position - piece->offset, 0, static_cast<int>(piece->layout->text().size()));
  const QTextLine line = piece->layout->lineForTextPosition(local);
  if (!line.isValid()) return {piece->origin, QSizeF(1, em())};
  return {piece->origin.x() + line.cursorToX(local), piece->origin.y() + line.y(), 1, line.height()};
}

std::vector<QRectF> BlockLayout::areas_of(TextRange range) const {
  std::vector<QRectF> areas;
  for (const Piece& piece : pieces_) {
    if (range.begin >= piece.offset + piece.layout->text().size() || range.end <= piece.offset) continue;
    for (int i = 0; i < piece.layout->lineCount(); ++i) {
      const QTextLine line = piece.layout->lineAt(i);
      const int begin = std::max(range.begin - piece.offset, line.textStart());
      const int end = std::min(range.end - piece.offset, line.textStart() + line.textLength());
      if (begin >= end) continue;
      const qreal from = line.cursorToX(begin);
      const qreal to = line.cursorToX(end);
      areas.push_back(
          QRectF(std::min(from, to), line.y(), std::abs(to - from), line.height()).translated(piece.origin));
    }
  }
  return areas;
}

std::vector<LinkArea> BlockLayout::links() const {
  std::vector<LinkArea> links;
  for (const Piece& piece : pieces_) {
    for (const Run& run : piece.runs) {
      if (run.link.isEmpty()) continue;
      const TextRange text{piece.offset + run.start, piece.offset + run.start + run.length};
      for (const QRectF& area : areas_of(text)) links.push_back({area, run.link, text});
    }
  }
  return links;
}

// --- without a layout

qreal gap_between(const Block& before, const Block& after, qreal em) {
  if (after.part > 0) {
    return after.kind == BlockKind::paragraph ? (kBodyLines - 1) * em : 0;
  }
  if (after.kind == BlockKind::heading) return std::ceil((after.level <= 2 ? 1.25 : 1.0) * em);
  if (before.kind == BlockKind::heading) return std::ceil(0.45 * em);
  if (before.list_depth > 0 && after.list_depth > 0 && after.kind == BlockKind::paragraph &&
      before.kind == BlockKind::paragraph) {
    return std::ceil(0.3 * em);
  }
  const bool framed = after.kind == BlockKind::code || before.kind == BlockKind::code ||
                      after.kind == BlockKind::table || before.kind == BlockKind::table;
  return std::ceil((framed ? 0.85 : 0.7) * em);
}

FontSizes sizes_of(const LayoutStyle& style) {
  const QFontMetricsF mono(style.mono);
  return {line_height(style.body), std::max(1.0, QFontMetricsF(style.body).averageCharWidth()), mono.height(),
          std::max(1.0, mono.averageCharWidth())};
}

qreal estimated_height(const Block& block, qreal width, const FontSizes& sizes) {
  const qreal em = sizes.em;
  const qreal inner = std::max(3 * em, width - indent_of(block, em));
  const bool code = block.kind == BlockKind::code;
  const qreal letters = std::max(8.0, inner / (code ? sizes.mono_letter : sizes.letter));
  const auto lines_of = [letters](const QString& text) {
    return 1 + std::floor(static_cast<qreal>(text.size()) / letters) +
           static_cast<qreal>(text.count(QLatin1Char('\n')) + text.count(QChar(QChar::LineSeparator)));
  };
  switch (block.kind) {
    case BlockKind::rule:
      return em;
    case BlockKind::reasoning:
      return 1.6 * em;
    case BlockKind::table:
      return static_cast<qreal>(block.rows.size()) * (kBodyLines + 2 * kCellAir) * em;
    case BlockKind::code:
      return lines_of(block.content.text) * sizes.mono_line * kCodeLines + (block.part == 0 ? 1.6 * em : 0) +
             (block.more ? 0 : kCodePadding * em);
    case BlockKind::formula:
      return lines_of(block.content.text) * em * kFormulaLines;
    case BlockKind::heading:
      return lines_of(block.content.text) * em * kHeadingScale[std::clamp(block.level, 1, 6) - 1] * 1.1;
    default:
      return lines_of(block.content.text) * em * kBodyLines;
  }
}

}  // namespace fovea::ui
