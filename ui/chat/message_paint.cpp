// How a message looks, and the controls in it.
#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QTextLayout>
#include <algorithm>
#include <cmath>

#include "ui/chat/block_text.h"
#include "ui/chat/message_layout.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr qreal kButton = 1.65;  // em, the side of a button in the footer

struct ActionFacts {
  MessageAction action;
  Glyph icon;
  const char* name;
};
constexpr ActionFacts kActions[] = {
    {MessageAction::copy, Glyph::copy, QT_TRANSLATE_NOOP("fovea::ui::MessageLayout", "Copy message")},
    {MessageAction::edit, Glyph::edit, QT_TRANSLATE_NOOP("fovea::ui::MessageLayout", "Edit message")},
    {MessageAction::regenerate, Glyph::regenerate,
     QT_TRANSLATE_NOOP("fovea::ui::MessageLayout", "Answer again")},
    {MessageAction::continue_answer, Glyph::go_on,
     QT_TRANSLATE_NOOP("fovea::ui::MessageLayout", "Continue the answer")},
    {MessageAction::facts, Glyph::info,
     QT_TRANSLATE_NOOP("fovea::ui::MessageLayout", "How this answer came about")},
    {MessageAction::remove, Glyph::remove, QT_TRANSLATE_NOOP("fovea::ui::MessageLayout", "Delete message")},
};

const ActionFacts& facts_of(MessageAction action) {
  return *std::ranges::find(kActions, action, &ActionFacts::action);
}

Glyph glyph_of(const Control& control) {
  if (control.kind == Control::Kind::previous) return Glyph::previous;
  if (control.kind == Control::Kind::next) return Glyph::next;
  return facts_of(control.action).icon;
}

QString branch_text(const MessageView& view) {
  return QCoreApplication::translate("fovea::ui::MessageLayout", "%1 of %2")
      .arg(view.sibling_index + 1)
      .arg(view.sibling_count);
}

QColor note_colour(NoteKind kind, const QPalette& palette) {
  switch (kind) {
    case NoteKind::warning:
      return warning_text(palette);
    case NoteKind::failure:
      return error_text(palette);
    default:
      return subtle_text(palette);
  }
}

}  // namespace

bool Control::same_as(const Control& other) const {
  return kind == other.kind && block == other.block && action == other.action &&
         text.begin == other.text.begin;
}

QString MessageLayout::name_of(const Control& control, const MessageView& view) {
  switch (control.kind) {
    case Control::Kind::fold:
      return tr("Show or hide the thoughts");
    case Control::Kind::copy_code:
      return tr("Copy this code");
    case Control::Kind::link:
      return control.address;
    case Control::Kind::previous:
      return tr("Previous version (%1)").arg(branch_text(view));
    case Control::Kind::next:
      return tr("Next version (%1)").arg(branch_text(view));
    case Control::Kind::action:
      return tr(facts_of(control.action).name);
  }
  return {};
}

std::vector<Control> MessageLayout::controls(const Frame& frame) {
  place(frame);
  std::vector<Control> all;
  const QPointF origin(left(frame), body_top(frame));
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.hidden || !item.layout) continue;
    const QPointF top = origin + QPointF(0, item.top);
    const auto add = [&](Control::Kind kind, const QRectF& area) {
      Control control;
      control.kind = kind;
      control.area = area.translated(top);
      control.block = i;
      all.push_back(control);
    };
    if (const QRectF fold = item.layout->fold_button(); !fold.isNull()) add(Control::Kind::fold, fold);
    if (const QRectF copy = item.layout->copy_button(); !copy.isNull()) add(Control::Kind::copy_code, copy);
    for (const LinkArea& link : item.layout->links()) {
      const bool again = !all.empty() && all.back().kind == Control::Kind::link && all.back().block == i &&
                         all.back().text.begin == link.text.begin;
      add(Control::Kind::link, link.area);
      all.back().again = again;
      all.back().address = link.address;
      all.back().text = link.text;
    }
  }
  add_footer(frame, all);
  return all;
}

