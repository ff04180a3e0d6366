// The models on this computer, each on a card, and the folders that are watched.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/models/model_rows.h"

class QLabel;
class QMenu;
class QProgressBar;
class QVBoxLayout;

namespace fovea::ui {

class LibraryCard;
class MessageLine;

class LibraryPage : public QWidget {
  Q_OBJECT

 public:
  explicit LibraryPage(QWidget* parent = nullptr);

  void set_models(const std::vector<LibraryRow>& rows);
  void set_model(const LibraryRow& row);  // by its path; an unknown one is left out
  void set_filter(const QString& text);   // of names, architectures and formats
  void set_folders(const std::vector<FolderView>& folders);
  void set_looking(bool looking);    // the folders are being read
  void select(const QString& path);  // shows what is known of it, and of no other
  QString selected() const;          // path; empty: none
  // Long work on a model: an empty text hides it. total 0: unknown.
  void show_work(const QString& text, qint64 done, qint64 total);
  void show_notice(const QString& text);
  void show_error(const QString& text, const QString& details = {});

  // In the order in which they stand: the open one, those that fit, the others.
  const std::vector<LibraryCard*>& cards() const { return cards_; }
  LibraryCard* card(const QString& path) const;  // null: not there
  const MessageLine& message() const { return *message_; }

 Q_SIGNALS:
  void mainShown(bool shown);  // whether one of them has the page's filled button
  void openRequested(const QString& path);
  void prepareRequested(const QString& path);
  void checkRequested(const QString& path);
  void removeRequested(const QString& path);
  void showInFolderRequested(const QString& path);
  void cancelWorkRequested();
  void addFolderRequested(const QString& folder);
  void removeFolderRequested(const QString& folder);
  void refreshRequested();
  void told(QWidget* where);  // something that is to be seen

 private:
  QWidget* make_head();
  QWidget* make_empty();
  QWidget* make_work();
  LibraryCard* make_card(const QString& path);
  void arrange();
  void show_filtered();
  void fill_folders();
  void add_folder();
  void ask_remove(LibraryRow row);

  std::vector<LibraryCard*> cards_;
  std::vector<FolderView> folders_;
  QString filter_;
  bool looking_ = false, busy_ = false;
  QVBoxLayout* list_;
  QMenu* folder_menu_;
  QWidget* empty_box_;
  QLabel* empty_;
  QLabel* looking_label_;
  MessageLine* message_;
  QWidget* work_;
  QLabel* work_text_;
  QProgressBar* work_bar_;
};

}  // namespace fovea::ui
