#include "ui/chat/folder_row.h"

#include <QFontMetrics>
#include <QPainter>
#include <QStyleOptionViewItem>

#include "ui/language/number_text.h"
#include "ui/theme/icons.h"
#include "ui/theme/style_paint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {

QRect folder_plus(const QRect& row) {
  return QRect(row.right() - control_height + 1, row.top(), control_height, row.height());
}

void paint_folder(QPainter& painter, const QStyleOptionViewItem& option, const QString& name,
                  const FolderLook& look) {
  const Tones& t = tones(option.palette);
  const bool lit = option.state & (QStyle::State_Selected | QStyle::State_MouseOver);
  const QRect row = option.rect;
  const QRectF arrow(row.left() + space::tight - 2, row.center().y() - 5.5, 12, 12);
  style_paint::chevron(painter, arrow,
                       look.collapsed ? style_paint::Direction::right : style_paint::Direction::down,
                       lit ? t.second : t.third);
  const QRect end = folder_plus(row);
  const bool hovered = option.state & QStyle::State_MouseOver;
  if (hovered) {
    QRectF plus(0, 0, icon_size - 2, icon_size - 2);
    plus.moveCenter(QRectF(end).center());
    paint_icon(painter, Glyph::add, plus, t.text);
  } else if (look.collapsed && look.conversations > 0) {
    painter.setFont(type_of(option.font, Type::hint));
    painter.setPen(t.second);
    painter.drawText(end.adjusted(-control_height, 0, -space::tight - 2, 0),
                     Qt::AlignRight | Qt::AlignVCenter, count_text(look.conversations));
  }
  const int left = row.left() + folder_indent + space::tight;
  const QRect line(left, row.top(), end.left() - left - space::hair, row.height());
  painter.setFont(option.font);
  painter.setPen(lit ? t.text : t.second);
  painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetrics(option.font).elidedText(name, Qt::ElideRight, line.width()));
}

}  // namespace fovea::ui
