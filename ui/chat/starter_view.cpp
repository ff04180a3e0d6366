#include "ui/chat/starter_view.h"

#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/widgets.h"

namespace fovea::ui {
namespace {

constexpr int card_padding = space::usual, card_gap = space::close, title_gap = 4, most_lines = 2;

}  // namespace

// --- a card

StarterCard::StarterCard(const Starter& starter, QWidget* parent)
    : QAbstractButton(parent), starter_(starter) {
  setText(starter.text);
  setToolTip(starter.text);
  setAccessibleName(starter.title);
  setAccessibleDescription(starter.text);
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  setAttribute(Qt::WA_Hover);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QFont StarterCard::title_font() const {
  QFont bold = font();
  bold.setWeight(QFont::DemiBold);
  return bold;
}

bool StarterCard::wraps(int width) const {
  return fontMetrics().horizontalAdvance(starter_.text) > width - 2 * card_padding;
}

void StarterCard::set_lines(int lines) {
  if (std::exchange(lines_, lines) != lines) updateGeometry();
}

QSize StarterCard::sizeHint() const {
  const int lines = QFontMetrics(title_font()).height() + title_gap + lines_ * fontMetrics().lineSpacing();
  return {fontMetrics().averageCharWidth() * 40 + 2 * card_padding, lines + 2 * card_padding};
}

QSize StarterCard::minimumSizeHint() const {
  return {fontMetrics().averageCharWidth() * 20, sizeHint().height()};
}

void StarterCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool focused = hasFocus();
  const qreal line = focused ? 2 : 1;
  const QRectF edge = QRectF(rect()).adjusted(line / 2, line / 2, -line / 2, -line / 2);
  painter.setPen(QPen(focused ? palette().color(QPalette::Highlight) : hairline(palette()), line));
  painter.setBrush(underMouse() || isDown() ? hover_background(palette()) : tones(palette()).card);
  painter.drawRoundedRect(edge, radius::card, radius::card);
  const QRect inner = rect().adjusted(card_padding, card_padding, -card_padding, -card_padding);
  const QFont bold = title_font();
  const QFontMetrics metrics(bold);
  painter.setFont(bold);
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(QRect(inner.left(), inner.top(), inner.width(), metrics.height()),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(starter_.title, Qt::ElideRight, inner.width()));
  painter.setFont(font());
  painter.setPen(quiet_text(palette()));
  // Less than the lines could hold, since words are not divided.
  const QString words = fontMetrics().elidedText(
      starter_.text, Qt::ElideRight, lines_ == 1 ? inner.width() : lines_ * inner.width() * 9 / 10);
  painter.drawText(QRect(inner.left(), inner.top() + metrics.height() + title_gap, inner.width(),
                         lines_ * fontMetrics().lineSpacing()),
                   Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, words);
}

// --- all of them

StarterView::StarterView(QWidget* parent)
    : QWidget(parent), title_(new QLabel(this)), about_(new QLabel(this)), grid_(new QGridLayout) {
  setObjectName(QStringLiteral("starters"));
  setCursor(Qt::ArrowCursor);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(conversation_margin, space::tight, conversation_margin, space::tight);
  layout->setSpacing(8);
  layout->setSizeConstraint(QLayout::SetNoConstraint);
  set_type(*title_, Type::title, true);
  title_->setText(tr("What shall we look at?"));
  layout->addWidget(new MarkLabel(52, {}, this));
  layout->addSpacing(space::tight);
  for (QLabel* label : {title_, about_}) {
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    layout->addWidget(label);
  }
  about_->setObjectName(QStringLiteral("startersAbout"));
  about_->setForegroundRole(QPalette::PlaceholderText);
  layout->addSpacing(12);
  grid_->setSpacing(card_gap);
  layout->addLayout(grid_);
}

QSize StarterView::sizeHint() const {
  return {conversation_width + 2 * conversation_margin, layout()->sizeHint().height()};
}

void StarterView::set_starters(const QString& about, const std::vector<Starter>& starters) {
  about_->setText(about);
  about_->setVisible(!about.isEmpty());
  for (StarterCard* card : cards_) card->deleteLater();
  cards_.clear();
  for (const Starter& starter : starters) {
    auto* card = new StarterCard(starter, this);
    connect(card, &QAbstractButton::clicked, this, [this, text = starter.text] { Q_EMIT chosen(text); });
    cards_.push_back(card);
  }
  columns_ = 0;
  arrange();
}

// Beside each other where both texts have room; all as high as the highest.
void StarterView::arrange() {
  const int columns = width() >= 2 * (fontMetrics().averageCharWidth() * 30 + 2 * card_padding) ? 2 : 1;
  const QMargins margins = layout()->contentsMargins();
  const int card = (width() - margins.left() - margins.right() - (columns - 1) * card_gap) / columns;
  const bool wraps =
      std::ranges::any_of(cards_, [card](const StarterCard* each) { return each->wraps(card); });
  for (StarterCard* each : cards_) each->set_lines(wraps ? most_lines : 1);
  if (columns == columns_) return;
  columns_ = columns;
  for (StarterCard* card : cards_) grid_->removeWidget(card);
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    const int place = static_cast<int>(i);
    grid_->addWidget(cards_[i], place / columns, place % columns);
    cards_[i]->show();
  }
  updateGeometry();
}

void StarterView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

}  // namespace fovea::ui
