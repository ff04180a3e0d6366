#include "engine/precision/dynaexq.h"

#include <deque>

#include "tests/support/test.h"

#include "routing.h"

using namespace fovea::precision;
using fovea::DynaExqSettings;
using fovea::ErrorKind;
using fovea::no_tier;
using fovea::SwapReason;
using fovea::tests::random_routing;
using fovea::tests::Routing;
using fovea::tests::two_tiers;

namespace {

std::unique_ptr<Policy> make(const PolicyWorld& world, const DynaExqSettings& settings) {
  auto policy = make_dynaexq(world, settings);
  if (!policy) qFatal("%s", policy.error().message().c_str());
  return *std::move(policy);
}

// An executor that holds the tiers, refuses and fails at random, and judges every proposal.
class Executor {
 public:
  Executor(const PolicyWorld& world, std::vector<std::uint8_t> tiers, int in_flight_limit, unsigned seed)
      : world_(world), tiers_(std::move(tiers)), limit_(in_flight_limit), random_(seed) {
    judge_counts(0);
  }

  const std::vector<std::uint8_t>& tiers() const { return tiers_; }
  std::int32_t in_flight() const { return static_cast<std::int32_t>(flying_.size()); }
  const std::string& wrong() const { return wrong_; }
  std::int64_t moves() const { return moves_; }

  // `faults`: in a thousand, of refusals and of failures after acceptance.
  void carry_out(const std::vector<Decision>& decisions, unsigned faults) {
    judge(decisions);
    for (const Decision& d : decisions) {
      auto& tier = tiers_[static_cast<std::size_t>(d.unit)];
      if (d.target == tier || random_() % 1000 < faults) continue;
      if (count(d.target) > world_.capacity[d.target]) continue;  // the spare block is taken as well
      flying_.push_back({d.unit, tier, random_() % 1000 < faults});
      tier = d.target;
      ++moves_;
    }
    for (unsigned ends = random_() % 4; ends > 0 && !flying_.empty(); --ends) {
      const Flight flight = flying_.front();
      flying_.pop_front();
      if (flight.fails) tiers_[static_cast<std::size_t>(flight.unit)] = flight.from;
    }
  }

  // A proposal, carried out in whole or up to any of its decisions, uses at most one spare block of a tier.
  void judge(const std::vector<Decision>& decisions) {
    const auto before = tiers_;
    const std::vector<std::int64_t> excess = excesses();
    for (const Decision& d : decisions) {
      if (d.unit < 0 || d.unit >= world_.units() || d.target >= world_.tiers()) return fail("a bad decision");
      if (tiers_[static_cast<std::size_t>(d.unit)] == d.target) fail("a decision that changes nothing");
      tiers_[static_cast<std::size_t>(d.unit)] = d.target;
      judge_counts(std::max<std::int64_t>(1, *std::ranges::max_element(excess)));
    }
    const std::vector<std::int64_t> after = excesses();
    for (std::size_t tier = 0; tier < after.size() && limit_ > 1; ++tier) {
      if (after[tier] > excess[tier]) fail("a proposal exceeds a capacity");
    }
    if (std::ssize(decisions) + in_flight() > std::max(limit_, in_flight())) fail("too many in flight");
    tiers_ = before;
  }

 private:
  struct Flight {
    std::int32_t unit;
    std::uint8_t from;
    bool fails;
  };

  std::int64_t count(std::uint8_t tier) const { return std::ranges::count(tiers_, tier); }
  std::vector<std::int64_t> excesses() const {
    std::vector<std::int64_t> excess;
    for (std::size_t tier = 0; tier < world_.capacity.size(); ++tier)
      excess.push_back(
          std::max<std::int64_t>(0, count(static_cast<std::uint8_t>(tier)) - world_.capacity[tier]));
    return excess;
  }
  void judge_counts(std::int64_t spare) {
    for (const std::int64_t excess : excesses()) {
      if (excess > spare) fail("more units than n_hot and spares");
    }
  }
  void fail(const char* what) {
    if (wrong_.empty()) wrong_ = what;
  }

