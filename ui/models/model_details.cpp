#include "ui/models/model_details.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/language/number_text.h"
#include "ui/models/model_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

QLabel* selectable_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);  // names come from files
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  label->setMinimumWidth(label->fontMetrics().averageCharWidth() * 12);
  return label;
}

}  // namespace

ModelDetails::ModelDetails(QWidget* parent) : QWidget(parent), facts_(new QGridLayout) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, space::tight, 0, space::tight);
  layout->setSpacing(space::tight);
  why_ = selectable_label(this);
  why_->setObjectName(QStringLiteral("detailWhy"));
  facts_->setHorizontalSpacing(space::wide);
  facts_->setVerticalSpacing(space::hair);
  facts_->setColumnStretch(1, 1);
  parameters_ = add_fact(tr("Parameters"), tr("How many weights it has, and how many of them a token uses"));
  experts_ = add_fact(tr("Experts"), tr("Experts used by each token, out of those in each layer"));
  context_ = add_fact(tr("Context"), tr("The longest conversation that it was trained for"));
  architecture_ = add_fact(tr("Architecture"), tr("The family of models whose design this one has"));
  format_ = add_fact(tr("Format"), tr("The formats in which most of its weights are stored"));
  stores_ = add_fact(
      tr("Prepared"),
      tr("Files with its experts at several precisions, so that they can change during a conversation"));
  path_ = add_fact(tr("File"), tr("Where it is on the disk"));
  layout->addWidget(why_);
  layout->addLayout(facts_);
}

QLabel* ModelDetails::add_fact(const QString& name, const QString& why) {
  auto* title = new QLabel(name, this);
  title->setForegroundRole(QPalette::PlaceholderText);
  title->setToolTip(why);
  auto* value = selectable_label(this);
  value->setAccessibleName(name);
  const int row = facts_->rowCount();
  facts_->addWidget(title, row, 0, Qt::AlignTop);
  facts_->addWidget(value, row, 1);
  titles_[value] = title;
  return value;
}

void ModelDetails::set_fact(QLabel* value, const QString& text) {
  value->setText(text);
  value->setVisible(!text.isEmpty());
  titles_[value]->setVisible(!text.isEmpty());
}

void ModelDetails::show_model(const LibraryRow& row) {
  const bool known = row.is_read && row.error.isEmpty();
  why_->setText(row.error.isEmpty()           ? row.fit_why
                : row.error_details.isEmpty() ? row.error
                                              : row.error + QLatin1Char('\n') + row.error_details);
  why_->setVisible(!why_->text().isEmpty());
  tint(*why_, QPalette::WindowText, row.error.isEmpty() ? nullptr : error_text);
  set_fact(architecture_,
           known ? tr("%1, %n layer(s)", nullptr, row.layers).arg(row.architecture) : QString());
  QString parameters;
  if (known) {
    parameters = row.experts > 0
                     ? tr("%1, %2 for each token")
                           .arg(parameters_text(row.parameters), parameters_text(row.parameters_active))
                     : parameters_text(row.parameters);
  }
  set_fact(parameters_, parameters);
  set_fact(format_, known ? tr("%1 (%2)").arg(row.quantization, row.format) : QString());
  QString experts;
  if (known)
    experts = row.experts > 0 ? tr("%1 of %2 for each token").arg(row.experts_used).arg(row.experts)
                              : tr("none: all weights are used for each token");
  set_fact(experts_, experts);
  set_fact(context_, known ? tr("%1 tokens").arg(count_text(row.context)) : QString());
  set_fact(stores_, !known                 ? QString()
                    : row.stores.isEmpty() ? tr("not yet; opening it with a budget prepares it")
                                           : row.stores.join(QLatin1Char('\n')));
  set_fact(path_, breakable(row.path));
  path_->setToolTip(row.path);
}

}  // namespace fovea::ui
