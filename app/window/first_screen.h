// What the window proposes while no model is open: looks for the model that suits this computer best, of
// those that are here and those of the catalogue, and fetches it where it must.
#pragma once

#include <QObject>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/advisor/candidates.h"
#include "app/wizard/wizard_controller.h"
#include "ui/chat/welcome_view.h"

namespace fovea::app {

class DownloadWorker;
class WizardDownloads;

// What the proposal is chosen from.
struct FirstWorld {
  std::filesystem::path models_folder = {};
  std::vector<std::filesystem::path> folders = {};  // that are watched besides
  std::filesystem::path stores = {};
  DeviceChoice device = {};
  std::int64_t sequences = 1;
  std::filesystem::path demo = {};  // the demo model's file, where it is there
};

class FirstScreen : public QObject {
  Q_OBJECT

 public:
  FirstScreen(ui::WelcomeView& view, DownloadWorker& downloads);
  ~FirstScreen() override;

  void look(const FirstWorld& world);
  // Ends looking, which keeps memory and disk busy; what was found stays.
  void stop();
  const std::optional<Candidate>& proposed() const { return proposed_; }

  // For tests: these instead of looking, and of the program's own.
  void set_machine(std::function<Result<Machine>()> find) { find_machine_ = std::move(find); }
  void set_catalogue(std::vector<CatalogueEntry> entries) { entries_ = std::move(entries); }

 Q_SIGNALS:
  void openRequested(const QString& path, const fovea::PrecisionRequest& precision);

 private:
  struct Found;
  void take(const Found& found);
  void show();
  void accept();
  void download_changed(const WizardDownload& download);

  ui::WelcomeView& view_;
  WizardDownloads* downloads_;
  FirstWorld world_;
  std::function<Result<Machine>()> find_machine_;
  std::vector<CatalogueEntry> entries_ = catalogue();
  std::optional<Candidate> proposed_;
  std::optional<Machine> machine_;
  std::optional<WizardDownload> download_;  // of what is proposed
  bool looking_ = false;
  int looks_ = 0;  // that were begun: what is found for an earlier one is not heeded
  std::stop_source stop_;
};

}  // namespace fovea::app
