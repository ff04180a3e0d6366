// Instructions and sampling for one conversation. Whatever is not set stays as the model likes it.
#pragma once

#include <QDialog>
#include <QString>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace fovea::ui {

struct PresetView {  // instructions that are used again
  QString name;
  QString text;
  bool operator==(const PresetView&) const = default;
};

struct ChatSettingsView {
  QString instructions;  // the system message
  std::optional<double> temperature, top_p, min_p, repetition_penalty, dry_multiplier;
  std::optional<int> top_k, max_tokens;
  std::optional<quint64> seed;
  std::optional<bool> thinking;
  QString effort;                 // "low", "medium", "high"; empty: as the model likes
  bool as_json = false;           // answers are JSON …
  QString schema;                 // … under this schema, kept where they are not; empty: any object
  bool leave_out_oldest = false;  // when the context is full
  bool operator==(const ChatSettingsView&) const = default;
};

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
  const std::vector<PresetView>& presets() const { return presets_; }

 Q_SIGNALS:
  void presetsChanged();

 private:
  QWidget* make_instructions();
  QWidget* make_thinking(const ChatSettingsView& settings, ThinkingChoices choices);
  QWidget* make_form(const ChatSettingsView& settings);
  void check_schema();
  QWidget* make_sampling();
  QDoubleSpinBox* number(double most, double step, std::optional<double> value, std::optional<double> usual,
                         const QString& why);
  QSpinBox* count(int most, std::optional<int> value, std::optional<int> usual, const QString& why);
  void fill_presets();
  void save_preset();
  void remove_preset();

  std::vector<PresetView> presets_;
  QComboBox* preset_;
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
