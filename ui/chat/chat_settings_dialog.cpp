#include "ui/chat/chat_settings_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGroupBox>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QRegularExpressionValidator>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

// A spin box below its least value means "automatic".
QString usual_text(const QString& value) {
  return value.isEmpty() ? ChatSettingsDialog::tr("automatic")
                         : ChatSettingsDialog::tr("automatic: %1").arg(value);
}

std::optional<double> value_of(const QDoubleSpinBox& box) {
  if (box.value() <= box.minimum()) return std::nullopt;
  return box.value();
}

std::optional<int> value_of(const QSpinBox& box) {
  if (box.value() <= box.minimum()) return std::nullopt;
  return box.value();
}

}  // namespace

ChatSettingsDialog::ChatSettingsDialog(const ChatSettingsView& settings, const ChatSettingsView& usual,
                                       const std::vector<PresetView>& presets, ThinkingChoices choices,
                                       QWidget* parent, SchemaFault schema_fault)
    : QDialog(parent), presets_(presets), schema_fault_(std::move(schema_fault)) {
  setWindowTitle(tr("Chat settings"));
  auto* page = new QWidget(this);
  auto* parts = new QVBoxLayout(page);
  parts->setContentsMargins(0, 0, 0, 0);
  parts->addWidget(make_instructions());
  instructions_->setPlainText(settings.instructions);
  parts->addWidget(make_thinking(settings, choices));
  parts->addWidget(make_form(settings));
  temperature_ =
      number(2, 0.05, settings.temperature, usual.temperature,
             tr("How daring each choice is: 0 always takes the likeliest word, 1 follows the model's "
                "own odds."));
  top_k_ = count(1000, settings.top_k, usual.top_k,
                 tr("Only so many of the likeliest tokens may be chosen; 0: all of them."));
  top_p_ = number(1, 0.01, settings.top_p, usual.top_p,
                  tr("Only the likeliest tokens that together have this probability may be chosen."));
  min_p_ = number(1, 0.01, settings.min_p, usual.min_p,
                  tr("Only tokens at least this likely, compared with the likeliest one, may be chosen."));
  repetition_penalty_ = number(2, 0.05, settings.repetition_penalty, usual.repetition_penalty,
                               tr("Above 1, words that were used lately become less likely."));
  dry_multiplier_ =
      number(5, 0.1, settings.dry_multiplier, usual.dry_multiplier,
             tr("Above 0, repeating a passage becomes less likely, the more so the longer it is (DRY)."));
  max_tokens_ = count(1'000'000, settings.max_tokens, usual.max_tokens, tr("The longest answer, in tokens."));
  max_tokens_->setMinimum(0);
  seed_ = new QLineEdit(settings.seed ? QString::number(*settings.seed) : QString(), this);
  seed_->setPlaceholderText(tr("a new one each time"));
  seed_->setToolTip(
      tr("The same seed, question and settings give the same answer, unless experts change their precision "
         "meanwhile."));
  seed_->setValidator(
      new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,19}")), seed_));
  parts->addWidget(make_sampling());
  leave_out_oldest_ = new QCheckBox(tr("When the context is full, leave out the oldest turns"), this);
  leave_out_oldest_->setToolTip(
      tr("They stay in the conversation that you see; the model no longer reads them. The answer says how "
         "many."));
  leave_out_oldest_->setChecked(settings.leave_out_oldest);
  parts->addWidget(leave_out_oldest_);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
  accept_ = buttons->button(QDialogButtonBox::Ok);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(new PageArea(page, this), 1);
  layout->addWidget(buttons);
  check_schema();
  open_with(*this, sizeHint());
}

