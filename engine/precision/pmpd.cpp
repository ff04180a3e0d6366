#include "engine/precision/pmpd.h"

#include <algorithm>

#include "engine/precision/errors.h"
#include "engine/precision/ladder.h"

namespace fovea::precision {
namespace {

class Pmpd final : public Policy {
 public:
  Pmpd(const PolicyWorld& world, const PmpdSettings& settings) : settings_(settings), ladder_(world) {}

  std::string_view name() const override { return "pmpd"; }
  std::vector<std::uint8_t> initial() const override { return ladder_.top(); }
  bool begin_prompt() override {
    tokens_ = 0;
    return true;
  }
  void observe(const Observation& observation) override {
    if (!observation.prefill) tokens_ += observation.tokens;
  }
  void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
               std::vector<Decision>& decisions) override {
    const std::int64_t rungs =
        std::ranges::count_if(settings_.schedule, [&](std::int64_t tokens) { return tokens_ >= tokens; });
    const Decision why{.reason = SwapReason::scheduled, .score = static_cast<float>(tokens_)};
    ladder_.propose(rungs * ladder_.units(), tiers, in_flight, why, decisions);
  }
  std::span<const float> hotness() const override { return {}; }

 private:
  PmpdSettings settings_;
  Ladder ladder_;
  std::int64_t tokens_ = 0;  // of the answer
};

Result<void> check_schedule(const PmpdSettings& settings, std::int64_t tiers) {
  const std::vector<std::int64_t>& schedule = settings.schedule;
  const Phrase place = phrases::option_place("--pmpd-schedule");
  if (std::ssize(schedule) != tiers - 1)
    return fail(place, errors::pmpd_schedule_length(std::ssize(schedule), tiers - 1));
  if (schedule.front() < 1 || !std::ranges::is_sorted(schedule))
    return fail(place, errors::pmpd_schedule_order());
  return {};
}

}  // namespace

Result<std::unique_ptr<Policy>> make_pmpd(const PolicyWorld& world, const PmpdSettings& settings) {
  FOVEA_CHECK(check(world));
  FOVEA_CHECK(check_ladder(world.tiers()));
  FOVEA_CHECK(check_schedule(settings, world.tiers()));
  return std::make_unique<Pmpd>(world, settings);
}

}  // namespace fovea::precision
