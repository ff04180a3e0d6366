#include "app/window/wizard_downloads.h"

#include <algorithm>

#include "app/window/model_rows.h"
#include "app/words/error_words.h"
#include "ui/language/number_text.h"

namespace fovea::app {

WizardDownloads::WizardDownloads(DownloadWorker& worker, QObject* parent) : QObject(parent), worker_(worker) {
  connect(&worker, &DownloadWorker::listed, this, &WizardDownloads::on_listed);
  connect(&worker, &DownloadWorker::failed, this, &WizardDownloads::on_failed);
  connect(&worker, &DownloadWorker::changed, this, &WizardDownloads::on_changed);
}

void WizardDownloads::start(const QString& repository, const QString& file) {
  repository_ = repository;
  file_ = file;
  name_.clear();
  id_ = 0;
  WizardDownload download = about();
  download.words = tr("Asking the hub…").toStdString();
  Q_EMIT changed(download);
  worker_.list(repository);
}

void WizardDownloads::stop() {
  if (id_ != 0) worker_.pause(id_);
}

WizardDownload WizardDownloads::about() const {
  return {.repository = repository_.toStdString(), .file = file_.toStdString()};
}

void WizardDownloads::on_listed(const QString& asked, const HubRepository& repository,
                                const std::vector<ModelChoice>& choices) {
  if (asked != repository_ || !name_.empty()) return;
  const std::string wanted = file_.toStdString();
  const auto choice = std::ranges::find_if(choices, [&](const ModelChoice& c) {
    return std::ranges::any_of(c.files, [&](const HubFile& file) {
      return file.path == wanted || file.path.ends_with("/" + wanted);
    });
  });
  if (choice == choices.end()) {
    WizardDownload download = about();
    download.error = tr("The hub's repository no longer has this file. Choose another model.").toStdString();
    Q_EMIT changed(download);
    return;
  }
  name_ = choice->name;
  listed_as_ = repository.id;
  DownloadRequest request;
  request.repository = repository.id;
  request.revision = repository.revision;
  request.commit = repository.commit;
  request.choice = *choice;
  worker_.add(request);
}

void WizardDownloads::on_failed(const QString& asked, const Error& error) {
  if (asked != repository_ || !name_.empty()) return;
  WizardDownload download = about();
  const auto [text, details] = error_text(error);
  download.error = text.toStdString();
  download.error_details = details.toStdString();
  Q_EMIT changed(download);
}

void WizardDownloads::on_changed(const DownloadStatus& status) {
  if (name_.empty() || status.name != name_ || status.repository != listed_as_) return;
  id_ = status.id;
  WizardDownload download = about();
  download.done = status.bytes_done;
  download.total = status.bytes_total;
  download.words = tr("Downloading: %1 of %2")
                       .arg(ui::bytes_text(status.bytes_done), ui::bytes_text(status.bytes_total))
                       .toStdString();
  switch (status.state) {
    case DownloadState::done:
      download.model = status.path;
      break;
    case DownloadState::failed:
      download.error = tr("The download failed: %1").arg(why_words(status).text).toStdString();
      download.error_details = why_words(status).details.toStdString();
      break;
    case DownloadState::paused:
      download.error = tr("Paused. What has been downloaded is kept; downloading again continues from there.")
                           .toStdString();
      break;
    case DownloadState::verifying:
      download.words = tr("Comparing the checksum…").toStdString();
      break;
    case DownloadState::waiting:
    case DownloadState::disk_full:
      download.words = why_words(status).text.toStdString();
      break;
    case DownloadState::queued:
    case DownloadState::starting:
    case DownloadState::running:
      break;
  }
  Q_EMIT changed(download);
}

}  // namespace fovea::app
