#include "ui/settings/settings_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/language/language.h"
#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"
#include "ui/theme/window_size.h"

namespace fovea::ui {
namespace {

QLabel* explain(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setWordWrap(true);
  label->setAlignment(Qt::AlignLeft | Qt::AlignTop);  // below what it explains, however tall its row is
  label->setForegroundRole(QPalette::PlaceholderText);
  return label;
}

}  // namespace

SettingsPage::SettingsPage(const SettingsView& settings, const PlacesView& places, int most_slots,
                           QWidget* parent)
    : Page(tr("Settings"), parent), settings_(settings) {
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  tabs_->setMaximumWidth(conversation_width);
  server_ = new ServerPage(settings_.server, most_slots, this);
  connect(server_, &ServerPage::changed, this, [this](const ServerView& server) {
    settings_.server = server;
    tell();
  });
  const auto add = [this](QWidget* page, const QString& name) {
    page->layout()->setContentsMargins(0, space::usual, 0, 0);
    tabs_->addTab(new PageArea(page, tabs_), name);
  };
  add(make_appearance(), tr("Appearance"));
  add(make_models(), tr("Models"));
  add(make_privacy(places), tr("Privacy and files"));
  add(server_, tr("Server"));
  content().addWidget(tabs_, 1);
}

QWidget* SettingsPage::make_appearance() {
  auto* page = new QWidget(this);
  auto* form = new QFormLayout(page);
  form->setHorizontalSpacing(space::usual);
  auto* restart = explain(tr("The language changes when Fovea is restarted."), page);
  restart->hide();

  auto* theme = new QComboBox(page);
  theme->setObjectName(QStringLiteral("theme"));
  theme->addItems({tr("Same as the desktop"), tr("Light"), tr("Dark")});
  theme->setCurrentIndex(static_cast<int>(settings_.theme));
  connect(theme, &QComboBox::activated, this, [this](int index) {
    settings_.theme = static_cast<ThemeView>(index);
    tell();
  });
  form->addRow(tr("&Colours"), theme);

  auto* language = new QComboBox(page);
  language->setObjectName(QStringLiteral("language"));
  language->addItem(tr("Same as the desktop"), QString());
  for (const WindowLanguage& each : languages()) language->addItem(each.name, each.code);
  language->setCurrentIndex(std::max(0, language->findData(settings_.language)));
  language->setToolTip(tr("Takes effect the next time Fovea starts"));
  connect(language, &QComboBox::activated, this, [this, language, restart] {
    settings_.language = language->currentData().toString();
    restart->show();
    tell();
  });
  form->addRow(tr("&Language"), language);
  form->addRow({}, restart);

  auto* size = new QSpinBox(page);
  size->setObjectName(QStringLiteral("textSize"));
  size->setRange(50, 300);
  size->setSingleStep(10);
  size->setSuffix(tr(" %"));
  size->setValue(settings_.text_percent);
  connect(size, &QSpinBox::valueChanged, this, [this](int percent) {
    settings_.text_percent = percent;
    tell();
  });
  form->addRow(tr("Te&xt size"), size);

  auto* key = new QComboBox(page);
  key->setObjectName(QStringLiteral("sendKey"));
  key->addItems(
      {tr("Enter sends, Shift+Enter starts a new line"), tr("Ctrl+Enter sends, Enter starts a new line")});
  key->setCurrentIndex(settings_.send_with_control ? 1 : 0);
  connect(key, &QComboBox::activated, this, [this](int index) {
    settings_.send_with_control = index == 1;
    tell();
  });
  form->addRow(tr("&Sending"), key);

  auto* still = new QCheckBox(tr("&Less motion"), page);
  still->setObjectName(QStringLiteral("lessMotion"));
  still->setToolTip(
      tr("Things move to their new place without animation; this is also so where the desktop asks for it"));
  still->setChecked(settings_.less_motion);
  connect(still, &QCheckBox::toggled, this, [this](bool less) {
    settings_.less_motion = less;
    tell();
  });
  form->addRow({}, still);
  return page;
}

QWidget* SettingsPage::make_models() {
  auto* page = new QWidget(this);
  auto* layout = new QVBoxLayout(page);
  layout->addWidget(explain(tr("Fovea looks for models in its own folder and in these:"), page));
  folders_ = new QListWidget(page);
  folders_->setObjectName(QStringLiteral("modelFolders"));
  folders_->setAccessibleName(tr("Model folders"));
  folders_->addItems(settings_.model_folders);
  folders_->setFixedHeight(6 * fontMetrics().lineSpacing());
  layout->addWidget(folders_);
  auto* add = new QPushButton(tr("&Add a folder…"), page);
  auto* remove = new QPushButton(tr("&Remove"), page);
  auto* row = new QHBoxLayout;
  row->addWidget(add);
  row->addWidget(remove);
  row->addStretch(1);
  layout->addLayout(row);
  connect(add, &QPushButton::clicked, this, &SettingsPage::add_folder);
  connect(remove, &QPushButton::clicked, this, &SettingsPage::remove_folder);

  auto* form = new QFormLayout;
  form->setHorizontalSpacing(space::usual);
  device_ = new DeviceBox(page);
  connect(device_, &DeviceBox::deviceChosen, this, &SettingsPage::deviceChosen);
  form->addRow(tr("R&un on"), device_);
  auto* context = new QSpinBox(page);
  context->setObjectName(QStringLiteral("context"));
  context->setRange(0, 1 << 20);
  context->setSingleStep(1024);
  context->setSpecialValueText(tr("automatic: the model's, at most 8,192"));
  context->setSuffix(tr(" tokens"));
  context->setValue(settings_.context_tokens);
  connect(context, &QSpinBox::valueChanged, this, [this](int tokens) {
    settings_.context_tokens = tokens;
    tell();
  });
  form->addRow(tr("&Context"), context);
  form->addRow(
      {},
      explain(
          tr("How much of a conversation the model sees at once. A longer context takes more memory; a model "
             "made for less gets what it was made for. This applies to the next model that is opened."),
          page));
  layout->addLayout(form);
  auto* wizard = new QPushButton(tr("&Find a model that fits…"), page);
  wizard->setObjectName(QStringLiteral("openWizard"));
  connect(wizard, &QPushButton::clicked, this, &SettingsPage::wizardRequested);
  layout->addWidget(wizard, 0, Qt::AlignLeft);
  layout->addStretch(1);
  return page;
}

QWidget* SettingsPage::make_privacy(const PlacesView& places) {
  auto* page = new QWidget(this);
  auto* layout = new QVBoxLayout(page);
  auto* offline = new QCheckBox(tr("&Offline: Fovea makes no connection at all"), page);
  offline->setObjectName(QStringLiteral("offline"));
  offline->setChecked(settings_.offline);
  connect(offline, &QCheckBox::toggled, this, [this](bool on) {
    settings_.offline = on;
    tell();
  });
  layout->addWidget(offline);
  layout->addWidget(
      explain(tr("Fovea sends nothing of its own accord: no telemetry, no update checks. It uses the network "
                 "only for the searches and downloads that you ask for. Programs that use Fovea are a "
                 "separate matter, with their own switch on the Server page."),
              page));
  auto* group = new QGroupBox(tr("Where your files are"), page);
  auto* form = new QFormLayout(group);
  form->setHorizontalSpacing(space::usual);
  const auto place = [group, form](const QString& name, const QString& path) {
    auto* label = new QLabel(path, group);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setWordWrap(true);
    form->addRow(name, label);
  };
  place(tr("Conversations and models"), places.data);
  place(tr("Settings"), places.config);
  place(tr("What can be recreated"), places.cache);
  layout->addWidget(make_token());
  layout->addWidget(group);
  layout->addStretch(1);
  return page;
}

QWidget* SettingsPage::make_token() {
  auto* group = new QGroupBox(tr("Access token of the model hub"), this);
  auto* layout = new QVBoxLayout(group);
  layout->addWidget(explain(
      tr("Some models are available only to people who have accepted their terms on the hub's page. The "
         "token proves that it is you. It is kept in the system's keyring, never in a file or a log."),
      group));
  token_ = new QLineEdit(group);
  token_->setObjectName(QStringLiteral("settingsToken"));
  token_->setAccessibleName(tr("Access token"));
  token_->setEchoMode(QLineEdit::Password);
  token_->setPlaceholderText(QStringLiteral("hf_…"));
  auto* save = new QPushButton(tr("&Save"), group);
  save->setObjectName(QStringLiteral("saveSettingsToken"));
  save->setEnabled(false);
  auto* forget = new QPushButton(tr("&Forget the stored one"), group);
  forget->setObjectName(QStringLiteral("forgetToken"));
  auto* row = new QHBoxLayout;
  row->addWidget(token_, 1);
  row->addWidget(save);
  row->addWidget(forget);
  layout->addLayout(row);
  token_note_ = explain({}, group);
  token_note_->setObjectName(QStringLiteral("tokenNote"));
  token_note_->hide();
  layout->addWidget(token_note_);
  const auto enter = [this] {
    if (const QString token = token_->text().trimmed(); !token.isEmpty()) Q_EMIT tokenEntered(token);
  };
  connect(token_, &QLineEdit::textChanged, save,
          [save](const QString& text) { save->setEnabled(!text.trimmed().isEmpty()); });
  connect(token_, &QLineEdit::returnPressed, this, enter);
  connect(save, &QPushButton::clicked, this, enter);
  connect(forget, &QPushButton::clicked, this, &SettingsPage::forgetTokenRequested);
  return group;
}

void SettingsPage::show_server() {
  tabs_->setCurrentIndex(tabs_->count() - 1);
}

void SettingsPage::set_devices(const std::vector<DeviceView>& devices, const QString& chosen) {
  device_->set_devices(devices, chosen);
}

void SettingsPage::show_token_note(const QString& text, bool is_error) {
  tint(*token_note_, QPalette::PlaceholderText, is_error ? error_text : nullptr);
  token_note_->setText(text);
  token_note_->show();
  if (!is_error) token_->clear();
}

void SettingsPage::add_folder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("A folder with models"));
  if (folder.isEmpty() || settings_.model_folders.contains(folder)) return;
  settings_.model_folders += folder;
  folders_->addItem(folder);
  tell();
}

void SettingsPage::remove_folder() {
  const int row = folders_->currentRow();
  if (row < 0) return;
  delete folders_->takeItem(row);
  settings_.model_folders.removeAt(row);
  tell();
}

}  // namespace fovea::ui