void MessageLayout::add_footer(const Frame& frame, std::vector<Control>& controls) const {
  const qreal side = std::round(kButton * frame.em);
  const qreal top =
      body_top(frame) + body_height_ + padding_above(frame) + note_height(frame) + std::round(0.2 * frame.em);
  const qreal number = QFontMetricsF(frame.label_font()).horizontalAdvance(branch_text(view_));
  std::vector<Control> footer;
  qreal x = 0;
  const auto add = [&](Control::Kind kind, MessageAction action) {
    Control control;
    control.kind = kind;
    control.action = action;
    control.area = QRectF(x, top, side, side);
    footer.push_back(control);
    x += side;
  };
  if (view_.sibling_count > 1) {
    add(Control::Kind::previous, MessageAction::copy);
    x += number;
    add(Control::Kind::next, MessageAction::copy);
  }
  for (const ActionFacts& facts : kActions) {
    if (view_.actions.testFlag(facts.action)) add(Control::Kind::action, facts.action);
  }
  // The icons stand in the middle of their buttons: moved so that the first one is in line with the text.
  const qreal inset = std::round((side - frame.em) / 2);
  const qreal shift = view_.author == Author::user ? frame.column - x + inset : -inset;
  for (Control& control : footer) {
    control.area.translate(shift, 0);
    controls.push_back(control);
  }
}

// --- painting

BlockMarks MessageLayout::marks_of(const Item& item, const MessageMarks& marks) const {
  const auto cut = [&item](TextRange range) {
    return TextRange{std::max(range.begin - item.text_begin, 0),
                     std::min(range.end - item.text_begin, item.text_length)};
  };
  BlockMarks out;
  if (!marks.selected.empty()) out.selected = cut(marks.selected);
  // Found ranges are in order: only those that touch the block are looked at.
  auto first = std::ranges::lower_bound(marks.found, item.text_begin, {}, &TextRange::end);
  for (; first != marks.found.end() && first->begin < item.text_begin + item.text_length; ++first) {
    if (first - marks.found.begin() == marks.current) out.current = static_cast<int>(out.found.size());
    out.found.push_back(cut(*first));
  }
  return out;
}

void MessageLayout::paint_footer(QPainter& painter, const Frame& frame, const MessageMarks& marks) {
  std::vector<Control> footer;
  add_footer(frame, footer);
  const QPalette& palette = frame.style.palette;
  painter.setFont(frame.label_font());
  qreal right = 0;
  qreal middle = 0;
  for (std::size_t i = 0; i < footer.size(); ++i) {
    const Control& control = footer[i];
    const bool branch = control.kind != Control::Kind::action;
    right = control.area.right();
    middle = control.area.center().y();
    if (!branch && !marks.show_actions) continue;
    const bool hovered = marks.hovered && control.same_as(*marks.hovered);
    const bool end = (control.kind == Control::Kind::previous && view_.sibling_index <= 0) ||
                     (control.kind == Control::Kind::next && view_.sibling_index + 1 >= view_.sibling_count);
    const qreal inset = (control.area.width() - frame.em) / 2;
    if (hovered && !end) {
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(Qt::NoPen);
      painter.setBrush(hover_background(palette));
      painter.drawRoundedRect(control.area.adjusted(1, 1, -1, -1), 0.3 * frame.em, 0.3 * frame.em);
    }
    const QColor colour = end       ? hairline(palette)
                          : hovered ? palette.color(QPalette::Text)
                                    : subtle_text(palette);
    paint_icon(painter, glyph_of(control), control.area.adjusted(inset, inset, -inset, -inset), colour);
    if (control.kind == Control::Kind::previous && i + 1 < footer.size()) {
      painter.setPen(subtle_text(palette));
      painter.drawText(QRectF(QPointF(control.area.right(), control.area.top()),
                              QPointF(footer[i + 1].area.left(), control.area.bottom())),
                       Qt::AlignCenter | Qt::TextDontClip, branch_text(view_));
    }
  }
  if (view_.details.isEmpty() || !marks.show_actions || view_.author == Author::user) return;
  painter.setPen(subtle_text(palette));
  if (footer.empty()) middle = body_top(frame) + body_height_ + note_height(frame) + frame.em;
  const QRectF room(right + 0.6 * frame.em, middle - frame.em, frame.column - right - 0.6 * frame.em,
                    2 * frame.em);
  painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetricsF(frame.label_font()).elidedText(view_.details, Qt::ElideRight, room.width()));
}

