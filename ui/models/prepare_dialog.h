// Which tiers a model is prepared at, and what that takes on the disk.
#pragma once

#include <QDialog>
#include <QStringList>
#include <vector>

#include "ui/models/model_rows.h"

class QCheckBox;
class QLabel;
class QPushButton;

namespace fovea::ui {

class PrepareDialog : public QDialog {
  Q_OBJECT

 public:
  PrepareDialog(const QString& model, const std::vector<TierChoice>& tiers, QWidget* parent = nullptr);

  QStringList tiers() const;  // from high to low
  // For the tiers that are chosen now.
  void show_size(qint64 bytes, qint64 free_bytes);
  void show_error(const QString& text);

 Q_SIGNALS:
  void sizeWanted(const QStringList& tiers);

 private:
  void change();

  std::vector<QString> names_;
  std::vector<QCheckBox*> boxes_;
  QLabel* size_;
  QPushButton* start_;
};

}  // namespace fovea::ui
