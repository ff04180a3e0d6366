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

QToolButton* details_button(QWidget* parent, const QString& about) {
  auto* button = new QToolButton(parent);
  button->setObjectName(QStringLiteral("details"));
  button->setText(FactList::tr("Details"));
  button->setAutoRaise(true);
  button->setCheckable(true);
  button->setFocusPolicy(Qt::StrongFocus);
  button->setToolTip(FactList::tr("Where the numbers come from"));
  button->setAccessibleName(FactList::tr("Details: %1").arg(about));
  return button;
}

void FactList::build() {
  int row = 0;
  QStringList names;
  std::vector<QWidget*> details;
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
    names += fact.name;
    if (fact.is_detail) details.insert(details.end(), {name, value});
    if (!fact.why.isEmpty()) {
      auto* why = new QLabel(fact.why, this);
      why->setWordWrap(true);
      why->setForegroundRole(QPalette::PlaceholderText);
      grid_->addWidget(why, row + 1, 1);
      details.push_back(why);
    }
    row += 2;
  }
  if (details.empty()) return;
  auto* more = details_button(this, names.join(QStringLiteral(", ")));
  for (QWidget* detail : details) {
    detail->hide();
    connect(more, &QToolButton::toggled, detail, &QWidget::setVisible);
  }
  grid_->addWidget(more, row, 0, 1, 2, Qt::AlignLeft);
}

}  // namespace fovea::ui
