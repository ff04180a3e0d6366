#include "engine/precision/flexquant.h"

#include <cmath>
#include <map>
#include <numeric>

#include "engine/precision/arena.h"
#include "engine/precision/ladder.h"
#include "engine/precision/planner.h"
#include "engine/precision/pmpd.h"
#include "tests/support/test.h"

using namespace fovea::precision;
using fovea::ErrorKind;
using fovea::FlexQuantSettings;
using fovea::PmpdSettings;
using fovea::SwapReason;

namespace {

using Tiers = std::vector<std::uint8_t>;

// One layer of so many units; the last one's weights are changed least.
PolicyWorld ladder_world(std::int32_t units, std::int64_t tiers = 2) {
  PolicyWorld world;
  world.first_unit = {0, units};
  for (std::int64_t tier = 0; tier < tiers; ++tier)
    world.bits_per_weight.push_back(8.5 - 2 * static_cast<double>(tier));
  world.unit_bytes.assign(static_cast<std::size_t>(units * tiers), 4096);
  world.capacity.assign(static_cast<std::size_t>(tiers), units);
  for (std::int32_t unit = 0; unit < units; ++unit)
    for (std::int64_t tier = 0; tier < tiers; ++tier)
      world.weight_divergence.push_back(static_cast<float>(tier * (units - unit)));
  return world;
}

float entropy_of(double pple) {
  return static_cast<float>(std::log(pple));
}

// A policy with an executor that publishes each swap behind the next pass, as a fast disk does.
struct Run {
  std::unique_ptr<Policy> policy;
  Tiers tiers = policy->initial();
  std::vector<Decision> last = {};

  void begin_prompt(const std::vector<double>& pples) {
    QVERIFY(policy->begin_prompt());
    do {
      propose();
    } while (!last.empty());
    std::vector<float> entropies;
    for (const double pple : pples) entropies.push_back(entropy_of(pple));
    policy->observe({.tokens = 30, .prefill = true, .entropies = entropies});
    propose();
  }
  void token(double pple) {
    const float entropy = entropy_of(pple);
    policy->observe({.tokens = 1, .entropies = {&entropy, 1}});
    propose();
  }
  void propose() {
    last.clear();
    policy->propose(tiers, 0, last);
    std::erase_if(last, [](const Decision& d) { return d.ahead; });
    for (const Decision& d : last) tiers[static_cast<std::size_t>(d.unit)] = d.target;
  }
};

Run run_of(fovea::Result<std::unique_ptr<Policy>> policy) {
  if (!policy) qFatal("%s", policy.error().message().c_str());
  return {.policy = *std::move(policy)};
}

// Algorithm 1 for one answer, written out: how many layers have gone down after each of its tokens. A switch
// is published behind the next token's pass, which does not count for it.
std::vector<std::int64_t> algorithm_1(const std::vector<double>& prompt, const std::vector<double>& answer,
                                      const FlexQuantSettings& s, std::int64_t layers) {
  double threshold = s.threshold;
  if (threshold == 0) threshold = std::reduce(prompt.begin(), prompt.end()) / double(prompt.size());
  std::vector<std::int64_t> down;
  std::int64_t lowered = 0, next = std::max(s.window_tokens, s.wait_tokens);
  for (std::int64_t n = 1; n <= std::ssize(answer); ++n) {
    double mean = 0;
    for (std::int64_t i = std::max<std::int64_t>(0, n - s.window_tokens); i < n; ++i)
      mean += answer[std::size_t(i)] / double(s.window_tokens);
    if (n >= next && mean < threshold && lowered < layers) {
      lowered = std::min(layers, lowered + s.layers);
      next = n + 1 + s.wait_tokens;
    }
    down.push_back(lowered);
  }
  return down;
}

}  // namespace

class FlexQuantTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The prompt's last two tokens say 2 on average. The answer's are below that on average from its third
  // token on, which lets unit 2 go. It is published behind the fourth; the fifth to seventh are at the new
  // precision, and the last of them lets unit 1 go.
  void byHand() {
    Run run = run_of(make_flexquant(ladder_world(3), {.window_tokens = 2, .wait_tokens = 3}));
    QVERIFY(run.policy->wants_entropy());
    QCOMPARE(run.policy->prompt_tokens_watched(), 2);
    run.begin_prompt({9, 1, 3});  // more than it asked for: the last two count
    QVERIFY(run.last.empty());
    const std::vector<std::pair<double, Tiers>> steps{{4, {0, 0, 0}},   {2, {0, 0, 0}}, {1.9, {0, 0, 1}},
                                                      {1, {0, 0, 1}},   {2, {0, 0, 1}}, {1.5, {0, 0, 1}},
                                                      {1.5, {0, 1, 1}}, {1, {0, 1, 1}}};
    for (const auto& [pple, tiers] : steps) {
      run.token(pple);
      QCOMPARE(run.tiers, tiers);
      if (!run.last.empty()) QVERIFY(run.last[0].reason == SwapReason::certain && run.last[0].margin > 0);
    }
    run.begin_prompt({2, 2});
    QCOMPARE(run.tiers, (Tiers{0, 0, 0}));
  }

  // Equal to the algorithm written out, for random answers, settings and prompts, one conversation after the
  // other.
  void algorithm1() {
    std::mt19937 random(fovea::tests::seed());
    for (int round = 0; round < 60; ++round) {
      const auto upto = [&](std::int64_t n) { return 1 + std::int64_t(random() % std::uint32_t(n)); };
      const std::int32_t units = std::int32_t(upto(12));
      const FlexQuantSettings settings{.threshold = random() % 2 ? 0 : 1 + double(random() % 20) / 10,
                                       .window_tokens = upto(25),
                                       .wait_tokens = upto(25),
                                       .layers = upto(3)};
      Run run = run_of(make_flexquant(ladder_world(units), settings));
      for (int turn = 0; turn < 3; ++turn) {
        std::vector<double> prompt(std::size_t(upto(settings.window_tokens))), answer(200);
        double level = 1.2 + double(random() % 100) / 50;
        std::uniform_real_distribution<> step(-0.25, 0.25), any(1, 3);
        for (double& pple : prompt) pple = std::exp(double(entropy_of(any(random))));
        for (double& pple : answer) {
          level = std::max(1.0, level + step(random));
          pple = std::exp(double(entropy_of(level)));
        }
        run.begin_prompt(prompt);
        QCOMPARE(std::ranges::count(run.tiers, 1), 0);
        const auto expected = algorithm_1(prompt, answer, settings, units);
        for (std::size_t n = 0; n < answer.size(); ++n) {
          run.token(answer[n]);
          QVERIFY2(std::ranges::count(run.tiers, 1) == expected[n],
                   qPrintable(QString("round %1, turn %2, token %3: %4 down, expected %5")
                                  .arg(round)
                                  .arg(turn)
                                  .arg(n)
                                  .arg(std::ranges::count(run.tiers, 1))
                                  .arg(expected[n])));
          // Those whose weights are changed least.
          for (std::int32_t unit = 0; unit < units; ++unit)
            QCOMPARE(int(run.tiers[std::size_t(unit)]), unit >= units - expected[n] ? 1 : 0);
        }
      }
    }
  }

  // What the disk still brings holds the next layer back, and what failed is wanted again.
  void waitsForWhatIsUnderWay() {
    Run run = run_of(
        make_flexquant(ladder_world(8), {.threshold = 3, .window_tokens = 1, .wait_tokens = 2, .layers = 6}));
    run.begin_prompt({});
    std::vector<Decision> decisions;
    const float certain = 0;
    const auto pass = [&](std::int32_t in_flight) {
      decisions.clear();
      run.policy->observe({.tokens = 1, .entropies = {&certain, 1}});
      run.policy->propose(run.tiers, in_flight, decisions);
      std::erase_if(decisions, [](const Decision& d) { return d.ahead; });
      return std::ssize(decisions);
    };
    QCOMPARE(pass(0), 0);
    QCOMPARE(pass(0), 4);  // as many as may be in flight
    QCOMPARE(pass(4), 0);
    QCOMPARE(pass(3), 1);  // one was refused and is wanted again
    for (std::int32_t unit = 4; unit < 8; ++unit) run.tiers[std::size_t(unit)] = 1;
    QCOMPARE(pass(4), 0);
    QCOMPARE(pass(0), 2);
    run.tiers[3] = run.tiers[2] = 1;
    for (int token = 0; token < 9; ++token) QCOMPARE(pass(2), 0);
    QCOMPARE(pass(0), 0);  // all six are published behind this pass
    QCOMPARE(pass(0), 0);
    QCOMPARE(pass(0), 2);  // two tokens later the last two go
  }

  // What goes next is brought beforehand, once, and only in an answer.
  void bringsWhatGoesNext() {
    Run run =
        run_of(make_flexquant(ladder_world(6, 3), {.threshold = 3, .window_tokens = 4, .wait_tokens = 4}));
    run.begin_prompt({2, 2});
    std::vector<std::pair<int, int>> brought;  // the token, and the unit
    for (int token = 1; token <= 40; ++token) {
      const float certain = 0;
      std::vector<Decision> decisions;
      run.policy->observe({.tokens = 1, .entropies = {&certain, 1}});
      run.policy->propose(run.tiers, 0, decisions);
      for (const Decision& d : decisions) {
        if (d.ahead) {
          brought.emplace_back(token, d.unit);
          QCOMPARE(int(d.target), int(run.tiers[std::size_t(d.unit)]) + 1);
          continue;
        }
        QCOMPARE(d.unit, brought.back().second);
        QVERIFY(token > brought.back().first);
        run.tiers[std::size_t(d.unit)] = d.target;
      }
    }
    // Each step takes a token to publish and four to wait.
    QCOMPARE(brought, (std::vector<std::pair<int, int>>{
                          {1, 5}, {6, 4}, {11, 3}, {16, 2}, {21, 1}, {26, 0}, {31, 5}, {36, 4}}));
  }

  // A rung for everyone before anyone takes the next; back up at once.
  void rungByRung() {
    const Ladder ladder(ladder_world(3, 3));
    QCOMPARE(ladder.steps(), 6);
    const std::vector<Tiers> states{{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1},
                                    {1, 1, 2}, {1, 2, 2}, {2, 2, 2}};
    for (const Tiers& from : states) {
      for (std::size_t steps = 0; steps < states.size(); ++steps) {
        Tiers tiers = from;
        std::vector<Decision> decisions;
        const bool there =
            ladder.propose(std::int64_t(steps), tiers, 0, {.reason = SwapReason::certain}, decisions);
        QCOMPARE(there, tiers == states[steps]);
        QCOMPARE(there, decisions.empty());
        for (const Decision& d : decisions) {
          QCOMPARE(int(d.reason),
                   int(d.target > tiers[std::size_t(d.unit)] ? SwapReason::certain : SwapReason::prompt));
          tiers[std::size_t(d.unit)] = d.target;
        }
        QCOMPARE(tiers, states[steps]);
      }
    }
  }

  // The plan's arena has room for every state on every way down and up, whatever the order of the units, how
  // long reads take and how far each answer goes.
  void everyStateHasRoom() {
    std::mt19937 random(fovea::tests::seed());
    for (int round = 0; round < 40; ++round) {
      const auto upto = [&](std::int64_t n) { return 1 + std::int64_t(random() % std::uint32_t(n)); };
      PlanInputs inputs;
      const std::int64_t tiers = 1 + upto(2);
      for (std::int64_t t = 0; t < tiers; ++t) inputs.tier_names.push_back("t" + std::to_string(t));
      PolicyWorld world = ladder_world(1, tiers);
      std::vector<std::int64_t> bytes;
      for (std::int64_t g = upto(4); g > 0; --g) {
        UnitGroup group{.layers = upto(12), .units = upto(3), .parameters = 1000, .bytes = {}};
        std::int64_t size = 0;
        for (std::int64_t t = 0; t < tiers; ++t)
          group.bytes.insert(group.bytes.begin(), size += 4096 * upto(40));
        for (std::int64_t u = 0; u < group.layers * group.units; ++u)
          bytes.insert(bytes.end(), group.bytes.begin(), group.bytes.end());
        inputs.groups.push_back(group);
      }
      const auto units = std::ssize(bytes) / tiers;
      world.first_unit = {0, std::int32_t(units)};
      world.unit_bytes = bytes;
      world.weight_divergence.clear();
      for (std::int64_t i = 0; i < std::ssize(bytes); ++i)
        world.weight_divergence.push_back(float(random() % 1000));
      const PrecisionPlan plan = plan_precision_anyway(inputs, fovea::PolicyKind::flexquant);
      QCOMPARE(plan.capacity.front(), units);
      auto arena = Arena::without_memory(plan.arena);
      FOVEA_VERIFY(arena);
      const auto block_bytes = [&](std::int32_t unit, std::uint8_t tier) {
        return bytes[std::size_t(unit * tiers + tier)];
      };
      const Ladder ladder(world);
      Tiers held = ladder.top(), targets = held;
      std::vector<Block> blocks(static_cast<std::size_t>(units));
      for (const std::int32_t unit : ladder_order(world)) {
        blocks[std::size_t(unit)] = arena->allocate(block_bytes(unit, 0));
        QVERIFY(blocks[std::size_t(unit)]);
      }
      std::map<std::int32_t, Block> flying;
      const auto go = [&](std::int64_t steps) {
        for (std::vector<Decision> decisions; true; decisions.clear()) {
          const bool there = ladder.propose(steps, targets, std::int32_t(flying.size()), {}, decisions);
          for (const Decision& d : decisions) {
            flying[d.unit] = arena->allocate(block_bytes(d.unit, d.target));
            if (!flying[d.unit]) return false;
            targets[std::size_t(d.unit)] = d.target;
          }
          while (!flying.empty() && (random() % 2 || flying.size() > 3)) {
            const auto landed = std::next(flying.begin(), std::ptrdiff_t(random() % flying.size()));
            arena->release(std::exchange(blocks[std::size_t(landed->first)], landed->second));
            flying.erase(landed);
          }
          if (there && flying.empty()) return true;
        }
      };
      for (int answer = 0; answer < 12; ++answer) {
        const std::int64_t deepest = std::int64_t(random() % std::uint32_t(ladder.steps() + 1));
        for (std::int64_t steps = 0; steps <= deepest; ++steps)
          QVERIFY2(go(steps), qPrintable(QString("round %1, answer %2, %3 of %4 steps down")
                                             .arg(round)
                                             .arg(answer)
                                             .arg(steps)
                                             .arg(ladder.steps())));
        QVERIFY2(go(0), qPrintable(QString("round %1, answer %2, up from %3 of %4")
                                       .arg(round)
                                       .arg(answer)
                                       .arg(deepest)
                                       .arg(ladder.steps())));
      }
    }
  }

  // All at two tokens to the middle tier, at five to the lowest; a prompt's tokens do not count.
  void pmpdFollowsItsSchedule() {
    Run run = run_of(make_pmpd(ladder_world(6, 3), {.schedule = {2, 5}}));
    QVERIFY(!run.policy->wants_entropy());
    for (int turn = 0; turn < 2; ++turn) {
      run.begin_prompt({1, 1});
      QCOMPARE(run.tiers, Tiers(6, 0));
      for (int token = 1; token <= 8; ++token) {
        run.token(1);
        const std::uint8_t target = token >= 5 ? 2 : token >= 2 ? 1 : 0;
        // Four go at once; the others behind the next token.
        const bool half = token == 2 || token == 5;
        QCOMPARE(std::ranges::count(run.tiers, target), half ? 4 : 6);
        if (!run.last.empty()) QVERIFY(run.last[0].reason == SwapReason::scheduled);
      }
    }
  }

  void wrongSettings_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("says");
    const char* const says[] = {"flexquant threshold",   "flexquant threshold", "flexquant window_tokens",
                                "flexquant wait_tokens", "flexquant layers",    "--tiers"};
    for (int which = 0; which < 6; ++which) QTest::addRow("%d", which) << which << says[which];
  }
  void wrongSettings() {
    QFETCH(int, which);
    QFETCH(QString, says);
    FlexQuantSettings settings;
    FOVEA_VERIFY(make_flexquant(ladder_world(2), settings));
    if (which == 0) settings.threshold = 0.9;
    if (which == 1) settings.threshold = std::nan("");
    if (which == 2) settings.window_tokens = 0;
    if (which == 3) settings.wait_tokens = 0;
    if (which == 4) settings.layers = 0;
    const auto policy = make_flexquant(ladder_world(2, which == 5 ? 1 : 2), settings);
    QVERIFY(!policy);
    QCOMPARE(policy.error().kind, ErrorKind::invalid);
    QVERIFY2(QString::fromStdString(policy.error().message()).contains(says),
             policy.error().message().c_str());
  }

  void wrongSchedules() {
    FOVEA_VERIFY(make_pmpd(ladder_world(2, 3), {.schedule = {7, 7}}));
    const std::pair<PmpdSettings, int> wrong[] = {
        {{}, 2}, {{.schedule = {7}}, 3}, {{.schedule = {7, 6}}, 3}, {{.schedule = {0}}, 2}};
    for (const auto& [settings, tiers] : wrong) {
      const auto policy = make_pmpd(ladder_world(2, tiers), settings);
      QVERIFY(!policy);
      QCOMPARE(policy.error().kind, ErrorKind::invalid);
      QVERIFY(QString::fromStdString(policy.error().message()).contains("--pmpd-schedule"));
    }
  }
};
FOVEA_TEST(FlexQuantTest)

#include "flexquant_test.moc"
