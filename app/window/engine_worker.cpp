#include "app/window/engine_worker.h"

namespace fovea::app {

EngineWorker::EngineWorker(LoadRequest defaults) : defaults_(std::move(defaults)) {}

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

void EngineWorker::load(quint64 ticket, const QString& path) {
  const std::stop_token stop = begin(ticket);
  LoadRequest request = defaults_;
  request.model = path.toStdString();
  engine_.reset();  // two models at once may not fit into memory
  auto engine = Engine::load(
      request,
      [this](const Progress& progress) {
        if (due()) Q_EMIT loadProgress(progress);
      },
      stop);
  if (!engine) {
    Q_EMIT loadFailed(engine.error());
    return;
  }
  engine_ = std::move(*engine);
  Q_EMIT loaded(engine_->info(), engine_->settings());
}

void EngineWorker::generate(quint64 ticket, const GenerateRequest& request) {
  const std::stop_token stop = begin(ticket);
  if (!engine_) {
    Q_EMIT failed(Error{ErrorKind::invalid, {}, "no model is loaded", "Open a model first"});
    return;
  }
  const auto result = engine_->generate(
      request,
      [this](std::string_view text, const Timings& so_far) {
        Q_EMIT textArrived(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())), so_far);
      },
      [this](const Progress& progress) {
        if (due()) Q_EMIT promptProgress(progress);
      },
      stop);
  if (!result) {
    Q_EMIT failed(result.error());
    return;
  }
  Q_EMIT finished(*result);
}

}  // namespace fovea::app
