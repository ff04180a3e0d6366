#include "ui/chat/prompt_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/window_size.h"

namespace fovea::ui {

PromptDialog::PromptDialog(const PromptView& prompt, QWidget* parent)
    : QDialog(parent),
      prompt_(prompt),
      name_(new QLineEdit(prompt.name, this)),
      text_(new QPlainTextEdit(prompt.text, this)) {
  setWindowTitle(prompt.id.isEmpty() ? tr("New prompt") : tr("Edit the prompt"));
  name_->setObjectName(QStringLiteral("promptName"));
  name_->setMaxLength(200);
  text_->setObjectName(QStringLiteral("promptText"));
  text_->setTabChangesFocus(true);
  text_->setPlaceholderText(
      tr("The text that is inserted where you type; you can continue writing after it."));
  text_->setMinimumHeight(fontMetrics().lineSpacing() * 7);
  auto* form = new QFormLayout;
  form->setRowWrapPolicy(QFormLayout::WrapAllRows);
  form->addRow(tr("&Name"), name_);
  form->addRow(tr("&Text"), text_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
  QPushButton* save = buttons->button(QDialogButtonBox::Save);
  const auto update = [this, save] {
    save->setEnabled(!name_->text().simplified().isEmpty() && !text_->toPlainText().trimmed().isEmpty());
  };
  connect(name_, &QLineEdit::textChanged, this, update);
  connect(text_, &QPlainTextEdit::textChanged, this, update);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form, 1);
  layout->addWidget(buttons);
  update();
  open_with(*this, sizeHint().expandedTo({fontMetrics().averageCharWidth() * 64, 0}));
}

PromptView PromptDialog::prompt() const {
  PromptView made = prompt_;
  made.name = name_->text().simplified();
  made.text = text_->toPlainText();
  made.built_in = false;
  return made;
}

}  // namespace fovea::ui
