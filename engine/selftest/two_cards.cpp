// A model divided over two cards, or over one as if it were two.
#include "engine/core/result.h"
#include "engine/runtime/load.h"
#include "engine/selftest/engines.h"
#include "engine/selftest/errors.h"
#include "engine/selftest/selftest.h"

namespace fovea::selftest {

Result<SelfTestPart> test_two_cards(const Bench& bench) {
  SelfTestPart part{.name = "two cards", .faults = {}};
  FOVEA_TRY(const std::vector<GoldenModel> models, golden_models());
  for (const GoldenModel& model : models) {
    FOVEA_TRY(LoadOptions request, request_for(model, bench));
    for (const std::int64_t chunk : {std::int64_t{1}, std::ssize(model.tokens)}) {
      if (bench.stop.stop_requested()) return stopped();
      request.chunk = chunk;
      FOVEA_TRY(const auto divided, runtime::load(request, {}, {}, bench.stop, &bench.device, {}, {},
                                                  bench.second != nullptr ? bench.second : &bench.device));
      FOVEA_TRY(const auto given, all_logits(*divided, model.tokens, bench.stop));
      const Phrase wrong = wrong_logit(given, model);
      count(part, wrong.empty() ? Phrase()
                                : phrases::selftest_divided(
                                      phrases::selftest_prompt(std::string(model.name), chunk, wrong)));
      const Plan& plan = divided->plan().plan;
      const bool is_divided = plan.first_card.layers > 0 && divided->memory().first_card > 0;
      count(part, is_divided ? Phrase() : phrases::selftest_not_divided(std::string(model.name)));
    }
  }
  return part;
}

}  // namespace fovea::selftest
