// Everything about one model, and what can be done with it.
#pragma once

#include <QWidget>
#include <map>

#include "ui/models/model_rows.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QScrollArea;

namespace fovea::ui {

class ModelDetails : public QWidget {
  Q_OBJECT

 public:
  explicit ModelDetails(QWidget* parent = nullptr);

  void show_model(const LibraryRow& row);
  void show_nothing(const QString& why);
  // While a model is prepared, checked or deleted another one must wait.
  void set_busy(bool busy);
  const LibraryRow& model() const { return row_; }

 Q_SIGNALS:
  void openRequested();
  void prepareRequested();
  void checkRequested();
  void removeRequested();
  void showInFolderRequested();

 private:
  QLabel* add_fact(const QString& name, const QString& why);
  void set_fact(QLabel* value, const QString& text);
  void show_facts();
  void update_buttons();

  LibraryRow row_;
  bool busy_ = false;
  QScrollArea* scroll_;
  QLabel *nothing_, *name_, *path_, *fit_, *why_;
  // No QFormLayout: hiding its rows writes past its memory in Qt 6.4.
  QGridLayout* facts_;                 // that add_fact() adds to
  QWidget* more_;                      // what stands behind "Details"
  std::map<QLabel*, QLabel*> titles_;  // of the values
  QLabel *architecture_, *parameters_, *format_, *experts_, *context_, *size_, *stores_;
  QPushButton *open_, *prepare_, *check_, *folder_, *remove_;
};

}  // namespace fovea::ui
