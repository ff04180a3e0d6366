// The queue of downloads: one at a time, remembered on the disk, going on after the program was killed. One
// object for the program, on a thread with an event loop; everything it says is plain data.
#pragma once

#include <QObject>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "app/download/download_job.h"
#include "app/files/file_lock.h"

namespace fovea::app {

struct DownloadsSettings {
  JobSettings job;
  std::filesystem::path file;  // where the queue is remembered; empty: nowhere
};

class Downloads : public QObject {
  Q_OBJECT

 public:
  Downloads(HubClient& client, DownloadsSettings settings, QObject* parent = nullptr);
  // What runs is stopped as by a kill: the next program goes on with it.
  ~Downloads() override;

  // Reads the queue and goes on with what had not ended. Where another Fovea has the queue, this one starts
  // empty and remembers nothing; a broken file is set aside. Both are errors to show; downloading works all
  // the same.
  Result<void> start();

  std::vector<DownloadStatus> list() const;  // in the order in which they were added

 public Q_SLOTS:
  // The same choice twice is one download. Returns its id.
  std::int64_t add(const fovea::app::DownloadRequest& request);
  void pause(std::int64_t id);
  void resume(std::int64_t id);
  // Deletes what is not complete, and forgets the download.
  void cancel(std::int64_t id);
  // Forgets a download that is done or failed; its files stay.
  void remove(std::int64_t id);

 Q_SIGNALS:
  void changed(const fovea::app::DownloadStatus& status);
  void removed(std::int64_t id);

 private:
  DownloadJob* find(std::int64_t id) const;
  DownloadJob* insert(DownloadRequest request, std::int64_t id);
  void forget(std::int64_t id);
  void run_next();
  void save() const;
  Result<void> load();

  HubClient& client_;
  const DownloadsSettings settings_;
  std::vector<std::unique_ptr<DownloadJob>> jobs_;
  std::int64_t next_id_ = 1;
  std::optional<FileLock> lock_;  // on the queue's file; nothing: it is not remembered
};

}  // namespace fovea::app

Q_DECLARE_METATYPE(fovea::app::DownloadStatus)
Q_DECLARE_METATYPE(fovea::app::DownloadRequest)
