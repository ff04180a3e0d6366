#include "ui/chat/error_bar.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QToolButton>

#include "ui/chat/screen_reader.h"
#include "ui/theme/detailed_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"

namespace fovea::ui {

ErrorBar::ErrorBar(QWidget* parent)
    : QFrame(parent), words_(new DetailedText(this)), action_(new QToolButton(this)) {
  setObjectName(QStringLiteral("errorBar"));
  setAccessibleName(tr("Error"));
  setAutoFillBackground(true);
  action_->setObjectName(QStringLiteral("errorAction"));
  connect(action_, &QToolButton::clicked, this, [this] {
    hide();
    Q_EMIT actionRequested();
  });
  auto* dismiss = new QToolButton(this);
  dismiss->setObjectName(QStringLiteral("dismissError"));
  dismiss->setText(tr("Dismiss"));
  dismiss->setAutoRaise(true);
  connect(dismiss, &QToolButton::clicked, this, [this] {
    hide();
    Q_EMIT dismissed();
  });
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(16, 6, 16, 6);
  layout->addWidget(words_, 1);
  layout->addWidget(action_, 0, Qt::AlignTop);
  layout->addWidget(dismiss, 0, Qt::AlignTop);
  hide();
}

void ErrorBar::show_message(const QString& text, Kind kind, const QString& action, const QString& details) {
  kind_ = kind;
  tint(*this, QPalette::Window, kind == Kind::error ? error_background : code_background);
  words_->set_text(text, details);
  action_->setText(action);
  action_->setVisible(!action.isEmpty());
  setAccessibleName(kind == Kind::error ? tr("Error") : tr("Notice"));
  setAccessibleDescription(text);
  show();
  QAccessibleEvent event(this, QAccessible::Alert);
  tell_screen_reader(event);
}

QString ErrorBar::message() const {
  return isHidden() ? QString() : words_->text();
}

}  // namespace fovea::ui