// Names and values below each other, under the row of buttons.
void MessageLayout::paint_facts(QPainter& painter, const Frame& frame, qreal top) const {
  painter.setFont(frame.label_font());
  const QFontMetricsF metrics(frame.label_font());
  qreal names = 0;
  for (const MessageFact& fact : view_.facts) names = std::max(names, metrics.horizontalAdvance(fact.name));
  const qreal line = (facts_height(frame) - 0.4 * frame.em) / static_cast<qreal>(view_.facts.size());
  const qreal values = std::min(names, 0.4 * frame.column) + frame.em;
  for (const MessageFact& fact : view_.facts) {
    painter.setPen(subtle_text(frame.style.palette));
    painter.drawText(QRectF(0, top, values - frame.em, line), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(fact.name, Qt::ElideRight, values - frame.em));
    painter.setPen(quiet_text(frame.style.palette));
    painter.drawText(QRectF(values, top, frame.column - values, line), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(fact.value, Qt::ElideRight, frame.column - values));
    top += line;
  }
}

// Where the next word will stand.
void MessageLayout::paint_caret(QPainter& painter, const Frame& frame) {
  const QPointF body(left(frame), body_top(frame));
  QRectF before(body, QSizeF(0, frame.em));
  bool to_the_left = false;
  if (!items_.empty()) {
    const Item& last = items_.back();
    const Block& block = blocks().back();
    if (last.hidden || !last.layout || block.kind == BlockKind::reasoning) return;  // its fold tells
    const QString text = block_text(block);
    to_the_left = block.kind != BlockKind::code && text.isRightToLeft();
    before = last.layout->cursor_at(static_cast<int>(text.size())).translated(body + QPointF(0, last.top));
  }
  const QSizeF size(0.36 * frame.em, 0.82 * frame.em);
  const qreal gap = 0.15 * frame.em;
  const qreal x = to_the_left ? before.left() - gap - size.width() : before.right() + gap;
  const QPointF at(x, before.center().y() - size.height() / 2);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(tones(frame.style.palette).accent);
  painter.drawRoundedRect(QRectF(at, size), 0.12 * frame.em, 0.12 * frame.em);
}

void MessageLayout::paint(QPainter& painter, const Frame& frame, QPointF origin, qreal clip_top,
                          qreal clip_bottom, const MessageMarks& marks) {
  place(frame);
  painter.save();
  painter.translate(origin);
  const QPalette& palette = frame.style.palette;
  const bool user = view_.author == Author::user;
  if (!view_.author_name.isEmpty()) {
    QFont label = frame.label_font();
    label.setBold(true);
    painter.setFont(label);
    painter.setPen(user ? subtle_text(palette) : palette.color(QPalette::Text));
    painter.drawText(QRectF(0, 0, frame.column, frame.em * 1.2),
                     Qt::AlignVCenter | (user ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignAbsolute,
                     QFontMetricsF(label).elidedText(author_label(), Qt::ElideRight, frame.column));
  }
  if (user) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(user_bubble(palette));
    painter.drawRoundedRect(bubble(frame), radius::bubble, radius::bubble);
  }
  if (!marks.selected.empty() || !marks.found.empty()) text();
  const QPointF body(left(frame), body_top(frame));
  for (const Item& item : items_) {
    const qreal top = body.y() + item.top;
    if (item.hidden || top + item.height < clip_top) continue;
    if (top > clip_bottom) break;
    if (item.layout) item.layout->paint(painter, body + QPointF(0, item.top), marks_of(item, marks));
  }
  if (view_.streaming) paint_caret(painter, frame);
  if (!view_.note.isEmpty()) {
    QTextLayout lines;
    lay_out_note(lines, frame);
    painter.setPen(note_colour(view_.note_kind, palette));
    lines.draw(&painter, {0, body.y() + body_height_ + padding_above(frame) + 0.35 * frame.em});
  }
  paint_footer(painter, frame, marks);
  if (facts_height(frame) > 0) {
    paint_facts(painter, frame,
                body.y() + body_height_ + padding_above(frame) + note_height(frame) + footer_height(frame));
  }
  if (marks.focused_control) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette.color(QPalette::Highlight), std::max(1.5, frame.em / 10)));
    painter.drawRoundedRect(marks.focused_control->area.adjusted(-1, -1, 1, 1), 0.3 * frame.em,
                            0.3 * frame.em);
  }
  painter.restore();
}

}  // namespace fovea::ui