  PolicyWorld world_;
  std::vector<std::uint8_t> tiers_;
  std::deque<Flight> flying_;
  int limit_;
  std::mt19937 random_;
  std::string wrong_;
  std::int64_t moves_ = 0;
};

// Passes of one token in which the same expert of one layer is chosen.
void use_only(Policy& policy, std::int32_t unit, int tokens, float gate = 1) {
  const std::vector<ExpertUse> uses{{.unit = unit, .tokens = 1, .gate_sum = gate}};
  for (int token = 0; token < tokens; ++token) policy.observe({.tokens = 1, .uses = uses});
}

std::vector<Decision> proposed(Policy& policy, const std::vector<std::uint8_t>& tiers,
                               std::int32_t in_flight = 0) {
  std::vector<Decision> decisions;
  policy.propose(tiers, in_flight, decisions);
  return decisions;
}

}  // namespace

class DynaExqTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void beginsWithTheProfile() {
    PolicyWorld world = two_tiers(2, 3, 1);
    QCOMPARE(make(world, {})->initial(), (std::vector<std::uint8_t>{0, 1, 1, 0, 1, 1}));
    world.uses = {0.1F, 0.5F, 0.4F, 0, 0, 0.1F};
    const auto policy = make(world, {});
    QCOMPARE(policy->initial(), (std::vector<std::uint8_t>{1, 0, 1, 1, 1, 0}));
    QCOMPARE(policy->hotness()[1], 0.5F);
  }

  // The host's units have no tier; the hottest of the others are high, and nothing moves the host's.
  void theHostsUnitsStay() {
    PolicyWorld world = two_tiers(2, 4, 1);
    world.on_host = {true, false, false, false, true, true, true, true};
    world.capacity = {1, 2};
    world.uses = {0.9F, 0.1F, 0.3F, 0.2F, 0.4F, 0.3F, 0.2F, 0.1F};
    QCOMPARE(world.units_on_device(), 3);
    const auto policy = make(world, {.warm_up_tokens = 1});
    std::vector<std::uint8_t> tiers = policy->initial();
    QCOMPARE(tiers, (std::vector<std::uint8_t>{no_tier, 1, 0, 1, no_tier, no_tier, no_tier, no_tier}));
    // The hottest of all is the host's; then comes the device's third.
    use_only(*policy, 0, 500);
    QVERIFY(proposed(*policy, tiers).empty());
    QVERIFY(policy->hotness()[0] > 0.5F);
    use_only(*policy, 3, 500);
    const auto decisions = proposed(*policy, tiers);
    QCOMPARE(std::ssize(decisions), 2);
    QCOMPARE(decisions[0].unit, 3);
    QCOMPARE(decisions[1].unit, 2);
    world.capacity = {1, 1};
    QCOMPARE(make_dynaexq(world, {}).error().kind, ErrorKind::memory);
    world.on_host.pop_back();
    QCOMPARE(make_dynaexq(world, {}).error().kind, ErrorKind::internal);
  }

  // With any units on the host, whatever the executor fails to do.
  void noHostsUnitIsEverNamed() {
    std::mt19937 random(fovea::tests::seed());
    for (int round = 0; round < fovea::tests::rounds(40); ++round) {
      PolicyWorld world = two_tiers(3, 8, 2);
      world.on_host.resize(24);
      std::int64_t present = 24, high = 0;
      for (int layer = 0; layer < 3; ++layer) {
        std::int64_t here = 8;
        for (int e = 0; e < 8; ++e) {
          const bool away = random() % 3 == 0 || layer == round % 4;
          world.on_host[static_cast<std::size_t>(8 * layer + e)] = away;
          here -= away;
        }
        present -= 8 - here;
        high += std::min<std::int64_t>(here, 2);
      }
      world.capacity = {high, present - high};
      const auto policy = make(world, {.interval_tokens = 1, .in_flight = 2, .warm_up_tokens = 1});
      Executor executor(world, policy->initial(), 2, static_cast<unsigned>(random()));
      for (int pass = 0; pass < 100; ++pass) {
        use_only(*policy, static_cast<std::int32_t>(random() % 24), 1);
        const auto decisions = proposed(*policy, executor.tiers(), executor.in_flight());
        for (const Decision& decision : decisions) QVERIFY(!world.is_on_host(decision.unit));
        executor.carry_out(decisions, 100);
        QCOMPARE(executor.wrong(), std::string());
        for (std::int64_t unit = 0; unit < 24; ++unit)
          QCOMPARE(executor.tiers()[static_cast<std::size_t>(unit)] == no_tier, world.is_on_host(unit));
      }
    }
  }

  // One layer of three has one more in the high tier: the one whose second unit suffers most, use times harm.
  void someLayersHaveOnePlaceMore() {
    PolicyWorld world = two_tiers(3, 3, 1);
    world.capacity = {4, 5};
    world.layers_with_more = 1;
    QCOMPARE(make(world, {})->initial(), (std::vector<std::uint8_t>{0, 0, 1, 0, 1, 1, 0, 1, 1}));
    world.uses = {0.5F, 0.3F, 0.2F, 0.6F, 0.1F, 0.3F, 0.8F, 0.2F, 0};
    for (int unit = 0; unit < 9; ++unit)
      world.damage.insert(world.damage.end(), {0.0F, unit == 5 ? 0.04F : 0.02F});
    const auto policy = make(world, {.interval_tokens = 10, .warm_up_tokens = 0});
    std::vector<std::uint8_t> tiers = policy->initial();
    QCOMPARE(tiers, (std::vector<std::uint8_t>{0, 1, 1, 0, 1, 0, 0, 1, 1}));
    QVERIFY(proposed(*policy, tiers).empty());
    // Both in the high tier of the layer are given away to the two that are used.
    const std::vector<ExpertUse> uses{{.unit = 4, .tokens = 500, .gate_sum = 500},
                                      {.unit = 5, .tokens = 500, .gate_sum = 400}};
    policy->observe({.tokens = 500, .prefill = true, .uses = uses, .routed = std::vector<int>{0, 500, 0}});
    const auto decisions = proposed(*policy, tiers);
    QCOMPARE(std::ssize(decisions), 2);
    QCOMPARE(decisions[0].unit, 4);
    QCOMPARE(decisions[1].unit, 3);
    world.layers_with_more = 2;
    QCOMPARE(make_dynaexq(world, {}).error().kind, ErrorKind::memory);
  }

  void theWarmUpRanksTheFirstSet() {
    const auto policy = make(two_tiers(1, 4, 2), {.transitions = 0, .in_flight = 10, .warm_up_tokens = 8});
    const std::vector<std::uint8_t> tiers = policy->initial();
    use_only(*policy, 3, 7);
    QVERIFY(proposed(*policy, tiers).empty());
    use_only(*policy, 2, 1);
    const auto decisions = proposed(*policy, tiers);
    QCOMPARE(std::ssize(decisions), 4);  // the limit on transitions is for later
    QCOMPARE(decisions[0].unit, 3);
    QCOMPARE(int(decisions[0].target), 0);
    QCOMPARE(decisions[0].reason, SwapReason::hotter);
    QCOMPARE(decisions[1].unit, 1);  // of two that were never used, the one with the higher number
    QCOMPARE(int(decisions[1].target), 1);
    QCOMPARE(decisions[1].reason, SwapReason::colder);
    QCOMPARE(decisions[2].unit, 2);
    QCOMPARE(decisions[3].unit, 0);
    QVERIFY(decisions[0].margin > decisions[2].margin);
    QCOMPARE(decisions[0].margin, decisions[1].margin);
  }

  void updatesOncePerIntervalOfTokens() {
    const auto policy = make(two_tiers(1, 4, 1), {.interval_tokens = 200, .warm_up_tokens = 0});
    std::vector<std::uint8_t> tiers = policy->initial();
    QVERIFY(proposed(*policy, tiers).empty());
    for (int i = 0; i < 199; ++i) {
      use_only(*policy, 2, 1);
      QVERIFY(proposed(*policy, tiers).empty());
    }
    use_only(*policy, 2, 1);
    QCOMPARE(std::ssize(proposed(*policy, tiers)), 2);
    tiers = {1, 1, 0, 1};
    QVERIFY(proposed(*policy, tiers).empty());
    const std::vector<ExpertUse> chunk{{.unit = 1, .tokens = 450, .gate_sum = 450}};
    policy->observe({.tokens = 450, .prefill = true, .uses = chunk});
    QCOMPARE(proposed(*policy, tiers).front().unit, 1);
  }

  // What is left of a chunk's tokens behind the last whole interval counts for the next one.
  void intervalsFollowEachOther() {
    const auto policy = make(two_tiers(1, 4, 1), {.interval_tokens = 200, .warm_up_tokens = 0});
    const std::vector<std::uint8_t> tiers = policy->initial();
    proposed(*policy, tiers);
    const std::vector<ExpertUse> chunk{{.unit = 2, .tokens = 150, .gate_sum = 150}};
    const auto proposals = [&] {
      policy->observe({.tokens = 150, .prefill = true, .uses = chunk});
      return std::ssize(proposed(*policy, tiers));
    };
    QCOMPARE(proposals(), 0);
    QCOMPARE(proposals(), 2);  // 300 tokens
    // The proposal stands until it is carried out; 450 tokens are another update, by whose time unit 3 is
    // hot.
    const std::vector<ExpertUse> other{{.unit = 3, .tokens = 150, .gate_sum = 9000}};
    policy->observe({.tokens = 150, .prefill = true, .uses = other});
    QCOMPARE(proposed(*policy, tiers).front().unit, 3);
  }

  void theFirstIntervalBeginsBehindTheWarmUp() {
    const auto policy = make(two_tiers(1, 4, 1), {.interval_tokens = 150, .warm_up_tokens = 100});
    const std::vector<std::uint8_t> tiers = policy->initial();
    use_only(*policy, 0, 100);
    QVERIFY(proposed(*policy, tiers).empty());
    use_only(*policy, 2, 149, 100);
    QVERIFY(proposed(*policy, tiers).empty());
    use_only(*policy, 2, 1, 100);
    QCOMPARE(std::ssize(proposed(*policy, tiers)), 2);
  }

  // A chunk of several intervals may change as much as they would.
  void transitionsAreOfEachInterval() {
    const auto policy = make(
        two_tiers(1, 40, 10),
        {.interval_tokens = 200, .hysteresis = 0, .transitions = 2, .in_flight = 100, .warm_up_tokens = 0});
    const std::vector<std::uint8_t> tiers = policy->initial();
    proposed(*policy, tiers);
    std::vector<ExpertUse> uses;
    for (std::int32_t unit = 20; unit < 30; ++unit)
      uses.push_back({.unit = unit, .tokens = 60, .gate_sum = static_cast<float>(unit)});
    policy->observe({.tokens = 600, .prefill = true, .uses = uses});
    QCOMPARE(std::ssize(proposed(*policy, tiers)), 2 * 2 * 3);
  }

  // The limit on transitions is for what comes behind the first set, which may take several intervals.
  void theFirstSetIsCompletedWithoutALimit() {
    const auto policy = make(two_tiers(1, 4, 2),
                             {.interval_tokens = 10, .transitions = 0, .in_flight = 2, .warm_up_tokens = 8});
    std::vector<std::uint8_t> tiers = policy->initial();
    const auto carry_out = [&] {
      const auto decisions = proposed(*policy, tiers);
      for (const Decision& d : decisions) tiers[static_cast<std::size_t>(d.unit)] = d.target;
      return std::ssize(decisions);
    };
    use_only(*policy, 3, 4);
    use_only(*policy, 2, 4);
    QCOMPARE(carry_out(), 2);
    use_only(*policy, 2, 10);
    QCOMPARE(carry_out(), 2);
    QCOMPARE(tiers, (std::vector<std::uint8_t>{1, 1, 0, 0}));
    QCOMPARE(carry_out(), 0);
    use_only(*policy, 0, 100);
    QCOMPARE(carry_out(), 0);
  }

  void whatWasNeverUsedDoesNotGoUp() {
    const auto policy = make(two_tiers(1, 4, 1), {.interval_tokens = 10, .warm_up_tokens = 0});
    QVERIFY(proposed(*policy, {1, 1, 1, 1}).empty());
    use_only(*policy, 2, 10);
    const auto decisions = proposed(*policy, {1, 1, 1, 1});
    QCOMPARE(std::ssize(decisions), 1);
    QCOMPARE(decisions[0].unit, 2);
  }

  // Hot is what reaches the threshold, and what reaches it stays.
  void theThresholdItselfIsHot() {
    const auto policy = make(two_tiers(1, 4, 2), {.smoothing = 0,
                                                  .smoothing_tokens = 0,
                                                  .interval_tokens = 1,
                                                  .threshold = 0.25,
                                                  .warm_up_tokens = 0});
    const std::vector<ExpertUse> uses{{.unit = 0, .tokens = 1, .gate_sum = 0.25F},
                                      {.unit = 1, .tokens = 1, .gate_sum = 0.25F}};
    const std::vector<std::uint8_t> tiers{0, 1, 1, 1};
    proposed(*policy, tiers);
    policy->observe({.tokens = 1, .uses = uses});
    const auto decisions = proposed(*policy, tiers);
    QCOMPARE(std::ssize(decisions), 1);
    QCOMPARE(decisions[0].unit, 1);
    QCOMPARE(int(decisions[0].target), 0);
  }

  // Three are in the high tier of two: the coldest leaves first, so that a pair behind it finds its room.
  void whatIsTooMuchLeavesFirst() {
    const auto policy = make(two_tiers(1, 6, 2), {.smoothing = 0,
                                                  .smoothing_tokens = 0,
                                                  .interval_tokens = 1,
                                                  .hysteresis = 0,
                                                  .in_flight = 10,
                                                  .warm_up_tokens = 0});
    const std::vector<std::uint8_t> tiers{0, 0, 0, 1, 1, 1};
    proposed(*policy, tiers);
    const std::vector<ExpertUse> uses{{.unit = 0, .tokens = 1, .gate_sum = 0.1F},
                                      {.unit = 1, .tokens = 1, .gate_sum = 0.2F},
                                      {.unit = 2, .tokens = 1, .gate_sum = 0.3F},
                                      {.unit = 5, .tokens = 1, .gate_sum = 0.25F}};
    policy->observe({.tokens = 1, .uses = uses});
    std::vector<std::int32_t> moved;
    for (const Decision& d : proposed(*policy, tiers)) moved.push_back(d.unit);
    QCOMPARE(moved, (std::vector<std::int32_t>{0, 5, 1}));
  }

  // The block that a unit leaves in the low tier on its way up takes one that comes down.
  void whoGoesUpMakesRoomInTheLowTier() {
    PolicyWorld world = two_tiers(1, 4, 2);
    world.capacity = {2, 3};
    const auto policy = make(world, {.smoothing = 0,
                                     .smoothing_tokens = 0,
                                     .interval_tokens = 1,
                                     .threshold = 0.2,
                                     .in_flight = 10,
                                     .warm_up_tokens = 0});
    const std::vector<std::uint8_t> tiers{0, 1, 1, 1};
    proposed(*policy, tiers);
    const std::vector<ExpertUse> uses{{.unit = 0, .tokens = 1, .gate_sum = 0.1F},
                                      {.unit = 1, .tokens = 1, .gate_sum = 0.5F}};
    policy->observe({.tokens = 1, .uses = uses});
    std::vector<std::int32_t> moved;
    for (const Decision& d : proposed(*policy, tiers)) moved.push_back(d.unit);
    QCOMPARE(moved, (std::vector<std::int32_t>{1, 0}));
  }

  void hysteresisIsAShareOfTheLayersMean_data() {
    QTest::addColumn<double>("hysteresis");
    QTest::addColumn<float>("outsider");
    QTest::addColumn<bool>("swaps");
    // Hotness 0.3 and 0.33 of four units, mean 0.1575.
    QTest::newRow("none") << 0.0 << 0.33F << true;
    QTest::newRow("below the margin") << 0.15 << 0.33F << true;
    QTest::newRow("above the margin") << 0.25 << 0.33F << false;
    QTest::newRow("none, and no margin") << 0.0 << 0.3F << false;
  }
  void hysteresisIsAShareOfTheLayersMean() {
    QFETCH(double, hysteresis);
    QFETCH(float, outsider);
    QFETCH(bool, swaps);
    const auto policy = make(two_tiers(1, 4, 1), {.smoothing = 0,
                                                  .smoothing_tokens = 0,
                                                  .interval_tokens = 1,
                                                  .hysteresis = hysteresis,
                                                  .warm_up_tokens = 0});
    const std::vector<std::uint8_t> tiers = policy->initial();
    proposed(*policy, tiers);
    const std::vector<ExpertUse> uses{{.unit = 0, .tokens = 1, .gate_sum = 0.3F},
                                      {.unit = 1, .tokens = 1, .gate_sum = outsider}};
    policy->observe({.tokens = 1, .uses = uses});
    QCOMPARE(std::ssize(proposed(*policy, tiers)), swaps ? 2 : 0);
  }

  void coldUnitsLeaveBelowTheThreshold() {
    PolicyWorld world = two_tiers(1, 4, 2);
    world.capacity[1] = 4;
    const DynaExqSettings settings{.smoothing = 0,
                                   .smoothing_tokens = 0,
                                   .interval_tokens = 1,
                                   .threshold = 0.2,
                                   .hysteresis = 0,
                                   .warm_up_tokens = 0};
    const auto policy = make(world, settings);
    const std::vector<std::uint8_t> tiers = policy->initial();  // 0 and 1 are high
    proposed(*policy, tiers);
    const std::vector<ExpertUse> uses{{.unit = 0, .tokens = 1, .gate_sum = 0.3F},
                                      {.unit = 1, .tokens = 1, .gate_sum = 0.1F},
                                      {.unit = 2, .tokens = 1, .gate_sum = 0.15F}};
    policy->observe({.tokens = 1, .uses = uses});
    const auto decisions = proposed(*policy, tiers);
    QCOMPARE(std::ssize(decisions), 1);  // unit 2 is hotter than 1 and still not hot
    QCOMPARE(decisions[0].unit, 1);
    QCOMPARE(int(decisions[0].target), 1);

    world.capacity[1] = 2;  // no room in the low tier: it stays
    const auto full = make(world, settings);
    proposed(*full, tiers);
    full->observe({.tokens = 1, .uses = uses});
    QVERIFY(proposed(*full, tiers).empty());
  }

  void limitsTransitionsAndWhatIsInFlight() {
    const PolicyWorld world = two_tiers(1, 40, 10);
    const auto policy = make(world, {.smoothing = 0,
                                     .smoothing_tokens = 0,
                                     .interval_tokens = 1,
                                     .transitions = 3,
                                     .in_flight = 4,
                                     .warm_up_tokens = 0});
    std::vector<std::uint8_t> tiers = policy->initial();
    proposed(*policy, tiers);
    std::vector<ExpertUse> uses;
    for (std::int32_t unit = 20; unit < 30; ++unit)
      uses.push_back({.unit = unit, .tokens = 1, .gate_sum = static_cast<float>(unit)});
    policy->observe({.tokens = 1, .uses = uses});
    auto decisions = proposed(*policy, tiers, 1);
    QCOMPARE(std::ssize(decisions), 2);  // three more may fly: one pair
    QCOMPARE(decisions[0].unit, 29);
    decisions = proposed(*policy, tiers, 0);
    QCOMPARE(std::ssize(decisions), 4);
    for (const Decision& d : decisions) tiers[static_cast<std::size_t>(d.unit)] = d.target;
    QVERIFY(proposed(*policy, tiers, 4).empty());
    decisions = proposed(*policy, tiers, 2);
    QCOMPARE(std::ssize(decisions), 2);  // the third
    QCOMPARE(decisions[0].unit, 27);
    for (const Decision& d : decisions) tiers[static_cast<std::size_t>(d.unit)] = d.target;
    QVERIFY(proposed(*policy, tiers, 0).empty());
  }

  void theLimitIsEachLayersOwn() {
    const PolicyWorld world = two_tiers(3, 8, 4);
    const auto policy = make(world, {.smoothing = 0,
                                     .smoothing_tokens = 0,
                                     .interval_tokens = 1,
                                     .transitions = 2,
                                     .in_flight = 100,
                                     .warm_up_tokens = 0});
    const std::vector<std::uint8_t> tiers = policy->initial();
    proposed(*policy, tiers);
    std::vector<ExpertUse> uses;
    for (const std::int32_t unit : {4, 5, 6, 7, 12, 13, 14, 15, 20})
      uses.push_back({.unit = unit, .tokens = 1, .gate_sum = static_cast<float>(unit)});
    policy->observe({.tokens = 1, .uses = uses});
    std::vector<std::int32_t> up;
    for (const Decision& d : proposed(*policy, tiers)) {
      if (d.target == 0) up.push_back(d.unit);
    }
    QCOMPARE(up, (std::vector<std::int32_t>{20, 15, 14, 7, 6}));  // the largest margins first
  }

  void spareBlocksLimitWhatIsInFlight() {
    PolicyWorld world = two_tiers(1, 8, 4);
    world.spare_blocks = 1;
    const auto policy =
        make(world, {.interval_tokens = 1, .transitions = 4, .in_flight = 8, .warm_up_tokens = 0});
    const std::vector<std::uint8_t> tiers = policy->initial();
    proposed(*policy, tiers);
    use_only(*policy, 6, 1);
    use_only(*policy, 7, 1);
    QCOMPARE(std::ssize(proposed(*policy, tiers)), 2);
    QCOMPARE(std::ssize(proposed(*policy, tiers, 2)), 0);
  }

  void aPairThatWasHalfRefusedIsCompleted() {
    const PolicyWorld world = two_tiers(1, 4, 1);
    const auto policy = make(world, {.interval_tokens = 10, .warm_up_tokens = 0});
    std::vector<std::uint8_t> tiers = policy->initial();
    proposed(*policy, tiers);
    use_only(*policy, 3, 10);
    QCOMPARE(std::ssize(proposed(*policy, tiers)), 2);
    tiers[3] = 0;  // the demotion of unit 0 was refused
    const auto decisions = proposed(*policy, tiers, 1);
    QCOMPARE(std::ssize(decisions), 1);
    QCOMPARE(decisions[0].unit, 0);
    QCOMPARE(int(decisions[0].target), 1);
  }

  void aFailedDemotionIsMadeUpFor() {
    const PolicyWorld world = two_tiers(1, 4, 1);
    const auto policy = make(world, {.interval_tokens = 10, .warm_up_tokens = 0});
    const std::vector<std::uint8_t> tiers{0, 1, 1, 0};
    proposed(*policy, tiers);
    use_only(*policy, 3, 10);
    const auto decisions = proposed(*policy, tiers);
    QCOMPARE(std::ssize(decisions), 1);
    QCOMPARE(decisions[0].unit, 0);
  }

  void neverExceedsACapacity_data() {
    QTest::addColumn<int>("transitions");
    QTest::addColumn<int>("inFlight");
    QTest::addColumn<int>("faults");
    QTest::addColumn<double>("threshold");
    QTest::newRow("published limits") << 4 << 4 << 0 << 0.0;
    QTest::newRow("with faults") << 4 << 4 << 200 << 0.0;
    QTest::newRow("many at once, with faults") << 100 << 16 << 300 << 0.0;
    QTest::newRow("one at a time, with faults") << 8 << 1 << 100 << 0.0;
    QTest::newRow("a threshold, with faults") << 20 << 6 << 100 << 0.02;
  }
  void neverExceedsACapacity() {
    QFETCH(int, transitions);
    QFETCH(int, inFlight);
    QFETCH(int, faults);
    QFETCH(double, threshold);
    for (int round = 0; round < fovea::tests::rounds(20); ++round) {
      const unsigned seed = fovea::tests::seed() * 1000 + static_cast<unsigned>(round);
      std::mt19937 random(seed);
      const int layers = 1 + static_cast<int>(random() % 4), experts = 8 + static_cast<int>(random() % 30);
      const PolicyWorld world = two_tiers(layers, experts, static_cast<int>(random() % 9));
      const auto policy = make(world, {.interval_tokens = 1 + static_cast<int>(random() % 50),
                                       .threshold = threshold,
                                       .hysteresis = 0.05,
                                       .transitions = transitions,
                                       .in_flight = inFlight,
                                       .warm_up_tokens = static_cast<int>(random() % 60)});
      Executor executor(world, policy->initial(), inFlight, seed);
      std::vector<Decision> decisions;
      for (int pass = 0; pass < 500; ++pass) {
        const std::int64_t tokens = random() % 5 == 0 ? 1 + static_cast<int>(random() % 100) : 1;
        policy->observe(random_routing(world, tokens, 3, pass / 100 * 5, random).observation());
        decisions.clear();
        policy->propose(executor.tiers(), executor.in_flight(), decisions);
        executor.carry_out(decisions, static_cast<unsigned>(faults));
        QVERIFY2(executor.wrong().empty(), qPrintable(QString("%1: pass %2, FOVEA_TEST_SEED=%3 round %4")
                                                          .arg(executor.wrong().c_str())
                                                          .arg(pass)
                                                          .arg(fovea::tests::seed())
                                                          .arg(round)));
      }
      const bool something_to_choose = world.high_per_layer > 0 && world.high_per_layer < experts;
      if (something_to_choose) QVERIFY(executor.moves() > 0);
    }
  }

  void theExecutorsJudgeCanFail_data() {
    QTest::addColumn<QList<int>>("moves");  // unit, tier, …
    QTest::addColumn<QString>("wrong");
    QTest::newRow("a pair") << QList<int>{2, 0, 0, 1} << "";
    QTest::newRow("without the demotion") << QList<int>{2, 0} << "a proposal exceeds a capacity";
    QTest::newRow("two promotions first")
        << QList<int>{2, 0, 3, 0, 0, 1, 1, 1} << "more units than n_hot and spares";
    QTest::newRow("nothing changes") << QList<int>{2, 1} << "a decision that changes nothing";
    QTest::newRow("no such unit") << QList<int>{9, 1} << "a bad decision";
    QTest::newRow("too many") << QList<int>{2, 0, 0, 1, 3, 0, 1, 1, 0, 0, 2, 1} << "too many in flight";
  }
  void theExecutorsJudgeCanFail() {
    QFETCH(QList<int>, moves);
    QFETCH(QString, wrong);
    Executor executor(two_tiers(1, 4, 2), {0, 0, 1, 1}, 4, 1);
    std::vector<Decision> decisions;
    for (int i = 0; i < moves.size(); i += 2)
      decisions.push_back({.unit = moves[i], .target = static_cast<std::uint8_t>(moves[i + 1])});
    executor.judge(decisions);
    QCOMPARE(executor.wrong().c_str(), wrong);
  }

  void theSameObservationsGiveTheSameDecisions() {
    const PolicyWorld world = two_tiers(3, 24, 6);
    std::vector<std::int32_t> runs[2];
    for (auto& run : runs) {
      std::mt19937 random(fovea::tests::seed());
      const auto policy = make(world, {.interval_tokens = 20});
      Executor executor(world, policy->initial(), 4, 7);
      std::vector<Decision> decisions;
      for (int pass = 0; pass < 400; ++pass) {
        policy->observe(random_routing(world, 1 + random() % 8, 2, pass / 100, random).observation());
        if (&run == &runs[1]) (void)policy->hotness();  // looking changes nothing
        decisions.clear();
        policy->propose(executor.tiers(), executor.in_flight(), decisions);
        executor.carry_out(decisions, 0);
        for (const Decision& d : decisions) run.push_back(d.unit * 2 + d.target);
      }
    }
    QVERIFY(runs[0].size() > 20);
    QCOMPARE(runs[0], runs[1]);
  }

  void followsTheWork() {
    // One token of each three uses expert 1 of the first kind of work, then of the second.
    const PolicyWorld world = two_tiers(1, 16, 2);
    const auto policy = make(world, {});
    std::vector<std::uint8_t> tiers = policy->initial();
    for (const std::int32_t first : {4, 9}) {
      for (int token = 0; token < 3000; ++token) {
        use_only(*policy, first + token % 2, 1);
        for (const Decision& d : proposed(*policy, tiers)) tiers[static_cast<std::size_t>(d.unit)] = d.target;
      }
      QCOMPARE(int(tiers[static_cast<std::size_t>(first)]), 0);
      QCOMPARE(int(tiers[static_cast<std::size_t>(first) + 1]), 0);
      QCOMPARE(std::ranges::count(tiers, 0), 2);
    }
  }

  void wrongSettingsAreTypedErrors_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<int>("kind");
    const int invalid = int(ErrorKind::invalid), memory = int(ErrorKind::memory);
    for (int which = 0; which < 10; ++which)
      QTest::addRow("%d", which) << which << (which > 7 ? memory : invalid);
  }
  void wrongSettingsAreTypedErrors() {
    QFETCH(int, which);
    QFETCH(int, kind);
    PolicyWorld world = two_tiers(2, 4, 2);
    DynaExqSettings s;
    FOVEA_VERIFY(make_dynaexq(world, s));
    if (which == 0) s.transitions = -1;
    if (which == 1) s.smoothing = 1;
    if (which == 2) s.smoothing_tokens = -1;
    if (which == 3) s.interval_tokens = 0;
    if (which == 4) s.threshold = std::numeric_limits<double>::quiet_NaN();
    if (which == 5) s.hysteresis = -1;
    if (which == 6) s.in_flight = 0;
    if (which == 7) {
      world.bits_per_weight = {4, 3, 2};
      world.capacity = {4, 4, 4};
      world.unit_bytes.resize(24, 4096);
    }
    if (which == 8) world.capacity[0] = 3;
    if (which == 9) world.capacity[1] = 3;
    QCOMPARE(int(make_dynaexq(world, s).error().kind), kind);
  }
};
FOVEA_TEST(DynaExqTest)

#include "dynaexq_test.moc"
