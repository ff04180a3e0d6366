#include "ui/wizard/wish_page.h"

#include <QButtonGroup>
#include <QLabel>
#include <QRadioButton>
#include <QStyle>
#include <QVBoxLayout>

namespace fovea::ui {

WishPage::WishPage(QWidget* parent) : QWidget(parent), group_(new QButtonGroup(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(fontMetrics().height() / 3);
  add(WishView::quality, tr("&Quality"),
      tr("The most capable model that this computer can hold, even if it writes slowly."));
  add(WishView::speed, tr("S&peed"),
      tr("Answers at least as fast as you read. Among models that are fast enough, the most capable one."));
  add(WishView::long_context, tr("&Long context"),
      tr("Whole books or code bases in one conversation: models that keep the most tokens in this memory."));
  layout->addStretch(1);
  connect(group_, &QButtonGroup::idToggled, this, [this](int id, bool on) {
    if (on) Q_EMIT chosen(static_cast<WishView>(id));
  });
}

void WishPage::add(WishView wish, const QString& name, const QString& text) {
  auto* button = new QRadioButton(name, this);
  QFont large = button->font();
  large.setPointSizeF(large.pointSizeF() * 1.15);
  large.setBold(true);
  button->setFont(large);
  button->setAccessibleDescription(text);
  auto* label = new QLabel(text, this);
  label->setWordWrap(true);
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setIndent(style()->pixelMetric(QStyle::PM_ExclusiveIndicatorWidth, nullptr, button) +
                   style()->pixelMetric(QStyle::PM_RadioButtonLabelSpacing, nullptr, button));
  label->setBuddy(button);
  group_->addButton(button, static_cast<int>(wish));
  layout()->addWidget(button);
  layout()->addWidget(label);
  static_cast<QVBoxLayout*>(layout())->addSpacing(fontMetrics().height());
}

void WishPage::set_wish(WishView wish) {
  const QSignalBlocker quiet(group_);
  group_->button(static_cast<int>(wish))->setChecked(true);
}

}  // namespace fovea::ui
