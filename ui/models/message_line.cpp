#include "ui/models/message_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "ui/theme/theme.h"
#include "ui/theme/tint.h"

namespace fovea::ui {

MessageLine::MessageLine(QWidget* parent) : QFrame(parent) {
  setAutoFillBackground(true);
  label_ = new QLabel(this);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);  // parts of it come from files and servers
  label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // also words of any length
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
  tint(*this, QPalette::Window, is_error ? error_background : code_background);
  tint(*this, QPalette::WindowText, is_error ? error_text : nullptr);
  setVisible(!text.isEmpty());
}

}  // namespace fovea::ui
