#include "ui/theme/detailed_text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/tokens.h"

namespace fovea::ui {

DetailedText::DetailedText(QWidget* parent)
    : QWidget(parent), label_(new QLabel(this)), details_(new QLabel(this)), more_(new QToolButton(this)) {
  setAccessibleName(tr("Notice"));
  for (QLabel* label : {label_, details_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);  // parts of it come from files and servers
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // also words of any length
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  }
  details_->setObjectName(QStringLiteral("details"));
  details_->hide();
  more_->setObjectName(QStringLiteral("moreDetails"));
  more_->setText(tr("Details"));
  more_->setAutoRaise(true);
  more_->setCheckable(true);
  more_->hide();
  connect(more_, &QToolButton::toggled, this, [this](bool shown) {
    details_->setVisible(shown);
    Q_EMIT detailsShown(shown);
  });
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(space::close);
  auto* words = new QVBoxLayout;
  words->setSpacing(space::hair);
  words->addWidget(label_);
  words->addWidget(details_);
  layout->addLayout(words, 1);
  layout->addWidget(more_, 0, Qt::AlignTop);
}

void DetailedText::set_text(const QString& text, const QString& details) {
  if (text == label_->text() && details == details_->text()) return;
  label_->setText(text);
  details_->setText(details);
  more_->setChecked(false);
  more_->setVisible(!details.isEmpty());
}

QString DetailedText::text() const {
  return label_->text();
}

QString DetailedText::details() const {
  return details_->text();
}

}  // namespace fovea::ui
