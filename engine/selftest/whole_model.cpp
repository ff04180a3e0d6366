// Small models through the whole engine, against transformers.
#include "engine/core/result.h"
#include "engine/runtime/load.h"
#include "engine/selftest/engines.h"
#include "engine/selftest/errors.h"
#include "engine/selftest/selftest.h"

namespace fovea::selftest {
Result<SelfTestPart> test_whole_model(const Bench& bench) {
  SelfTestPart part{.name = "whole model", .faults = {}};
  FOVEA_TRY(const auto models, golden_models());
  for (const GoldenModel& model : models) {
    FOVEA_TRY(LoadOptions request, request_for(model, bench));
    for (const std::int64_t chunk : {1, 7, 19}) {
      if (bench.stop.stop_requested()) return stopped();
      if (bench.progress) {
        bench.progress({.stage = Progress::Stage::self_test,
                        .done = part.checks,
                        .total = std::ssize(models) * 3,
                        .unit = Progress::Unit::prompts,
                        .item = part.name});
      }
      request.chunk = chunk;
      FOVEA_TRY(const auto engine, runtime::load(request, {}, {}, bench.stop, &bench.device));
      FOVEA_TRY(const auto logits, all_logits(*engine, model.tokens, bench.stop));
      const Phrase wrong = wrong_logit(logits, model);
      count(part, wrong.empty() ? Phrase() : phrases::selftest_prompt(model.name, chunk, wrong));
    }
  }
  return part;
}

}  // namespace fovea::selftest
