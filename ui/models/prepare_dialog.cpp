#include "ui/models/prepare_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalBlocker>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/language/number_text.h"
#include "ui/models/model_text.h"
#include "ui/theme/detailed_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {

PrepareDialog::PrepareDialog(const QString& model, const std::vector<TierChoice>& tiers, bool has_experts,
                             QWidget* parent)
    : QDialog(parent), choices_(tiers) {
  setWindowTitle(tr("Prepare a model"));
  setMinimumWidth(fontMetrics().averageCharWidth() * 64);
  auto* layout = new QVBoxLayout(this);
  auto* page = new QWidget(this);
  auto* choices = new QVBoxLayout(page);
  choices->setContentsMargins(0, 0, 0, 0);
  const auto add_text = [this](QVBoxLayout* to, const QString& text) {
    auto* label = new QLabel(text, this);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setMinimumWidth(1);  // a name of any length
    to->addWidget(label);
    return label;
  };
  add_text(choices, tr("%1 is written to the disk at each of these precisions. During a conversation, the "
                       "parts that it uses most can then be precise and the others small. This takes "
                       "minutes, or hours for a large model, and can be stopped and continued.")
                        .arg(breakable(model)));
  for (const TierChoice& tier : tiers) {
    auto* box = new QCheckBox(tier.text, page);
    box->setObjectName(QStringLiteral("tier_") + tier.name);
    box->setChecked(tier.chosen);
    connect(box, &QCheckBox::toggled, this, [this, index = boxes_.size()](bool is_chosen) {
      if (is_chosen) leave_out_equals(index);
      change();
    });
    boxes_.push_back(box);
    choices->addWidget(box);
  }
  choices->addWidget(make_text(has_experts));
  choices->addStretch(1);
  layout->addWidget(new PageArea(page, this), 1);
  size_ = new DetailedText(this);
  size_->label().setObjectName(QStringLiteral("prepareSize"));
  connect(size_, &DetailedText::detailsShown, this, &PrepareDialog::fit);
  layout->addWidget(size_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  start_ = buttons->addButton(tr("Prepare"), QDialogButtonBox::AcceptRole);
  start_->setObjectName(QStringLiteral("startPrepare"));
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  layout->addWidget(buttons);
  setMinimumWidth(std::max(minimumWidth(), layout->totalMinimumSize().width()));
  resize(minimumWidth(), 0);
  say_size(tr("Working out what it takes…"));
  update_start();
}

void PrepareDialog::say_size(const QString& text, const QString& details) {
  size_->set_text(text, details);
  fit();
}

// Qt would give it two thirds of a small screen at most, and squeeze the words.
void PrepareDialog::fit() {
  open_with(*this, {width(), std::max(height(), layout()->totalHeightForWidth(width()))});
}

QWidget* PrepareDialog::make_text(bool has_experts) {
  auto* box = new QGroupBox(tr("Text that the model reads first"), this);
  auto* layout = new QVBoxLayout(box);
  auto* why = new QLabel(tr("It shows which weights matter, so that low precisions keep more of the model. A "
                            "text like those you work with is best. Preparing takes longer with a text, and "
                            "what was prepared at these precisions without one is prepared again."),
                         box);
  why->setWordWrap(true);
  why->setForegroundRole(QPalette::PlaceholderText);
  layout->addWidget(why);
  const auto add = [box, layout](const char* name, const QString& words) {
    auto* button = new QRadioButton(words, box);
    button->setObjectName(QLatin1String(name));
    layout->addWidget(button);
    return button;
  };
  built_in_text_ = add("builtInText", tr("Fovea's own short text: conversation, prose, code, mathematics"));
  own_text_ = add("ownText", tr("A text file:"));
  auto* row = new QHBoxLayout;
  text_file_ = new QLineEdit(box);
  text_file_->setObjectName(QStringLiteral("textFile"));
  text_file_->setAccessibleName(tr("Text file"));
  text_file_->setPlaceholderText(tr("a few thousand words"));
  auto* choose = new QPushButton(tr("Choose…"), box);
  choose->setObjectName(QStringLiteral("chooseText"));
  row->addSpacing(style()->pixelMetric(QStyle::PM_ExclusiveIndicatorWidth) +
                  style()->pixelMetric(QStyle::PM_RadioButtonLabelSpacing));
  row->addWidget(text_file_, 1);
  row->addWidget(choose);
  layout->addLayout(row);
  no_text_ = add("noText", tr("None: quick, from the weights alone"));
  built_in_text_->setChecked(true);
  measures_ = new QCheckBox(has_experts ? tr("Measure what each precision costs (takes a few minutes longer)")
                                        : tr("Measure what each precision costs (takes hours)"),
                            box);
  measures_->setChecked(has_experts);
  measures_->setObjectName(QStringLiteral("measureCost"));
  measures_->setToolTip(
      tr("How far the model's answers move when experts are less precise. Knowing this, Fovea puts precision "
         "where it matters most, and speed can be weighed against quality."));
  layout->addWidget(measures_);
  connect(no_text_, &QRadioButton::toggled, measures_, &QWidget::setDisabled);
  connect(text_file_, &QLineEdit::textEdited, own_text_, [this] { own_text_->setChecked(true); });
  connect(text_file_, &QLineEdit::textChanged, this, &PrepareDialog::update_start);
  connect(own_text_, &QRadioButton::toggled, this, &PrepareDialog::update_start);
  connect(choose, &QPushButton::clicked, this, [this] {
    const QString file = QFileDialog::getOpenFileName(this, tr("Choose a text for the model to read first"));
    if (file.isEmpty()) return;
    own_text_->setChecked(true);
    text_file_->setText(file);
  });
  return box;
}

PrepareText PrepareDialog::text() const {
  if (own_text_->isChecked()) return PrepareText::file;
  return built_in_text_->isChecked() ? PrepareText::built_in : PrepareText::none;
}

QString PrepareDialog::text_file() const {
  return text() == PrepareText::file ? text_file_->text() : QString();
}

bool PrepareDialog::measures() const {
  return text() != PrepareText::none && measures_->isChecked();
}

void PrepareDialog::update_start() {
  start_->setEnabled(ready_ && (text() != PrepareText::file || QFileInfo(text_file_->text()).isFile()));
}

QStringList PrepareDialog::tiers() const {
  QStringList chosen;
  for (std::size_t i = 0; i < boxes_.size(); ++i)
    if (boxes_[i]->isChecked()) chosen += choices_[i].name;
  return chosen;
}

void PrepareDialog::leave_out_equals(std::size_t index) {
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    if (choices_[i].instead_of != choices_[index].name && choices_[index].instead_of != choices_[i].name)
      continue;
    const QSignalBlocker one_change(boxes_[i]);
    boxes_[i]->setChecked(false);
  }
}

void PrepareDialog::change() {
  ready_ = false;
  update_start();
  tint(*size_, QPalette::WindowText, {});
  say_size(tr("Working out what it takes…"));
  Q_EMIT tiersChosen(tiers());
}

void PrepareDialog::show_ready(const QString& text) {
  tint(*size_, QPalette::WindowText, {});
  say_size(text);
  ready_ = true;
  update_start();
  start_->setDefault(true);
}

void PrepareDialog::show_obstacle(const QString& text, bool is_error, const QString& details) {
  tint(*size_, QPalette::WindowText, is_error ? error_text : nullptr);
  say_size(text, details);
  ready_ = false;
  update_start();
}

}  // namespace fovea::ui
