// The sidebar's list: pages of conversations, search, and what is done with a whole conversation.
#pragma once

#include <QObject>
#include <vector>

#include "app/history/types.h"
#include "engine/api/error.h"
#include "ui/chat/sidebar.h"

namespace fovea::ui {
class ChatWindow;
}

namespace fovea::app {

namespace history {
class History;
class HistoryThread;
}  // namespace history

class SidebarController : public QObject {
  Q_OBJECT

 public:
  SidebarController(ui::ChatWindow& window, history::HistoryThread& history);

  void refresh();

 public Q_SLOTS:
  void import_file(const QString& path);

 Q_SIGNALS:
  void openRequested(qint64 conversation, qint64 message, const QStringList& found);
  void removed(qint64 conversation);
  void shown();  // what refresh() has read

 private:
  struct Listed {
    history::ConversationPage page;  // of those in no folder
    std::vector<history::Conversation> in_folders;
    std::vector<history::Folder> folders;
  };
  static Result<Listed> list(history::History& history, int count);
  void show(const Result<Listed>& listed);
  void load_more();
  void search(const QString& text);
  void rename(qint64 conversation, const QString& title);
  void pin(qint64 conversation, bool pinned);
  void remove(qint64 conversation);
  void list_deleted();
  void restore(qint64 conversation);
  void export_to_file(qint64 conversation, ui::ExportFormat format);

  ui::ChatWindow& window_;
  history::HistoryThread& history_;
  std::vector<history::Conversation> listed_;
  bool more_ = false;
  static constexpr int kPage = 100;
  int wanted_ = kPage;  // how many are listed, or asked for
};

}  // namespace fovea::app
