// Instructions and sampling for one conversation, or of a preset. Whatever is not set stays as the model
// likes it.
#pragma once

#include <QDialog>
#include <QString>
#include <functional>
#include <optional>
#include <vector>

#include "ui/chat/preset_view.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace fovea::ui {

// What the opened model's chat template can be told.
struct ThinkingChoices {
  bool thinking = false;
  bool effort = false;
};

// What is wrong with a schema, in the user's language; empty: nothing.
using SchemaFault = std::function<QString(const QString& schema)>;

class ChatSettingsDialog : public QDialog {
  Q_OBJECT

 public:
  // `usual`: what the model uses where nothing is set, all of it given.
  ChatSettingsDialog(const ChatSettingsView& settings, const ChatSettingsView& usual,
                     const std::vector<PresetView>& presets, ThinkingChoices choices = {},
                     QWidget* parent = nullptr, SchemaFault schema_fault = {});

  ChatSettingsView settings() const;
  void set_settings(const ChatSettingsView& settings);
  void set_presets(const std::vector<PresetView>& presets, const QString& chosen = {});
  // It is a preset that is changed: it has a name, and needs one.
  void ask_name(const QString& name);
  QString name() const;

 Q_SIGNALS:
  void presetSaved(const fovea::ui::PresetView& preset);  // with the id of the user's own that is called so

 private:
  QWidget* make_instructions();
  QWidget* make_presets();
  QWidget* make_thinking(ThinkingChoices choices);
  QWidget* make_form();
  void make_numbers(const ChatSettingsView& usual);
  void check();
  QWidget* make_sampling();
  QDoubleSpinBox* number(double most, double step, std::optional<double> usual, const QString& why);
  QSpinBox* count(int most, std::optional<int> usual, const QString& why);
  void save_preset();

  std::vector<PresetView> presets_;
  QWidget* preset_row_;
  QComboBox* preset_;
  QWidget* name_row_;
  QLineEdit* name_;
  QComboBox *thinking_, *effort_;
  QPlainTextEdit* instructions_;
  QDoubleSpinBox *temperature_, *top_p_, *min_p_, *repetition_penalty_, *dry_multiplier_;
  QSpinBox *top_k_, *max_tokens_;
  QLineEdit* seed_;
  QCheckBox* leave_out_oldest_;
  SchemaFault schema_fault_;  // null: every schema is taken
  QCheckBox* as_json_;
  QPlainTextEdit* schema_;
  QLabel* schema_error_;
  QPushButton* accept_;
};

}  // namespace fovea::ui
