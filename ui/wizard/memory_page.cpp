#include "ui/wizard/memory_page.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QVBoxLayout>

#include "ui/language/number_text.h"
#include "ui/theme/detailed_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/wizard/budget_bar.h"
#include "ui/wizard/fact_list.h"
#include "ui/wizard/size_box.h"

namespace fovea::ui {
namespace {

QComboBox* make_combo(QWidget* parent, const char* name) {
  auto* combo = new QComboBox(parent);
  combo->setObjectName(QLatin1String(name));
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(24);
  combo->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  return combo;
}

}  // namespace

MemoryPage::MemoryPage(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(fontMetrics().height() / 2);
  model_ = new QLabel(this);
  model_->setTextFormat(Qt::PlainText);
  model_->setWordWrap(true);
  QFont bold = font();
  bold.setBold(true);
  model_->setFont(bold);
  layout->addWidget(model_);
  make_form();
  layout->addSpacing(fontMetrics().height() / 2);
  first_bar_ = new BudgetBar(this);
  first_bar_->setObjectName(QStringLiteral("wizardFirstCardBar"));
  first_bar_->hide();
  layout->addWidget(first_bar_);
  bar_ = new BudgetBar(this);
  bar_->setObjectName(QStringLiteral("wizardBudgetBar"));
  layout->addWidget(bar_);
  verdict_ = new DetailedText(this);
  verdict_->setObjectName(QStringLiteral("wizardVerdict"));
  layout->addWidget(verdict_);
  remedies_ = new QWidget(this);
  auto* list = new QVBoxLayout(remedies_);
  list->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(remedies_);
  why_ = new FactList(this);
  layout->addWidget(why_);
  notes_ = new QLabel(this);
  notes_->setWordWrap(true);
  notes_->setForegroundRole(QPalette::PlaceholderText);
  layout->addWidget(notes_);
  layout->addStretch(1);
}

void MemoryPage::make_form() {
  auto* const form = form_ = new QFormLayout;
  form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
  context_ = make_combo(this, "wizardContext");
  context_->setToolTip(
      tr("How much of a conversation the model sees at once. A token is about three quarters "
         "of a word; each one takes memory."));
  kv_ = make_combo(this, "wizardKv");
  precision_ = make_combo(this, "wizardPrecision");
  budget_ = new SizeBox(this);
  budget_->setObjectName(QStringLiteral("wizardBudget"));
  form->addRow(tr("&Context"), context_);
  form->addRow(tr("&Remembered as"), kv_);
  form->addRow(tr("&Precision"), precision_);
  precision_why_ = new QLabel(this);
  precision_why_->setWordWrap(true);
  precision_why_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  precision_why_->setForegroundRole(QPalette::PlaceholderText);
  form->addRow(QString(), precision_why_);
  make_prefer();
  form->addRow(tr("Bud&get"), budget_);
  no_budget_ = new QLabel(this);
  no_budget_->setObjectName(QStringLiteral("wizardNoBudget"));
  no_budget_->setTextFormat(Qt::PlainText);
  no_budget_->setWordWrap(true);
  no_budget_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  form->addRow(tr("Budget"), no_budget_);
  form->setRowVisible(no_budget_, false);
  budget_fault_ = new QLabel(this);
  budget_fault_->setObjectName(QStringLiteral("wizardBudgetFault"));
  budget_fault_->setTextFormat(Qt::PlainText);
  budget_fault_->setWordWrap(true);
  budget_fault_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  budget_fault_->hide();
  tint(*budget_fault_, QPalette::WindowText, error_text);
  form->addRow(QString(), budget_fault_);
  static_cast<QVBoxLayout*>(layout())->addLayout(form);
  for (QComboBox* combo : {context_, kv_, precision_})
    connect(combo, &QComboBox::currentIndexChanged, this, &MemoryPage::tell);
  connect(budget_, &SizeBox::bytesChanged, this, &MemoryPage::tell);
  connect(budget_, &SizeBox::faultChanged, this, [this](const QString& fault) {
    budget_fault_->setText(fault);
    budget_fault_->setVisible(!fault.isEmpty());
  });
}

void MemoryPage::make_prefer() {
  prefer_ = new QSlider(Qt::Horizontal, this);
  prefer_->setObjectName(QStringLiteral("wizardPrefer"));
  prefer_->setAccessibleName(tr("From exact to fast"));
  prefer_->setRange(0, max_prefer);
  prefer_->setPageStep(1);
  prefer_row_ = new QWidget(this);
  auto* row = new QHBoxLayout(prefer_row_);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(new QLabel(tr("exact"), prefer_row_));
  row->addWidget(prefer_, 1);
  row->addWidget(new QLabel(tr("fast"), prefer_row_));
  auto* name = new QLabel(tr("Pre&fer"), this);
  name->setBuddy(prefer_);
  prefer_why_ = new QLabel(this);
  prefer_why_->setWordWrap(true);
  prefer_why_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  prefer_why_->setForegroundRole(QPalette::PlaceholderText);
  form_->addRow(name, prefer_row_);
  form_->addRow(QString(), prefer_why_);
  form_->setRowVisible(prefer_row_, false);
  form_->setRowVisible(prefer_why_, false);
  connect(prefer_, &QSlider::valueChanged, this, &MemoryPage::tell);
}

void MemoryPage::set_options(const MemoryOptions& options) {
  filling_ = true;
  options_ = options;
  model_->setText(options.model);
  const auto fill = [](QComboBox* combo, const std::vector<ChoiceView>& choices) {
    combo->clear();
    for (const ChoiceView& choice : choices) {
      combo->addItem(choice.text);
      combo->setItemData(combo->count() - 1, choice.why, Qt::ToolTipRole);
    }
  };
  std::vector<ChoiceView> contexts;
  for (const qint64 tokens : options.contexts) {
    if (options.trained_context > 0 && tokens > options.trained_context)
      contexts.push_back(
          {tr("%1 tokens (trained for %2)").arg(count_text(tokens), count_text(options.trained_context)),
           tr("To read this much at once, the model stretches its positions (with YaRN or a similar method); "
              "its answers may be worse than within the length it was trained for.")});
    else
      contexts.push_back({tr("%1 tokens").arg(count_text(tokens)), {}});
  }
  fill(context_, contexts);
  fill(kv_, options.kv_types);
  fill(precision_, options.precisions);
  budget_->set_parser(options.size_of);
  budget_->set_most(options.max_bytes);
  budget_->setToolTip(options.budget_why);
  form_->setRowVisible(budget_, options.max_bytes > 0);
  form_->setRowVisible(no_budget_, options.max_bytes == 0);
  no_budget_->setText(options.max_bytes == 0 ? options.budget_why : QString());
  filling_ = false;
}

void MemoryPage::set_choice(const MemoryChoice& choice) {
  filling_ = true;
  choice_ = choice;
  context_->setCurrentIndex(choice.context);
  kv_->setCurrentIndex(choice.kv_type);
  precision_->setCurrentIndex(choice.precision);
  prefer_->setValue(choice.prefer);
  if (options_.max_bytes > 0) budget_->set_bytes(choice.budget_bytes);
  const auto index = static_cast<std::size_t>(choice.precision);
  precision_why_->setText(index < options_.precisions.size() ? options_.precisions[index].why : QString());
  const auto kv = static_cast<std::size_t>(choice.kv_type);
  kv_->setToolTip(kv < options_.kv_types.size() ? options_.kv_types[kv].why : QString());
  filling_ = false;
}

bool MemoryPage::take() {
  if (options_.max_bytes == 0 || budget_->take()) return true;
  budget_->setFocus();
  return false;
}

void MemoryPage::tell() {
  if (filling_) return;
  const MemoryChoice choice{context_->currentIndex(), kv_->currentIndex(), precision_->currentIndex(),
                            prefer_->value(),
                            options_.max_bytes > 0 ? budget_->bytes() : choice_.budget_bytes};
  if (choice == choice_) return;
  set_choice(choice);
  Q_EMIT changed(choice);
}

void MemoryPage::set_budget(const BudgetView& budget) {
  bar_->set_budget(budget);
  bar_->setVisible(!budget.parts.empty());
  if (budget.first_card) first_bar_->set_budget(*budget.first_card);
  first_bar_->setVisible(budget.first_card.has_value());
  verdict_->set_text(budget.verdict, budget.verdict_details);
  tint(*verdict_, QPalette::WindowText, budget.fits ? nullptr : error_text);
  notes_->setText(budget.notes.join(QLatin1Char('\n')));
  notes_->setVisible(!budget.notes.isEmpty());
  if (!budget.planning) {
    form_->setRowVisible(prefer_row_, budget.prefers);
    form_->setRowVisible(prefer_why_, budget.prefers);
    prefer_row_->setEnabled(budget.can_prefer);
    prefer_why_->setText(budget.prefer_why);
    std::vector<FactView> facts{{tr("These numbers"), budget.why_short, budget.why}};
    why_->set_facts(budget.why.isEmpty() ? std::vector<FactView>() : facts);
    show_remedies(budget.remedies);
  }
}

void MemoryPage::show_remedies(const QStringList& remedies) {
  if (remedies == shown_remedies_) return;
  shown_remedies_ = remedies;
  while (QLayoutItem* item = remedies_->layout()->takeAt(0)) {
    item->widget()->deleteLater();
    delete item;
  }
  for (qsizetype i = 0; i < remedies.size(); ++i) {
    auto* button = new QPushButton(remedies[i], remedies_);
    button->setObjectName(QStringLiteral("wizardRemedy%1").arg(i));
    button->setAutoDefault(false);
    connect(button, &QPushButton::clicked, this, [this, i] { Q_EMIT remedyChosen(static_cast<int>(i)); });
    auto* row = static_cast<QVBoxLayout*>(remedies_->layout());
    row->addWidget(button, 0, Qt::AlignLeft);
  }
  remedies_->setVisible(!remedies.isEmpty());
}

}  // namespace fovea::ui
