// What a policy is measured by: no policy is above the ceiling, whatever it does, and knowing what comes
// helps.
#include "engine/eval/replay_references.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/eval/synthetic_trace.h"
#include "engine/precision/best_mix.h"
#include "tests/support/test.h"

using namespace fovea::eval;
using fovea::ErrorKind;
using fovea::PolicyKind;
using fovea::ReplayRequest;
using fovea::SyntheticRouting;
using fovea::precision::Decision;
using fovea::precision::Observation;
using fovea::precision::Policy;
using fovea::precision::PolicyWorld;

namespace {

const SyntheticRouting turning{.layers = 3,
                               .experts = 16,
                               .used = 2,
                               .skew = SyntheticRouting::Skew::exponential,
                               .skew_strength = 8,
                               .tokens = 4000,
                               .phases = 4,
                               .overlap = {0.1},
                               .prompt = 200};

PolicyWorld world_of(const PassSource& source, std::mt19937& random) {
  PolicyWorld world{.first_unit = source.shape().first_unit(),
                    .bits_per_weight = {8, 4, 2},
                    .unit_bytes = {},
                    .damage = {},
                    .capacity = {8, 12, 28},
                    .spare_blocks = 4,
                    .uses = {}};
  for (std::int64_t unit = 0; unit < world.units(); ++unit) {
    world.unit_bytes.insert(world.unit_bytes.end(), {32768, 16384, 8192});
    const float harm = std::uniform_real_distribution<float>(0.1F, 1)(random);
    world.damage.insert(world.damage.end(), {0, harm * 0.2F, harm});
  }
  return world;
}

// Moves units about, for better or worse.
class Restless final : public Policy {
 public:
  Restless(std::vector<std::uint8_t> first, std::mt19937& random)
      : first_(std::move(first)), random_(random) {}
  std::string_view name() const override { return "restless"; }
  std::vector<std::uint8_t> initial() const override { return first_; }
  void observe(const Observation&) override {}
  void propose(std::span<const std::uint8_t> tiers, std::int32_t, std::vector<Decision>& decisions) override {
    const auto a = random_() % tiers.size(), b = random_() % tiers.size();
    if (tiers[a] <= tiers[b]) return;
    decisions.push_back({.unit = static_cast<std::int32_t>(a), .target = tiers[b]});
    decisions.push_back({.unit = static_cast<std::int32_t>(b), .target = tiers[a]});
  }
  std::span<const float> hotness() const override { return {}; }

 private:
  std::vector<std::uint8_t> first_;
  std::mt19937& random_;
};

}  // namespace

class ReplayReferencesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // One pass, three tiers: by hand. 40 KB beyond the lowest tier of all; unit 0 gains 0.8 for the first 8 KB
  // and 0.2 for the next 16, unit 1 gains 0.3 for 24 KB (its middle tier is off the hull).
  void theCeilingByHand() {
    class One final : public PassSource {
     public:
      const TraceShape& shape() const override { return shape_; }
      fovea::Result<bool> next(TracePass& pass) override {
        pass = {.tokens = 1,
                .routed = {1},
                .uses = {{.unit = 0, .tokens = 1, .gate_sum = 1}, {.unit = 1, .tokens = 1, .gate_sum = 1}}};
        return !std::exchange(is_over_, true);
      }
      void rewind() override { is_over_ = false; }

     private:
      TraceShape shape_;
      bool is_over_ = false;
    } one;
    const PolicyWorld world{.first_unit = {0, 2},
                            .bits_per_weight = {8, 4, 2},
                            .unit_bytes = {32768, 16384, 8192, 32768, 16384, 8192},
                            .damage = {0, 0.2F, 1, 0.2F, 0.45F, 0.5F},
                            .capacity = {1, 1, 1},
                            .uses = {}};
    const auto loss = [&](std::int64_t bytes) { return *ceiling_loss(one, world, bytes); };
    const auto is = [&](std::int64_t kilobytes, double expected) {
      QVERIFY2(std::abs(loss(1024 * kilobytes) - expected) < 1e-6,
               qPrintable(QString("%1 KB: %2").arg(kilobytes).arg(loss(1024 * kilobytes))));
    };
    is(16, 1.5);
    is(20, 1.5 - 0.4);  // half of the best step
    is(24, 1.5 - 0.8);
    is(40, 1.5 - 0.8 - 0.2);        // 0.2 / 16 KB = 0.3 / 24 KB: either may be first
    is(64, 1.5 - 0.8 - 0.2 - 0.3);  // everything
    is(1000, 0.2);
    QCOMPARE(ceiling_loss(one, world, 1024 * 15).error().kind, ErrorKind::memory);
  }

  void noPolicyIsAboveTheCeiling() {
    for (unsigned seed = 0; seed < 8; ++seed) {
      std::mt19937 random(seed);
      SyntheticRouting routing = turning;
      routing.seed = 1 + seed;
      const auto passes = make_synthetic(routing);
      FOVEA_VERIFY(passes);
      const PolicyWorld world = world_of(**passes, random);
      std::vector<std::uint8_t> first = best_fill(world, expected_loss(world));
      if (seed % 2 == 1) std::ranges::shuffle(first, random);
      Restless policy(first, random);
      const fovea::precision::ArenaPlan arena =
          fovea::precision::cut_arena({{8192, 28 + 4}, {16384, 12 + 4}, {32768, 8 + 4}});
      const auto played =
          replay_passes(**passes, world, policy, {.clock = {.read_gb_per_s = 100}, .arena = arena});
      FOVEA_VERIFY(played);
      QVERIFY(played->swaps.promotions > 20);
      const auto ceiling = ceiling_loss(**passes, world, arena.bytes());
      FOVEA_VERIFY(ceiling);
      QVERIFY2(played->service.loss >= *ceiling,
               qPrintable(QString("%1 %2").arg(played->service.loss).arg(*ceiling)));
    }
  }

  // Those that move experts for a purpose, too, with two tiers and with four.
  void theRealPoliciesAreNotAboveTheCeiling() {
    for (const PolicyKind policy : {PolicyKind::fovea, PolicyKind::dynaexq}) {
      for (const int published : {0, 1, 2}) {
        if (published > 0 && policy != PolicyKind::dynaexq) continue;
        ReplayRequest request{.trace = {}, .synthetic = turning, .tiers = {"q8", "q4"}, .high_share = 0.25};
        request.policy = policy;
        if (published > 0)
          request.dynaexq = fovea::dynaexq_as_published(published == 1 ? fovea::DynaExqVersion::v1
                                                                       : fovea::DynaExqVersion::later);
        const auto report = fovea::replay(request);
        FOVEA_VERIFY(report);
        const auto ceiling =
            std::ranges::find(report->rows, std::string(fovea::reference_ceiling), &fovea::ReplayRow::name);
        QVERIFY(ceiling != report->rows.end());
        QVERIFY2(report->rows.front().loss >= ceiling->loss, report->rows.front().name.c_str());
      }
    }
    ReplayRequest four{.trace = {}, .synthetic = turning, .tiers = {"q8", "q4", "q3", "q2"}};
    four.policy = PolicyKind::fovea;
    four.synthetic->experts = 64;
    four.synthetic->used = 4;
    four.budget_bytes = 600'000'000;
    const auto report = fovea::replay(four);
    FOVEA_VERIFY(report);
    const auto ceiling =
        std::ranges::find(report->rows, std::string(fovea::reference_ceiling), &fovea::ReplayRow::name);
    QVERIFY(ceiling != report->rows.end());
    QVERIFY(report->tiers.size() == 4 && report->swaps.promotions > 0);
    QVERIFY(report->rows.front().loss >= ceiling->loss);
  }

  // fovea begins as static, gains where the work turns, and is not above what knows the future; the same in
  // every run.
  void whatThereIsToWin() {
    ReplayRequest request{.trace = {}, .synthetic = turning, .tiers = {"q8", "q4"}, .high_share = 0.25};
    request.policy = PolicyKind::fovea;
    request.synthetic->tokens = 20'000;
    const auto report = fovea::replay(request);
    FOVEA_VERIFY(report);
    const auto row = [&](const char* name) {
      for (const auto& found : report->rows)
        if (found.name == name) return found;
      return fovea::ReplayRow{};
    };
    QCOMPARE(report->rows.front().name, "fovea");
    const double ours = row("fovea").loss, fixed = row("static").loss;
    QVERIFY2(ours < fixed && ours < row("fixed at start").loss, qPrintable(QString::number(ours)));
    QVERIFY(row("fovea").way > 0.3 && row("fovea").way < 1);
    QVERIFY(row("look-ahead 200").loss < ours);
    QVERIFY(row("ceiling").loss <= row("look-ahead 200").loss);
    QVERIFY(report->swaps.promotions > 0);
    QCOMPARE(fovea::replay(request)->rows.front().loss, ours);
    // With three tiers in a budget, too.
    request.high_share = 0;
    request.tiers = {"q8", "q4", "q2"};
    request.synthetic->experts = 64;
    request.synthetic->used = 4;
    request.budget_bytes = 600'000'000;
    const auto three = fovea::replay(request);
    FOVEA_VERIFY(three);
    QVERIFY(three->rows[0].loss < three->rows[1].loss);
    QVERIFY(three->rows[0].bytes <= request.budget_bytes);
    QCOMPARE(three->tiers.size(), std::size_t{3});
  }

  // What it knows of the coming tokens is of those behind what passed, also where that was put together from
  // several of the source's passes.
  void lookingAheadFollowsWhatPassed() {
    SyntheticRouting routing = turning;
    routing.phases = 1;
    routing.prompt = routing.tokens;
    routing.chunk = 20;
    auto passes = *make_synthetic(routing), apart = *make_synthetic(routing);
    std::mt19937 random(1);
    const PolicyWorld world = world_of(*passes, random);
    const auto first = fovea::precision::best_fill(world, fovea::precision::expected_loss(world));
    for (const std::int64_t known : {100, 40}) {  // more than passes at once, and less
      const auto one = make_look_ahead(*passes, world, {.tokens = known}, first);
      const auto joined = make_look_ahead(*apart, world, {.tokens = known}, first);
      FOVEA_VERIFY(one);
      FOVEA_VERIFY(joined);
      for (int three = 0; three < 5; ++three) {
        for (int pass = 0; pass < 3; ++pass) (*one)->observe({.tokens = 20});
        (*joined)->observe({.tokens = 60});
        const auto expected = (*one)->hotness(), found = (*joined)->hotness();
        for (std::size_t unit = 0; unit < expected.size(); ++unit)
          QVERIFY(std::abs(expected[unit] - found[unit]) < 1e-4F);
        QVERIFY(std::ranges::max(expected) > 0);
      }
    }
  }

  // It starts from the static mix: as long as it does not decide it loses exactly what that mix loses, and no
  // more than static but for its spare blocks.
  void whoDecidesNothingIsStatic() {
    ReplayRequest request{.trace = {}, .synthetic = turning, .tiers = {"q8", "q4"}, .high_share = 0.25};
    request.policy = PolicyKind::fovea;
    request.fovea.interval_tokens = 1 << 30;
    const auto report = fovea::replay(request);
    FOVEA_VERIFY(report);
    QCOMPARE(report->rows[0].name, "fovea");
    QCOMPARE(report->rows[1].name, std::string(fovea::reference_static));
    QCOMPARE(report->swaps.promotions, 0);
    QCOMPARE(report->rows[0].loss, report->rows[1].loss);
    request.fovea.interval_tokens = 32;
    QVERIFY(fovea::replay(request)->rows[0].loss < report->rows[0].loss);
  }

  // Another text has other tokens of the same model: who is hot stays.
  void anotherTextOfTheSameModel() {
    SyntheticRouting routing = turning;
    routing.phases = 1;
    const auto profile = [&](std::uint64_t text) {
      routing.text = text;
      return count_uses(**make_synthetic(routing))->gate;
    };
    const auto one = profile(1), two = profile(2);
    QVERIFY(one != two);
    for (std::size_t layer = 0; layer < 3; ++layer) {
      const auto hottest = [&](const std::vector<double>& gate) {
        const auto first = gate.begin() + std::ptrdiff_t(16 * layer);
        return std::max_element(first, first + 16) - first;
      };
      QCOMPARE(hottest(one), hottest(two));
    }
  }
};
FOVEA_TEST(ReplayReferencesTest)

#include "replay_references_test.moc"
