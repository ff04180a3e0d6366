#include "ui/models/message_line.h"

#include <QHBoxLayout>
#include <QToolButton>

#include "ui/theme/detailed_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"

namespace fovea::ui {

MessageLine::MessageLine(QWidget* parent) : QFrame(parent) {
  setAutoFillBackground(true);
  words_ = new DetailedText(this);
  close_ = new QToolButton(this);
  close_->setText(tr("Close"));
  close_->setAutoRaise(true);
  connect(close_, &QToolButton::clicked, this, &QWidget::hide);
  auto* layout = new QHBoxLayout(this);
  const int margin = fontMetrics().height() / 2;
  layout->setContentsMargins(margin, margin / 2, margin / 2, margin / 2);
  layout->addWidget(words_, 1);
  layout->addWidget(close_, 0, Qt::AlignTop);
  hide();
}

void MessageLine::show_notice(const QString& text) {
  show_text(text, {}, false);
}

void MessageLine::show_error(const QString& text, const QString& details) {
  show_text(text, details, true);
}

QString MessageLine::message() const {
  return isHidden() ? QString() : words_->text();
}

void MessageLine::show_text(const QString& text, const QString& details, bool is_error) {
  is_error_ = is_error;
  words_->set_text(text, details);
  setAccessibleName(text);
  tint(*this, QPalette::Window, is_error ? error_background : code_background);
  tint(*this, QPalette::WindowText, is_error ? error_text : nullptr);
  setVisible(!text.isEmpty());
}

}  // namespace fovea::ui
