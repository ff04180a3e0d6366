#include "ui/models/message_line.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "ui/theme/theme.h"

namespace fovea::ui {

MessageLine::MessageLine(QWidget* parent) : QFrame(parent) {
  setAutoFillBackground(true);
  label_ = new QLabel(this);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);  // parts of it come from files and servers
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  close_ = new QToolButton(this);
  close_->setText(tr("Close"));
  close_->setAutoRaise(true);
  connect(close_, &QToolButton::clicked, this, &QWidget::hide);
  auto* layout = new QHBoxLayout(this);
  const int margin = fontMetrics().height() / 2;
  layout->setContentsMargins(margin, margin / 2, margin / 2, margin / 2);
  layout->addWidget(label_, 1);
  layout->addWidget(close_, 0, Qt::AlignTop);
  hide();
}

void MessageLine::show_notice(const QString& text) {
  show_text(text, false);
}

void MessageLine::show_error(const QString& text) {
  show_text(text, true);
}

QString MessageLine::message() const {
  return isHidden() ? QString() : label_->text();
}

void MessageLine::show_text(const QString& text, bool is_error) {
  is_error_ = is_error;
  label_->setText(text);
  setAccessibleName(text);
  colour();
  setVisible(!text.isEmpty());
}

void MessageLine::colour() {
  QPalette colours = palette();
  const QPalette& usual = parentWidget() ? parentWidget()->palette() : colours;
  colours.setColor(QPalette::Window, is_error_ ? error_background(usual) : code_background(usual));
  colours.setColor(QPalette::WindowText, is_error_ ? error_text(usual) : usual.color(QPalette::WindowText));
  if (colours != palette()) setPalette(colours);
}

void MessageLine::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) colour();
}

}  // namespace fovea::ui
