#include "engine/precision/fovea_policy.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "engine/precision/best_mix.h"
#include "engine/precision/expectation.h"
#include "tests/support/test.h"

#include "routing.h"

using namespace fovea::precision;
using fovea::ErrorKind;
using fovea::FoveaSettings;
using fovea::no_tier;
using fovea::tests::random_routing;
using fovea::tests::Routing;
using fovea::tests::three_sizes;
using fovea::tests::two_tiers;

namespace {

using Tiers = std::vector<std::uint8_t>;

// A token that chooses these units, each with a gate of one.
Routing token(std::vector<std::int32_t> units) {
  Routing routing{.tokens = 1, .uses = {}, .routed = {}};
  for (const std::int32_t unit : units) routing.uses.push_back({.unit = unit, .tokens = 1, .gate_sum = 1});
  return routing;
}

}  // namespace

class FoveaPolicyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A layer's shares add up to one, whatever the gates add up to; a layer that was not run stays.
  void sharesOfEachLayer() {
    PolicyWorld world = two_tiers(2, 4, 1);
    world.uses = {3, 1, 0, 0, 0, 0, 1, 1};
    Expectation expectation(world, {.half_lives = {10}, .weights = {0.5, 0.5}, .weights_half_life = 0});
    auto uses = expectation.uses(0, 8);
    QVERIFY(std::abs(uses[0] - 0.75F) < 1e-6F && std::abs(uses[6] - 0.5F) < 1e-6F);
    Routing routing = token({2, 5});
    routing.routed = {1, 0};
    for (ExpertUse& use : routing.uses) use.gate_sum = 5;
    routing.uses.pop_back();
    expectation.observe(routing.observation());
    uses = expectation.uses(0, 8);
    QVERIFY(std::abs(std::reduce(uses.begin(), uses.begin() + 4) - 1) < 1e-5F);
    QVERIFY(uses[2] > 0.05F && uses[0] < 0.75F);
    QVERIFY(std::abs(uses[6] - 0.5F) < 1e-6F);
  }

  // Equal to the definition: what was expected of the chosen one, before it was seen.
  void tellsHowWellItForetold() {
    PolicyWorld world = two_tiers(1, 2, 1);
    world.uses = {0.75F, 0.25F};
    Expectation expectation(
        world, {.half_lives = {1}, .weights = {0.5, 0.5}, .weights_half_life = 0, .horizon_tokens = 1});
    expectation.observe(token({0}).observation());  // 0.75 by both; then 0.875 by the last token's
    expectation.observe(token({1}).observation());  // 0.5 · 0.25 + 0.5 · 0.125
    QVERIFY(std::abs(expectation.log_likelihood() - (std::log(0.75) + std::log(0.1875)) / 2) < 1e-6);
  }

  // What foretells best counts most: the calibration where the text is like it, and not where it is another;
  // a short memory where the work turns.
  void learnsHowFarToLookBack() {
    const auto learnt = [](auto next) {
      PolicyWorld world = two_tiers(1, 16, 4);
      world.uses.assign(16, 0.001F);
      for (std::size_t unit = 0; unit < 4; ++unit) world.uses[unit] = 0.247F;
      Expectation expectation(world, {.half_lives = {8, 512}, .weights_half_life = 512, .horizon_tokens = 8});
      std::mt19937 random(7);
      for (int t = 0; t < 6000; ++t) expectation.observe(token({next(t, random)}).observation());
      const auto weights = expectation.weights();
      return std::vector<double>(weights.begin(), weights.end());
    };
    const auto like = learnt([](int, std::mt19937& random) { return int(random() % 4); });
    QVERIFY2(like[1] < like[0] && like[1] < like[2], qPrintable(QString("%1 %2").arg(like[0]).arg(like[1])));
    const auto other = learnt([](int, std::mt19937& random) { return int(8 + random() % 4); });
    QVERIFY2(other[0] < 0.05, qPrintable(QString::number(other[0])));
    const auto turning = learnt([](int t, std::mt19937&) { return 4 * (t / 40 % 4) + t % 2; });
    QVERIFY2(turning[1] > 0.6, qPrintable(QString::number(turning[1])));
    for (const auto& weights : {like, other, turning})
      QVERIFY(std::abs(std::reduce(weights.begin(), weights.end()) - 1) < 1e-9);
  }

  // It begins at the mix that it was given, follows the work, and keeps each tier's number; the same
  // observations give the same decisions.
  void followsTheWork() {
    PolicyWorld world = two_tiers(3, 16, 4);
    const Tiers first = best_fill(world, expected_loss(world));
    std::vector<Tiers> ends;
    for (int run = 0; run < 2; ++run) {
      const auto policy = make_fovea(world, {.margin = 0.1}, first);
      FOVEA_VERIFY(policy);
      QCOMPARE((*policy)->initial(), first);
      Tiers tiers = first;
      std::mt19937 random(3);
      std::vector<Decision> decisions;
      for (int t = 0; t < 4000; ++t) {
        (*policy)->observe(random_routing(world, 1, 4, 8, random).observation());
        decisions.clear();
        (*policy)->propose(tiers, 0, decisions);
        QVERIFY(t >= 31 || decisions.empty());
        QVERIFY(std::ssize(decisions) <= 64);
        for (const Decision& decision : decisions)
          tiers[static_cast<std::size_t>(decision.unit)] = decision.target;
        QCOMPARE(std::ranges::count(tiers, 0), 12);
      }
      for (std::size_t layer = 0; layer < 3; ++layer)  // the hottest of each, from the eighth on
        QVERIFY(tiers[16 * layer + 8] == 0 && tiers[16 * layer + 9] == 0 && tiers[16 * layer] == 1);
      ends.push_back(tiers);
    }
    QCOMPARE(ends[0], ends[1]);
  }

  // How many swaps there are room for follows the model, unless it is said.
  void swapsAtOnceFollowTheNumberOfUnits() {
    QCOMPARE(fovea_swaps_at_once({}, 30 * 16), 64);
    QCOMPARE(fovea_swaps_at_once({}, 48 * 128), 64);
    QCOMPARE(fovea_swaps_at_once({}, 48 * 512), 256);
    QCOMPARE(fovea_swaps_at_once({.in_flight = 7}, 48 * 512), 7);
    const PolicyWorld world = two_tiers(48, 512, 256);  // all is cold that is high, and the other way round
    Tiers first(48 * 512);
    for (std::size_t unit = 0; unit < first.size(); ++unit) first[unit] = unit % 512 < 256 ? 0 : 1;
    const auto policy = make_fovea(world, {}, first);
    FOVEA_VERIFY(policy);
    std::vector<float> uses(first.size());
    for (std::size_t unit = 0; unit < uses.size(); ++unit) uses[unit] = first[unit] == 1 ? 1 : 0;
    (*policy)->recall(uses);
    std::vector<Decision> decisions;
    (*policy)->propose(first, 0, decisions);
    QCOMPARE(std::ssize(decisions), 256);
    decisions.clear();
    (*policy)->propose(first, 200, decisions);  // 200 are under way already
    QCOMPARE(std::ssize(decisions), 56);
  }

  // A prompt's passes are cut while much moves: to a quarter, and to no less than lies between two decisions.
  void cutsPassesWhileMuchMoves() {
    const PolicyWorld world = two_tiers(1, 8, 4);
    const auto passes_of = [&](const FoveaSettings& settings, std::int64_t most) {
      const auto policy = make_fovea(world, settings, {0, 0, 0, 0, 1, 1, 1, 1});
      std::vector<std::int64_t> passes = {(*policy)->prompt_pass_tokens(most)};
      Tiers tiers = (*policy)->initial();
      std::vector<Decision> decisions;
      for (int pass = 0; pass < 3; ++pass) {  // of four experts that are low at first
        Routing routing = token({4, 5, 6, 7});
        routing.tokens = 128;
        (*policy)->observe(routing.observation());
        decisions.clear();
        (*policy)->propose(tiers, 0, decisions);
        for (const Decision& decision : decisions)
          tiers[static_cast<std::size_t>(decision.unit)] = decision.target;
        passes.push_back((*policy)->prompt_pass_tokens(most));
      }
      return passes;
    };
    using Passes = std::vector<std::int64_t>;
    const FoveaSettings usual = {.half_lives = {48}, .margin = 0.1};
    QCOMPARE(passes_of(usual, 256), (Passes{256, 64, 256, 256}));
    QCOMPARE(passes_of(usual, 64), (Passes{64, 32, 64, 64}));
    QCOMPARE(passes_of(usual, 16), (Passes{16, 16, 16, 16}));
    QCOMPARE(passes_of({.half_lives = {48}, .margin = 0.1, .cut_share = 1}, 256),
             (Passes{256, 256, 256, 256}));
  }

  // What a policy tells of itself is what its expectation has learnt.
  void tellsWhatItHasLearnt() {
    const PolicyWorld world = two_tiers(3, 16, 4);
    const FoveaSettings settings{.half_lives = {10, 100}, .weights = {0.5, 0.25, 0.25}};
    const auto policy = make_fovea(world, settings, best_fill(world, expected_loss(world)));
    FOVEA_VERIFY(policy);
    QCOMPARE((*policy)->foresight().weights, settings.weights);
    QCOMPARE((*policy)->foresight().log_likelihood, 0.0);
    QCOMPARE((*policy)->calibration_part(), -1.0);  // there was none
    PolicyWorld calibrated = world;
    calibrated.uses.assign(48, 1);
    const auto told = make_fovea(calibrated, {.half_lives = {10}, .weights = {1, 3}, .weights_half_life = 0},
                                 best_fill(calibrated, expected_loss(calibrated)));
    FOVEA_VERIFY(told);
    QCOMPARE((*told)->calibration_part(), 0.25);
    Expectation expectation(world, {.half_lives = settings.half_lives,
                                    .weights = settings.weights,
                                    .weights_half_life = usual_settings(world, settings).weights_half_life});
    std::mt19937 random(3);
    for (int t = 0; t < 1000; ++t) {
      const Routing routing = random_routing(world, 1, 4, 8, random);
      expectation.observe(routing.observation());
      (*policy)->observe(routing.observation());
    }
    const fovea::Foresight learnt = (*policy)->foresight();
    QVERIFY(std::ranges::equal(learnt.weights, expectation.weights()) && learnt.weights != settings.weights);
    QCOMPARE(learnt.log_likelihood, expectation.log_likelihood());
    QVERIFY(learnt.log_likelihood < 0);
  }

  // A conversation that is opened again: its experts are asked for at once, a few at a time, and then no
  // more.
  void recallsWhatAConversationUsed() {
    const PolicyWorld world = two_tiers(3, 16, 4);
    const Tiers first = best_fill(world, expected_loss(world));
    const FoveaSettings settings{.margin = 0.1, .in_flight = 8};
    const auto policy = make_fovea(world, settings, first), again = make_fovea(world, settings, first);
    FOVEA_VERIFY(policy);
    FOVEA_VERIFY(again);
    std::mt19937 random(3);
    Tiers tiers = first;
    std::vector<Decision> decisions;
    const auto apply = [&](Policy& of, Tiers& to) {
      decisions.clear();
      of.propose(to, 0, decisions);
      for (const Decision& decision : decisions)
        to[static_cast<std::size_t>(decision.unit)] = decision.target;
    };
    for (int t = 0; t < 2000; ++t) {
      (*policy)->observe(random_routing(world, 1, 4, 8, random).observation());
      apply(**policy, tiers);
    }
    QVERIFY(!(*again)->is_recalling());
    (*again)->recall((*policy)->profile());
    Tiers recalled = first;
    int calls = 0;
    for (; (*again)->is_recalling(); ++calls) {
      QVERIFY(calls < 100);
      apply(**again, recalled);
      QVERIFY(std::ssize(decisions) <= settings.in_flight);
    }
    QVERIFY(calls > 1);
    for (std::size_t layer = 0; layer < 3; ++layer)  // the hottest of each, from the eighth on
      QVERIFY(recalled[16 * layer + 8] == 0 && recalled[16 * layer + 9] == 0 && recalled[16 * layer] == 1);
    apply(**again, recalled);
    QVERIFY(decisions.empty());
  }

  // Harm decides, and layers give places to one another.
  void harmMattersAcrossLayers() {
    PolicyWorld world = two_tiers(2, 4, 2);
    world.damage = {0, 1, 0, 1, 0, 1, 0, 1, 0, 9, 0, 9, 0, 9, 0, 9};
    const Tiers first{0, 0, 1, 1, 0, 0, 1, 1};
    const auto policy = make_fovea(world, {.interval_tokens = 1}, first);
    FOVEA_VERIFY(policy);
    Tiers tiers = first;
    std::vector<Decision> decisions;
    for (int t = 0; t < 200; ++t) {
      (*policy)->observe(token({t % 4, 4 + t % 4}).observation());
      decisions.clear();
      (*policy)->propose(tiers, 0, decisions);
      for (const Decision& decision : decisions)
        tiers[static_cast<std::size_t>(decision.unit)] = decision.target;
    }
    QCOMPARE(tiers, (Tiers{1, 1, 1, 1, 0, 0, 0, 0}));
  }

  // Three tiers of 4, 2 and 1 pages: while four units are used alike the middle tier is best for all of them,
  // and when one of them does nearly all the work it takes the highest, at the price of the others.
  void numbersFollowTheWork_data() {
    QTest::addColumn<int>("interval");
    QTest::newRow("each token") << 1;
    QTest::newRow("sixteen tokens") << 16;
    QTest::newRow("never") << (1 << 30);
  }
  void numbersFollowTheWork() {
    QFETCH(int, interval);
    PolicyWorld world = three_sizes();
    world.any_mix_bytes = (8 + 7) * 4096;  // and a block of each size
    const Tiers first(4, 1);
    const auto policy = make_fovea(
        world, {.half_lives = {8}, .interval_tokens = 1, .numbers_interval_tokens = interval}, first);
    FOVEA_VERIFY(policy);
    Tiers tiers = first;
    std::vector<Decision> decisions;
    const auto go = [&](int tokens, const std::function<int(int)>& unit) {
      for (int t = 0; t < tokens; ++t) {
        (*policy)->observe(token({unit(t)}).observation());
        decisions.clear();
        (*policy)->propose(tiers, 0, decisions);
        for (const Decision& decision : decisions)
          tiers[static_cast<std::size_t>(decision.unit)] = decision.target;
      }
    };
    go(100, [](int t) { return t % 4; });
    QCOMPARE(tiers, first);
    go(100, [](int t) { return t % 50 == 0 ? 1 : 2; });
    if (interval == 1 << 30) {
      QCOMPARE(tiers, first);
    } else {
      QCOMPARE(int{tiers[2]}, 0);
      QVERIFY(std::ranges::count(tiers, 2) >= 1);
    }
  }

  void wrongSettings_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("name");
    const char* const names[] = {"half_lives", "half_lives",      "weights",
                                 "weights",    "interval_tokens", "margin",
                                 "in_flight",  "cut_share",       "numbers_interval_tokens"};
    for (int which = 0; which < 9; ++which)
      QTest::addRow("%d %s", which, names[which]) << which << names[which];
  }
  void wrongSettings() {
    QFETCH(int, which);
    QFETCH(QString, name);
    FoveaSettings settings;
    if (which == 0) settings.half_lives = {};
    if (which == 1) settings.half_lives = {10, 0};
    if (which == 2) settings.weights = {1};
    if (which == 3) settings.weights = {1, -1};
    if (which == 4) settings.interval_tokens = -1;
    if (which == 5) settings.margin = 1;
    if (which == 6) settings.in_flight = -1;
    if (which == 7) settings.cut_share = 1.5;
    if (which == 8) settings.numbers_interval_tokens = 0;
    const PolicyWorld world = two_tiers(1, 4, 1);
    const auto policy = make_fovea(world, settings, {0, 1, 1, 1});
    QVERIFY(!policy);
    QCOMPARE(policy.error().kind, ErrorKind::invalid);
    QVERIFY2(QString::fromStdString(policy.error().message()).contains("fovea " + name),
             policy.error().message().c_str());
  }

  // What is left open follows the world; what is said is kept.
  void whatCopiesOnlyIsDecidedOftener() {
    PolicyWorld places = two_tiers(1, 4, 1);
    QCOMPARE(usual_settings(places, {}).interval_tokens, 32);
    places.host_place = true;
    const FoveaSettings usual = usual_settings(places, {});
    QCOMPARE(usual.interval_tokens, 4);
    QCOMPARE(usual.weights_half_life, 256);
    QCOMPARE(usual.margin, 0.1);
    QCOMPARE(usual.cut_share, 1.0);
    const FoveaSettings said{.weights_half_life = 0, .interval_tokens = 32, .margin = 0, .cut_share = 0.5};
    QVERIFY(usual_settings(places, said) == said);
  }

  void beginsWithinTheCapacities() {
    const PolicyWorld world = two_tiers(1, 4, 1);
    QCOMPARE(make_fovea(world, {}, {0, 0, 1, 1}).error().kind, ErrorKind::memory);
  }
};
FOVEA_TEST(FoveaPolicyTest)

#include "fovea_policy_test.moc"
