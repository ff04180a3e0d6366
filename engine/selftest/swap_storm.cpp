// Experts change tier, or places with the processor's, in every pass, and the answer must come back with
// them.
#include "engine/precision/swap_storm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/core/result.h"
#include "engine/precision/plan_inputs.h"
#include "engine/runtime/load.h"
#include "engine/selftest/engines.h"
#include "engine/selftest/errors.h"
#include "engine/selftest/selftest.h"

namespace fovea::selftest {
namespace {

constexpr std::int64_t min_swaps = 100, min_changes_of_place = 20;  // of each direction
constexpr int max_rounds = 200;

// The smallest budget, to a kilobyte, in which two experts of each layer are in the high tier.
Result<std::int64_t> tight_budget(LoadOptions request, const Bench& bench) {
  const std::int64_t kept_free = bench.device.memory_is_host() ? 0 : precision::card_safety_bytes;
  std::int64_t too_small = 0, enough = std::int64_t{2} << 20;
  while (enough - too_small > 1024) {
    const std::int64_t middle = (too_small + enough) / 2;
    request.precision.budget_bytes = kept_free + middle;
    const auto engine = runtime::load(request, {}, {}, bench.stop, &bench.device);
    if (!engine && engine.error().kind == ErrorKind::device) return std::unexpected(engine.error());
    const bool fits = engine && (*engine)->plan().plan.high_per_layer >= 2;
    (fits ? enough : too_small) = middle;
  }
  return kept_free + enough;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool all_finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

enum class Changes : std::uint8_t { tiers, places };

Result<SelfTestPart> storm(const char* name, const GoldenModel& model, const LoadOptions& request,
                           Changes what, const Bench& bench) {
  SelfTestPart part{.name = name, .faults = {}};
  using precision::StormMode;
  const auto control = std::make_shared<precision::StormControl>();
  control->mode = StormMode::home;
  const auto policy = [&](const precision::PolicyWorld& world) -> Result<std::unique_ptr<precision::Policy>> {
    if (what == Changes::tiers) return std::make_unique<precision::SwapStorm>(world, control);
    std::vector<std::uint8_t> first(precision::index(world.units()), 0);
    std::fill_n(first.begin(), world.capacity.back(), std::uint8_t{1});
    return std::make_unique<precision::SwapStorm>(world, std::move(first), control, 2);
  };
  FOVEA_TRY(const auto engine, runtime::load(request, policy, {}, bench.stop, &bench.device));
  const auto answer = [&] { return all_logits(*engine, model.tokens, bench.stop); };
  FOVEA_TRY(const auto before, answer());

  control->mode = StormMode::storm;
  const std::int64_t wanted = what == Changes::tiers ? min_swaps : min_changes_of_place;
  bool finite = true, differs = false;
  std::int64_t wrong = 0;
  for (int round = 0; round < max_rounds; ++round) {
    const PrecisionUse use = *engine->precision();
    if (std::min(use.promotions, use.demotions) >= wanted) break;
    if (bench.progress) {
      bench.progress({.stage = Progress::Stage::self_test,
                      .done = use.promotions,
                      .total = wanted,
                      .unit = Progress::Unit::promotions,
                      .item = part.name});
    }
    FOVEA_TRY(const auto meanwhile, answer());
    finite = finite && all_finite(meanwhile);
    differs = differs || !same_bits(meanwhile, before);
    wrong = std::max(wrong, wrong_rows(meanwhile, model));
  }
  const PrecisionUse use = *engine->precision();
  const Phrase swaps = phrases::selftest_swaps(use.promotions, use.demotions);
  const auto check = [&](bool right, Phrase fault) { count(part, right ? Phrase() : std::move(fault)); };
  check(std::min(use.promotions, use.demotions) >= wanted, phrases::selftest_few_swaps(swaps));
  check(use.swaps_failed == 0, phrases::selftest_failed_swaps(use.swaps_failed));
  check(finite, phrases::selftest_logit_no_number(swaps));
  if (what == Changes::tiers) {
    check(differs, phrases::selftest_swaps_without_effect());
  } else {
    // The card rounds an expert's input in another way than the processor, so that a router that cares for
    // two experts alike may choose the other one.
    const std::int64_t tokens = std::ssize(model.tokens);
    check(wrong <= tokens / 10, phrases::selftest_moving_places(wrong, tokens));
  }

  control->mode = StormMode::home;
  for (int round = 0; round < max_rounds && !control->home; ++round) FOVEA_CHECK(answer());
  FOVEA_TRY(const auto after, answer());
  check(control->home, phrases::selftest_tiers_not_back());
  check(same_bits(before, after), phrases::selftest_other_logits(swaps));
  return part;
}

Result<LoadOptions> storm_request(const GoldenModel& model, const Bench& bench) {
  FOVEA_TRY(LoadOptions request, request_for(model, bench));
  request.chunk = 1;
  request.precision.traffic_gb_per_s = 1;  // not measured
  request.precision.publish_after_passes = 1;
  request.precision.stores_folder = bench.folder;
  return request;
}

}  // namespace

Result<SelfTestPart> test_swap_storm(const Bench& bench) {
  FOVEA_TRY(const GoldenModel model, quantised_experts());
  FOVEA_TRY(LoadOptions request, storm_request(model, bench));
  request.precision.policy = PolicyKind::dynaexq;
  request.precision.tiers = {"file", "q2"};
  FOVEA_TRY(request.precision.budget_bytes, tight_budget(request, bench));
  return storm("swap storm", model, request, Changes::tiers, bench);
}

Result<SelfTestPart> test_places(const Bench& bench) {
  FOVEA_TRY(const GoldenModel model, quantised_experts());
  FOVEA_TRY(LoadOptions request, storm_request(model, bench));
  request.precision.policy = PolicyKind::fovea;
  request.precision.tiers = {"file"};
  request.precision.offload.cpu_moe_layers = 1;
  request.precision.offload.stream_from = -1;
  return storm("changing places", model, request, Changes::places, bench);
}

}  // namespace fovea::selftest
