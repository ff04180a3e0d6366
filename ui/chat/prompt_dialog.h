// The name and the text of a prompt that is kept.
#pragma once

#include <QDialog>

#include "ui/chat/preset_view.h"

class QLineEdit;
class QPlainTextEdit;

namespace fovea::ui {

class PromptDialog : public QDialog {
  Q_OBJECT

 public:
  explicit PromptDialog(const PromptView& prompt, QWidget* parent = nullptr);
  PromptView prompt() const;

 private:
  PromptView prompt_;
  QLineEdit* name_;
  QPlainTextEdit* text_;
};

}  // namespace fovea::ui
