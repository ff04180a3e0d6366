#include "app/window/engine_worker.h"

#include <utility>

#include "app/library/device_choice.h"
#include "app/library/model_library.h"
#include "app/window/errors.h"

namespace fovea::app {

namespace {

constexpr int kRestMilliseconds = 20;

DeviceInfo device_of(const std::string& name) {
  const auto all = devices();
  for (const DeviceInfo& device : all.value_or(std::vector<DeviceInfo>{}))
    if (same_device(device.name, name)) return device;
  DeviceInfo unknown;
  unknown.name = unknown.description = name;
  return unknown;
}

}  // namespace

EngineWorker::EngineWorker() {
  rest_timer_.setSingleShot(true);
  rest_timer_.setInterval(kRestMilliseconds);
  connect(&rest_timer_, &QTimer::timeout, this, &EngineWorker::rest);
}

EngineWorker::~EngineWorker() = default;

quint64 EngineWorker::next_ticket() {
  const std::lock_guard lock(mutex_);
  return ++last_ticket_;
}

void EngineWorker::stop() {
  const std::lock_guard lock(mutex_);
  stopped_up_to_ = last_ticket_;
  source_.request_stop();
}

std::stop_token EngineWorker::begin(quint64 ticket) {
  const std::lock_guard lock(mutex_);
  source_ = std::stop_source();
  if (ticket <= stopped_up_to_) source_.request_stop();
  last_report_.invalidate();
  return source_.get_token();
}

bool EngineWorker::due() {
  if (last_report_.isValid() && last_report_.elapsed() < 50) return false;
  last_report_.start();
  return true;
}

void EngineWorker::serve(std::shared_ptr<EngineModels> models) {
  const std::lock_guard lock(engine_mutex_);
  models_ = std::move(models);
  if (!models_) return;
  if (is_exchanging_) models_->begin_exchange();
  if (engine_) models_->end_exchange(engine_->plan().options.model, engine_);
}

std::shared_ptr<EngineModels> EngineWorker::leave_engine() {
  std::shared_ptr<ServedEngine> left;
  std::shared_ptr<EngineModels> models;
  {
    const std::lock_guard lock(engine_mutex_);
    is_exchanging_ = true;
    snapshot_seen_ = 0;
    left = std::exchange(engine_, nullptr);
    models = models_;
  }
  if (models) models->begin_exchange();
  if (left) left->close();
  return models;
}

void EngineWorker::enter_engine(const std::filesystem::path& model, std::shared_ptr<ServedEngine> engine) {
  const std::lock_guard lock(engine_mutex_);
  is_exchanging_ = false;
  engine_ = std::move(engine);
  if (models_) models_->end_exchange(model, engine_);
}

bool EngineWorker::read_snapshot(Snapshot& snapshot) {
  const std::unique_lock lock(engine_mutex_, std::try_to_lock);
  return lock && engine_ && engine_->read_snapshot(snapshot, snapshot_seen_);
}

void EngineWorker::load(quint64 ticket, const LoadOptions& request, const std::optional<LoadPlan>& shown) {
  const std::stop_token stop = begin(ticket);
  if (const auto models = leave_engine()) models->make_room(request);
  auto opened = loader_(
      request, shown,
      [this](const Progress& progress) {
        if (due()) Q_EMIT loadProgress(progress);
      },
      stop);
  if (!opened) {
    enter_engine({}, nullptr);
    Q_EMIT loadFailed(opened.error());
    return;
  }
  const Engine& engine = **opened;
  const std::vector<std::string> names = names_of(engine.settings().device);
  LoadedModel model{engine.info(),          engine.settings(),       engine.memory(), {},
                    engine.expert_layers(), device_of(names.back()), engine.text(),   {}};
  if (engine.plan().policy() != PolicyKind::none) model.plan = engine.plan().plan;
  const std::span<const float> uses = engine.calibrated_uses();
  model.calibrated_uses.assign(uses.begin(), uses.end());
  model.changed = engine.plan().changed;
  model.first_card = first_card_of(engine.plan().plan);
  model.last_card = last_card_of(engine.plan().plan);
  if (model.first_card) model.first_device = device_of(names.front());
  const std::filesystem::path path = engine.settings().model;
  enter_engine(path, std::make_shared<ServedEngine>(model_name(path), std::move(*opened)));
  Q_EMIT loaded(model);
}

void EngineWorker::generate(quint64 ticket, const GenerateRequest& request) {
  const std::stop_token stop = begin(ticket);
  if (!engine_) {
    Q_EMIT failed(errors::no_model_open());
    return;
  }
  engine_->count_question();
  const auto result = engine()->generate(
      request,
      [this, &stop](std::string_view text, const Timings& so_far) {
        keep_pace(stop);
        Q_EMIT textArrived(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())), so_far);
      },
      [this](const Progress& progress) {
        if (due()) Q_EMIT promptProgress(progress);
      },
      stop,
      [this](std::span<const TokenRecord> records) {
        Q_EMIT tokensRecorded({records.begin(), records.end()});
      });
  if (!result) {
    Q_EMIT failed(result.error());
    return;
  }
  rest();
  if (const auto use = engine()->precision()) Q_EMIT precisionUsed(*use);
  Q_EMIT finished(*result);
}

