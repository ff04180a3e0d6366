#include "app/download/download_job.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

#include "app/download/library_link.h"
#include "app/files/folders.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

constexpr int tick_ms = 250;
constexpr std::int64_t speed_window_ms = 5000;

std::int64_t allocated_bytes(const fs::path& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 ? static_cast<std::int64_t>(status.st_blocks) * 512 : 0;
}

bool is_there(const fs::path& target, const HubFile& file) {
  std::error_code error;
  const auto bytes = fs::file_size(target, error);
  return !error && std::cmp_equal(bytes, file.bytes);
}

}  // namespace

const char* state_name(DownloadState state) {
  switch (state) {
    case DownloadState::queued:
      return "queued";
    case DownloadState::starting:
      return "starting";
    case DownloadState::running:
      return "running";
    case DownloadState::waiting:
      return "waiting";
    case DownloadState::verifying:
      return "verifying";
    case DownloadState::paused:
      return "paused";
    case DownloadState::disk_full:
      return "disk full";
    case DownloadState::failed:
      return "failed";
    case DownloadState::done:
      return "done";
  }
  return "";
}

DownloadJob::DownloadJob(HubClient& client, DownloadRequest request, JobSettings settings, std::int64_t id,
                         QObject* parent)
    : QObject(parent),
      client_(client),
      request_(std::move(request)),
      settings_(std::move(settings)),
      id_(id) {
  ticker_.setInterval(tick_ms);
  connect(&ticker_, &QTimer::timeout, this, &DownloadJob::measure);
  disk_poll_.setInterval(settings_.disk_poll_ms);
  connect(&disk_poll_, &QTimer::timeout, this, [this] {
    if (check_room()) start();
  });
}

PartialPlace DownloadJob::place_of(const HubFile& file) const {
  if (request_.folder.empty()) {
    const fs::path blob = settings_.cache.blob(request_.repository, file);
    // A name of our own: other tools take "BLOB.incomplete" for a beginning without gaps.
    return {blob, blob.string() + ".fovea.incomplete", settings_.cache.lock(request_.repository, file), true};
  }
  const fs::path target = request_.choice.is_folder ? request_.folder / request_.choice.name / file.path
                                                    : request_.folder / fs::path(file.path).filename();
  return {target, target.string() + ".incomplete", {}, false};
}

bool DownloadJob::is_running() const {
  return state_ == DownloadState::starting || state_ == DownloadState::running ||
         state_ == DownloadState::waiting || state_ == DownloadState::verifying;
}

void DownloadJob::start() {
  if (is_running() || state_ == DownloadState::done) return;
  disk_poll_.stop();
  state_ = DownloadState::starting;
  error_.reset();
  wants_token_ = false;
  file_ = 0;
  finished_bytes_ = 0;
  samples_.clear();
  clock_.start();
  ticker_.start();
  if (const auto room = check_room(); !room) {
    rest(DownloadState::disk_full, room.error());
    return disk_poll_.start();
  }
  Q_EMIT changed();
  next();
}

// For all files at once, so that the tenth part of a model does not find the disk full.
Result<void> DownloadJob::check_room() const {
  std::int64_t missing = 0;
  fs::path folder;
  for (const HubFile& file : request_.choice.files) {
    const PartialPlace place = place_of(file);
    folder = place.target.parent_path();
    if (!is_there(place.target, file))
      missing += std::max<std::int64_t>(0, file.bytes - allocated_bytes(place.incomplete));
  }
  const auto free_bytes = free_disk_bytes(folder);
  if (missing == 0 || !free_bytes || missing + settings_.transfer.partial.spare_bytes <= *free_bytes)
    return {};
  return disk_too_full(folder, missing, *free_bytes);
}

void DownloadJob::next() {
  const auto& files = request_.choice.files;
  if (file_ == files.size()) return finish();
  const HubFile& file = files[file_];
  transfer_ = std::make_unique<Transfer>(client_, HubFileId{request_.repository, request_.commit, file},
                                         place_of(file), settings_.transfer);
  connect(transfer_.get(), &Transfer::changed, this, &DownloadJob::measure);
  connect(transfer_.get(), &Transfer::ended, this, &DownloadJob::on_ended);
  transfer_->start();
}

void DownloadJob::on_ended(const TransferEnd& end) {
  // It is in the middle of telling this.
  Transfer* transfer = transfer_.release();
  transfer->disconnect(this);
  transfer->deleteLater();
  const HubFile& file = request_.choice.files[file_];
  if (end.error) {
    finished_bytes_ += transfer->bytes_there();
    wants_token_ = end.wants_token;
    rest(end.is_disk_full ? DownloadState::disk_full : DownloadState::failed, end.error);
    if (end.is_disk_full) disk_poll_.start();
    return;
  }
  if (request_.folder.empty()) {
    const auto link = settings_.cache.publish(request_.repository, request_.revision, request_.commit, file);
    if (!link) return rest(DownloadState::failed, link.error());
  }
  finished_bytes_ += file.bytes;
  ++file_;
  next();
}

