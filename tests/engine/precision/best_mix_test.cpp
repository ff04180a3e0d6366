#include "engine/precision/best_mix.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/test.h"

#include "routing.h"

using namespace fovea::precision;
using fovea::ErrorKind;

namespace {

struct Case {
  std::int64_t tiers = 0, budget = 0;
  std::vector<std::int64_t> bytes;
  std::vector<double> loss;

  MixProblem problem() const {
    return {.tiers = tiers, .bytes = bytes, .loss = loss, .budget_bytes = budget};
  }
  std::int64_t units() const { return std::ssize(bytes) / tiers; }
};

// Sizes of a few tens, so that the exact optimum can be found by trying every size. `alike`: all units have
// the same two sizes.
Case random_case(bool alike, std::mt19937& random) {
  Case c{.tiers = alike ? 2 : 2 + static_cast<std::int64_t>(random() % 3), .bytes = {}, .loss = {}};
  const int units = 1 + static_cast<int>(random() % 12);
  std::int64_t least = 0, most = 0;
  for (int unit = 0; unit < units; ++unit) {
    std::vector<std::int64_t> bytes;
    std::vector<double> loss;
    for (std::int64_t tier = 0; tier < c.tiers; ++tier) {
      bytes.push_back(1 + static_cast<std::int64_t>(random() % 30));
      loss.push_back(static_cast<double>(random() % 1000));
    }
    if (alike) bytes = {17, 6};
    std::ranges::sort(bytes, std::greater<>());
    if (random() % 4 != 0) std::ranges::sort(loss);  // else a higher tier may hurt more
    least += bytes.back();
    most += bytes.front();
    c.bytes.insert(c.bytes.end(), bytes.begin(), bytes.end());
    c.loss.insert(c.loss.end(), loss.begin(), loss.end());
  }
  c.budget = least + static_cast<std::int64_t>(random() % static_cast<unsigned>(most - least + 2));
  return c;
}

// The least loss of all mixes within the budget, by dynamic programming over bytes.
double min_loss(const Case& c) {
  const auto size = static_cast<std::size_t>(c.budget) + 1;
  std::vector<double> best(size, 0);
  for (std::int64_t unit = 0; unit < c.units(); ++unit) {
    std::vector<double> next(size, std::numeric_limits<double>::infinity());
    for (std::int64_t tier = 0; tier < c.tiers; ++tier) {
      const auto bytes = static_cast<std::size_t>(c.bytes[static_cast<std::size_t>(unit * c.tiers + tier)]);
      for (std::size_t b = bytes; b < size; ++b)
        next[b] =
            std::min(next[b], best[b - bytes] + c.loss[static_cast<std::size_t>(unit * c.tiers + tier)]);
    }
    best = next;
  }
  return best.back();
}

double largest_step(const Case& c) {
  double step = 0;
  for (std::int64_t unit = 0; unit < c.units(); ++unit) {
    const auto [least, most] = std::ranges::minmax(std::span(c.loss).subspan(
        static_cast<std::size_t>(unit * c.tiers), static_cast<std::size_t>(c.tiers)));
    step = std::max(step, most - least);
  }
  return step;
}

// Empty, or what is wrong with a mix whose least possible loss is known.
QString judge(const Case& c, const TierMix& mix, double least, bool exact) {
  std::int64_t bytes = 0;
  double loss = 0;
  for (std::int64_t unit = 0; unit < c.units(); ++unit) {
    const auto at = static_cast<std::size_t>(unit * c.tiers + mix.tiers[static_cast<std::size_t>(unit)]);
    bytes += c.bytes[at];
    loss += c.loss[at];
  }
  if (bytes != mix.bytes || std::abs(loss - mix.loss) > 1e-6) return "its sums are wrong";
  if (bytes > c.budget) return "it exceeds the budget";
  if (mix.bound > least + 1e-6) return "its bound is above the optimum";
  if (loss < least - 1e-6) return "it beats the optimum: the test is wrong";
  if (exact && loss > least + 1e-6) return "it is not the optimum";
  if (loss > least + largest_step(c) + 1e-6) return "it is more than one step from the optimum";
  return {};
}

}  // namespace

class BestMixTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isNearTheOptimum_data() {
    QTest::addColumn<bool>("alike");
    QTest::newRow("any sizes") << false;
    QTest::newRow("units alike: exact") << true;
  }
  void isNearTheOptimum() {
    QFETCH(bool, alike);
    std::mt19937 random(fovea::tests::seed());
    double gap = 0, spread = 0;
    for (int round = 0; round < fovea::tests::rounds(2000); ++round) {
      const Case c = random_case(alike, random);
      const auto mix = best_mix(c.problem());
      FOVEA_VERIFY(mix);
      const double least = min_loss(c);
      const QString wrong = judge(c, *mix, least, alike);
      QVERIFY2(wrong.isEmpty(),
               qPrintable(QString("%1: round %2, seed %3").arg(wrong).arg(round).arg(fovea::tests::seed())));
      gap += mix->loss - least;
      spread += largest_step(c);
    }
    QVERIFY2(gap <= 0.05 * spread, qPrintable(QString("mean gap %1 of a step").arg(gap / spread)));
  }

  void theJudgeCanFail() {
    const Case c{.tiers = 2, .budget = 20, .bytes = {10, 5, 10, 5, 10, 5}, .loss = {0, 8, 0, 9, 1, 2}};
    const auto mix = best_mix(c.problem());
    FOVEA_VERIFY(mix);
    QCOMPARE(mix->tiers, (std::vector<std::uint8_t>{1, 0, 1}));
    QCOMPARE(min_loss(c), 10.0);
    QVERIFY(judge(c, *mix, 10, true).isEmpty());
    TierMix other = *mix;
    other.tiers = {0, 1, 1};
    QCOMPARE(judge(c, other, 10, true), "its sums are wrong");
    other.loss = 11;
    QCOMPARE(judge(c, other, 10, true), "it is not the optimum");
    other = {.tiers = {0, 0, 1}, .bytes = 25, .loss = 2, .bound = 2};
    QCOMPARE(judge(c, other, 10, true), "it exceeds the budget");
    other = *mix;
    other.bound = 10.5;
    QCOMPARE(judge(c, other, 10, true), "its bound is above the optimum");
    other = {.tiers = {1, 1, 1}, .bytes = 15, .loss = 19, .bound = 9};
    QCOMPARE(judge(c, other, 10, false), "");
    QCOMPARE(judge(c, other, 9, false), "it is more than one step from the optimum");
  }

  // The middle tier lies above the line between the others, and is what fits.
  void takesATierOffTheHull() {
    const Case c{.tiers = 3, .budget = 6, .bytes = {10, 5, 1}, .loss = {0, 6, 10}};
    const auto mix = best_mix(c.problem());
    FOVEA_VERIFY(mix);
    QCOMPARE(mix->tiers, (std::vector<std::uint8_t>{1}));
    QCOMPARE(mix->bytes, 5);
    QCOMPARE(mix->loss, 6.0);
  }

  void aBudgetBelowTheLowestTierIsRefusedWithTheNumber() {
    const Case c{.tiers = 2, .budget = 12, .bytes = {10, 6, 10, 7}, .loss = {0, 1, 0, 1}};
    const auto mix = best_mix(c.problem());
    QVERIFY(!mix);
    QCOMPARE(mix.error().kind, ErrorKind::memory);
    QVERIFY(mix.error().message().contains("at least 1 bytes larger"));
  }

  void worksAtFullSize() {
    std::mt19937 random(fovea::tests::seed());
    constexpr int units = 48 * 512;
    Case c{.tiers = 3, .budget = 0, .bytes = {}, .loss = {}};
    for (int unit = 0; unit < units; ++unit) {
      c.bytes.insert(c.bytes.end(), {2'654'208, 1'769'472, 1'105'920});
      const double use = std::exponential_distribution<>(1)(random);
      c.loss.insert(c.loss.end(), {0.002 * use, 0.01 * use, 0.08 * use});
    }
    c.budget = std::int64_t{units} * 1'700'000;
    const auto mix = best_mix(c.problem());
    FOVEA_VERIFY(mix);
    QVERIFY(mix->bytes <= c.budget && c.budget - mix->bytes < 2'654'208);
    QVERIFY(mix->loss >= mix->bound && mix->loss < mix->bound + 1);
  }

  void fillsThePlacesByUse() {
    PolicyWorld world = fovea::tests::two_tiers(1, 5, 2);
    const std::vector<double> uses{1, 5, 0, 3, 2};
    QCOMPARE(best_fill(world, expected_loss(world, uses)), (std::vector<std::uint8_t>{1, 0, 1, 0, 1}));
    world.damage = {0, 9, 0, 1, 0, 1, 0, 1, 0, 1};  // the first unit suffers most
    QCOMPARE(best_fill(world, expected_loss(world, uses)), (std::vector<std::uint8_t>{0, 0, 1, 1, 1}));
    world.capacity = {1, 2};
    QCOMPARE(best_fill(world, expected_loss(world, uses)),
             (std::vector<std::uint8_t>{0, 1, fovea::no_tier, 1, fovea::no_tier}));
    world.on_host = {true, false, false, false, false};  // takes no block
    QCOMPARE(best_fill(world, expected_loss(world, uses)),
             (std::vector<std::uint8_t>{fovea::no_tier, 0, fovea::no_tier, 1, 1}));
  }
};
FOVEA_TEST(BestMixTest)

#include "best_mix_test.moc"
