#include "ui/theme/widgets.h"

#include <QBoxLayout>
#include <QPainter>
#include <QStyleOption>
#include <algorithm>

#include "ui/theme/style_paint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {

using style_paint::rounded;
using style_paint::Smooth;

namespace {

constexpr int row_height = 30, row_side = 10, row_words = 36;

}  // namespace

bool shows_focus(const QWidget& widget) {
  return widget.hasFocus() && widget.window()->testAttribute(Qt::WA_KeyboardFocusChange);
}

// --- Card

Card::Card(int corner, QWidget* parent) : QWidget(parent), corner_(corner) {}

void Card::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Tones& t = tones(palette());
  rounded(painter, rect(), corner_, t.card, t.line);
}

// --- RoundButton

RoundButton::RoundButton(QWidget* parent) : QToolButton(parent) {
  setFixedSize(control_height, control_height);
  setAttribute(Qt::WA_Hover);
  setFocusPolicy(Qt::StrongFocus);
}

void RoundButton::set_glyph(Glyph glyph) {
  glyph_ = glyph;
  update();
}

void RoundButton::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Tones& t = tones(palette());
  QRectF area(rect());
  if (shows_focus(*this)) {
    rounded(painter, area, area.width() / 2, Qt::NoBrush, t.accent, focus_width);
    area.adjust(4, 4, -4, -4);
  }
  QColor ground = t.brand;
  if (!isEnabled()) ground.setAlphaF(0.45F);  // it stays what the page is for
  if (isDown()) ground = ground.darker(112);
  if (isEnabled() && underMouse() && !isDown()) ground = ground.lighter(106);
  rounded(painter, area, area.width() / 2, ground, {}, 0);
  QRectF place(0, 0, icon_size, icon_size);
  place.moveCenter(area.center());
  paint_icon(painter, glyph_, place, isEnabled() ? t.on_brand : t.second);
}

// --- NavigationRow

NavigationRow::NavigationRow(Glyph glyph, const QString& text, const QKeySequence& keys, QWidget* parent)
    : QToolButton(parent), glyph_(glyph), keys_(keys.toString(QKeySequence::NativeText)) {
  setText(text);
  setAttribute(Qt::WA_Hover);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize NavigationRow::sizeHint() const {
  return {row_words + fontMetrics().horizontalAdvance(text()) + row_side,
          std::max(row_height, fontMetrics().height() + space::close)};
}

QSize NavigationRow::minimumSizeHint() const {
  return {row_words, sizeHint().height()};
}

void NavigationRow::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Tones& t = tones(palette());
  const bool lit = isEnabled() && (underMouse() || isDown() || isChecked());
  if (lit) rounded(painter, rect(), radius::row, t.hover, {}, 0);
  if (shows_focus(*this)) rounded(painter, rect(), radius::row, Qt::NoBrush, t.accent, focus_width);
  const QColor words = !isEnabled() ? t.third : lit || is_first_ ? t.text : t.second;
  const auto placed = [this](const QRect& area) {
    return QStyle::visualRect(layoutDirection(), rect(), area);
  };
  const QRect icon(row_side, (height() - icon_size) / 2, icon_size, icon_size);
  paint_icon(painter, glyph_, placed(icon), words);
  const QFont small = type_of(font(), Type::hint);
  const int keys_width = keys_.isEmpty() ? 0 : QFontMetrics(small).horizontalAdvance(keys_) + space::tight;
  const QRect line(row_words, 0, width() - row_words - row_side, height());
  const int room = fontMetrics().horizontalAdvance(text()) + keys_width <= line.width()
                       ? line.width() - keys_width
                       : line.width();
  painter.setFont(font());
  painter.setPen(words);
  painter.drawText(placed(QRect(line.left(), 0, room, height())),
                   Qt::AlignVCenter | Qt::TextSingleLine |
                       (layoutDirection() == Qt::RightToLeft ? Qt::AlignRight : Qt::AlignLeft),
                   fontMetrics().elidedText(text(), Qt::ElideRight, room));
  if (room == line.width()) return;
  painter.setFont(small);
  painter.setPen(t.third);
  painter.drawText(placed(line),
                   Qt::AlignVCenter | (layoutDirection() == Qt::RightToLeft ? Qt::AlignLeft : Qt::AlignRight),
                   keys_);
}

// --- SearchField

