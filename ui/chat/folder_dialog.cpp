#include "ui/chat/folder_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/theme/tokens.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

// Long names do not widen the dialog.
constexpr int kNameLetters = 28;

void fill_choices(QComboBox& box, const QString& none, const std::vector<FolderChoice>& choices,
                  const QString& chosen) {
  box.setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box.setMinimumContentsLength(kNameLetters);
  box.addItem(none, QString());
  for (const FolderChoice& choice : choices) box.addItem(choice.name, choice.id);
  if (box.findData(chosen) < 0) box.addItem(FolderDialog::tr("One that is no longer there"), chosen);
  box.setCurrentIndex(box.findData(chosen));
}

}  // namespace

FolderDialog::FolderDialog(const QString& folder, const std::vector<FolderChoice>& presets,
                           const QString& preset, const std::vector<FolderChoice>& models,
                           const QString& model, QWidget* parent)
    : QDialog(parent), preset_(new QComboBox(this)), model_(new QComboBox(this)) {
  setWindowTitle(tr("New chats in “%1”").arg(folder));
  preset_->setObjectName(QStringLiteral("folderPreset"));
  model_->setObjectName(QStringLiteral("folderModel"));
  fill_choices(*preset_, tr("The default settings"), presets, preset);
  fill_choices(*model_, tr("The model that is open"), models, model);
  auto* about = new QLabel(tr("Existing chats stay as they are."), this);
  about->setWordWrap(true);
  about->setForegroundRole(QPalette::PlaceholderText);
  auto* form = new QFormLayout;
  form->addRow(tr("Start with the &preset"), preset_);
  form->addRow(tr("and the &model"), model_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(space::usual);
  layout->addLayout(form);
  layout->addWidget(about);
  layout->addStretch(1);
  layout->addWidget(buttons);
  open_with(*this, sizeHint());
}

QString FolderDialog::preset() const {
  return preset_->currentData().toString();
}

QString FolderDialog::model() const {
  return model_->currentData().toString();
}

}  // namespace fovea::ui
