#include "ui/chat/error_bar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "ui/theme/theme.h"

namespace fovea::ui {

ErrorBar::ErrorBar(QWidget* parent) : QFrame(parent), label_(new QLabel(this)) {
  setObjectName(QStringLiteral("errorBar"));
  setAccessibleName(tr("Error"));
  setAutoFillBackground(true);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* dismiss = new QToolButton(this);
  dismiss->setText(tr("Dismiss"));
  dismiss->setAutoRaise(true);
  connect(dismiss, &QToolButton::clicked, this, &QWidget::hide);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(16, 6, 16, 6);
  layout->addWidget(label_, 1);
  layout->addWidget(dismiss, 0, Qt::AlignTop);
  colour();
  hide();
}

void ErrorBar::show_message(const QString& text) {
  label_->setText(text);
  setAccessibleDescription(text);
  show();
}

QString ErrorBar::message() const {
  return isHidden() ? QString() : label_->text();
}

void ErrorBar::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::ApplicationPaletteChange) colour();
}

void ErrorBar::colour() {
  QPalette own = palette();
  own.setColor(QPalette::Window, error_background(palette()));
  setPalette(own);
}

}  // namespace fovea::ui