fs::path DownloadJob::finished_path() const {
  const ModelChoice& choice = request_.choice;
  if (!request_.folder.empty())
    return choice.is_folder ? request_.folder / choice.name : place_of(choice.files.front()).target;
  const fs::path snapshot = settings_.cache.snapshot(request_.repository, request_.commit);
  return choice.is_folder ? snapshot : snapshot / choice.files.front().path;
}

void DownloadJob::finish() {
  path_ = finished_path();
  if (request_.folder.empty() && !settings_.library.empty())
    library_name_ = link_into_library(settings_.library, request_.choice,
                                      settings_.cache.snapshot(request_.repository, request_.commit));
  rest(DownloadState::done);
}

void DownloadJob::rest(DownloadState state, std::optional<Error> error) {
  ticker_.stop();
  state_ = state;
  error_ = std::move(error);
  samples_.clear();
  if (error_) log::info("download", request_.repository, ": ", error_->message());
  Q_EMIT changed();
  Q_EMIT rested();
}

void DownloadJob::pause() {
  disk_poll_.stop();
  if (!is_running() && state_ != DownloadState::disk_full && state_ != DownloadState::queued) return;
  if (transfer_) {
    transfer_->disconnect(this);
    transfer_->stop();
    finished_bytes_ += transfer_->bytes_there();
    transfer_.reset();
  }
  rest(DownloadState::paused);
}

void DownloadJob::cancel() {
  pause();
  for (const HubFile& file : request_.choice.files) {
    const PartialPlace place = place_of(file);
    ::unlink(place.incomplete.c_str());
    ::unlink((place.incomplete.string() + ".state").c_str());
  }
}

void DownloadJob::set_resting(DownloadState state, std::optional<Error> error) {
  if (is_running()) return;
  state_ = state;
  error_ = std::move(error);
  if (state == DownloadState::done && !request_.choice.files.empty()) path_ = finished_path();
}

std::int64_t DownloadJob::bytes_done() const {
  if (state_ == DownloadState::done) return request_.choice.bytes;
  return finished_bytes_ + (transfer_ ? transfer_->bytes_there() : 0);
}

void DownloadJob::measure() {
  if (!transfer_) return;
  error_.reset();
  switch (transfer_->state()) {
    case TransferState::idle:
    case TransferState::locating:
    case TransferState::ended:
      state_ = DownloadState::starting;
      break;
    case TransferState::receiving:
      state_ = DownloadState::running;
      break;
    case TransferState::verifying:
      state_ = DownloadState::verifying;
      break;
    case TransferState::waiting_for_other:
      state_ = DownloadState::waiting;
      break;
    case TransferState::waiting_to_retry:
      state_ = DownloadState::waiting;
      error_ = transfer_->trouble();
      break;
  }
  const std::int64_t now = clock_.elapsed();
  if (samples_.empty() || now - samples_.back().first >= tick_ms) samples_.emplace_back(now, bytes_done());
  while (samples_.size() > 2 && now - samples_[1].first >= speed_window_ms) samples_.pop_front();
  Q_EMIT changed();
}

DownloadStatus DownloadJob::status() const {
  DownloadStatus status;
  status.id = id_;
  status.repository = request_.repository;
  status.name = request_.choice.name;
  status.quantization = request_.choice.quantization;
  status.state = state_;
  status.bytes_done = bytes_done();
  status.bytes_total = request_.choice.bytes;
  if (samples_.size() > 1 && state_ == DownloadState::running) {
    const auto [from_ms, from_bytes] = samples_.front();
    const auto [to_ms, to_bytes] = samples_.back();
    status.bytes_per_s =
        static_cast<double>(to_bytes - from_bytes) / (static_cast<double>(to_ms - from_ms) / 1000);
    if (status.bytes_per_s > 0)
      status.seconds_left = static_cast<std::int64_t>(
          static_cast<double>(status.bytes_total - status.bytes_done) / status.bytes_per_s);
  }
  if (transfer_) {
    status.file = transfer_->id().file.path;
    status.wait_s = (transfer_->wait_ms() + 999) / 1000;
  }
  status.error = error_;
  status.wants_token = wants_token_;
  status.path = path_;
  status.library_name = library_name_;
  return status;
}

}  // namespace fovea::app
