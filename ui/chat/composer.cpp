#include "ui/chat/composer.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextLayout>
#include <QToolButton>
#include <algorithm>

namespace fovea::ui {
namespace {

constexpr int kMostLines = 10;  // then it scrolls

}  // namespace

Composer::Composer(QWidget* parent)
    : QWidget(parent), input_(new QPlainTextEdit(this)), button_(new QToolButton(this)) {
  input_->setObjectName(QStringLiteral("input"));
  input_->setAccessibleName(tr("Message"));
  input_->setPlaceholderText(tr("Type a message. Enter sends, Shift+Enter starts a new line."));
  input_->setTabChangesFocus(true);
  input_->setLineWrapMode(QPlainTextEdit::WidgetWidth);
  input_->document()->setDocumentMargin(8);
  input_->installEventFilter(this);
  button_->setObjectName(QStringLiteral("send"));
  button_->setToolButtonStyle(Qt::ToolButtonTextOnly);
  button_->setMinimumSize(84, 38);

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(16, 8, 16, 8);
  layout->setSpacing(8);
  layout->addWidget(input_, 1);
  layout->addWidget(button_, 0, Qt::AlignBottom);

  connect(button_, &QToolButton::clicked, this, [this] { generating_ ? Q_EMIT stopRequested() : send(); });
  connect(input_, &QPlainTextEdit::textChanged, this, [this] {
    grow();
    update_button();
  });
  grow();
  update_button();
}

void Composer::set_ready(bool ready) {
  ready_ = ready;
  update_button();
}

void Composer::set_generating(bool generating) {
  generating_ = generating;
  update_button();
}

void Composer::set_text(const QString& text) {
  input_->setPlainText(text);
  input_->moveCursor(QTextCursor::End);
}

QString Composer::text() const {
  return input_->toPlainText();
}

void Composer::focus_input() {
  input_->setFocus();
}

bool Composer::eventFilter(QObject* object, QEvent* event) {
  if (object == input_ && event->type() == QEvent::Resize) grow();
  if (object == input_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (enter && !(key->modifiers() & Qt::ShiftModifier)) {
      send();
      return true;
    }
    if (key->key() == Qt::Key_Escape && generating_) {
      Q_EMIT stopRequested();
      return true;
    }
  }
  return QWidget::eventFilter(object, event);
}

void Composer::send() {
  const QString message = text().trimmed();
  if (message.isEmpty() || !ready_ || generating_) return;
  input_->clear();
  Q_EMIT sendRequested(message);
}

void Composer::grow() {
  int lines = 0;
  for (QTextBlock block = input_->document()->begin(); block.isValid() && lines < kMostLines;
       block = block.next()) {
    lines += std::max(1, block.layout()->lineCount());
  }
  lines = std::clamp(lines, 1, kMostLines);
  const int frame = 2 * input_->frameWidth() + 2 * static_cast<int>(input_->document()->documentMargin());
  input_->setFixedHeight(lines * input_->fontMetrics().lineSpacing() + frame + 4);
  input_->setVerticalScrollBarPolicy(lines < kMostLines ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
}

void Composer::update_button() {
  button_->setText(generating_ ? tr("Stop") : tr("Send"));
  button_->setAccessibleName(button_->text());
  button_->setToolTip(generating_ ? tr("Stop the answer (Esc)") : tr("Send the message (Enter)"));
  button_->setEnabled(generating_ || (ready_ && !text().trimmed().isEmpty()));
}

}  // namespace fovea::ui
