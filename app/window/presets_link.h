// Presets and prompts between the settings and the window: the chat's settings, the library of what is kept,
// and what chats in a folder start with.
#pragma once

#include <QObject>
#include <functional>

#include "app/history/types.h"
#include "app/settings/settings.h"
#include "ui/chat/preset_view.h"

namespace fovea::ui {
class ChatSettingsDialog;
class ChatWindow;
class PresetsDialog;
}  // namespace fovea::ui

namespace fovea::app {

class ChatController;

class PresetsLink : public QObject {
  Q_OBJECT

 public:
  using Change = std::function<void(const std::function<void(Settings&)>&)>;
  // `settings` is what `change` changes, at once.
  PresetsLink(ChatController& chat, ui::ChatWindow& window, const Settings& settings, Change change);

  void show_chat_settings();
  void show_presets();

 private:
  void tell_window();
  void show_in(ui::PresetsDialog& dialog);
  void use(const QString& preset);
  void edit(const ui::PresetView& preset, QWidget& over);
  void save(const ui::PresetView& preset);
  void save(const ui::PromptView& prompt);
  void forget(const QString& preset);
  void forget_prompt_of(const QString& prompt);
  ui::ChatSettingsDialog* settings_dialog(const ui::ChatSettingsView& view, QWidget& over);

  void begin_in(const history::Folder& folder);
  void open_model_of(const history::Folder& folder);
  void show_defaults(const history::Folder& folder);

  ChatController& chat_;
  ui::ChatWindow& window_;
  const Settings& settings_;
  Change change_;
};

}  // namespace fovea::app
