#include "app/window/wizard_link.h"

#include "app/advisor/model_setups.h"
#include "app/library/data_folder.h"
#include "app/library/stores.h"
#include "app/window/chat_controller.h"
#include "app/window/model_words.h"
#include "app/window/wizard_downloads.h"
#include "ui/wizard/wizard_dialog.h"

namespace fovea::app {

WizardLink::WizardLink(ChatController& chat, QWidget& window, ChangeSettings change)
    : chat_(chat), window_(window), change_(std::move(change)) {}

WizardLink::~WizardLink() {
  delete wizard_;
}

void WizardLink::set_downloads(DownloadWorker& worker) {
  delete downloads_;
  downloads_ = new WizardDownloads(worker, this);
}

void WizardLink::open(const Settings& settings, bool memory_page) {
  if (wizard_) return wizard_->dialog().raise();
  if (memory_page && !chat_.model_loaded()) return;
  WizardWorld world;
  world.models_folder = models_folder();
  for (const std::string& folder : settings.model_folders) world.folders.emplace_back(folder);
  for (const std::string& model : settings.recent_models) world.models.emplace_back(model);
  world.stores = stores_folder();
  world.calibration = calibration_;
  world.can_download = downloads_ != nullptr;
  world.device = {settings.device, settings.device_description};
  world.sequences = chat_.load_defaults().sequences;
  before_.reset();
  if (chat_.model_loaded()) {
    before_ = chat_.model().settings;
    world.open = before_;
    world.open_bytes = memory_bytes(chat_.model());
    if (memory_page) world.device = {before_->device, device_choice(chat_.model()).description};
  }
  wizard_ = new WizardController(std::move(world), &window_);
  connect_wizard();
  wizard_->start(memory_page ? ui::WizardPage::memory : ui::WizardPage::machine);
}

void WizardLink::connect_wizard() {
  WizardController* wizard = wizard_;
  EngineWorker& worker = chat_.worker();
  connect(wizard, &WizardController::openRequested, this,
          [this](const LoadOptions& request, const std::optional<LoadPlan>& shown) {
            chat_.open_model(request, shown);
          });
  connect(wizard, &WizardController::calibrateRequested, this,
          [this](const CalibrationSettings& settings) { chat_.calibrate(settings); });
  connect(wizard, &WizardController::stopRequested, this, [this] { chat_.worker().stop(); });
  if (downloads_) {
    connect(wizard, &WizardController::downloadRequested, downloads_, &WizardDownloads::start);
    connect(wizard, &WizardController::stopRequested, downloads_, &WizardDownloads::stop);
    connect(downloads_, &WizardDownloads::changed, wizard, &WizardController::download_changed);
  }
  connect(wizard, &WizardController::finished, this, &WizardLink::finish);
  connect(wizard, &WizardController::cancelled, this, &WizardLink::cancel);
  connect(&worker, &EngineWorker::loadProgress, wizard, &WizardController::load_progress);
  connect(&worker, &EngineWorker::loadFailed, wizard, &WizardController::open_failed);
  connect(&chat_, &ChatController::modelOpened, wizard, &WizardController::model_opened);
  connect(&worker, &EngineWorker::calibrationProgress, wizard, &WizardController::calibration_progress);
  connect(&worker, &EngineWorker::calibrated, wizard, &WizardController::calibrated);
  connect(&worker, &EngineWorker::calibrationFailed, wizard, &WizardController::calibration_failed);
}

void WizardLink::finish(const LoadOptions& request, bool opened) {
  const DeviceChoice device = wizard_->device();
  end();
  change_([request, device](Settings& settings) {
    keep_setup(settings.model_setups, request);
    settings.device = device.name;
    settings.device_description = device.description;
  });
  if (opened) {
    Q_EMIT chosen(QString::fromStdString(request.model.string()));
  } else {
    chat_.open_model(request);
  }
}

// What was open comes back. Where nothing was, the model that was tried stays.
void WizardLink::cancel(bool opened_another) {
  end();
  if (before_) {
    if (opened_another) chat_.open_model(*before_);
  } else if (chat_.model_loaded()) {
    Q_EMIT chosen(QString::fromStdString(chat_.model().settings.model.string()));
  } else {
    Q_EMIT endedWithoutModel();
  }
}

void WizardLink::end() {
  if (!wizard_) return;
  wizard_->disconnect(this);
  wizard_->deleteLater();
  wizard_.clear();
}

}  // namespace fovea::app
