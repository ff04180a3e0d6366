// The engine behind queued signals: it lives in a thread of its own, the GUI thread never calls into it.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <memory>
#include <mutex>
#include <stop_token>

#include "engine/api/engine.h"

namespace fovea::app {

// Move it to a thread; call load() and generate() through queued connections, stop() from any thread.
class EngineWorker : public QObject {
  Q_OBJECT

 public:
  explicit EngineWorker(LoadRequest defaults);
  ~EngineWorker() override;

  // Ends the work in progress and whatever was asked before this call. Later requests are not affected.
  void stop();

  // Every request is numbered when it is made (GUI thread), so that stop() cannot hit a later one.
  quint64 next_ticket();

 public Q_SLOTS:
  void load(quint64 ticket, const QString& path);
  void generate(quint64 ticket, const fovea::GenerateRequest& request);

 Q_SIGNALS:
  void loadProgress(const fovea::Progress& progress);
  void loaded(const fovea::ModelInfo& info, const fovea::LoadRequest& settings);
  void loadFailed(const fovea::Error& error);
  void promptProgress(const fovea::Progress& progress);
  void textArrived(const QString& text, const fovea::Timings& so_far);
  void finished(const fovea::GenerateResult& result);
  void failed(const fovea::Error& error);

 private:
  std::stop_token begin(quint64 ticket);
  bool due();  // at most 20 progress reports a second

  const LoadRequest defaults_;
  std::unique_ptr<Engine> engine_;  // worker thread only
  QElapsedTimer last_report_;       // worker thread only

  std::mutex mutex_;
  std::stop_source source_;    // guarded by mutex_
  quint64 last_ticket_ = 0;    // guarded by mutex_
  quint64 stopped_up_to_ = 0;  // guarded by mutex_
};

}  // namespace fovea::app
