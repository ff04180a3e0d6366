// Long work on a model's files, one after the other on a thread of its own: preparing a store, checking,
// deleting. Answers are signals with plain data.
#pragma once

#include <QObject>
#include <QThread>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "app/library/library_types.h"
#include "app/library/model_files.h"
#include "engine/api/prepare.h"
#include "engine/api/progress.h"

namespace fovea::app {

enum class ModelTask : std::uint8_t { prepare, check, remove };

struct CheckReport {
  FileCheck files;
  std::int64_t stores = 0;    // whole ones
  std::int64_t versions = 0;  // in them
};

struct PrepareChoice {
  std::vector<std::string> tiers = {};   // empty: prepare's own choice
  bool built_in_text = false;            // the model reads calibration_text() first …
  std::filesystem::path text_file = {};  // … or this file; neither: data-free
  std::int64_t measured_tokens = 0;      // of that text, on which it is measured what each tier costs
};

class ModelWorker : public QObject {
  Q_OBJECT

 public:
  explicit ModelWorker(QObject* parent = nullptr);
  // Stops the work in progress and waits for its thread.
  ~ModelWorker() override;

 public Q_SLOTS:
  // A store that is there and was made without that text is made again.
  void prepare(const std::filesystem::path& model, const fovea::app::PrepareChoice& choice,
               const std::filesystem::path& stores);
  // The files, the header, and the stores.
  void check(const fovea::app::LibraryModel& model);
  // The files go to the trash, the stores are deleted: they can be made again.
  void remove(const fovea::app::LibraryModel& model);
  // The work in progress and what waits.
  void stop();

 Q_SIGNALS:
  void started(const QString& model, fovea::app::ModelTask task);
  void progressed(const QString& model, const fovea::Progress& progress);  // at most 20 times a second
  void prepared(const QString& model, const fovea::PrepareReport& report);
  void checked(const QString& model, const fovea::app::CheckReport& report);
  void removed(const QString& model, std::int64_t freed_bytes);
  void failed(const QString& model, fovea::app::ModelTask task, const fovea::Error& error);

 private:
  template <class Work>
  void post(const std::filesystem::path& model, ModelTask task, Work work);
  ProgressSink sink(const QString& model);

  QThread thread_;
  QObject* place_;  // lives on thread_ and ends with it
  std::mutex mutex_;
  std::stop_source source_;  // guarded by mutex_; of everything that was asked for since stop()
};

}  // namespace fovea::app

Q_DECLARE_METATYPE(fovea::app::CheckReport)
