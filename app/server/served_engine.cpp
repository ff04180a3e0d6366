#include "app/server/served_engine.h"

#include <utility>

#include "app/library/sampling_defaults.h"
#include "engine/api/errors.h"
#include "engine/core/result.h"

namespace fovea::app {

ServedEngine::ServedEngine(std::string name, std::unique_ptr<Engine> engine)
    : name_(std::move(name)),
      engine_(std::move(engine)),
      text_(engine_->text()),
      sampling_(sampling_defaults(engine_->info()).sampling) {}

Result<GenerateResult> ServedEngine::generate(const GenerateRequest& request, const TextSink& sink,
                                              std::stop_token stop) {
  {
    std::unique_lock lock(turn_mutex_);
    if (!turn_over_.wait(lock, stop, [this] { return !is_answering_; }))
      return fail(errors::stopped_on_request());
    is_answering_ = true;
  }
  auto result = engine_->generate(request, sink, {}, std::move(stop));
  {
    const std::scoped_lock lock(turn_mutex_);
    is_answering_ = false;
  }
  turn_over_.notify_one();
  return result;
}

bool ServedEngine::rest() {
  const std::scoped_lock lock(turn_mutex_);
  return !is_answering_ && engine_->rest();
}

bool ServedEngine::read_snapshot(Snapshot& snapshot, std::uint64_t& seen) {
  const std::scoped_lock lock(snapshot_mutex_);
  if (engine_->read_snapshot(snapshot_)) ++snapshot_number_;
  if (snapshot_number_ == seen) return false;
  seen = snapshot_number_;
  snapshot = snapshot_;
  return true;
}

}  // namespace fovea::app
