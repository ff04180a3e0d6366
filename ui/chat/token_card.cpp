#include "ui/chat/token_card.h"

#include <QAbstractButton>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/language/number_text.h"
#include "ui/theme/scale/precision_scale.h"
#include "ui/theme/theme.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr int kLettersWide = 38;

QString share_text(double share) {
  return share < 0.001 ? QStringLiteral("< ") + percent_text(0.001, 1)
                       : percent_text(share, share < 0.0995 ? 1 : 0);
}

QString sure_text(double bits) {
  const QString number = TokenCard::tr("%1 bits of entropy").arg(number_text(bits, 2));
  if (bits < 0.3) return TokenCard::tr("The model was nearly certain (%1)").arg(number);
  if (bits < 1.2) return TokenCard::tr("The model was fairly sure (%1)").arg(number);
  if (bits < 2.6) return TokenCard::tr("The model wavered between a few (%1)").arg(number);
  return TokenCard::tr("The model saw many possibilities (%1)").arg(number);
}

QString experts_text(const TokenView& token) {
  if (token.uses == 0) return {};
  if (token.highest_bits <= 0) return TokenCard::tr("%n expert(s) worked on it.", nullptr, token.uses);
  const int bits = whole_bits(token.highest_bits);
  return token.low_uses == 0
             ? TokenCard::tr("All of its %n expert(s) were at %1 bits", nullptr, token.uses).arg(bits)
             : TokenCard::tr("%1 of its %n expert(s) were below %2 bits", nullptr, token.uses)
                   .arg(token.low_uses)
                   .arg(bits);
}

QLabel* line_of(QWidget* parent, const char* name, Type type) {
  auto* label = new QLabel(parent);
  label->setObjectName(QLatin1String(name));
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setFont(type_of(parent->font(), type));
  return label;
}

}  // namespace

QString shown_token(const QString& text) {
  QString shown = text;
  shown.replace(QLatin1Char(' '), QChar(0x00b7));
  shown.replace(QLatin1Char('\n'), QChar(0x21b5));
  shown.replace(QLatin1Char('\t'), QChar(0x2192));
  return shown;
}

// A word that could have stood there, and how likely it was as a bar.
class TokenCard::Row : public QAbstractButton {
 public:
  explicit Row(QWidget* parent) : QAbstractButton(parent) {
    setAttribute(Qt::WA_Hover);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  }

  void set(const TokenView::Choice& choice) {
    choice_ = choice;
    const bool goes_on = choice.can_go_on && !choice.is_chosen;
    setEnabled(goes_on);
    setFocusPolicy(goes_on ? Qt::TabFocus : Qt::NoFocus);
    setCursor(goes_on ? Qt::PointingHandCursor : Qt::ArrowCursor);
    setAccessibleName(
        choice.is_chosen
            ? TokenCard::tr("%1, %2, the one in the answer").arg(choice.text, share_text(choice.probability))
            : TokenCard::tr("%1, %2").arg(choice.text, share_text(choice.probability)));
    setToolTip(goes_on ? TokenCard::tr("Continue from here with “%1”, as another version of the answer")
                             .arg(shown_token(choice.text))
                       : QString());
    update();
  }

  QSize sizeHint() const override {
    return {fontMetrics().averageCharWidth() * 20, fontMetrics().height() + space::tight};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Tones& tone = tones(palette());
    if (isEnabled() && (underMouse() || hasFocus())) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(tone.hover);
      painter.drawRoundedRect(rect(), radius::row, radius::row);
    }
    const QRectF inner = QRectF(rect()).adjusted(space::tight, 0, -space::tight, 0);
    const double number = fontMetrics().horizontalAdvance(QStringLiteral("< 0.1 %%")) + 1.0;
    const double word = inner.width() * 0.42;
    QFont font = this->font();
    if (choice_.is_chosen) font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(choice_.is_chosen || choice_.can_go_on ? tone.text : tone.second);
    painter.drawText(
        QRectF(inner.left(), 0, word - space::tight, height()), Qt::AlignVCenter | Qt::AlignLeft,
        QFontMetricsF(font).elidedText(shown_token(choice_.text), Qt::ElideRight, word - space::tight));
    painter.setPen(tone.second);
    painter.drawText(QRectF(inner.right() - number, 0, number, height()), Qt::AlignVCenter | Qt::AlignRight,
                     share_text(choice_.probability));
    const QRectF track(inner.left() + word, height() / 2.0 - 3, inner.width() - word - number - space::tight,
                       6);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tone.line);
    painter.drawRoundedRect(track, 3, 3);
    QRectF bar = track;
    bar.setWidth(std::max(3.0, track.width() * std::clamp(choice_.probability, 0.0, 1.0)));
    painter.setBrush(choice_.is_chosen ? tone.accent : tone.second);
    painter.drawRoundedRect(bar, std::min(3.0, bar.width() / 2), 3);
    if (hasFocus()) {
      painter.setPen(QPen(tone.accent, focus_width));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), radius::row, radius::row);
    }
  }

 private:
  TokenView::Choice choice_;
};

