#include "ui/models/prepare_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/models/fit_style.h"
#include "ui/theme/theme.h"

namespace fovea::ui {

PrepareDialog::PrepareDialog(const QString& model, const std::vector<TierChoice>& tiers, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Prepare a model"));
  setMinimumWidth(fontMetrics().averageCharWidth() * 64);
  auto* layout = new QVBoxLayout(this);
  const auto add_text = [this, layout](const QString& text) {
    auto* label = new QLabel(text, this);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    layout->addWidget(label);
    return label;
  };
  add_text(
      tr("%1 is written to the disk at each of these precisions. While it talks, the parts that it uses "
         "most can then be precise and the others small. This takes minutes, for a large model hours, and "
         "can be stopped and continued.")
          .arg(breakable(model)));
  for (const TierChoice& tier : tiers) {
    auto* box = new QCheckBox(tier.text, this);
    box->setObjectName(QStringLiteral("tier_") + tier.name);
    box->setChecked(tier.chosen);
    connect(box, &QCheckBox::toggled, this, &PrepareDialog::change);
    names_.push_back(tier.name);
    boxes_.push_back(box);
    layout->addWidget(box);
  }
  size_ = add_text({});
  size_->setObjectName(QStringLiteral("prepareSize"));
  layout->addStretch(1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  start_ = buttons->addButton(tr("Prepare"), QDialogButtonBox::AcceptRole);
  start_->setObjectName(QStringLiteral("startPrepare"));
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  layout->addWidget(buttons);
  start_->setEnabled(false);
}

QStringList PrepareDialog::tiers() const {
  QStringList chosen;
  for (std::size_t i = 0; i < boxes_.size(); ++i)
    if (boxes_[i]->isChecked()) chosen += names_[i];
  return chosen;
}

void PrepareDialog::change() {
  start_->setEnabled(false);
  size_->setPalette(palette());
  if (tiers().size() < 2) {
    size_->setText(tr("Choose at least two: with one there is nothing to change between."));
    return;
  }
  size_->setText(tr("Working out what it takes…"));
  Q_EMIT sizeWanted(tiers());
}

void PrepareDialog::show_size(qint64 bytes, qint64 free_bytes) {
  if (bytes > free_bytes) {
    show_error(
        tr("It takes %1 on the disk, and %2 are free there.").arg(size_text(bytes), size_text(free_bytes)));
    return;
  }
  size_->setPalette(palette());
  size_->setText(
      tr("It takes %1 on the disk; %2 are free there.").arg(size_text(bytes), size_text(free_bytes)));
  start_->setEnabled(true);
  start_->setDefault(true);
}

void PrepareDialog::show_error(const QString& text) {
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, error_text(palette()));
  size_->setPalette(colours);
  size_->setText(text);
  start_->setEnabled(false);
}

}  // namespace fovea::ui
