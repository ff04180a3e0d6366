#include "app/server/served_engine.h"

#include <utility>

#include "app/library/sampling_defaults.h"

namespace fovea::app {

ServedEngine::ServedEngine(std::string name, std::unique_ptr<Engine> engine)
    : name_(std::move(name)),
      engine_(std::move(engine)),
      text_(engine_->text()),
      sampling_(sampling_defaults(engine_->info()).sampling) {}

Result<std::vector<GenerateResult>> ServedEngine::generate(const GenerateRequest& request,
                                                           std::span<const std::uint64_t> seeds,
                                                           const ChoiceSink& sink, std::stop_token stop) {
  return engine_->generate_choices(request, seeds, sink, std::move(stop));
}

Result<std::vector<std::vector<float>>> ServedEngine::embed(std::span<const std::vector<TokenId>> texts,
                                                            std::stop_token stop) {
  return engine_->embed(texts, std::move(stop));
}

bool ServedEngine::rest() {
  const EngineLoad load = engine_->load();
  return load.answering + load.waiting == 0 && engine_->rest();
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