TokenCard::TokenCard(QWidget* parent) : Card(radius::card, parent) {
  setObjectName(QStringLiteral("tokenCard"));
  setAttribute(Qt::WA_NoMousePropagation);
  setCursor(Qt::ArrowCursor);
  auto* layout = new QVBoxLayout(this);
  // What stands in rows has its ground around it.
  layout->setContentsMargins(space::hair, space::close, space::hair, space::close);
  layout->setSpacing(space::hair);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(space::tight, 0, space::tight, 0);
  text_ = line_of(this, "tokenText", Type::text);
  text_->setFont(type_of(font(), Type::text, true));
  text_->setWordWrap(false);
  probability_ = line_of(this, "tokenProbability", Type::text);
  probability_->setWordWrap(false);
  head->addWidget(text_, 1);
  head->addWidget(probability_);
  layout->addLayout(head);
  rows_layout_ = new QVBoxLayout;
  rows_layout_->setSpacing(0);
  rows_layout_->setContentsMargins(0, space::hair, 0, space::hair);
  layout->addLayout(rows_layout_);
  sure_ = line_of(this, "tokenSure", Type::label);
  experts_ = line_of(this, "tokenExperts", Type::label);
  for (QLabel* label : {sure_, experts_}) label->setContentsMargins(space::tight, 0, space::tight, 0);
  layout->addWidget(sure_);
  layout->addWidget(experts_);
  hide();
}

void TokenCard::set_token(const std::optional<TokenView>& token, int most_kept) {
  const std::vector<TokenView::Choice> choices = token ? token->choices : std::vector<TokenView::Choice>();
  while (rows_.size() < choices.size()) {
    auto* row = new Row(this);
    row->setFont(type_of(font(), Type::control));
    connect(row, &QAbstractButton::clicked, this,
            [this, choice = static_cast<int>(rows_.size())] { Q_EMIT choiceWanted(choice); });
    rows_layout_->addWidget(row);
    rows_.push_back(row);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i]->setVisible(i < choices.size());
    if (i < choices.size()) rows_[i]->set(choices[i]);
  }
  const int width = fontMetrics().averageCharWidth() * kLettersWide;
  text_->setText(
      token ? QFontMetrics(text_->font())
                  .elidedText(QStringLiteral("“%1”").arg(shown_token(token->text)), Qt::ElideRight, width / 2)
            : tr("Nothing is kept for this token"));
  probability_->setText(token ? share_text(token->probability) : QString());
  sure_->setText(token
                     ? sure_text(token->entropy_bits)
                     : tr("Only the last %1 tokens that were written since the program was started are kept.")
                           .arg(count_text(most_kept)));
  experts_->setText(token ? experts_text(*token) : QString());
  experts_->setVisible(!experts_->text().isEmpty());
  setAccessibleName(words());
  setFixedWidth(width);
  layout()->activate();
  setFixedHeight(layout()->hasHeightForWidth() ? layout()->heightForWidth(width) : sizeHint().height());
}

bool TokenCard::has_choices() const {
  return std::ranges::any_of(rows_, [](const Row* row) { return !row->isHidden() && row->isEnabled(); });
}

QString TokenCard::words() const {
  QStringList all{text_->text() + QLatin1Char(' ') + probability_->text()};
  for (const Row* row : rows_)
    if (!row->isHidden()) all += row->accessibleName();
  all += sure_->text();
  if (!experts_->text().isEmpty()) all += experts_->text();
  return all.join(QStringLiteral(". "));
}

void TokenCard::focus_choices() {
  for (Row* row : rows_) {
    if (row->isHidden() || !row->isEnabled()) continue;
    row->setFocus(Qt::TabFocusReason);
    return;
  }
}

void TokenCard::move_focus(int delta) {
  std::vector<Row*> able;
  std::ranges::copy_if(rows_, std::back_inserter(able),
                       [](const Row* row) { return !row->isHidden() && row->isEnabled(); });
  const auto here = std::ranges::find_if(able, [](const Row* row) { return row->hasFocus(); });
  if (here == able.end()) return;
  const auto next = std::clamp<std::ptrdiff_t>(here - able.begin() + delta, 0, std::ssize(able) - 1);
  able[static_cast<std::size_t>(next)]->setFocus(Qt::TabFocusReason);
}

void TokenCard::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up:
      return move_focus(-1);
    case Qt::Key_Down:
      return move_focus(1);
    case Qt::Key_Escape:
      Q_EMIT left();
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      for (Row* row : rows_)
        if (row->hasFocus()) return row->click();
      break;
    default:
      break;
  }
  Card::keyPressEvent(event);
}

}  // namespace fovea::ui
