#include "app/window/folder_controller.h"

#include <algorithm>
#include <utility>

#include "app/history/worker/history_thread.h"
#include "app/window/sidebar_controller.h"
#include "app/window/window_errors.h"
#include "engine/core/result.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/sidebar.h"

namespace fovea::app {

FolderController::FolderController(ui::ChatWindow& window, history::HistoryThread& history,
                                   SidebarController& sidebar)
    : window_(window), history_(history), sidebar_(sidebar) {
  using history::History;
  using ui::Sidebar;
  Sidebar& list = window.sidebar();
  connect(&list, &Sidebar::newFolderRequested, this, &FolderController::create);
  connect(&list, &Sidebar::moveRequested, this, [this](qint64 conversation, qint64 folder) {
    change([=](History& h) { return h.move_to_folder(conversation, folder); });
  });
  connect(&list, &Sidebar::folderRenameRequested, this, [this](qint64 folder, const QString& name) {
    change([folder, name = name.toStdString()](History& h) { return h.rename_folder(folder, name); });
  });
  connect(&list, &Sidebar::folderDeleteRequested, this,
          [this](qint64 folder) { change([folder](History& h) { return h.remove_folder(folder); }); });
  connect(&list, &Sidebar::folderPlaceRequested, this, [this](qint64 folder, int place) {
    change([=](History& h) { return h.place_folder(folder, place); });
  });
  connect(&list, &Sidebar::folderCollapsed, this, [this](qint64 folder, bool collapsed) {
    history_.tell([=](History& h) { return h.set_collapsed(folder, collapsed); });
  });
  connect(&list, &Sidebar::newChatInRequested, this,
          [this](qint64 folder) { tell_of(folder, &FolderController::newChatWanted); });
  connect(&list, &Sidebar::folderSettingsRequested, this,
          [this](qint64 folder) { tell_of(folder, &FolderController::defaultsWanted); });
  connect(&sidebar, &SidebarController::shown, this, [this] {
    if (unnamed_ == 0) return;
    const auto& listed = window_.sidebar().folders();
    if (std::ranges::find(listed, unnamed_, &ui::FolderItem::id) == listed.end()) return;  // read before it
    window_.sidebar().rename_folder(std::exchange(unnamed_, 0));
  });
}

void FolderController::create(qint64 conversation) {
  history_.ask(
      this,
      [conversation, name = tr("New folder").toStdString()](history::History& h) -> Result<history::Folder> {
        FOVEA_TRY(history::Folder made, h.create_folder(name));
        if (conversation != 0) FOVEA_CHECK(h.move_to_folder(conversation, made.id));
        return made;
      },
      [this](const Result<history::Folder>& made) {
        if (!made) return tell_error(window_, made.error());
        unnamed_ = made->id;
        sidebar_.refresh();
      });
}

void FolderController::change(std::function<Result<void>(history::History&)> request) {
  history_.ask(this, std::move(request), [this](const Result<void>& done) {
    if (!done) tell_error(window_, done.error());
    sidebar_.refresh();
  });
}

template <class Signal>
void FolderController::tell_of(qint64 folder, Signal signal) {
  history_.ask(
      this, [folder](history::History& h) { return h.folder(folder); },
      [this, signal](const Result<history::Folder>& found) {
        if (!found) return tell_error(window_, found.error());
        Q_EMIT(this->*signal)(*found);
      });
}

void FolderController::set_defaults(history::Id folder, const QString& preset, const QString& model) {
  change([folder, preset = preset.toStdString(), model = model.toStdString()](history::History& h) {
    return h.set_folder_defaults(folder, preset, model);
  });
}

void FolderController::forget_preset(const QString& preset) {
  history_.tell([id = preset.toStdString()](history::History& h) { return h.forget_preset(id); });
}

}  // namespace fovea::app
