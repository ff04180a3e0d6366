// Models that Fovea knows, finding others on the hub, choosing a version by what fits, and the downloads.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/models/model_rows.h"

class QAction;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace fovea::ui {

class CatalogueList;
class DownloadList;
class MessageLine;
class RepositoryTable;
class VersionTable;

class DownloadPage : public QWidget {
  Q_OBJECT

 public:
  explicit DownloadPage(QWidget* parent = nullptr);

  // Where the user is told to look: "huggingface.co".
  void set_hub(const QString& host);
  // The field and its button: where they stand on a page is that page's.
  QWidget& search_box() { return *search_box_; }
  void set_offline(bool offline);
  // What is shown before anything is searched for.
  void set_catalogue(const std::vector<CatalogueRow>& rows);
  void search(const QString& text);  // as if the user had typed it
  void end_search();                 // the models that Fovea knows are seen again
  void show_found(const QString& text, const std::vector<RepositoryRow>& rows);
  void show_versions(const QString& repository, const std::vector<VersionRow>& rows);
  void show_error(const QString& text, const QString& details = {});
  void show_notice(const QString& text);
  // The hub has asked for one.
  void ask_token();
  void token_saved();

  CatalogueList& catalogue() { return *catalogue_; }
  DownloadList& downloads() { return *downloads_; }
  QString repository() const { return repository_; }
  const MessageLine& message() const { return *message_; }

 Q_SIGNALS:
  void searchRequested(const QString& text);
  void listRequested(const QString& repository);
  void downloadRequested(const QString& repository, int version);  // of those that were shown
  void catalogueRequested(const QString& id);                      // to download
  void openRequested(const QString& path);
  void tokenEntered(const QString& token);
  void settingsRequested();
  void told(QWidget* where);        // something that is to be seen
  void typed(const QString& text);  // into the field
  void resultsShown(bool shown);    // of a search, instead of the models that Fovea knows

 private:
  QWidget* make_search();
  QWidget* make_downloads();
  QWidget* make_repositories();
  QWidget* make_catalogue();
  QWidget* make_versions();
  QWidget* make_token();
  QWidget* make_offline();
  void edit_search(const QString& text);
  void show_catalogue();
  void show_results(bool shown);
  void start_search();
  void choose_repository();
  void show_version();
  void update_enabled();

  QString hub_;
  QString repository_;
  QString searched_;  // the last text
  bool searching_ = false;
  bool offline_ = false;
  RepositoryTable* repository_table_;
  VersionTable* version_table_;
  CatalogueList* catalogue_;
  QWidget *search_box_, *results_, *catalogue_page_;
  QLabel* catalogue_note_;
  QWidget* downloads_box_;
  QLineEdit* field_;
  QAction* search_;
  QStackedWidget *found_, *listed_;
  QTableView *repositories_, *versions_;
  QLabel *found_text_, *listed_text_, *title_, *why_;
  QPushButton* download_;
  QWidget *token_box_, *offline_box_;
  QLabel* token_text_;
  QLineEdit* token_;
  MessageLine* message_;
  DownloadList* downloads_;
};

}  // namespace fovea::ui
