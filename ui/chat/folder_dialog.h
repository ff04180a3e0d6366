// What new chats in a folder start with: a preset, a model.
#pragma once

#include <QDialog>
#include <vector>

class QComboBox;

namespace fovea::ui {

struct FolderChoice {  // a preset or a model
  QString name;
  QString id;
};

class FolderDialog : public QDialog {
  Q_OBJECT

 public:
  // An id that is not among the choices is kept and shown as gone.
  FolderDialog(const QString& folder, const std::vector<FolderChoice>& presets, const QString& preset,
               const std::vector<FolderChoice>& models, const QString& model, QWidget* parent = nullptr);

  QString preset() const;  // empty: the usual settings
  QString model() const;   // empty: the one that is open

 private:
  QComboBox* preset_;
  QComboBox* model_;
};

}  // namespace fovea::ui