void EngineWorker::set_pace(double tokens_per_second) {
  const std::lock_guard lock(pace_mutex_);
  pace_ = tokens_per_second;
  pace_changed_.notify_all();
}

void EngineWorker::keep_pace(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(pace_mutex_);
  const auto next = [this] {
    return last_token_ +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / pace_));
  };
  while (pace_ != 0 && !stop.stop_requested() && (pace_ < 0 || Clock::now() < next())) {
    if (pace_ < 0) {
      pace_changed_.wait(lock, stop, [this] { return pace_ >= 0; });
    } else {
      pace_changed_.wait_until(lock, stop, next(), [this, pace = pace_] { return pace_ != pace; });
    }
  }
  last_token_ = Clock::now();
}

void EngineWorker::rest() {
  if (engine_ && engine_->rest()) rest_timer_.start();
}

void EngineWorker::recall(const QByteArray& use_profile) {
  const std::string_view bytes(use_profile.constData(), static_cast<std::size_t>(use_profile.size()));
  if (engine_ && engine()->recall(bytes)) rest();
}

void EngineWorker::calibrate(quint64 ticket, const CalibrationSettings& settings) {
  const std::stop_token stop = begin(ticket);
  if (!engine_) {
    Q_EMIT calibrationFailed(errors::no_model_open());
    return;
  }
  const auto result = app::calibrate(
      *engine(), settings,
      [this](const Progress& progress) {
        if (due()) Q_EMIT calibrationProgress(progress);
      },
      stop);
  if (result) {
    Q_EMIT calibrated(*result);
  } else {
    Q_EMIT calibrationFailed(result.error());
  }
}

void EngineWorker::compare(quint64 ticket, const ComparisonRequest& request, bool keep_open) {
  const std::stop_token stop = begin(ticket);
  if (!keep_open) leave_engine();
  const auto result = compare_settings(
      request,
      [this](const LoadOptions& options, const ProgressSink& progress, const std::stop_token& until) {
        return loader_(options, {}, progress, until);
      },
      [this](const ComparisonProgress& progress) {
        if (due()) Q_EMIT comparisonProgress(progress);
      },
      stop);
  if (result) {
    Q_EMIT compared(*result);
  } else {
    Q_EMIT comparisonFailed(result.error());
  }
}

void EngineWorker::answer_beside(quint64 ticket, const BesideRequest& request) {
  const std::stop_token stop = begin(ticket);
  leave_engine();
  const auto result = app::answer_beside(
      request,
      [this](const LoadOptions& options, const ProgressSink& progress, const std::stop_token& until) {
        return loader_(options, {}, progress, until);
      },
      [this](const BesideProgress& progress) {
        if (!progress.text.empty()) {
          Q_EMIT besideText(progress.setting,
                            QString::fromUtf8(progress.text.data(), std::ssize(progress.text)));
        } else if (!progress.tokens.empty()) {
          QList<qint64> ends;
          for (const TokenRecord& token : progress.tokens) ends += token.text_end;
          Q_EMIT besideTokens(progress.setting, ends);
        } else if (progress.opening.total == 0 || due()) {
          Q_EMIT besideProgress(progress);
        }
      },
      stop);
  if (result) {
    Q_EMIT answeredBeside(*result);
  } else {
    Q_EMIT besideFailed(result.error());
  }
}

}  // namespace fovea::app
