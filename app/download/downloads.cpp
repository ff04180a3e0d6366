#include "app/download/downloads.h"

#include <algorithm>

#include "app/download/errors.h"
#include "app/download/queue_file.h"
#include "app/files/files.h"
#include "app/files/folders.h"
#include "engine/core/atomic_file.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t queue_limit_bytes = 16 << 20;

// What a later program should find: what runs or waits now is queued then.
DownloadState remembered(DownloadState state) {
  const bool is_resting =
      state == DownloadState::paused || state == DownloadState::failed || state == DownloadState::done;
  return is_resting ? state : DownloadState::queued;
}

bool is_same(const DownloadRequest& a, const DownloadRequest& b) {
  return a.repository == b.repository && a.commit == b.commit && a.folder == b.folder &&
         a.choice.name == b.choice.name;
}

}  // namespace

Downloads::Downloads(HubClient& client, DownloadsSettings settings, QObject* parent)
    : QObject(parent), client_(client), settings_(std::move(settings)) {
  qRegisterMetaType<fovea::app::DownloadStatus>();
  qRegisterMetaType<fovea::app::DownloadRequest>();
}

Downloads::~Downloads() {
  for (const auto& job : jobs_) job->disconnect(this);
  jobs_.clear();
}

Result<void> Downloads::start() {
  const auto loaded = settings_.file.empty() ? Result<void>() : load();
  run_next();
  return loaded;
}

Result<void> Downloads::load() {
  std::error_code error;
  std::filesystem::create_directories(settings_.file.parent_path(), error);
  FOVEA_TRY(auto lock, FileLock::open(settings_.file, phrases::queue_forgotten()));
  if (!lock.try_alone()) return fail(phrases::file_place(settings_.file), errors::queue_taken());
  lock_.emplace(std::move(lock));
  const auto text = read_file(settings_.file, queue_limit_bytes);
  if (!text && text.error().kind == ErrorKind::not_found) return {};
  auto queue = text ? parse_queue(*text, settings_.file) : std::unexpected(text.error());
  if (!queue) {
    const std::filesystem::path aside = name_aside(settings_.file, "broken");
    std::filesystem::rename(settings_.file, aside, error);
    const Error& why = queue.error();
    return fail(why.where, error ? errors::queue_stays(why.what, Said{error.message()})
                                 : errors::queue_set_aside(why.what, aside.filename()));
  }
  for (QueuedDownload& entry : *queue) {
    next_id_ = std::max(next_id_, entry.id + 1);
    insert(std::move(entry.request), entry.id)->set_resting(entry.state, std::move(entry.error));
  }
  return {};
}

void Downloads::save() const {
  if (!lock_) return;
  std::vector<QueuedDownload> queue;
  for (const auto& job : jobs_) {
    const DownloadStatus status = job->status();
    queue.push_back({status.id, job->request(), remembered(status.state), status.error});
  }
  const auto write = [&]() -> Result<void> {
    FOVEA_TRY(auto file, AtomicFile::create(settings_.file));
    FOVEA_CHECK(file.write(write_queue(queue)));
    return file.commit();
  };
  if (const auto written = write(); !written) log::warning("download", written.error().message());
}

std::vector<DownloadStatus> Downloads::list() const {
  std::vector<DownloadStatus> list;
  for (const auto& job : jobs_) list.push_back(job->status());
  return list;
}

DownloadJob* Downloads::find(std::int64_t id) const {
  const auto it = std::ranges::find_if(jobs_, [&](const auto& job) { return job->status().id == id; });
  return it == jobs_.end() ? nullptr : it->get();
}

DownloadJob* Downloads::insert(DownloadRequest request, std::int64_t id) {
  jobs_.push_back(std::make_unique<DownloadJob>(client_, std::move(request), settings_.job, id));
  DownloadJob* job = jobs_.back().get();
  connect(job, &DownloadJob::changed, this, [this, job] { Q_EMIT changed(job->status()); });
  // Queued: a job that rests is not deleted, or followed by the next, from within its own words.
  connect(
      job, &DownloadJob::rested, this,
      [this] {
        save();
        run_next();
      },
      Qt::QueuedConnection);
  return job;
}

std::int64_t Downloads::add(const DownloadRequest& request) {
  for (const auto& job : jobs_) {
    if (!is_same(job->request(), request)) continue;
    const std::int64_t id = job->status().id;
    resume(id);
    return id;
  }
  DownloadJob* job = insert(request, next_id_++);
  save();
  Q_EMIT changed(job->status());
  run_next();
  return job->status().id;
}

void Downloads::run_next() {
  const bool is_busy = std::ranges::any_of(jobs_, [](const auto& job) { return job->is_running(); });
  if (is_busy) return;
  for (const auto& job : jobs_)
    if (job->status().state == DownloadState::queued) return job->start();
}

void Downloads::pause(std::int64_t id) {
  if (DownloadJob* job = find(id)) job->pause();
}

void Downloads::resume(std::int64_t id) {
  DownloadJob* job = find(id);
  if (!job || job->is_running() || job->status().state == DownloadState::done) return;
  job->set_resting(DownloadState::queued, {});
  save();
  Q_EMIT changed(job->status());
  run_next();
}

void Downloads::cancel(std::int64_t id) {
  DownloadJob* job = find(id);
  if (!job) return;
  job->cancel();
  forget(id);
}

void Downloads::remove(std::int64_t id) {
  const DownloadJob* job = find(id);
  if (job && !job->is_running()) forget(id);
}

void Downloads::forget(std::int64_t id) {
  std::erase_if(jobs_, [&](const auto& job) { return job->status().id == id; });
  save();
  Q_EMIT removed(id);
  run_next();
}

}  // namespace fovea::app
