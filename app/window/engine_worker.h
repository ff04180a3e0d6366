// The engine behind queued signals: it lives in a thread of its own, the GUI thread never calls into it. The
// server's threads may ask it too.
#pragma once

#include <QByteArray>
#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/advisor/beside.h"
#include "app/advisor/calibration.h"
#include "app/advisor/comparison.h"
#include "app/library/card_parts.h"
#include "app/server/engine_models.h"
#include "app/server/served_engine.h"
#include "engine/api/devices.h"
#include "engine/api/engine.h"

namespace fovea::app {

// A model that was opened, as far as the window tells of it.
struct LoadedModel {
  ModelInfo info;
  LoadOptions settings;
  MemoryUse memory;
  std::optional<Plan> plan;  // with a policy
  std::vector<ExpertLayer> expert_layers;
  DeviceInfo device;                           // on which it runs; of two cards the one with the last layers
  std::shared_ptr<const TextModel> text = {};  // Engine::text()
  std::vector<float> calibrated_uses = {};     // Engine::calibrated_uses()
  std::vector<PlanDifference> changed = {};    // from the plan that was shown
  // Of two cards the other one, and what each has of the model.
  DeviceInfo first_device = {};
  std::optional<CardPart> first_card = {};
  CardPart last_card = {};
};

// Move it to a thread; call load(), generate() and the other slots through queued connections, stop() and
// read_snapshot() from any thread.
class EngineWorker : public QObject {
  Q_OBJECT

 public:
  EngineWorker();
  ~EngineWorker() override;

  // For tests: another way to make an engine. Before the first load().
  using Loader = std::function<Result<std::unique_ptr<Engine>>(
      const LoadOptions&, const std::optional<LoadPlan>& shown, const ProgressSink&, const std::stop_token&)>;
  void set_loader(Loader loader) { loader_ = std::move(loader); }

  // Ends the work in progress and whatever was asked before this call. Later requests are not affected.
  void stop();

  // Every request is numbered when it is made (GUI thread), so that stop() cannot hit a later one.
  quint64 next_ticket();

  // False: nothing new, or a model is being exchanged just now. Never waits.
  bool read_snapshot(Snapshot& snapshot);

  // The model that is open, and each that is opened from now on, is one of these; null: of nobody's. Any
  // thread; returns at once. What was given before must be null or not be asked any more.
  void serve(std::shared_ptr<EngineModels> models);

  // At most so many tokens of an answer a second; 0: as many as there are, standing_still: none until there
  // is another pace. Any thread. Experts move with the text, since the engine waits.
  static constexpr double standing_still = -1;
  void set_pace(double tokens_per_second);

  // Lets go of the engine; on the worker's thread, when that ends. Others' answers are ended.
  void close() { leave_engine(); }

 public Q_SLOTS:
  // `shown`: the plan that was shown for it, which is carried out; where it does not hold any more, it is
  // made anew and LoadedModel::changed says how it differs.
  void load(quint64 ticket, const fovea::LoadOptions& request,
            const std::optional<fovea::LoadPlan>& shown = {});
  void generate(quint64 ticket, const fovea::GenerateRequest& request);
  // The conversation with this profile goes on (Engine::recall); nothing without a model.
  void recall(const QByteArray& use_profile);
  void calibrate(quint64 ticket, const fovea::app::CalibrationSettings& settings);
  // Opens the model with one setting after the other, beside the one that is open, which stays as it is.
  // Without `keep_open` that one is let go of before.
  void compare(quint64 ticket, const fovea::app::ComparisonRequest& request, bool keep_open);
  // Likewise, with one question; the model that is open is let go of before.
  void answer_beside(quint64 ticket, const fovea::app::BesideRequest& request);

 Q_SIGNALS:
  void loadProgress(const fovea::Progress& progress);
  void loaded(const fovea::app::LoadedModel& model);
  void loadFailed(const fovea::Error& error);
  void promptProgress(const fovea::Progress& progress);
  void textArrived(const QString& text, const fovea::Timings& so_far);
  void tokensRecorded(const std::vector<fovea::TokenRecord>& records);  // behind their text
  void finished(const fovea::GenerateResult& result);
  void failed(const fovea::Error& error);
  void calibrationProgress(const fovea::Progress& progress);
  void calibrated(const fovea::app::CalibrationResult& result);
  void calibrationFailed(const fovea::Error& error);
  void comparisonProgress(const fovea::app::ComparisonProgress& progress);
  void compared(const fovea::app::SettingsComparison& result);
  void comparisonFailed(const fovea::Error& error);
  void besideProgress(const fovea::app::BesideProgress& progress);  // without what is written …
  void besideText(int setting, const QString& text);                // … which comes here,
  void besideTokens(int setting, const QList<qint64>& ends);        // in bytes of the answer, behind its text
  void answeredBeside(const fovea::app::BesideResult& result);
  void besideFailed(const fovea::Error& error);
  void precisionUsed(const fovea::PrecisionUse& use);  // after each answer, with a policy

 private:
  std::stop_token begin(quint64 ticket);
  void rest();  // until the swaps that an answer began are finished
  void keep_pace(const std::stop_token& stop);
  bool due();  // at most 20 progress reports a second
  Engine* engine() const { return engine_ ? &engine_->engine() : nullptr; }
  // Two models at once may not fit into memory. Programs that ask for one wait until enter_engine().
  std::shared_ptr<EngineModels> leave_engine();
  void enter_engine(const std::filesystem::path& model, std::shared_ptr<ServedEngine> engine);

  Loader loader_ = [](const LoadOptions& request, const std::optional<LoadPlan>& shown,
                      const ProgressSink& progress, const std::stop_token& stop) {
    return shown ? Engine::load(*shown, IfChanged::plan_anew, progress, stop)
                 : Engine::load(request, progress, stop);
  };
  std::shared_ptr<ServedEngine>
      engine_;  // exchanged under engine_mutex_; used by the worker thread without it
  std::mutex engine_mutex_;
  std::shared_ptr<EngineModels> models_;  // guarded by engine_mutex_
  bool is_exchanging_ = false;            // guarded by engine_mutex_: one has left, the next is not there yet
  std::uint64_t snapshot_seen_ = 0;       // guarded by engine_mutex_: the number of the last one
  QElapsedTimer last_report_;             // worker thread only
  QTimer rest_timer_{this};               // worker thread only

  std::mutex pace_mutex_;
  std::condition_variable_any pace_changed_;
  double pace_ = 0;                                   // guarded by pace_mutex_
  std::chrono::steady_clock::time_point last_token_;  // worker thread only

  std::mutex mutex_;
  std::stop_source source_;    // guarded by mutex_
  quint64 last_ticket_ = 0;    // guarded by mutex_
  quint64 stopped_up_to_ = 0;  // guarded by mutex_
};

}  // namespace fovea::app
