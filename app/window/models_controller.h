// Joins the page of models with the library, the downloads, and the work on models' files.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/advisor/candidates.h"
#include "app/download/download_worker.h"
#include "app/library/library_worker.h"
#include "app/library/model_worker.h"
#include "ui/models/models_view.h"

namespace fovea::ui {
class DownloadPage;
class LibraryPage;
struct TierChoice;
}  // namespace fovea::ui

namespace fovea::app {

struct ModelsSettings {
  std::vector<std::filesystem::path> own_folders;  // always watched: Fovea's
  std::vector<std::filesystem::path> folders;      // the user's
  std::filesystem::path stores;
  std::filesystem::path cache;  // what the library read before
  DownloadWorkerSettings downloads;

  // The usual places (app/library/data_folder.h), the hub's cache and the environment's settings.
  static ModelsSettings usual();
};

class ModelsController : public QObject {
  Q_OBJECT

 public:
  // The page is made when it is wanted first; until then only the downloads go on.
  ModelsController(QWidget& parent, ModelsSettings settings);
  ~ModelsController() override;

  void show_library();
  void show_downloads(const QString& search = {});
  void set_folders(const std::vector<std::filesystem::path>& folders);
  void set_offline(bool offline);
  // modelsNamed() follows; and again whenever models come or go.
  void list_models() { library_.list(); }
  // What a model would be opened with; 0: automatic.
  void set_limits(std::int64_t context, std::int64_t budget_bytes, const DeviceChoice& device = {});
  // What the chat window has open; an empty path: nothing.
  void set_open_model(const QString& path, std::int64_t held_bytes, const std::string& device = {});

  ui::ModelsView* view() { return view_; }  // null until it was shown
  DownloadWorker& downloads() { return downloads_; }
  // tokenNote() follows.
  void save_token(const QString& token);
  void forget_token();

 Q_SIGNALS:
  void viewWanted();  // view() is to be shown
  // `precision`: how the planner makes it fit; policy none: as its file has it.
  void openRequested(const QString& path, const fovea::PrecisionRequest& precision);
  void folderAdded(const QString& path);
  void folderRemoved(const QString& path);
  void settingsRequested();
  void modelsNamed(const std::vector<fovea::app::LibraryEntry>& models);  // all; when some came or went
  void tokenNote(const QString& text, bool is_error);                     // what became of the hub's token
  // For the chat window, while the page is hidden.
  void notice(const QString& text);
  void troubled(const fovea::Error& error);

 private:
  void make_view();
  void connect_library(ui::LibraryPage& page);
  void connect_download(ui::DownloadPage& page);
  void connect_scans();
  void connect_work();
  void connect_downloads();
  void scan();
  std::int64_t held_there() const;  // what a model that is opened next finds free besides
  void look();
  void show_models();
  void show_folders();
  void show_status(const DownloadStatus& status);
  void on_download(const DownloadStatus& status);
  void on_listed(const QString& asked, const HubRepository& repository,
                 const std::vector<ModelChoice>& choices);
  void on_download_failed(const QString& about, const Error& error);
  void start_download(const QString& repository, int version);
  void plan_catalogue();
  void show_catalogue();
  void fetch(const QString& id);
  void ask_prepare(const QString& path);
  void offer_tiers(const QString& path, const std::vector<ui::TierChoice>& tiers, bool has_experts);
  void show_task_error(const QString& path, ModelTask task, const Error& error);
  void open(const QString& path);
  void show_in_folder(const QString& path);
  void tell(const QString& text);
  void tell(const Error& error);
  const LibraryModel* find(const QString& path) const;

  QWidget& parent_;
  ModelsSettings settings_;
  std::int64_t context_ = 0, budget_bytes_ = 0, held_bytes_ = 0;
  DeviceChoice device_;
  std::string held_on_;               // the device that has held_bytes_
  std::filesystem::path open_model_;  // with its links followed
  bool env_offline_;
  std::vector<LibraryModel> models_;
  std::map<std::int64_t, DownloadStatus> statuses_;
  std::optional<Error> early_error_;  // of the list of downloads, which is read before there is a window
  QString asked_;                     // the repository whose versions are shown
  HubRepository listed_;
  std::vector<ModelChoice> choices_;
  std::vector<Candidate> catalogue_;  // what fits first
  int plans_ = 0;                     // of the catalogue; only the last one is heeded

  LibraryWorker library_;
  ModelWorker work_;
  DownloadWorker downloads_;
  QPointer<ui::ModelsView> view_;  // the parent owns it
};

}  // namespace fovea::app
