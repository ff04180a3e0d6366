// Everything about one model, below its card.
#pragma once

#include <QWidget>
#include <map>

#include "ui/models/model_rows.h"

class QGridLayout;
class QLabel;

namespace fovea::ui {

class ModelDetails : public QWidget {
  Q_OBJECT

 public:
  explicit ModelDetails(QWidget* parent = nullptr);
  void show_model(const LibraryRow& row);

 private:
  QLabel* add_fact(const QString& name, const QString& why);
  void set_fact(QLabel* value, const QString& text);

  QLabel* why_;
  // No QFormLayout: hiding its rows writes past its memory in Qt 6.4.
  QGridLayout* facts_;
  std::map<QLabel*, QLabel*> titles_;  // of the values
  QLabel *parameters_, *experts_, *context_, *architecture_, *format_, *stores_, *path_;
};

}  // namespace fovea::ui
