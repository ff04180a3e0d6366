// What holds for every conversation and model. Changes take effect when they are made; nothing is confirmed.
#pragma once

#include <QStringList>
#include <vector>

#include "ui/devices/device_box.h"
#include "ui/settings/server_page.h"
#include "ui/theme/page.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QSpinBox;
class QTabWidget;

namespace fovea::ui {

enum class ThemeView { system, light, dark };

struct SettingsView {
  ThemeView theme = ThemeView::system;
  QString language;  // code; empty: the system's
  int text_percent = 100;
  bool send_with_control = false;
  bool less_motion = false;
  bool offline = false;
  QStringList model_folders;  // watched in addition to Fovea's own
  int context_tokens = 0;     // 0: automatic
  ServerView server;

  bool operator==(const SettingsView&) const = default;
};

// Where things lie, to be shown.
struct PlacesView {
  QString data, config, cache;
};

class SettingsPage : public Page {
  Q_OBJECT

 public:
  // most_slots: that the server can be asked for.
  SettingsPage(const SettingsView& settings, const PlacesView& places, int most_slots,
               QWidget* parent = nullptr);
  const SettingsView& settings() const { return settings_; }
  // They may come later than the rest; `chosen` is the id of one.
  void set_devices(const std::vector<DeviceView>& devices, const QString& chosen);
  ServerPage& server() { return *server_; }
  void show_server();  // its page
  // What became of the access token.
  void show_token_note(const QString& text, bool is_error);

 Q_SIGNALS:
  void changed(const fovea::ui::SettingsView& settings);
  void deviceChosen(const QString& id);
  void wizardRequested();
  void tokenEntered(const QString& token);
  void forgetTokenRequested();

 private:
  QWidget* make_appearance();
  QWidget* make_models();
  QWidget* make_privacy(const PlacesView& places);
  QWidget* make_token();
  void add_folder();
  void remove_folder();
  void tell() { Q_EMIT changed(settings_); }

  SettingsView settings_;
  QTabWidget* tabs_ = nullptr;
  ServerPage* server_ = nullptr;
  DeviceBox* device_ = nullptr;
  QListWidget* folders_ = nullptr;
  QLineEdit* token_ = nullptr;
  QLabel* token_note_ = nullptr;
};

}  // namespace fovea::ui
