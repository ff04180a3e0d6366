// The numbers against the knapsack that sorts.
#include "engine/precision/tier_numbers.h"

#include <cmath>
#include <numeric>
#include <random>

#include "engine/precision/best_mix.h"
#include "tests/support/test.h"

using namespace fovea::precision;

namespace {

constexpr std::int64_t page = 4096;

// Layers of two shapes, whose units hurt and are used at random, over some powers of ten.
struct Shapes {
  explicit Shapes(std::mt19937& random, std::int64_t units_of_each = 300) {
    kinds = {{40 * page, 20 * page, 15 * page, 11 * page}, {20 * page, 10 * page, 8 * page, 5 * page}};
    std::uniform_real_distribution<float> exponent(-3, 0);
    const auto any = [&] { return std::pow(10.0F, exponent(random)); };
    const auto units = static_cast<std::int32_t>(2 * units_of_each);
    world.first_unit = {0, units / 2, units};
    world.bits_per_weight = {8.5, 4.25, 3.25, 2.25};
    for (std::int32_t unit = 0; unit < units; ++unit) {
      kind_of.push_back(unit < units / 2 ? 0 : 1);
      const auto& bytes = kinds[index(kind_of.back())];
      world.unit_bytes.insert(world.unit_bytes.end(), bytes.begin(), bytes.end());
      const float own = any();
      damage.push_back(0);
      for (const float part : {0.02F, 0.15F, 1.0F}) damage.push_back(own * part * (1 + any()));
      uses.push_back(any());
    }
  }
  // The world's room: so many bytes.
  void give(std::int64_t bytes) { world.any_mix_bytes = bytes; }
  std::vector<double> loss() const {
    std::vector<double> loss(damage.begin(), damage.end());
    for (std::size_t i = 0; i < loss.size(); ++i) loss[i] *= static_cast<double>(uses[i / 4]);
    return loss;
  }
  TierNumbers::Counts numbers() const {
    const MixRoom room(world, kinds);
    TierNumbers numbers(world, room, kind_of, kinds, damage);
    for (std::size_t unit = 0; unit < uses.size(); ++unit) numbers.look(unit, uses[unit]);
    return numbers.settle();
  }
  std::int64_t bytes_of(const TierNumbers::Counts& counts) const {
    std::int64_t sum = 0;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
      for (std::size_t tier = 0; tier < 4; ++tier) sum += counts[kind][tier] * kinds[kind][tier];
    return sum;
  }

  PolicyWorld world;
  std::vector<std::vector<std::int64_t>> kinds;
  std::vector<std::int32_t> kind_of;
  std::vector<float> damage, uses;
};

}  // namespace

class TierNumbersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Of the sorting knapsack's bytes: the numbers differ by what lies in one class of gains, and the spare
  // blocks are left.
  void areTheBestMixes() {
    std::mt19937 random(fovea::tests::seed());
    for (int round = 0; round < 20; ++round) {
      Shapes shapes(random);
      const std::int64_t low = 300 * 16 * page, high = 300 * 60 * page;
      const std::int64_t bytes =
          low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low));
      const std::int64_t spares = (40 + 20 + 15 + 11 + 20 + 10 + 8 + 5 - 20) * page;  // one of each size
      shapes.world.spare_blocks = 1;
      shapes.give(bytes + spares);
      const auto loss = shapes.loss();
      const auto best =
          best_mix({.tiers = 4, .bytes = shapes.world.unit_bytes, .loss = loss, .budget_bytes = bytes});
      FOVEA_VERIFY(best);
      TierNumbers::Counts expected(2, std::vector<std::int64_t>(4));
      for (std::size_t unit = 0; unit < best->tiers.size(); ++unit)
        ++expected[index(shapes.kind_of[unit])][best->tiers[unit]];
      const auto found = shapes.numbers();
      std::int64_t off = 0;
      for (std::size_t kind = 0; kind < 2; ++kind) {
        QCOMPARE(std::reduce(found[kind].begin(), found[kind].end()), 300);
        for (std::size_t tier = 0; tier < 4; ++tier)
          off += std::abs(found[kind][tier] - expected[kind][tier]);
      }
      QVERIFY2(off <= 30, std::to_string(off).c_str());  // of 600, each counted twice
      const MixRoom room(shapes.world, shapes.kinds);
      std::vector<std::int64_t> units(room.pools());
      for (std::size_t kind = 0; kind < 2; ++kind)
        for (std::size_t tier = 0; tier < 4; ++tier) units[room.pool(kind, tier)] += found[kind][tier];
      QVERIFY(room.fits(units, 1));
      QVERIFY(shapes.bytes_of(found) > bytes - 60 * page);
    }
  }

  void followTheUses() {
    std::mt19937 random(fovea::tests::seed());
    Shapes shapes(random);
    shapes.give(300 * 30 * page);
    std::ranges::fill(shapes.uses, 0.0F);
    auto found = shapes.numbers();
    for (const auto& counts : found) QCOMPARE(counts, (std::vector<std::int64_t>{0, 0, 0, 300}));
    // Ten that do all the work stand at the top, whoever hurts how much.
    for (std::size_t unit = 0; unit < 10; ++unit) shapes.uses[unit] = 1;
    found = shapes.numbers();
    QCOMPARE(found[0], (std::vector<std::int64_t>{10, 0, 0, 290}));
    QCOMPARE(found[1], (std::vector<std::int64_t>{0, 0, 0, 300}));
    // With less room than everything needs at the lowest tier nothing goes up.
    shapes.give(300 * 15 * page);
    found = shapes.numbers();
    QCOMPARE(found[0], (std::vector<std::int64_t>{0, 0, 0, 300}));
  }

  // What was looked at before it was forgotten does not count, and settling forgets.
  void forgets() {
    std::mt19937 random(fovea::tests::seed());
    Shapes shapes(random);
    shapes.give(300 * 40 * page);
    const MixRoom room(shapes.world, shapes.kinds);
    TierNumbers numbers(shapes.world, room, shapes.kind_of, shapes.kinds, shapes.damage);
    const auto expected = shapes.numbers();
    const auto look = [&] {
      for (std::size_t unit = 0; unit < shapes.uses.size(); ++unit) numbers.look(unit, shapes.uses[unit]);
    };
    look();
    numbers.forget();
    look();
    QCOMPARE(numbers.settle(), expected);
    look();
    QCOMPARE(numbers.settle(), expected);
  }
};
FOVEA_TEST(TierNumbersTest)

#include "tier_numbers_test.moc"
