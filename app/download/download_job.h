// All files of one choice, one after the other, into the hub's cache or a folder.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "app/download/download_types.h"
#include "app/download/hub_cache.h"
#include "app/download/transfer.h"

namespace fovea::app {

struct JobSettings {
  TransferSettings transfer;
  HubCache cache;
  std::filesystem::path library;  // where links to cached models are made; empty: nowhere
  int disk_poll_ms = 5000;
};

class DownloadJob : public QObject {
  Q_OBJECT

 public:
  DownloadJob(HubClient& client, DownloadRequest request, JobSettings settings, std::int64_t id = 0,
              QObject* parent = nullptr);

  void start();
  void pause();
  // Ends it and deletes what is not complete.
  void cancel();
  // Sets the state of a job that is not running (as a queue remembers it).
  void set_resting(DownloadState state, std::optional<Error> error);

  const DownloadRequest& request() const { return request_; }
  DownloadStatus status() const;
  bool is_running() const;

 Q_SIGNALS:
  // At most a few times a second while it runs, and at each change of state.
  void changed();
  // It is done, failed, paused, or the disk is full.
  void rested();

 private:
  PartialPlace place_of(const HubFile& file) const;
  std::filesystem::path finished_path() const;
  Result<void> check_room() const;
  void next();
  void on_ended(const TransferEnd& end);
  void finish();
  void rest(DownloadState state, std::optional<Error> error = {});
  void measure();
  std::int64_t bytes_done() const;

  HubClient& client_;
  DownloadRequest request_;
  const JobSettings settings_;
  const std::int64_t id_;
  std::unique_ptr<Transfer> transfer_;
  std::size_t file_ = 0;
  std::int64_t finished_bytes_ = 0;
  DownloadState state_ = DownloadState::queued;
  std::optional<Error> error_;
  bool wants_token_ = false;
  std::filesystem::path path_;
  std::string library_name_;
  QTimer ticker_, disk_poll_;
  QElapsedTimer clock_;
  std::deque<std::pair<std::int64_t, std::int64_t>> samples_;  // milliseconds, bytes
};

}  // namespace fovea::app