QWidget* ChatSettingsDialog::make_instructions() {
  auto* group = new QGroupBox(tr("Instructions"), this);
  auto* layout = new QVBoxLayout(group);
  preset_ = new QComboBox(group);
  preset_->setAccessibleName(tr("Saved instructions"));
  instructions_ = new QPlainTextEdit(group);
  instructions_->setObjectName(QStringLiteral("instructions"));
  instructions_->setAccessibleName(tr("Instructions"));
  instructions_->setPlaceholderText(
      tr("What the model should keep in mind in this conversation. Empty: what its "
         "template says."));
  instructions_->setTabChangesFocus(true);
  instructions_->setMinimumHeight(fontMetrics().lineSpacing() * 5);
  auto* save = new QPushButton(tr("Save…"), group);
  save->setToolTip(tr("Keep these instructions under a name"));
  auto* remove = new QPushButton(tr("Remove"), group);
  remove->setEnabled(false);
  remove->setToolTip(tr("Forget the saved instructions that are chosen"));
  auto* row = new QHBoxLayout;
  row->addWidget(preset_, 1);
  row->addWidget(save);
  row->addWidget(remove);
  layout->addLayout(row);
  layout->addWidget(instructions_);
  fill_presets();
  connect(preset_, &QComboBox::activated, this, [this](int index) {
    if (index > 0) instructions_->setPlainText(presets_[static_cast<std::size_t>(index) - 1].text);
  });
  connect(preset_, &QComboBox::currentIndexChanged, remove,
          [remove](int index) { remove->setEnabled(index > 0); });
  connect(save, &QPushButton::clicked, this, &ChatSettingsDialog::save_preset);
  connect(remove, &QPushButton::clicked, this, &ChatSettingsDialog::remove_preset);
  return group;
}

// A conversation keeps what it was told with another model; here is only what this one can be told.
QWidget* ChatSettingsDialog::make_thinking(const ChatSettingsView& settings, ThinkingChoices choices) {
  auto* group = new QGroupBox(tr("Thinking"), this);
  auto* form = new QFormLayout(group);
  thinking_ = new QComboBox(group);
  thinking_->setObjectName(QStringLiteral("thinking"));
  thinking_->addItem(tr("As the model likes"));
  thinking_->addItem(tr("On"), true);
  thinking_->addItem(tr("Off"), false);
  thinking_->setToolTip(tr("Whether the model thinks before it answers. Its thoughts can be unfolded."));
  if (settings.thinking) thinking_->setCurrentIndex(*settings.thinking ? 1 : 2);
  effort_ = new QComboBox(group);
  effort_->setObjectName(QStringLiteral("effort"));
  effort_->addItem(tr("As the model likes"), QString());
  effort_->addItem(tr("Low"), QStringLiteral("low"));
  effort_->addItem(tr("Medium"), QStringLiteral("medium"));
  effort_->addItem(tr("High"), QStringLiteral("high"));
  effort_->setToolTip(tr("How long the model thinks: more is slower, and often better."));
  effort_->setCurrentIndex(std::max(effort_->findData(settings.effort), 0));
  form->addRow(tr("Before it answers"), thinking_);
  form->addRow(tr("Effort"), effort_);
  form->setRowVisible(thinking_, choices.thinking);
  form->setRowVisible(effort_, choices.effort);
  group->setVisible(choices.thinking || choices.effort);
  return group;
}

QWidget* ChatSettingsDialog::make_form(const ChatSettingsView& settings) {
  auto* group = new QGroupBox(tr("Form of the answers"), this);
  auto* layout = new QVBoxLayout(group);
  as_json_ = new QCheckBox(tr("Answer as JSON"), group);
  as_json_->setObjectName(QStringLiteral("as_json"));
  as_json_->setToolTip(
      tr("Every answer is a JSON object, whatever the model would say. Thoughts stay free."));
  as_json_->setChecked(settings.as_json);
  schema_ = new QPlainTextEdit(settings.schema, group);
  schema_->setObjectName(QStringLiteral("schema"));
  schema_->setAccessibleName(tr("Schema of the answers"));
  schema_->setPlaceholderText(tr("A JSON schema that the answers keep to. Empty: any object."));
  schema_->setTabChangesFocus(true);
  schema_->setMinimumHeight(fontMetrics().lineSpacing() * 4);
  schema_error_ = new QLabel(group);
  schema_error_->setObjectName(QStringLiteral("schema_error"));
  schema_error_->setWordWrap(true);
  schema_error_->setTextFormat(Qt::PlainText);
  layout->addWidget(as_json_);
  layout->addWidget(schema_);
  layout->addWidget(schema_error_);
  connect(as_json_, &QCheckBox::toggled, this, &ChatSettingsDialog::check_schema);
  connect(schema_, &QPlainTextEdit::textChanged, this, &ChatSettingsDialog::check_schema);
  return group;
}

