#include "engine/api/engine.h"
#include "engine/core/result.h"
#include "engine/runtime/answer.h"
#include "engine/runtime/scheduler.h"

namespace fovea {

Result<GenerateResult> Engine::generate(const GenerateRequest& request, const TextSink& sink,
                                        const ProgressSink& progress, std::stop_token stop) {
  return exhaustion_as_error([&]() -> Result<GenerateResult> {
    FOVEA_TRY(const auto answer, runtime::Answer::create(*parts_, request, std::move(stop)));
    parts_->scheduler->answer(*answer, sink, progress);
    return std::move(*answer).result();
  });
}

EngineLoad Engine::load() const {
  const runtime::Scheduler::Load load = parts_->scheduler->load();
  return {.answering = load.answering, .waiting = load.waiting};
}

}  // namespace fovea
