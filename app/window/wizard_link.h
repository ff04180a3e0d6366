// Opens the wizard over the window, and does what it asks for: opens models, measures, keeps the settings at
// the end, and when it is closed before, brings back what was open.
#pragma once

#include <QObject>
#include <QPointer>
#include <functional>
#include <optional>

#include "app/settings/settings.h"
#include "app/wizard/wizard_controller.h"

namespace fovea::app {

class ChatController;
class DownloadWorker;
class WizardDownloads;

class WizardLink : public QObject {
  Q_OBJECT

 public:
  using ChangeSettings = std::function<void(const std::function<void(Settings&)>&)>;
  WizardLink(ChatController& chat, QWidget& window, ChangeSettings change);
  ~WizardLink() override;

  // `memory_page`: for the model that is open. Does nothing while a wizard is open.
  void open(const Settings& settings, bool memory_page = false);
  // The models that are opened meanwhile are tried, not chosen.
  bool trying() const { return !wizard_.isNull(); }
  WizardController* wizard() const { return wizard_; }

  // Who downloads; without it the wizard shows the command.
  void set_downloads(DownloadWorker& worker);
  // Shorter than usual, for tests.
  void set_calibration(const CalibrationSettings& calibration) { calibration_ = calibration; }

 Q_SIGNALS:
  void chosen(const QString& path);  // at the end: the model is open already
  void endedWithoutModel();          // nothing was chosen, and nothing is open

 private:
  void connect_wizard();
  void finish(const LoadOptions& request, bool opened);
  void cancel(bool opened_another);
  void end();

  ChatController& chat_;
  QWidget& window_;
  ChangeSettings change_;
  WizardDownloads* downloads_ = nullptr;
  CalibrationSettings calibration_;
  QPointer<WizardController> wizard_;
  std::optional<LoadOptions> before_;  // what was open
};

}  // namespace fovea::app