// What is wrong is said while it is typed, and cannot be taken.
void ChatSettingsDialog::check_schema() {
  const bool chosen = as_json_->isChecked();
  const QString schema = schema_->toPlainText().trimmed();
  const QString fault = chosen && !schema.isEmpty() && schema_fault_ ? schema_fault_(schema) : QString();
  schema_->setVisible(chosen);
  schema_error_->setVisible(!fault.isEmpty());
  schema_error_->setText(fault);
  accept_->setEnabled(fault.isEmpty());
}

QWidget* ChatSettingsDialog::make_sampling() {
  auto* group = new QGroupBox(tr("Sampling"), this);
  auto* form = new QFormLayout(group);
  form->addRow(tr("Temperature"), temperature_);
  form->addRow(tr("Top-k"), top_k_);
  form->addRow(tr("Top-p"), top_p_);
  form->addRow(tr("Min-p"), min_p_);
  form->addRow(tr("Repetition penalty"), repetition_penalty_);
  form->addRow(tr("Against repeated passages"), dry_multiplier_);
  form->addRow(tr("Longest answer"), max_tokens_);
  form->addRow(tr("Seed"), seed_);
  return group;
}

QDoubleSpinBox* ChatSettingsDialog::number(double most, double step, std::optional<double> value,
                                           std::optional<double> usual, const QString& why) {
  auto* box = new QDoubleSpinBox(this);
  box->setRange(-step, most);
  box->setSingleStep(step);
  box->setDecimals(2);
  box->setSpecialValueText(usual_text(usual ? locale().toString(*usual, 'g', 3) : QString()));
  box->setValue(value ? *value : box->minimum());
  box->setToolTip(why);
  return box;
}

QSpinBox* ChatSettingsDialog::count(int most, std::optional<int> value, std::optional<int> usual,
                                    const QString& why) {
  auto* box = new QSpinBox(this);
  box->setRange(-1, most);
  box->setSpecialValueText(usual_text(usual ? locale().toString(*usual) : QString()));
  box->setValue(value ? *value : box->minimum());
  box->setToolTip(why);
  return box;
}

void ChatSettingsDialog::fill_presets() {
  preset_->clear();
  preset_->addItem(presets_.empty() ? tr("No saved instructions yet") : tr("Use saved instructions"));
  for (const PresetView& preset : presets_) preset_->addItem(preset.name);
}

void ChatSettingsDialog::save_preset() {
  bool ok = false;
  const QString name =
      QInputDialog::getText(this, tr("Save instructions"), tr("Name"), QLineEdit::Normal, {}, &ok)
          .simplified();
  if (!ok || name.isEmpty()) return;
  const auto same = std::ranges::find(presets_, name, &PresetView::name);
  if (same != presets_.end()) {
    same->text = instructions_->toPlainText();
  } else {
    presets_.push_back({name, instructions_->toPlainText()});
  }
  fill_presets();
  preset_->setCurrentText(name);
  Q_EMIT presetsChanged();
}

void ChatSettingsDialog::remove_preset() {
  const int index = preset_->currentIndex();
  if (index <= 0) return;
  presets_.erase(presets_.begin() + (index - 1));
  fill_presets();
  Q_EMIT presetsChanged();
}

ChatSettingsView ChatSettingsDialog::settings() const {
  ChatSettingsView view;
  view.instructions = instructions_->toPlainText().trimmed();
  view.temperature = value_of(*temperature_);
  view.top_p = value_of(*top_p_);
  view.min_p = value_of(*min_p_);
  view.repetition_penalty = value_of(*repetition_penalty_);
  view.dry_multiplier = value_of(*dry_multiplier_);
  view.top_k = value_of(*top_k_);
  view.max_tokens = value_of(*max_tokens_);
  bool ok = false;
  if (const quint64 seed = seed_->text().toULongLong(&ok); ok) view.seed = seed;
  if (const QVariant on = thinking_->currentData(); on.isValid()) view.thinking = on.toBool();
  view.effort = effort_->currentData().toString();
  view.as_json = as_json_->isChecked();
  view.schema = schema_->toPlainText().trimmed();
  view.leave_out_oldest = leave_out_oldest_->isChecked();
  return view;
}

}  // namespace fovea::ui
