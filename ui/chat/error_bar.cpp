#include "ui/chat/error_bar.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/chat/screen_reader.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"

namespace fovea::ui {

ErrorBar::ErrorBar(QWidget* parent)
    : QFrame(parent),
      label_(new QLabel(this)),
      details_(new QLabel(this)),
      action_(new QToolButton(this)),
      more_(new QToolButton(this)) {
  setObjectName(QStringLiteral("errorBar"));
  setAccessibleName(tr("Error"));
  setAutoFillBackground(true);
  for (QLabel* label : {label_, details_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // also words of any length
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  }
  details_->setObjectName(QStringLiteral("errorDetails"));
  more_->setObjectName(QStringLiteral("moreError"));
  more_->setText(tr("Details"));
  more_->setAutoRaise(true);
  more_->setCheckable(true);
  connect(more_, &QToolButton::toggled, details_, &QLabel::setVisible);
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
  auto* words = new QVBoxLayout;
  words->addWidget(label_);
  words->addWidget(details_);
  layout->addLayout(words, 1);
  layout->addWidget(more_, 0, Qt::AlignTop);
  layout->addWidget(action_, 0, Qt::AlignTop);
  layout->addWidget(dismiss, 0, Qt::AlignTop);
  hide();
}

void ErrorBar::show_message(const QString& text, Kind kind, const QString& action, const QString& details) {
  kind_ = kind;
  tint(*this, QPalette::Window, kind == Kind::error ? error_background : code_background);
  label_->setText(text);
  action_->setText(action);
  action_->setVisible(!action.isEmpty());
  details_->setText(details);
  details_->hide();
  more_->setChecked(false);
  more_->setVisible(!details.isEmpty());
  setAccessibleName(kind == Kind::error ? tr("Error") : tr("Notice"));
  setAccessibleDescription(text);
  show();
  QAccessibleEvent event(this, QAccessible::Alert);
  tell_screen_reader(event);
}

QString ErrorBar::message() const {
  return isHidden() ? QString() : label_->text();
}

}  // namespace fovea::ui
