// What is done with the sidebar's folders.
#pragma once

#include <QObject>
#include <functional>

#include "app/history/types.h"
#include "engine/api/error.h"

namespace fovea::ui {
class ChatWindow;
}

namespace fovea::app {

namespace history {
class History;
class HistoryThread;
}  // namespace history
class SidebarController;

class FolderController : public QObject {
  Q_OBJECT

 public:
  FolderController(ui::ChatWindow& window, history::HistoryThread& history, SidebarController& sidebar);

  void set_defaults(history::Id folder, const QString& preset, const QString& model);
  // A preset is deleted: no folder starts with it any more.
  void forget_preset(const QString& preset);

 Q_SIGNALS:
  // As the history has them now.
  void newChatWanted(const fovea::app::history::Folder& folder);
  void defaultsWanted(const fovea::app::history::Folder& folder);

 private:
  void create(qint64 conversation);
  // Then the list is read again.
  void change(std::function<Result<void>(history::History&)> request);
  template <class Signal>
  void tell_of(qint64 folder, Signal signal);

  ui::ChatWindow& window_;
  history::HistoryThread& history_;
  SidebarController& sidebar_;
  history::Id unnamed_ = 0;  // a new one, whose name is typed when it is listed
};

}  // namespace fovea::app
