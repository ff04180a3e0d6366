// Left of the conversation: all conversations, in folders and by age, search as you type, and what can be
// done with each.
#pragma once

#include <QTimer>
#include <QWidget>
#include <vector>

#include "ui/chat/conversation_item.h"

class QLabel;
class QLineEdit;
class QMenu;
class QToolButton;

namespace fovea::ui {

class ConversationListModel;
class ConversationListView;

enum class ExportFormat { markdown, json };

// What the window's middle shows.
enum class SidebarPlace : int { conversation, models, settings, other };

class Sidebar : public QWidget {
  Q_OBJECT

 public:
  explicit Sidebar(QWidget* parent = nullptr);

  // `more`: there are older ones; moreRequested() comes when the reader has scrolled to the end.
  // Those in folders are all there.
  void set_conversations(const std::vector<ConversationItem>& items, bool more,
                         const std::vector<FolderItem>& folders = {});
  // For the text that is in the search field now.
  void set_results(const std::vector<SearchItem>& items);
  void set_current(qint64 conversation, qint64 folder = 0);  // 0: a new one, in that folder
  qint64 current() const { return current_; }
  // Where an answer is being written (0: nowhere), and where one waits for it to end.
  void set_at_work(qint64 answering, const std::vector<qint64>& waiting);
  // Says what was deleted, and offers it back for a while; what was deleted before it in this time, too.
  void show_deleted(qint64 conversation, const QString& title);
  void focus_search();
  void set_place(SidebarPlace place);  // its row is lit
  void rename(qint64 conversation);
  bool is_pinned(qint64 conversation) const;
  void rename_folder(qint64 folder);
  const std::vector<FolderItem>& folders() const { return folders_; }
  // Where it can go: each folder, none, a new one.
  void fill_move_menu(QMenu& menu, qint64 conversation);

 Q_SIGNALS:
  void newChatRequested();
  void modelsRequested();
  void settingsRequested();
  // With what was found in the message, as it is written there.
  void conversationRequested(qint64 conversation, qint64 message, const QStringList& found);
  void searchRequested(const QString& text);  // never empty; an empty field shows the conversations again
  void moreRequested();
  void renameRequested(qint64 conversation, const QString& title);
  void pinRequested(qint64 conversation, bool pinned);
  void deleteRequested(qint64 conversation);
  void undoDeleteRequested(qint64 conversation);
  void exportRequested(qint64 conversation, fovea::ui::ExportFormat format);
  void moveRequested(qint64 conversation, qint64 folder);  // 0: into none
  void newFolderRequested(qint64 conversation);            // with it inside; 0: an empty one
  void folderRenameRequested(qint64 folder, const QString& name);
  void folderDeleteRequested(qint64 folder);  // its conversations stay
  void folderPlaceRequested(qint64 folder, int place);
  void folderCollapsed(qint64 folder, bool collapsed);
  void folderSettingsRequested(qint64 folder);
  void newChatInRequested(qint64 folder);
  void filled();  // there is something in it
  void foldersChanged();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QWidget* make_undo_bar();
  void undo();
  void update_undo_bar();
  void search(const QString& text);
  bool is_named() const;
  void show_rows();
  void open(const QModelIndex& index);
  void search_keys(int key);
  bool list_keys(const QKeyEvent& event);

  // sidebar_folders.cpp
  void show_menu(const QPoint& position);
  void fill_conversation_menu(QMenu& menu, const QModelIndex& index);
  void fill_folder_menu(QMenu& menu, qint64 folder);
  bool folder_keys(const QModelIndex& index, const QKeyEvent& event);
  void set_collapsed(qint64 folder, bool collapsed);
  void expand_around(qint64 conversation);
  int place_of(qint64 folder) const;
  void delete_folder(qint64 folder);

  void mark_current();
  void stay_at(qint64 conversation, qint64 folder, int row);
  void update_empty_text();

  std::vector<ConversationItem> conversations_;
  std::vector<FolderItem> folders_;
  std::vector<SearchItem> results_;
  SidebarPlace place_ = SidebarPlace::conversation;
  bool more_ = false;
  qint64 current_ = 0;
  qint64 current_folder_ = 0;              // of a new one
  std::vector<ConversationItem> deleted_;  // that can be brought back, the last one last
  bool rows_wait_ = false;                 // for the end of an editor

  QLineEdit* field_;
  QToolButton* new_chat_;
  QToolButton* models_;
  QToolButton* settings_;
  ConversationListView* list_;
  ConversationListModel* model_;
  QLabel* empty_;
  QWidget* undo_bar_;
  QLabel* undo_text_;
  QTimer undo_timer_;
};

}  // namespace fovea::ui
