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
    : QDialog(parent), schema_fault_(std::move(schema_fault)) {
  setWindowTitle(tr("Chat settings"));
  auto* page = new QWidget(this);
  auto* parts = new QVBoxLayout(page);
  parts->setContentsMargins(0, 0, 0, 0);
  parts->addWidget(make_presets());
  parts->addWidget(make_instructions());
  parts->addWidget(make_thinking(choices));
  parts->addWidget(make_form());
  make_numbers(usual);
  parts->addWidget(make_sampling());
  leave_out_oldest_ = new QCheckBox(tr("When the context is full, leave out the oldest messages"), this);
  leave_out_oldest_->setToolTip(
      tr("They stay in the conversation that you see; the model no longer reads them. The answer says how "
         "many."));
  parts->addWidget(leave_out_oldest_);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
  accept_ = buttons->button(QDialogButtonBox::Ok);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(new PageArea(page, this), 1);
  layout->addWidget(buttons);
  set_presets(presets);
  set_settings(settings);
  open_with(*this, sizeHint());
}

QWidget* ChatSettingsDialog::make_presets() {
  auto* box = new QWidget(this);
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  preset_row_ = new QWidget(box);
  preset_ = new QComboBox(preset_row_);
  preset_->setObjectName(QStringLiteral("preset"));
  preset_->setAccessibleName(tr("Preset"));
  preset_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);  // whatever they are called
  auto* save = new QPushButton(tr("Save as a preset…"), preset_row_);
  save->setToolTip(tr("Keep all of these settings under a name"));
  auto* row = new QHBoxLayout(preset_row_);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(preset_, 1);
  row->addWidget(save);
  name_row_ = new QWidget(box);
  name_ = new QLineEdit(name_row_);
  name_->setObjectName(QStringLiteral("presetName"));
  name_->setMaxLength(200);
  auto* label = new QLabel(tr("&Name"), name_row_);
  label->setBuddy(name_);
  auto* name_layout = new QHBoxLayout(name_row_);
  name_layout->setContentsMargins(0, 0, 0, 0);
  name_layout->addWidget(label);
  name_layout->addWidget(name_, 1);
  name_row_->hide();
  layout->addWidget(preset_row_);
  layout->addWidget(name_row_);
  connect(preset_, &QComboBox::activated, this, [this](int index) {
    if (index > 0) set_settings(presets_[static_cast<std::size_t>(index) - 1].settings);
  });
  connect(save, &QPushButton::clicked, this, &ChatSettingsDialog::save_preset);
  connect(name_, &QLineEdit::textChanged, this, &ChatSettingsDialog::check);
  return box;
}

void ChatSettingsDialog::set_presets(const std::vector<PresetView>& presets, const QString& chosen) {
  presets_ = presets;
  preset_->clear();
  preset_->addItem(tr("Load from a preset"));
  for (const PresetView& preset : presets_) preset_->addItem(preset.name, preset.id);
  preset_->setCurrentIndex(chosen.isEmpty() ? 0 : std::max(preset_->findData(chosen), 0));
}

void ChatSettingsDialog::ask_name(const QString& name) {
  setWindowTitle(tr("Preset"));
  preset_row_->hide();
  name_row_->show();
  name_->setText(name);
  name_->setFocus();
  check();
}

QString ChatSettingsDialog::name() const {
  return name_->text().simplified();
}

