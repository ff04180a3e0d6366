// Leads through the wizard: decides what its pages show and which page comes next. Whatever takes time is
// done on other threads. It opens nothing itself and writes no settings: whoever made it does, when it asks.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/advisor/calibration.h"
#include "app/advisor/candidates.h"
#include "app/advisor/setup.h"
#include "app/wizard/wizard_words.h"
#include "engine/api/progress.h"
#include "ui/wizard/wizard_dialog.h"

namespace fovea::app {

// What the wizard starts from.
struct WizardWorld {
  std::filesystem::path models_folder;         // our own …
  std::vector<std::filesystem::path> folders;  // … and the others that are watched
  std::vector<std::filesystem::path> models;   // elsewhere, as those opened lately
  std::filesystem::path stores;
  std::vector<CatalogueEntry> catalogue = app::catalogue();
  std::optional<LoadOptions> open;  // the model that is open, as the engine chose the rest
  std::int64_t open_bytes = 0;      // that it holds
  DeviceChoice device = {};         // on which models run
  std::int64_t sequences = 1;       // answers at once that they are opened for
  bool can_download = false;        // somebody listens to downloadRequested
  // For tests: these numbers instead of looking.
  std::function<Result<Machine>(const DeviceChoice& device)> machine = {};
  CalibrationSettings calibration = {};
};

// A download on its way, as far as the wizard tells of it.
struct WizardDownload {
  std::string repository = {}, file = {};
  std::string words = {};  // "12 MB/s, 3 minutes left"
  std::int64_t done = 0, total = 0;
  std::string error = {}, error_details = {};  // it cannot go on
  std::filesystem::path model = {};            // it is there
};

class WizardController : public QObject {
  Q_OBJECT

 public:
  WizardController(WizardWorld world, QWidget* parent);
  ~WizardController() override;

  // From the first page on, or from the memory page of the model that is open.
  void start(ui::WizardPage page = ui::WizardPage::machine);

  ui::WizardDialog& dialog() { return *dialog_; }
  ui::WizardPage page() const { return page_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const Candidate* chosen() const { return chosen_ ? &*chosen_ : nullptr; }
  const LoadOptions& setup() const { return setup_; }
  const DeviceChoice& device() const { return world_.device; }
  const std::optional<CalibrationResult>& measured() const { return measured_; }

 public Q_SLOTS:
  // What becomes of openRequested and calibrateRequested.
  void load_progress(const fovea::Progress& progress);
  void model_opened();
  void open_failed(const fovea::Error& error);
  void calibration_progress(const fovea::Progress& progress);
  void calibrated(const fovea::app::CalibrationResult& result);
  void calibration_failed(const fovea::Error& error);
  void download_changed(const fovea::app::WizardDownload& download);

 Q_SIGNALS:
  void openRequested(const fovea::LoadOptions& request, const std::optional<fovea::LoadPlan>& shown);
  void calibrateRequested(const fovea::app::CalibrationSettings& settings);
  void stopRequested();  // loading, preparing or measuring
  void downloadRequested(const QString& repository, const QString& file);
  // The end. `opened`: the request is that of the model that is open now.
  void finished(const fovea::LoadOptions& request, bool opened);
  void cancelled(bool opened_another);

 private:
  // wizard_controller.cpp: the way through the pages
  void connect_dialog();
  void enter(ui::WizardPage page);
  void next();
  void back();
  void close();
  void finish();
  void update_navigation();
  LoadOptions request() const;
  bool is_here() const { return chosen_ && !chosen_->path.empty(); }
  bool is_open() const { return opened_ && *opened_ == setup_ && opened_path_ == chosen_->path; }

  // wizard_pages.cpp: what the pages show
  void find();
  void choose_device(const QString& id);
  void show_machine();
  void take_open_model();
  void look_for_models();
  void take_candidates(std::vector<Candidate> found);
  void show_models();
  void choose(int row);
  void take(const Candidate& candidate);
  void show_memory();
  void show_setup();
  void plan();
  void replan_later();
  void apply_remedy(int remedy);
  void show_start();
  void show_calibration(const QString& text = {});
  void measure();

  WizardWorld world_;
  QPointer<ui::WizardDialog> dialog_;
  std::stop_source stop_;
  ui::WizardPage page_ = ui::WizardPage::machine;
  ui::WizardPage first_page_ = ui::WizardPage::machine;

  std::optional<Machine> machine_;
  int machines_ = 0;  // that were looked for: what is about another than the last one is not heeded
  bool measuring_ = false;

  Wish wish_ = Wish::quality;
  std::vector<Candidate> candidates_;  // in the order that is shown
  bool looking_ = false, looked_ = false;

  std::optional<Candidate> chosen_;
  bool chosen_by_user_ = false;
  LoadOptions setup_;
  std::vector<std::int64_t> contexts_;     // that can be chosen …
  std::vector<PrecisionRequest> choices_;  // … with these
  std::optional<LoadPlan> report_;         // of setup_; nothing while it is planned
  std::vector<Remedy> remedies_;
  StoreNeed store_;
  int planning_ = 0;           // the plan that was asked for last
  bool plan_pending_ = false;  // … has not come yet
  std::stop_source plan_stop_;
  QTimer plan_timer_;

  bool opening_ = false, downloading_ = false, calibrating_ = false;
  bool opened_another_ = false;
  std::optional<LoadOptions> opened_;  // and opened_path_: what this wizard has opened
  std::filesystem::path opened_path_;
  std::optional<CalibrationResult> measured_;
  ui::StartView start_;
  ui::CalibrationView calibration_;
};

}  // namespace fovea::app
