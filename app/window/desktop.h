// The whole application behind its window: settings, history, model, conversation, live panel.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/history/worker/history_thread.h"
#include "app/library/device_choice.h"
#include "app/settings/settings_file.h"
#include "app/window/chat_controller.h"
#include "app/window/demo_start.h"
#include "app/window/first_screen.h"
#include "app/window/live_controller.h"
#include "app/window/window.h"
#include "app/window/wizard_link.h"
#include "ui/chat/chat_window.h"
#include "ui/settings/settings_page.h"

namespace fovea::ui {
class LivePanel;
}

namespace fovea::app {

class BesideLink;
class CompareLink;
class LiveSession;
class ModelsController;
class PresetsLink;
class ServerLink;
class Tour;
struct Proposal;

class Desktop : public QObject {
  Q_OBJECT

 public:
  // The folders are those of app/library/data_folder.h.
  explicit Desktop(const WindowRequest& request);
  ~Desktop() override;

  // Shows the window and opens the model that was asked for, else the one used last; at the very first start
  // it proposes one. Where nothing is asked for or chosen, the best model of the library that fits.
  void start();

  ui::ChatWindow& window() { return *window_; }
  ChatController& chat() { return *chat_; }
  history::HistoryThread& history() { return *history_; }
  FirstScreen& first_screen() { return *first_screen_; }
  WizardLink& wizard() { return *wizard_; }
  ui::LivePanel& live_panel() { return *live_panel_; }
  LiveSession& live_session() { return *live_session_; }
  ModelsController& models() { return *models_; }
  CompareLink& compare() { return *compare_; }
  BesideLink& beside() { return *beside_; }
  ServerLink& server() { return *server_; }
  Tour& tour() { return *tour_; }
  const Settings& settings() const { return settings_; }
  // What the program is to be started with again, now that it has closed; nothing: it has ended.
  const std::optional<std::vector<std::string>>& restart() const { return restart_; }
  // For tests: these devices instead of looking.
  struct FoundDevices {
    std::vector<DeviceInfo> devices;
    Phrase no_gpu;
  };
  void set_devices(std::function<FoundDevices()> find) { find_devices_ = std::move(find); }

 Q_SIGNALS:
  void closed();  // everything is stored, all threads have ended

 private:
  void connect_window();
  void change_settings(const std::function<void(Settings&)>& change);
  void tell_settings(const std::vector<Phrase>& notices);
  void apply_appearance();
  void apply_settings();
  LoadOptions load_defaults() const;
  void connect_models();
  void show_models();
  void open_with(const QString& path, const PrecisionRequest& precision);
  bool apply_kept_setup(LoadOptions& load);
  void open_what_fits();
  void propose();
  void take_proposal(const Proposal& proposal);
  void connect_server();
  void show_settings();
  void show_server_settings();
  DeviceChoice device() const { return {settings_.device, settings_.device_description}; }
  void show_devices(ui::SettingsPage& page);
  void change_device(const DeviceChoice& choice);
  void check_device();
  void begin_restart();
  void remember_model(const QString& path);
  void keep_geometry();

  WindowRequest request_;
  SettingsFile settings_file_;
  Settings settings_;
  QThreadPool writer_;  // one thread: writes the settings in order
  std::unique_ptr<history::HistoryThread> history_;
  std::unique_ptr<LiveSession> live_session_;  // what the panel shows
  std::unique_ptr<ui::ChatWindow> window_;
  ui::LivePanel* live_panel_;  // owned by the window
  std::unique_ptr<ChatController> chat_;
  Tour* tour_;          // the chat owns it
  BesideLink* beside_;  // the window owns it
  std::unique_ptr<PresetsLink> presets_;
  std::unique_ptr<DemoStart> demo_;
  std::unique_ptr<ModelsController> models_;
  std::unique_ptr<FirstScreen> first_screen_;
  std::unique_ptr<WizardLink> wizard_;
  std::unique_ptr<CompareLink> compare_;
  std::unique_ptr<ServerLink> server_;
  std::function<FoundDevices()> find_devices_ = [] {
    return FoundDevices{devices().value_or(std::vector<DeviceInfo>{}), why_no_gpu()};
  };
  std::optional<std::vector<std::string>> restart_;
  std::vector<DeviceInfo> devices_;                            // that were found last
  QString storing_error_;                                      // the last one, as it was shown
  bool first_start_ = false;                                   // there were no settings
  std::optional<std::vector<std::filesystem::path>> library_;  // the models; nothing: not listed yet
  bool wants_model_ = false;                                   // one is opened when it is listed
  std::stop_source stop_;                                      // of looking for it
};

}  // namespace fovea::app