void ChatSettingsDialog::make_numbers(const ChatSettingsView& usual) {
  temperature_ =
      number(2, 0.05, usual.temperature,
             tr("How daring each choice is: 0 always takes the likeliest word, 1 follows the model's "
                "own odds."));
  top_k_ =
      count(1000, usual.top_k, tr("Only this many of the likeliest tokens may be chosen; 0: all of them."));
  top_p_ = number(1, 0.01, usual.top_p,
                  tr("Only the likeliest tokens that together have this probability may be chosen."));
  min_p_ = number(1, 0.01, usual.min_p,
                  tr("Only tokens at least this likely, compared with the likeliest one, may be chosen."));
  repetition_penalty_ = number(2, 0.05, usual.repetition_penalty,
                               tr("Above 1, words that were used lately become less likely."));
  dry_multiplier_ =
      number(5, 0.1, usual.dry_multiplier,
             tr("Above 0, repeating a passage becomes less likely, the more so the longer it is (DRY)."));
  max_tokens_ = count(1'000'000, usual.max_tokens, tr("The longest answer, in tokens."));
  max_tokens_->setMinimum(0);
  seed_ = new QLineEdit(this);
  seed_->setPlaceholderText(tr("a new one each time"));
  seed_->setToolTip(
      tr("The same seed, question and settings give the same answer, unless experts change their precision "
         "in the meantime."));
  seed_->setValidator(
      new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,19}")), seed_));
}

QWidget* ChatSettingsDialog::make_instructions() {
  auto* group = new QGroupBox(tr("Instructions"), this);
  auto* layout = new QVBoxLayout(group);
  instructions_ = new QPlainTextEdit(group);
  instructions_->setObjectName(QStringLiteral("instructions"));
  instructions_->setAccessibleName(tr("Instructions"));
  instructions_->setPlaceholderText(
      tr("What the model should keep in mind in this conversation. Empty: what its "
         "template says."));
  instructions_->setTabChangesFocus(true);
  instructions_->setMinimumHeight(fontMetrics().lineSpacing() * 5);
  layout->addWidget(instructions_);
  return group;
}

// A conversation keeps what it was told with another model; here is only what this one can be told.
QWidget* ChatSettingsDialog::make_thinking(ThinkingChoices choices) {
  auto* group = new QGroupBox(tr("Thinking"), this);
  auto* form = new QFormLayout(group);
  thinking_ = new QComboBox(group);
  thinking_->setObjectName(QStringLiteral("thinking"));
  thinking_->addItem(tr("Up to the model"));
  thinking_->addItem(tr("On"), true);
  thinking_->addItem(tr("Off"), false);
  thinking_->setToolTip(tr("Whether the model thinks before it answers. Its thoughts can be expanded."));
  effort_ = new QComboBox(group);
  effort_->setObjectName(QStringLiteral("effort"));
  effort_->addItem(tr("Up to the model"), QString());
  effort_->addItem(tr("Low"), QStringLiteral("low"));
  effort_->addItem(tr("Medium"), QStringLiteral("medium"));
  effort_->addItem(tr("High"), QStringLiteral("high"));
  effort_->setToolTip(tr("How long the model thinks: more is slower, and often better."));
  form->addRow(tr("Before it answers"), thinking_);
  form->addRow(tr("Effort"), effort_);
  form->setRowVisible(thinking_, choices.thinking);
  form->setRowVisible(effort_, choices.effort);
  group->setVisible(choices.thinking || choices.effort);
  return group;
}

QWidget* ChatSettingsDialog::make_form() {
  auto* group = new QGroupBox(tr("Answer format"), this);
  auto* layout = new QVBoxLayout(group);
  as_json_ = new QCheckBox(tr("Answer as JSON"), group);
  as_json_->setObjectName(QStringLiteral("as_json"));
  as_json_->setToolTip(
      tr("Every answer is a JSON object, whatever the model would say. Thoughts stay free."));
  schema_ = new QPlainTextEdit(group);
  schema_->setObjectName(QStringLiteral("schema"));
  schema_->setAccessibleName(tr("Answer schema"));
  schema_->setPlaceholderText(tr("A JSON schema that answers must follow. Empty: any object."));
  schema_->setTabChangesFocus(true);
  schema_->setMinimumHeight(fontMetrics().lineSpacing() * 4);
  schema_error_ = new QLabel(group);
  schema_error_->setObjectName(QStringLiteral("schema_error"));
  schema_error_->setWordWrap(true);
  schema_error_->setTextFormat(Qt::PlainText);
  layout->addWidget(as_json_);
  layout->addWidget(schema_);
  layout->addWidget(schema_error_);
  connect(as_json_, &QCheckBox::toggled, this, &ChatSettingsDialog::check);
  connect(schema_, &QPlainTextEdit::textChanged, this, &ChatSettingsDialog::check);
  return group;
}

