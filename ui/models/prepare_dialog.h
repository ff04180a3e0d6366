// Which tiers a model is prepared at, what that takes on the disk, and the text that the model reads before.
#pragma once

#include <QDialog>
#include <QStringList>
#include <vector>

#include "ui/models/model_rows.h"

class QCheckBox;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace fovea::ui {

class DetailedText;

// What the low precisions learn from.
enum class PrepareText { none, built_in, file };

class PrepareDialog : public QDialog {
  Q_OBJECT

 public:
  // `has_experts`: what their precision costs is measured in minutes, and usually; of linear layers, each
  // measured alone, it takes hours.
  PrepareDialog(const QString& model, const std::vector<TierChoice>& tiers, bool has_experts,
                QWidget* parent = nullptr);

  QStringList tiers() const;  // from high to low
  PrepareText text() const;
  QString text_file() const;  // with PrepareText::file
  bool measures() const;      // what each precision costs; never without a text
  // For the tiers that are chosen now: they can be prepared, or why not.
  void show_ready(const QString& text);
  void show_obstacle(const QString& text, bool is_error, const QString& details = {});

 Q_SIGNALS:
  void tiersChosen(const QStringList& tiers);

 private:
  QWidget* make_text(bool has_experts);
  void leave_out_equals(std::size_t index);
  void change();
  void say_size(const QString& text, const QString& details = {});
  void fit();
  void update_start();

  std::vector<TierChoice> choices_;
  std::vector<QCheckBox*> boxes_;
  QRadioButton *no_text_, *built_in_text_, *own_text_;
  QCheckBox* measures_;
  QLineEdit* text_file_;
  DetailedText* size_;
  QPushButton* start_;
  bool ready_ = false;  // the tiers that are chosen now
};

}  // namespace fovea::ui
