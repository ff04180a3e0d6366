// Small models through the whole engine, against transformers.
#include <cmath>
#include <string>

#include "engine/core/result.h"
#include "engine/runtime/load.h"
#include "engine/selftest/engines.h"
#include "engine/selftest/errors.h"
#include "engine/selftest/selftest.h"

namespace fovea::selftest {
namespace {

// Where the logits are off by more than is allowed; empty: nowhere.
Phrase difference(const std::vector<float>& logits, const GoldenModel& model) {
  if (logits.size() != model.logits.size())
    return phrases::selftest_logit_count(logits.size(), model.logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double error = std::abs(static_cast<double>(logits[i]) - static_cast<double>(model.logits[i]));
    if (error <= model.tolerance) continue;
    return phrases::selftest_logit(i, logits[i], model.logits[i], model.tolerance);
  }
  return {};
}

}  // namespace

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
      const Phrase wrong = difference(logits, model);
      count(part, wrong.empty() ? Phrase() : phrases::selftest_prompt(model.name, chunk, wrong));
    }
  }
  return part;
}

}  // namespace fovea::selftest
