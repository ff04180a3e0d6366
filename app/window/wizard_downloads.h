// Downloads one file of the hub for the wizard, through the queue that the models window shows.
#pragma once

#include <QObject>
#include <cstdint>
#include <string>
#include <vector>

#include "app/download/download_worker.h"
#include "app/wizard/wizard_controller.h"

namespace fovea::app {

class WizardDownloads : public QObject {
  Q_OBJECT

 public:
  explicit WizardDownloads(DownloadWorker& worker, QObject* parent = nullptr);

  void start(const QString& repository, const QString& file);
  void stop();  // what is there stays; start() goes on

 Q_SIGNALS:
  void changed(const fovea::app::WizardDownload& download);

 private:
  void on_listed(const QString& asked, const HubRepository& repository,
                 const std::vector<ModelChoice>& choices);
  void on_failed(const QString& about, const Error& error);
  void on_changed(const DownloadStatus& status);
  WizardDownload about() const;

  DownloadWorker& worker_;
  QString repository_, file_;
  std::string name_;       // of the choice; empty: the hub has not answered yet
  std::string listed_as_;  // the repository's name today
  std::int64_t id_ = 0;
};

}  // namespace fovea::app
