#include "ui/settings/server_page.h"

#include <QCheckBox>
#include <QClipboard>
#include <QFormLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

QLabel* small_print(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setWordWrap(true);
  label->setForegroundRole(QPalette::PlaceholderText);
  return label;
}

QLineEdit* shown_text(const char* name, const QString& what, QWidget* parent) {
  auto* field = new QLineEdit(parent);
  field->setObjectName(QLatin1String(name));
  field->setAccessibleName(what);
  field->setReadOnly(true);
  return field;
}

// Puts the field's text onto the clipboard.
QPushButton* copy_button(const char* name, const QString& text, const QLineEdit* field, QWidget* parent) {
  auto* button = new QPushButton(text, parent);
  button->setObjectName(QLatin1String(name));
  QObject::connect(button, &QPushButton::clicked, field,
                   [field] { QGuiApplication::clipboard()->setText(field->text()); });
  return button;
}

}  // namespace

ServerPage::ServerPage(const ServerView& server, int most_slots, QWidget* parent)
    : QWidget(parent), server_(server) {
  auto* layout = new QVBoxLayout(this);
  auto* on = new QCheckBox(tr("Answer &other programs"), this);
  on->setObjectName(QStringLiteral("serverOn"));
  on->setChecked(server_.on);
  connect(on, &QCheckBox::toggled, this, [this](bool is_on) {
    server_.on = is_on;
    tell();
  });
  layout->addWidget(on);
  layout->addWidget(small_print(
      tr("Editors, agents and scripts can use the model that is open here as they use OpenAI, Anthropic, "
         "Ollama or llama.cpp. Another model in the library is loaded when a program names it and there is "
         "memory for it beside yours; yours is never unloaded for another."),
      this));
  layout->addWidget(make_state());
  layout->addWidget(make_choices(most_slots));
  layout->addWidget(make_key());
  layout->addWidget(small_print(tr("The offline switch concerns connections that Fovea makes, and the server "
                                   "makes none: the two are independent."),
                                this));
  layout->addStretch(1);
  set_state({});
}

QWidget* ServerPage::make_state() {
  auto* box = new QWidget(this);
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 4, 0, 4);
  auto* first = new QHBoxLayout;
  sentence_ = new QLabel(box);
  sentence_->setObjectName(QStringLiteral("serverState"));
  sentence_->setWordWrap(true);
  retry_ = new QPushButton(tr("&Try again"), box);
  retry_->setObjectName(QStringLiteral("serverRetry"));
  connect(retry_, &QPushButton::clicked, this, &ServerPage::retryRequested);
  first->addWidget(sentence_, 1);
  first->addWidget(retry_, 0, Qt::AlignTop);
  layout->addLayout(first);
  auto* row = new QHBoxLayout;
  address_ = shown_text("serverAddress", tr("Address"), box);
  copy_address_ = copy_button("copyAddress", tr("Cop&y"), address_, box);
  row->addWidget(address_, 1);
  row->addWidget(copy_address_);
  layout->addLayout(row);
  requests_ = small_print({}, box);
  requests_->setObjectName(QStringLiteral("serverRequests"));
  layout->addWidget(requests_);
  return box;
}

QWidget* ServerPage::make_choices(int most_slots) {
  auto* box = new QWidget(this);
  auto* form = new QFormLayout(box);
  form->setHorizontalSpacing(space::usual);
  form->setContentsMargins(0, 0, 0, 0);
  auto* port = new QSpinBox(box);
  port->setObjectName(QStringLiteral("serverPort"));
  port->setRange(0, 65535);
  port->setSpecialValueText(tr("any free port"));
  port->setKeyboardTracking(false);  // a port that is half typed is another one
  port->setValue(server_.port);
  connect(port, &QSpinBox::valueChanged, this, [this](int number) {
    server_.port = number;
    tell();
  });
  form->addRow(tr("&Port"), port);
  auto* slots = new QSpinBox(box);
  slots->setObjectName(QStringLiteral("serverSlots"));
  slots->setRange(1, most_slots);
  slots->setKeyboardTracking(false);
  slots->setValue(server_.slots);
  connect(slots, &QSpinBox::valueChanged, this, [this](int number) {
    server_.slots = number;
    tell();
  });
  form->addRow(tr("Requests &at once"), slots);
  form->addRow({}, small_print(tr("This many are answered in the same passes as your conversation and share "
                                  "one context's memory with it; others wait."),
                               box));
  return box;
}

QWidget* ServerPage::make_key() {
  auto* box = new QWidget(this);
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* others = new QCheckBox(tr("Also from other co&mputers, with a key"), box);
  others->setObjectName(QStringLiteral("serverForOthers"));
  others->setChecked(server_.for_other_computers);
  layout->addWidget(others);
  key_box_ = new QWidget(box);
  auto* inner = new QVBoxLayout(key_box_);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->addWidget(small_print(tr("Anyone who can reach this computer and has the key can use the models. "
                                  "Questions and answers cross the network unencrypted."),
                               key_box_));
  auto* row = new QHBoxLayout;
  key_ = shown_text("serverKey", tr("Key"), key_box_);
  auto* show = new QPushButton(tr("&Show"), key_box_);
  show->setObjectName(QStringLiteral("showKey"));
  show->setCheckable(true);
  connect(show, &QPushButton::toggled, this, &ServerPage::show_key);
  new_key_ = new QPushButton(tr("&New key"), key_box_);
  new_key_->setObjectName(QStringLiteral("newKey"));
  new_key_->setToolTip(tr("Programs with the current key will no longer be let in"));
  connect(new_key_, &QPushButton::clicked, this, &ServerPage::newKeyRequested);
  row->addWidget(key_, 1);
  row->addWidget(show);
  row->addWidget(copy_button("copyKey", tr("Copy &key"), key_, key_box_));
  row->addWidget(new_key_);
  inner->addLayout(row);
  key_place_ = small_print({}, key_box_);
  key_place_->setObjectName(QStringLiteral("serverKeyPlace"));
  inner->addWidget(key_place_);
  layout->addWidget(key_box_);
  key_box_->setVisible(server_.for_other_computers);
  show_key(false);
  connect(others, &QCheckBox::toggled, this, [this](bool for_others) {
    server_.for_other_computers = for_others;
    key_box_->setVisible(for_others);
    tell();
  });
  return box;
}

void ServerPage::show_key(bool shown) {
  key_->setEchoMode(shown ? QLineEdit::Normal : QLineEdit::Password);
}

void ServerPage::set_state(const ServerStateView& state) {
  using State = ServerStateView::State;
  tint(*sentence_, QPalette::WindowText, state.state == State::failed ? error_text : nullptr);
  sentence_->setText(state.sentence.isEmpty() ? tr("No other program is answered.") : state.sentence);
  retry_->setVisible(state.state == State::failed);
  copy_address_->setEnabled(!state.address.isEmpty());
  if (address_->text() != state.address) address_->setText(state.address);  // what is marked in it stays
  requests_->setText(state.requests == 0 ? tr("No request is in progress.")
                                         : tr("%n request(s) in progress", nullptr, state.requests));
  if (key_->text() != state.key) key_->setText(state.key);
  new_key_->setEnabled(!state.key.isEmpty());
  key_place_->setText(state.key_place);
  key_place_->setVisible(!state.key_place.isEmpty());
}

}  // namespace fovea::ui
