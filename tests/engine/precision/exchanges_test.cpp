#include "engine/precision/exchanges.h"

#include <limits>
#include <numeric>
#include <random>

#include "engine/precision/best_mix.h"
#include "tests/support/test.h"

#include "routing.h"

using namespace fovea::precision;
using fovea::no_tier;
using fovea::tests::two_tiers;

namespace {

using Tiers = std::vector<std::uint8_t>;

// One layer of `units`, whose harm at each tier is random; the first `places[t]` of them begin at tier t.
struct Small {
  Small(const std::vector<std::int64_t>& places, bool one_shape, std::mt19937& random) {
    const auto units = static_cast<std::int32_t>(std::reduce(places.begin(), places.end()));
    world.first_unit = {0, units};
    world.capacity = places;
    for (std::size_t tier = 0; tier < places.size(); ++tier) {
      world.bits_per_weight.push_back(8.0 - static_cast<double>(tier));
      first.insert(first.end(), static_cast<std::size_t>(places[tier]), static_cast<std::uint8_t>(tier));
    }
    std::uniform_real_distribution<float> any(0.01F, 1);
    for (std::int32_t unit = 0; unit < units; ++unit) {
      const float own = any(random);
      float harm = 0;
      for (std::size_t tier = 0; tier < places.size(); ++tier) {
        world.unit_bytes.push_back(4096 * static_cast<std::int64_t>(places.size() - tier));
        world.damage.push_back(harm);
        harm += one_shape ? own : any(random);
      }
      uses.push_back(any(random));
    }
    std::ranges::shuffle(first, random);
  }
  double loss(const Tiers& tiers) const {
    double sum = 0;
    for (std::size_t unit = 0; unit < tiers.size(); ++unit)
      sum += static_cast<double>(uses[unit]) *
             static_cast<double>(world.damage[unit * world.bits_per_weight.size() + tiers[unit]]);
    return sum;
  }
  // The least loss of all ways to fill the same places.
  double least() const {
    Tiers tiers = first;
    std::ranges::sort(tiers);
    double found = std::numeric_limits<double>::infinity();
    do found = std::min(found, loss(tiers));
    while (std::ranges::next_permutation(tiers).found);
    return found;
  }

  PolicyWorld world;
  Tiers first;
  std::vector<float> uses;
};

// Carries the exchanges out and checks each.
void apply(std::span<const Exchange> exchanges, Tiers& tiers) {
  for (const Exchange& exchange : exchanges) {
    if (exchange.is_pair()) {
      const auto up = static_cast<std::size_t>(exchange.up), down = static_cast<std::size_t>(exchange.down);
      QCOMPARE(tiers[up], exchange.down_to);
      QCOMPARE(tiers[down], exchange.up_to);
      std::swap(tiers[up], tiers[down]);
    } else if (exchange.up != Exchange::nobody) {
      tiers[static_cast<std::size_t>(exchange.up)] = exchange.up_to;
    } else {
      tiers[static_cast<std::size_t>(exchange.down)] = exchange.down_to;
    }
  }
}

}  // namespace

class ExchangesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Exchange by exchange to the best there is: with two tiers always, with more where a tier hurts all units
  // in the same proportion.
  void endAtTheBest_data() {
    QTest::addColumn<QList<int>>("places");
    QTest::newRow("two tiers") << QList<int>{3, 5};
    QTest::newRow("three tiers") << QList<int>{2, 3, 3};
    QTest::newRow("four tiers") << QList<int>{2, 2, 2, 2};
    QTest::newRow("all high") << QList<int>{5, 0};
  }
  void endAtTheBest() {
    QFETCH(QList<int>, places);
    const std::vector<std::int64_t> counts(places.begin(), places.end());
    for (unsigned seed = 0; seed < 50; ++seed) {
      std::mt19937 random(seed);
      const Small small(counts, true, random);
      Exchanges exchanges(small.world, small.first, 64);
      Tiers tiers = small.first;
      for (int round = 0; round < 30; ++round) {
        const double before = small.loss(tiers);
        const auto found = exchanges.find(small.uses, tiers, 0, 1 + round % 3);
        if (found.empty()) break;
        double gain = 0;
        for (const Exchange& exchange : found) gain += exchange.gain;
        apply(found, tiers);
        QVERIFY(gain > 0 && std::abs(before - gain - small.loss(tiers)) < 1e-5);
      }
      QVERIFY2(small.loss(tiers) <= small.least() + 1e-5,
               qPrintable(QString("seed %1: %2 of %3").arg(seed).arg(small.loss(tiers)).arg(small.least())));
      Tiers sorted = tiers, expected = small.first;
      std::ranges::sort(sorted);
      std::ranges::sort(expected);
      QCOMPARE(sorted, expected);
    }
  }

  // Where the harm of tiers differs from unit to unit an exchange of two may not reach the very best, but
  // none makes it worse, and none is left that would make it better.
  void neverMakeWorse() {
    double lost = 0, least = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
      std::mt19937 random(seed);
      const Small small({2, 2, 3}, false, random);
      Exchanges exchanges(small.world, small.first, 64);
      Tiers tiers = small.first;
      for (int round = 0; round < 60; ++round) {
        const double before = small.loss(tiers);
        const auto found = exchanges.find(small.uses, tiers, 0, 4);
        if (found.empty()) break;
        apply(found, tiers);
        QVERIFY(small.loss(tiers) < before);
        QVERIFY(round < 59);
      }
      for (std::size_t a = 0; a < tiers.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
          Tiers other = tiers;
          std::swap(other[a], other[b]);
          QVERIFY(small.loss(other) >= small.loss(tiers) - 1e-5);
        }
      }
      lost += small.loss(tiers);
      least += small.least();
    }
    QVERIFY2(lost <= 1.02 * least, qPrintable(QString("%1 of %2").arg(lost).arg(least)));
  }

  void keepTheMarginAndTheLimit() {
    PolicyWorld world = two_tiers(1, 4, 1);
    world.damage = {0, 1, 0, 1, 0, 1, 0, 1};
    const Tiers first{0, 1, 1, 1};
    Exchanges exchanges(world, first, 64);
    const std::vector<float> uses{0.8F, 0.9F, 0.1F, 1.0F};
    QCOMPARE(exchanges.find(uses, first, 0.25, 4).size(), std::size_t{0});  // 0.2 of 1.0
    const auto found = exchanges.find(uses, first, 0.15, 4);
    QCOMPARE(found.size(), std::size_t{1});  // one place
    QCOMPARE(found[0].up, 3);
    QCOMPARE(found[0].down, 0);
    QCOMPARE(exchanges.find(uses, first, 0, 0).size(), std::size_t{0});
    const std::vector<float> alike(4, 0.5F);
    QCOMPARE(exchanges.find(alike, first, 0, 4).size(), std::size_t{0});  // nothing to gain
  }

  // What is decided at once is bounded by what is in flight.
  void decideOnPairs() {
    PolicyWorld world = two_tiers(2, 8, 4);
    Tiers first(16, 1);
    for (const std::size_t unit : {0U, 1U, 2U, 3U, 8U, 9U, 10U, 11U}) first[unit] = 0;
    Exchanges exchanges(world, first, 6);
    std::vector<float> uses(16);
    for (std::size_t unit = 0; unit < 16; ++unit) uses[unit] = static_cast<float>(unit % 8);
    std::vector<Decision> decisions;
    const auto propose = [&](std::int32_t in_flight) {
      decisions.clear();
      for (std::int64_t unit = 0; unit < 16; unit += 5)  // in steps
        exchanges.look(uses, first, unit, std::min<std::int64_t>(unit + 5, 16));
      exchanges.decide(0, in_flight, decisions);
    };
    propose(0);
    QCOMPARE(decisions.size(), std::size_t{6});
    for (std::size_t i = 0; i < decisions.size(); i += 2) {
      QCOMPARE(int(decisions[i].target), 0);  // the demotion that makes its room stands behind it
      QCOMPARE(int(decisions[i + 1].target), 1);
      QCOMPARE(decisions[i].margin, decisions[i + 1].margin);
      // Each tells why: what is expected of it, and of whom it takes the place or to whom it gives its own.
      const auto use_of = [&](const Decision& decision) {
        return uses[static_cast<std::size_t>(decision.unit)];
      };
      QVERIFY(decisions[i].score == use_of(decisions[i]) &&
              decisions[i + 1].score == use_of(decisions[i + 1]));
      QVERIFY(decisions[i].other == decisions[i + 1].unit && decisions[i + 1].other == decisions[i].unit);
      QVERIFY(decisions[i].reason == fovea::SwapReason::expected &&
              decisions[i + 1].reason == fovea::SwapReason::yields);
    }
    propose(4);
    QCOMPARE(decisions.size(), std::size_t{2});
    propose(6);  // there is more to do, but no room
    QVERIFY(decisions.empty());
    QCOMPARE(exchanges.saved_share(), 0.0);
  }

  // Equal to the definition, on random worlds: the loss with the tiers before less that with those decided
  // on.
  void tellWhatTheySave() {
    std::mt19937 random(fovea::tests::seed());
    double most = 0;
    for (int round = 0; round < 50; ++round) {
      Small world({3, 4, 5}, round % 2 == 0, random);
      Exchanges exchanges(world.world, world.first, 64);
      exchanges.look(world.uses, world.first, 0, 12);
      std::vector<Decision> decisions;
      exchanges.decide(0.1, 0, decisions);
      Tiers after = world.first;
      for (const Decision& decision : decisions)
        after[static_cast<std::size_t>(decision.unit)] = decision.target;
      const double before = world.loss(world.first);
      QVERIFY(std::abs(exchanges.saved_share() - (before - world.loss(after)) / before) < 1e-5);
      most = std::max(most, exchanges.saved_share());
    }
    QVERIFY(most > 0.1 && most < 1);
  }

  // A swap that failed leaves one too many or too few.
  void bringTheNumbersBack() {
    PolicyWorld world = two_tiers(1, 4, 2);
    const Tiers first{0, 0, 1, 1};
    Exchanges exchanges(world, first, 64);
    const std::vector<float> uses{0.5F, 0.4F, 0.3F, 0.2F};
    Tiers tiers{0, 0, 0, 1};
    auto found = exchanges.find(uses, tiers, 0, 4);
    QCOMPARE(found.size(), std::size_t{1});
    QVERIFY(found[0].up == Exchange::nobody && found[0].down == 2 && found[0].gain < 0);
    tiers = {0, 1, 1, 1};
    found = exchanges.find(uses, tiers, 0, 4);
    QCOMPARE(found.size(), std::size_t{1});
    QVERIFY(found[0].up == 1 && found[0].down == Exchange::nobody);
    std::vector<Decision> decisions;
    exchanges.look(uses, tiers, 0, 4);
    exchanges.decide(0, 0, decisions);
    QCOMPARE(decisions.size(), std::size_t{1});
    QVERIFY(decisions[0].reason == fovea::SwapReason::balanced && decisions[0].other == -1);
  }

  // Where any mix has room the numbers come to those of TierNumbers, a block of each size is always left, and
  // less is lost than with the best of the numbers to begin with.
  void numbersFollowTheUses() {
    double lost = 0, fixed = 0;
    int changed = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
      std::mt19937 random(seed);
      Small small({3, 3, 3}, true, random);
      for (float& use : small.uses) use = use * use * use;
      small.world.any_mix_bytes = (3 * 6 + 6) * 4096;
      const std::vector<std::vector<std::int64_t>> sizes{{3 * 4096, 2 * 4096, 4096}};
      const MixRoom room(small.world, sizes);
      const std::vector<std::int32_t> kind_of(9, 0);
      TierNumbers numbers(small.world, room, kind_of, sizes, small.world.damage);
      for (std::size_t unit = 0; unit < 9; ++unit) numbers.look(unit, small.uses[unit]);
      const auto wanted = numbers.settle()[0];
      Exchanges exchanges(small.world, small.first, 4);
      QVERIFY(exchanges.may_renumber());
      Tiers tiers = small.first;
      std::vector<std::int64_t> counts;
      for (int round = 0; round < 40; ++round) {
        exchanges.renumber();
        exchanges.look(small.uses, tiers, 0, 9);
        std::vector<Decision> decisions;
        exchanges.decide(0, 0, decisions);
        for (const Decision& decision : decisions)
          tiers[static_cast<std::size_t>(decision.unit)] = decision.target;
        counts.assign(3, 0);
        for (const std::uint8_t tier : tiers) ++counts[tier];
        std::vector<std::int64_t> units(3);
        for (std::size_t tier = 0; tier < 3; ++tier) units[room.pool(0, tier)] = counts[tier];
        QVERIFY(room.fits(units, 1));
        if (decisions.empty()) break;
        QVERIFY(round < 39);
      }
      QCOMPARE(counts, wanted);
      changed += counts != std::vector<std::int64_t>{3, 3, 3};
      lost += small.loss(tiers);
      fixed += small.least();
    }
    QVERIFY2(changed > 30 && lost < 0.9 * fixed,
             qPrintable(QString("%1 changed, %2 of %3").arg(changed).arg(lost).arg(fixed)));
  }

  // Versions of other sizes have other blocks; the host's units and those on disk alone have none.
  void onlyUnitsOfTheSameSizes() {
    PolicyWorld world = two_tiers(1, 4, 1);
    world.unit_bytes = {8192, 4096, 8192, 4096, 12288, 4096, 8192, 4096};
    const Tiers first{0, 1, 1, no_tier};
    Exchanges exchanges(world, first, 64);
    const std::vector<float> uses{0.1F, 0.2F, 1.0F, 1.0F};
    const auto found = exchanges.find(uses, first, 0, 4);
    QCOMPARE(found.size(), std::size_t{1});
    QVERIFY(found[0].up == 1 && found[0].down == 0);
  }
};
FOVEA_TEST(ExchangesTest)

#include "exchanges_test.moc"
