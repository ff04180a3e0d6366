#include "app/library/model_worker.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QStandardPaths>
#include <memory>

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "app/files/files.h"
#include "app/library/calibration_text.h"
#include "app/library/errors.h"
#include "engine/api/model_info.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

constexpr int report_interval_ms = 50;
constexpr int niceness = 10;

// Of this thread and those that it starts: an answer that is being written does not wait for this work.
void go_behind_others() {
#ifdef __linux__
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
#endif
}
constexpr std::int64_t text_limit_bytes = std::int64_t{1} << 30;

Result<CheckReport> check_all(const LibraryModel& model, const ProgressSink& progress,
                              const std::stop_token& stop) {
  CheckReport report;
  FOVEA_TRY(report.files, check_files(model.path, progress, stop));
  FOVEA_TRY(const ModelInfo info, inspect(model.path));
  for (const StoreFile& store : model.stores) {
    FOVEA_TRY(const StoreCheck check, verify_store(store.path, progress, stop));
    ++report.stores;
    report.versions += check.versions;
  }
  return report;
}

Result<std::int64_t> remove_all(const LibraryModel& model) {
  const Removal removal = removal_of(model.path);
  // Qt 6.4 takes the present folder for the trash where this one is missing.
  QDir().mkpath(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation));
  for (const fs::path& path : removal.whole) {
    QFile file(QString::fromStdString(path.string()));
    if (!file.moveToTrash()) return fail(phrases::file_place(path), errors::library_no_trash());
  }
  std::error_code error;
  std::int64_t freed = removal.bytes;
  for (const StoreFile& store : model.stores)
    if (fs::remove(store.path, error)) freed += store.bytes;
  return freed;
}

Result<std::string> text_of(const PrepareChoice& choice) {
  if (choice.built_in_text) return std::string(calibration_text());
  if (choice.text_file.empty()) return std::string();
  FOVEA_TRY(std::string text, read_file(choice.text_file, text_limit_bytes));
  if (text.empty()) return fail(phrases::file_place(choice.text_file), errors::library_empty_text());
  return text;
}

}  // namespace

ModelWorker::ModelWorker(QObject* parent) : QObject(parent), place_(new QObject) {
  qRegisterMetaType<ModelTask>();
  qRegisterMetaType<CheckReport>();
  qRegisterMetaType<fovea::Progress>();
  qRegisterMetaType<fovea::PrepareReport>();
  qRegisterMetaType<fovea::Error>();
  qRegisterMetaType<std::int64_t>("std::int64_t");
  thread_.setObjectName(QStringLiteral("models"));
  place_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, place_, &QObject::deleteLater);
  connect(&thread_, &QThread::started, place_, go_behind_others);
  thread_.start();
}

ModelWorker::~ModelWorker() {
  stop();
  thread_.quit();
  thread_.wait();
}

void ModelWorker::stop() {
  const std::lock_guard lock(mutex_);
  source_.request_stop();
  source_ = std::stop_source();
}

ProgressSink ModelWorker::sink(const QString& model) {
  auto clock = std::make_shared<QElapsedTimer>();
  return [this, model, clock](const Progress& progress) {
    if (clock->isValid() && clock->elapsed() < report_interval_ms) return;
    clock->start();
    Q_EMIT progressed(model, progress);
  };
}

// `work(name, stop)` tells its success itself and returns its error.
template <class Work>
void ModelWorker::post(const fs::path& model, ModelTask task, Work work) {
  const QString name = QString::fromStdString(model.string());
  std::stop_token stop;
  {
    const std::lock_guard lock(mutex_);
    stop = source_.get_token();
  }
  const auto run = [this, model, name, task, stop, work = std::move(work)] {
    Result<void> done;
    if (stop.stop_requested()) {
      done = fail(phrases::file_place(model), errors::library_stopped_early());
    } else {
      Q_EMIT started(name, task);
      done = work(name, stop);
    }
    if (!done) Q_EMIT failed(name, task, done.error());
  };
  QMetaObject::invokeMethod(place_, run, Qt::QueuedConnection);
}

void ModelWorker::prepare(const fs::path& model, const PrepareChoice& choice, const fs::path& stores) {
  post(model, ModelTask::prepare,
       [this, model, choice, stores](const QString& name, const std::stop_token& stop) -> Result<void> {
         PrepareRequest request;
         request.model = model;
         request.tiers = choice.tiers;
         FOVEA_TRY(request.calibration.text, text_of(choice));
         request.calibration.divergence_tokens = choice.measured_tokens;
         FOVEA_TRY(const StorePlan plan, describe_store(request));
         request.store = stores / plan.name;
         request.recalibrate = true;
         FOVEA_TRY(const PrepareReport report, fovea::prepare(request, sink(name), stop));
         Q_EMIT prepared(name, report);
         return {};
       });
}

void ModelWorker::check(const LibraryModel& model) {
  post(model.path, ModelTask::check,
       [this, model](const QString& name, const std::stop_token& stop) -> Result<void> {
         FOVEA_TRY(const CheckReport report, check_all(model, sink(name), stop));
         Q_EMIT checked(name, report);
         return {};
       });
}

void ModelWorker::remove(const LibraryModel& model) {
  post(model.path, ModelTask::remove,
       [this, model](const QString& name, const std::stop_token&) -> Result<void> {
         FOVEA_TRY(const std::int64_t freed, remove_all(model));
         Q_EMIT removed(name, freed);
         return {};
       });
}

}  // namespace fovea::app
