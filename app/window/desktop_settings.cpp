// The desktop's settings: written where they change, shown on their page, and what follows from them.
#include <QPointer>

#include "app/library/background.h"
#include "app/library/data_folder.h"
#include "app/library/stores.h"
#include "app/window/desktop.h"
#include "app/window/model_words.h"
#include "app/window/models_controller.h"
#include "app/window/server_link.h"
#include "app/window/window_errors.h"
#include "app/wizard/device_views.h"
#include "app/words/qt_text.h"
#include "engine/api/limits.h"
#include "ui/chat/composer.h"
#include "ui/chat/sidebar.h"

namespace fovea::app {

void Desktop::change_settings(const std::function<void(Settings&)>& change) {
  change(settings_);
  writer_.start([this, change] {
    const auto written = settings_file_.update(change);
    QMetaObject::invokeMethod(this, [this, written, notices = settings_file_.take_notices()] {
      if (!written) tell_error(*window_, written.error());
      tell_settings(notices);
    });
  });
}

void Desktop::tell_settings(const std::vector<Phrase>& notices) {
  QStringList sentences;
  for (const Phrase& notice : notices) sentences += sentence_words(notice);
  if (!sentences.isEmpty()) window_->show_notice(tr("Settings: %1").arg(sentences.join(QLatin1Char('\n'))));
}

void Desktop::apply_settings() {
  apply_appearance();
  window_->composer().set_send_with_control(settings_.send_key == SendKey::control_enter);
  chat_->set_load_defaults(load_defaults());
  models_->set_folders({settings_.model_folders.begin(), settings_.model_folders.end()});
  models_->set_offline(settings_.offline);
  models_->set_limits(settings_.context_tokens, static_cast<std::int64_t>(settings_.budget_gb * 1e9),
                      device());
  show_models();
  server_->apply(settings_, load_defaults());
}

LoadOptions Desktop::load_defaults() const {
  LoadOptions load = request_.load.value_or(LoadOptions{});
  load.model.clear();
  load.sequences = ServerLink::sequences_for(settings_.server);
  load.precision.stores_folder = stores_folder();
  if (load.device.empty()) load.device = settings_.device;
  if (load.context == 0) {
    load.context = settings_.context_tokens;
    load.context_may_shrink = true;
  }
  if (load.precision.policy == PolicyKind::none && settings_.budget_gb > 0) {
    load.precision.policy = PolicyKind::automatic;
    load.precision.budget_bytes = static_cast<std::int64_t>(settings_.budget_gb * 1e9);
  }
  return load;
}

void Desktop::show_settings() {
  if (qobject_cast<ui::SettingsPage*>(window_->page())) return;
  ui::SettingsView view;
  view.theme = static_cast<ui::ThemeView>(settings_.theme);
  view.language = q(settings_.language);
  view.text_percent = static_cast<int>(settings_.text_percent);
  view.send_with_control = settings_.send_key == SendKey::control_enter;
  view.less_motion = settings_.less_motion;
  view.offline = settings_.offline;
  for (const std::string& folder : settings_.model_folders) view.model_folders += q(folder);
  view.context_tokens = static_cast<int>(settings_.context_tokens);
  view.server = {.on = settings_.server.on,
                 .port = static_cast<int>(settings_.server.port),
                 .slots = static_cast<int>(settings_.server.slots),
                 .for_other_computers = settings_.server.for_other_computers};
  const ui::PlacesView places{q(data_folder().string()), q(config_folder().string()),
                              q(cache_folder().string())};
  auto* page = new ui::SettingsPage(view, places, max_sequences - 1, window_.get());
  page->setAttribute(Qt::WA_DeleteOnClose);
  show_devices(*page);
  connect(page, &ui::SettingsPage::changed, this, [this](const ui::SettingsView& changed) {
    change_settings([changed](Settings& s) {
      s.theme = static_cast<ThemeChoice>(changed.theme);
      s.language = changed.language.toStdString();
      s.text_percent = changed.text_percent;
      s.send_key = changed.send_with_control ? SendKey::control_enter : SendKey::enter;
      s.less_motion = changed.less_motion;
      s.offline = changed.offline;
      s.model_folders.clear();
      for (const QString& folder : changed.model_folders) s.model_folders.push_back(folder.toStdString());
      s.context_tokens = changed.context_tokens;
      s.server = {.on = changed.server.on,
                  .port = changed.server.port,
                  .slots = changed.server.slots,
                  .for_other_computers = changed.server.for_other_computers};
    });
    apply_settings();
  });
  connect(page, &ui::SettingsPage::tokenEntered, models_.get(), &ModelsController::save_token);
  connect(page, &ui::SettingsPage::forgetTokenRequested, models_.get(), &ModelsController::forget_token);
  connect(models_.get(), &ModelsController::tokenNote, page, &ui::SettingsPage::show_token_note);
  connect(page, &ui::SettingsPage::wizardRequested, this, [this] { wizard_->open(settings_); });
  ui::ServerPage* server = &page->server();
  server->set_state(server_->state());
  connect(server_.get(), &ServerLink::changed, server, &ui::ServerPage::set_state);
  connect(server, &ui::ServerPage::retryRequested, server_.get(), &ServerLink::retry);
  connect(server, &ui::ServerPage::newKeyRequested, server_.get(), &ServerLink::renew_key);
  window_->show_page(*page, ui::SidebarPlace::settings);
}

void Desktop::show_server_settings() {
  show_settings();
  if (auto* page = window_->findChild<ui::SettingsPage*>()) page->show_server();
}

// Asking the driver may take a moment.
void Desktop::show_devices(ui::SettingsPage& page) {
  const auto look = [find = find_devices_] { return find(); };
  in_background(&page, look, [this, page = QPointer(&page)](const FoundDevices& found) {
    devices_ = found.devices;
    const DeviceViews shown = device_views(found.devices, found.no_gpu, device());
    page->set_devices(shown.views, shown.chosen);
  });
  connect(&page, &ui::SettingsPage::deviceChosen, this,
          [this](const QString& id) { change_device(choice_of_device(devices_, id)); });
}

void Desktop::change_device(const DeviceChoice& choice) {
  if (request_.load) request_.load->device.clear();  // chosen later than the command line
  change_settings([choice](Settings& s) {
    s.device = choice.name;
    s.device_description = choice.description;
  });
  apply_settings();
  if (!chat_->model_loaded() || same_device(chat_->model().settings.device, choice.name)) return;
  window_->show_notice(tr("The model that is open stays where it is until it is opened again."),
                       tr("Open it again"), [this] {
                         if (chat_->model_loaded())
                           chat_->open_model(q(chat_->model().settings.model.string()));
                       });
}

// A card may have gone, or another one come in its place, since it was chosen.
void Desktop::check_device() {
  const DeviceChoice opened = device_choice(chat_->model());
  if (!is_card(opened.name) || opened.name != settings_.device || settings_.device_description.empty() ||
      opened.description == settings_.device_description)
    return;
  window_->show_error(
      tr("The model runs on %1, not on the %2 that was chosen.")
          .arg(q(opened.name + " (" + opened.description + ")"), q(settings_.device_description)),
      tr("Settings…"), [this] { show_settings(); });
}

void Desktop::connect_server() {
  connect(window_.get(), &ui::ChatWindow::serverSettingsRequested, this, &Desktop::show_server_settings);
  connect(window_.get(), &ui::ChatWindow::closing, server_.get(), &ServerLink::end);
  connect(models_.get(), &ModelsController::modelsNamed, server_.get(), [this](const auto& named) {
    ServerLink::NamedPaths models;
    for (const LibraryEntry& entry : named) models.emplace_back(entry.name, entry.path);
    server_->set_models(std::move(models));
  });
}

}  // namespace fovea::app