// What is wrong is said while it is typed, and cannot be taken.
void ChatSettingsDialog::check() {
  const bool chosen = as_json_->isChecked();
  const QString schema = schema_->toPlainText().trimmed();
  const QString fault = chosen && !schema.isEmpty() && schema_fault_ ? schema_fault_(schema) : QString();
  schema_->setVisible(chosen);
  schema_error_->setVisible(!fault.isEmpty());
  schema_error_->setText(fault);
  accept_->setEnabled(fault.isEmpty() && (name_row_->isHidden() || !name().isEmpty()));
}

QWidget* ChatSettingsDialog::make_sampling() {
  auto* group = new QGroupBox(tr("Sampling"), this);
  auto* form = new QFormLayout(group);
  form->addRow(tr("Temperature"), temperature_);
  form->addRow(tr("Top-k"), top_k_);
  form->addRow(tr("Top-p"), top_p_);
  form->addRow(tr("Min-p"), min_p_);
  form->addRow(tr("Repetition penalty"), repetition_penalty_);
  form->addRow(tr("Repeated passage penalty"), dry_multiplier_);
  form->addRow(tr("Longest answer"), max_tokens_);
  form->addRow(tr("Seed"), seed_);
  return group;
}

QDoubleSpinBox* ChatSettingsDialog::number(double most, double step, std::optional<double> usual,
                                           const QString& why) {
  auto* box = new QDoubleSpinBox(this);
  box->setRange(-step, most);
  box->setSingleStep(step);
  box->setDecimals(2);
  box->setSpecialValueText(usual_text(usual ? locale().toString(*usual, 'g', 3) : QString()));
  box->setValue(box->minimum());
  box->setToolTip(why);
  return box;
}

QSpinBox* ChatSettingsDialog::count(int most, std::optional<int> usual, const QString& why) {
  auto* box = new QSpinBox(this);
  box->setRange(-1, most);
  box->setSpecialValueText(usual_text(usual ? locale().toString(*usual) : QString()));
  box->setValue(box->minimum());
  box->setToolTip(why);
  return box;
}

// Under the name of one of the user's own: in its place.
void ChatSettingsDialog::save_preset() {
  bool ok = false;
  const QString name =
      QInputDialog::getText(this, tr("Save as a preset"), tr("Name"), QLineEdit::Normal, {}, &ok)
          .simplified();
  if (!ok || name.isEmpty()) return;
  const auto same = std::ranges::find_if(
      presets_, [&name](const PresetView& preset) { return preset.name == name && !preset.built_in; });
  const QString id = same == presets_.end() ? QString() : same->id;
  Q_EMIT presetSaved({.id = id, .name = name, .settings = settings()});
}

void ChatSettingsDialog::set_settings(const ChatSettingsView& view) {
  const auto show = [](auto& box, const auto& value) { box.setValue(value ? *value : box.minimum()); };
  instructions_->setPlainText(view.instructions);
  show(*temperature_, view.temperature);
  show(*top_p_, view.top_p);
  show(*min_p_, view.min_p);
  show(*repetition_penalty_, view.repetition_penalty);
  show(*dry_multiplier_, view.dry_multiplier);
  show(*top_k_, view.top_k);
  show(*max_tokens_, view.max_tokens);
  seed_->setText(view.seed ? QString::number(*view.seed) : QString());
  thinking_->setCurrentIndex(!view.thinking ? 0 : *view.thinking ? 1 : 2);
  effort_->setCurrentIndex(std::max(effort_->findData(view.effort), 0));
  as_json_->setChecked(view.as_json);
  schema_->setPlainText(view.schema);
  leave_out_oldest_->setChecked(view.leave_out_oldest);
  check();
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
