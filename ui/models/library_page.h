// The models on this computer: a table, everything about the chosen one, and the folders that are watched.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "ui/models/model_rows.h"

class QLabel;
class QLineEdit;
class QMenu;
class QProgressBar;
class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace fovea::ui {

class LibraryTable;
class MessageLine;
class ModelDetails;

class LibraryPage : public QWidget {
  Q_OBJECT

 public:
  explicit LibraryPage(QWidget* parent = nullptr);

  void set_models(const std::vector<LibraryRow>& rows);
  void set_model(const LibraryRow& row);
  void set_folders(const std::vector<FolderView>& folders);
  void set_looking(bool looking);  // the folders are being read
  void select(const QString& path);
  QString selected() const;  // path; empty: none
  // Long work on a model: an empty text hides it. total 0: unknown.
  void show_work(const QString& text, qint64 done, qint64 total);
  void show_notice(const QString& text);
  void show_error(const QString& text);

  LibraryTable& table() { return *table_; }
  ModelDetails& details() { return *details_; }
  const MessageLine& message() const { return *message_; }

 Q_SIGNALS:
  void openRequested(const QString& path);
  void prepareRequested(const QString& path);
  void checkRequested(const QString& path);
  void removeRequested(const QString& path);
  void showInFolderRequested(const QString& path);
  void cancelWorkRequested();
  void addFolderRequested(const QString& folder);
  void removeFolderRequested(const QString& folder);
  void refreshRequested();
  void downloadsRequested();  // the other page

 private:
  QWidget* make_tools();
  QWidget* make_table();
  QWidget* make_empty();
  QWidget* make_work();
  void fill_folders();
  void add_folder();
  void ask_remove();
  void show_selected();
  void update_empty();

  LibraryTable* table_;
  QSortFilterProxyModel* proxy_;
  std::vector<FolderView> folders_;
  bool looking_ = false;
  QLineEdit* filter_;
  QToolButton* folder_button_;
  QMenu* folder_menu_;
  QStackedWidget* stack_;
  QTableView* view_;
  QLabel* empty_;
  QLabel* looking_label_;
  ModelDetails* details_;
  MessageLine* message_;
  QWidget* work_;
  QLabel* work_text_;
  QProgressBar* work_bar_;
};

}  // namespace fovea::ui
