#include "app/window/presets_link.h"

#include <QFileInfo>
#include <algorithm>
#include <utility>

#include "app/window/chat_controller.h"
#include "app/window/generation_settings.h"
#include "app/window/presets.h"
#include "app/words/error_words.h"
#include "app/words/qt_text.h"
#include "engine/api/form.h"
#include "ui/chat/chat_settings_dialog.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/composer.h"
#include "ui/chat/folder_dialog.h"
#include "ui/chat/presets_dialog.h"

namespace fovea::app {

PresetsLink::PresetsLink(ChatController& chat, ui::ChatWindow& window, const Settings& settings,
                         Change change)
    : chat_(chat), window_(window), settings_(settings), change_(std::move(change)) {
  connect(&window, &ui::ChatWindow::chatSettingsRequested, this, &PresetsLink::show_chat_settings);
  connect(&window, &ui::ChatWindow::presetsRequested, this, &PresetsLink::show_presets);
  connect(&window, &ui::ChatWindow::presetRequested, this, &PresetsLink::use);
  connect(&chat.folders(), &FolderController::newChatWanted, this, &PresetsLink::begin_in);
  connect(&chat.folders(), &FolderController::defaultsWanted, this, &PresetsLink::show_defaults);
  tell_window();
}

void PresetsLink::tell_window() {
  window_.set_saved(presets_of(settings_), prompts_of(settings_));
  if (auto* shown = window_.findChild<ui::PresetsDialog*>()) show_in(*shown);
}

void PresetsLink::show_in(ui::PresetsDialog& dialog) {
  dialog.set_presets(presets_of(settings_));
  dialog.set_prompts(prompts_of(settings_));
}

// --- the library

void PresetsLink::show_presets() {
  auto* dialog = new ui::PresetsDialog(&window_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  show_in(*dialog);
  connect(dialog, &ui::PresetsDialog::presetUsed, this, [this, dialog](const QString& id) {
    dialog->accept();
    use(id);
  });
  connect(dialog, &ui::PresetsDialog::promptUsed, this, [this, dialog](const QString& id) {
    dialog->accept();
    window_.insert_prompt(id);
  });
  connect(dialog, &ui::PresetsDialog::presetEditWanted, this,
          [this, dialog](const ui::PresetView& preset) { edit(preset, *dialog); });
  connect(dialog, &ui::PresetsDialog::presetSaved, this,
          qOverload<const ui::PresetView&>(&PresetsLink::save));
  connect(dialog, &ui::PresetsDialog::promptSaved, this,
          qOverload<const ui::PromptView&>(&PresetsLink::save));
  connect(dialog, &ui::PresetsDialog::presetDeleted, this, &PresetsLink::forget);
  connect(dialog, &ui::PresetsDialog::promptDeleted, this, &PresetsLink::forget_prompt_of);
  dialog->open();
}

void PresetsLink::use(const QString& id) {
  const std::vector<ui::PresetView> all = presets_of(settings_);
  const auto preset = std::ranges::find(all, id, &ui::PresetView::id);
  if (preset == all.end()) return;
  chat_.conversation().set_chat_settings(preset->settings);
  window_.show_notice(tr("This chat now uses the preset “%1”.").arg(preset->name));
  window_.composer().focus_input();
}

void PresetsLink::edit(const ui::PresetView& preset, QWidget& over) {
  ui::ChatSettingsDialog* dialog = settings_dialog(preset.settings, over);
  dialog->ask_name(preset.name);
  connect(dialog, &QDialog::accepted, this, [this, dialog, id = preset.id] {
    save(ui::PresetView{.id = id, .name = dialog->name(), .settings = dialog->settings()});
  });
  dialog->open();
}

void PresetsLink::save(const ui::PresetView& preset) {
  const ui::PresetView kept = with_id(preset);
  change_([kept](Settings& s) { keep(kept, s); });
  tell_window();
  if (auto* shown = window_.findChild<ui::PresetsDialog*>()) shown->choose_preset(kept.id);
}

void PresetsLink::save(const ui::PromptView& prompt) {
  const ui::PromptView kept = with_id(prompt);
  change_([kept](Settings& s) { keep(kept, s); });
  tell_window();
  if (auto* shown = window_.findChild<ui::PresetsDialog*>()) shown->choose_prompt(kept.id);
}

void PresetsLink::forget(const QString& preset) {
  change_([preset](Settings& s) { forget_preset(preset, s); });
  chat_.folders().forget_preset(preset);
  tell_window();
}

void PresetsLink::forget_prompt_of(const QString& prompt) {
  change_([prompt](Settings& s) { forget_prompt(prompt, s); });
  tell_window();
}

// --- one chat's settings

ui::ChatSettingsDialog* PresetsLink::settings_dialog(const ui::ChatSettingsView& view, QWidget& over) {
  const ModelInfo& info = chat_.model().info;
  auto* dialog = new ui::ChatSettingsDialog(
      view, view_of(chat_.usual_request()), presets_of(settings_),
      {info.can_switch_thinking, info.has_effort}, &over, [](const QString& schema) {
        const auto checked =
            check_form({.kind = AnswerForm::Kind::json_schema, .text = schema.toStdString()});
        return checked ? QString() : error_words(checked.error());
      });
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  return dialog;
}

void PresetsLink::show_chat_settings() {
  ui::ChatSettingsDialog* dialog = settings_dialog(chat_.conversation().chat_settings(), window_);
  connect(dialog, &QDialog::accepted, this,
          [this, dialog] { chat_.conversation().set_chat_settings(dialog->settings()); });
  connect(dialog, &ui::ChatSettingsDialog::presetSaved, this, [this, dialog](const ui::PresetView& preset) {
    const ui::PresetView kept = with_id(preset);
    save(kept);
    dialog->set_presets(presets_of(settings_), kept.id);
  });
  dialog->open();
}

// --- what chats in a folder start with

void PresetsLink::begin_in(const history::Folder& folder) {
  const std::vector<ui::PresetView> all = presets_of(settings_);
  const auto preset = std::ranges::find(all, q(folder.preset), &ui::PresetView::id);
  const bool is_there = preset != all.end();
  chat_.conversation().new_chat(folder.id, is_there ? preset->settings : ui::ChatSettingsView{});
  window_.composer().focus_input();
  if (!is_there && !folder.preset.empty()) {
    window_.show_notice(
        tr("The preset that chats in “%1” start with is no longer there: this one has the default settings.")
            .arg(q(folder.name)),
        tr("Choose another…"), [this, folder] { show_defaults(folder); });
  }
  open_model_of(folder);
}

// Not while an answer is written, which that would end.
void PresetsLink::open_model_of(const history::Folder& folder) {
  const QString path = q(folder.model);
  if (path.isEmpty() || QFileInfo(q(chat_.wanted_model().string())) == QFileInfo(path)) return;
  if (!QFileInfo::exists(path)) {
    return window_.show_error(
        tr("The model that chats in “%1” start with is no longer there.").arg(q(folder.name)),
        tr("Choose another…"), [this, folder] { show_defaults(folder); });
  }
  const auto open = [this, path] { Q_EMIT window_.modelRequested(path); };
  if (chat_.conversation().answering() == 0) return open();
  window_.show_notice(tr("Chats in “%1” start with another model. It has not been opened yet, because that "
                         "would end the answer being written.")
                          .arg(q(folder.name)),
                      tr("Open it now"), open);
}

void PresetsLink::show_defaults(const history::Folder& folder) {
  std::vector<ui::FolderChoice> presets, models;
  for (const ui::PresetView& preset : presets_of(settings_)) presets.push_back({preset.name, preset.id});
  for (const ui::ModelChoice& model : window_.known_models()) models.push_back({model.label, model.path});
  auto* dialog =
      new ui::FolderDialog(q(folder.name), presets, q(folder.preset), models, q(folder.model), &window_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog, id = folder.id] {
    chat_.folders().set_defaults(id, dialog->preset(), dialog->model());
  });
  dialog->open();
}

}  // namespace fovea::app
