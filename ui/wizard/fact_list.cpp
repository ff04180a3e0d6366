#include "ui/wizard/fact_list.h"

#include <QGridLayout>
#include <QLabel>
#include <QToolButton>

namespace fovea::ui {

FactList::FactList(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(fontMetrics().averageCharWidth() * 3);
  grid_->setVerticalSpacing(fontMetrics().height() / 3);
  grid_->setColumnStretch(1, 1);
}

void FactList::set_facts(const std::vector<FactView>& facts) {
  if (facts == facts_) return;
  facts_ = facts;
  while (QLayoutItem* item = grid_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  build();
}

QToolButton* why_button(QWidget* parent, const QString& name, const QString& why, QWidget* answer) {
  auto* button = new QToolButton(parent);
  button->setText(FactList::tr("Why?"));
  button->setAutoRaise(true);
  QFont underlined = parent->font();
  underlined.setUnderline(true);
  button->setFont(underlined);
  button->setCheckable(true);
  button->setMaximumHeight(parent->fontMetrics().height() + 2);
  button->setToolTip(why);
  button->setAccessibleName(FactList::tr("Why: %1").arg(name));
  answer->hide();
  QObject::connect(button, &QToolButton::toggled, answer, &QWidget::setVisible);
  return button;
}

void FactList::build() {
  int row = 0;
  for (const FactView& fact : facts_) {
    auto* name = new QLabel(fact.name, this);
    name->setForegroundRole(QPalette::PlaceholderText);
    name->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    auto* value = new QLabel(fact.value, this);
    value->setTextFormat(Qt::PlainText);
    value->setWordWrap(true);
    value->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    value->setAccessibleName(fact.name + QStringLiteral(": ") + fact.value);
    value->setToolTip(fact.why);
    grid_->addWidget(name, row, 0);
    grid_->addWidget(value, row, 1);
    if (!fact.why.isEmpty()) {
      auto* why = new QLabel(fact.why, this);
      why->setWordWrap(true);
      why->setForegroundRole(QPalette::PlaceholderText);
      grid_->addWidget(why_button(this, fact.name, fact.why, why), row, 2, Qt::AlignTop);
      grid_->addWidget(why, row + 1, 1, 1, 2);
    }
    row += 2;
  }
}

}  // namespace fovea::ui
