// Left of the conversation: all conversations, search as you type, and what can be done with each.
#pragma once

#include <QTimer>
#include <QWidget>
#include <vector>

#include "ui/chat/conversation_item.h"

class QLabel;
class QLineEdit;
class QListView;
class QToolButton;

namespace fovea::ui {

class ConversationListModel;

enum class ExportFormat { markdown, json };

class Sidebar : public QWidget {
  Q_OBJECT

 public:
  explicit Sidebar(QWidget* parent = nullptr);

  // `more`: there are older ones; moreRequested() comes when the reader has scrolled to the end.
  void set_conversations(const std::vector<ConversationItem>& items, bool more);
  // For the text that is in the search field now.
  void set_results(const std::vector<SearchItem>& items);
  void set_current(qint64 conversation);  // 0: a new one
  qint64 current() const { return current_; }
  // Where an answer is being written (0: nowhere), and where one waits for it to end.
  void set_at_work(qint64 answering, const std::vector<qint64>& waiting);
  // Says what was deleted, and offers it back for a while; what was deleted before it in this time, too.
  void show_deleted(qint64 conversation, const QString& title);
  void focus_search();
  void rename(qint64 conversation);

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

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QWidget* make_undo_bar();
  void undo();
  void update_undo_bar();
  void search(const QString& text);
  void show_rows();
  void open(const QModelIndex& index);
  void show_menu(const QPoint& position);
  void mark_current();
  void stay_at(qint64 conversation, int row);
  void update_empty_text();

  std::vector<ConversationItem> conversations_;
  std::vector<SearchItem> results_;
  bool more_ = false;
  qint64 current_ = 0;
  std::vector<ConversationItem> deleted_;  // that can be brought back, the last one last
  bool rows_wait_ = false;                 // for the end of an editor

  QLineEdit* field_;
  QToolButton* new_chat_;
  QToolButton* models_;
  QToolButton* settings_;
  QListView* list_;
  ConversationListModel* model_;
  QLabel* empty_;
  QWidget* undo_bar_;
  QLabel* undo_text_;
  QTimer undo_timer_;
};

}  // namespace fovea::ui