SearchField::SearchField(const QString& placeholder, const QKeySequence& keys, QWidget* parent)
    : QLineEdit(parent), keys_(keys.toString(QKeySequence::NativeText)) {
  setFrame(false);
  setPlaceholderText(placeholder);
  setAccessibleName(placeholder);
  setTextMargins(row_words - 2, 0, 0, 0);
  setAttribute(Qt::WA_Hover);
  QPalette clear;
  clear.setColor(QPalette::Base, Qt::transparent);
  setPalette(clear);
}

QSize SearchField::sizeHint() const {
  return {QLineEdit::sizeHint().width(), std::max(row_height, fontMetrics().height() + space::close)};
}

void SearchField::paintEvent(QPaintEvent* event) {
  {
    QPainter painter(this);
    const Tones& t = tones(palette());
    const bool used = hasFocus() || !text().isEmpty();
    if (used || underMouse()) rounded(painter, rect(), radius::row, t.hover, {}, 0);
    if (shows_focus(*this)) rounded(painter, rect(), radius::row, Qt::NoBrush, t.accent, focus_width);
    const auto placed = [this](const QRect& area) {
      return QStyle::visualRect(layoutDirection(), rect(), area);
    };
    paint_icon(painter, Glyph::search,
               placed(QRect(row_side, (height() - icon_size) / 2, icon_size, icon_size)),
               used ? t.text : t.second);
    if (!used && !keys_.isEmpty()) {
      painter.setFont(type_of(font(), Type::hint));
      painter.setPen(t.third);
      painter.drawText(
          placed(rect().adjusted(row_words, 0, -row_side, 0)),
          Qt::AlignVCenter | (layoutDirection() == Qt::RightToLeft ? Qt::AlignLeft : Qt::AlignRight), keys_);
    }
  }
  QLineEdit::paintEvent(event);
}

// --- MarkLabel

MarkLabel::MarkLabel(int size, const QString& name, QWidget* parent)
    : QWidget(parent), size_(size), name_(name) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

QSize MarkLabel::sizeHint() const {
  const QFontMetrics metrics(type_of(font(), Type::text, true));
  return {size_ + (name_.isEmpty() ? 0 : 9 + metrics.horizontalAdvance(name_)),
          std::max(size_, metrics.height())};
}

void MarkLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Tones& t = tones(palette());
  const int left = name_.isEmpty() ? (width() - size_) / 2 : 0;
  const auto placed = [this](const QRect& area) {
    return QStyle::visualRect(layoutDirection(), rect(), area);
  };
  paint_mark(painter, placed(QRect(left, (height() - size_) / 2, size_, size_)), t.brand);
  if (name_.isEmpty()) return;
  painter.setFont(type_of(font(), Type::text, true));
  painter.setPen(t.text);
  painter.drawText(placed(rect().adjusted(size_ + 9, 0, 0, 0)), Qt::AlignVCenter, name_);
}

// --- RingGauge

RingGauge::RingGauge(QWidget* parent) : QWidget(parent) {
  setFixedSize(sizeHint());
}

void RingGauge::set_share(double share) {
  share = std::clamp(share, 0.0, 1.0);
  if (share == share_) return;
  share_ = share;
  update();
}

void RingGauge::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Smooth smooth(painter);
  const Tones& t = tones(palette());
  const QRectF ring = QRectF(rect()).adjusted(2.5, 2.5, -2.5, -2.5);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(t.line, 2.4));
  painter.drawEllipse(ring);
  painter.setPen(QPen(share_ > 0.9 ? t.warning : t.second, 2.4, Qt::SolidLine, Qt::RoundCap));
  if (share_ > 0) painter.drawArc(ring, 90 * 16, -static_cast<int>(share_ * 360 * 16));
}

// ---

QToolButton* icon_button(Glyph glyph, const QString& words, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(words);
  button->setToolTip(words);
  button->setIcon(icon_of(glyph));
  button->setIconSize({icon_size, icon_size});
  button->setToolButtonStyle(Qt::ToolButtonIconOnly);
  button->setAutoRaise(true);
  button->setFixedSize(control_height - 4, control_height - 4);
  return button;
}

void add_centred(QBoxLayout& layout, QWidget& widget, int widest, int margin, int stretch) {
  auto* row = new QHBoxLayout;
  row->setContentsMargins(margin, 0, margin, 0);
  row->addStretch(1);
  row->addWidget(&widget, 10'000);
  row->addStretch(1);
  widget.setMaximumWidth(widest);
  layout.addLayout(row, stretch);
}

}  // namespace fovea::ui
