#include "app/live/measures/memory_parts.h"

#include "tests/support/test.h"
#include "tests/ui/live/made_source.h"

using namespace fovea;
using namespace fovea::app;
using fovea::tests::small_snapshot;
using Kind = fovea::ui::BudgetPart::Kind;

class MemoryPartsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A pool is its tier's by the size of the blocks, whatever the order of either.
  void poolsAreNamedAfterTheirTiers() {
    Snapshot s = small_snapshot();
    QCOMPARE(tier_of_pool(s, 0), 1);
    QCOMPARE(tier_of_pool(s, 1), 0);
    s.tiers[1].units = 0;
    s.tiers[1].bytes = 0;
    QCOMPARE(tier_of_pool(s, 0), -1);
    s.tiers[1] = s.tiers[0];
    QCOMPARE(tier_of_pool(s, 1), -1);
  }

  // 2000: 500 of dense weights, two tiers, the arena's rest, and what nobody planned.
  void thePartsAddUpToTheBudget() {
    Plan plan;
    plan.parts.dense = 500;
    Snapshot s = small_snapshot();
    s.arena_used_bytes = 1230;
    ui::MapFrame frame;
    frame.target = {no_tier, 0, no_tier};
    const ui::MemoryParts parts = memory_parts(plan, s, frame, 20, {});
    std::vector<std::pair<Kind, double>> seen;
    for (const ui::BudgetPart& part : parts.budget) seen.emplace_back(part.kind, part.bytes);
    QVERIFY((seen == std::vector<std::pair<Kind, double>>{{Kind::dense, 500},
                                                          {Kind::tier, 800},
                                                          {Kind::tier, 400},
                                                          {Kind::in_flight, 30},
                                                          {Kind::free, 120},
                                                          {Kind::unplanned, 150}}));
    QVERIFY(!parts.over_budget);
    QCOMPARE(parts.units_in_flight, std::int64_t{1});
    QCOMPARE(parts.units_on_disk, std::int64_t{4});
    s.budget_bytes = 1800;
    QVERIFY(memory_parts(plan, s, frame, 20, {}).over_budget);
  }

  // Of 8 units at each tier one layer has half: 400 and 200. Each card's parts end at its own budget.
  void eachOfTwoCardsHasItsOwn() {
    const Snapshot s = small_snapshot();
    ui::MapFrame frame;
    frame.layers = 2;
    frame.units_per_layer = 8;
    for (const UnitState& unit : s.units) frame.tier.push_back(unit.tier);
    frame.tier[1] = 0;  // of the first layer five units are at the high tier and three at the low one
    frame.target.assign(16, no_tier);
    std::vector<CardPlan> cards{{.name = "A", .layers = 1, .rows = 1, .budget_bytes = 2000},
                                {.name = "B", .rows = 1, .budget_bytes = 900}};
    cards[0].parts.dense = 500;
    cards[0].parts.kv = 100;
    cards[1].parts.dense = 300;
    cards[1].parts.activations = 40;
    const MeasuredMemory measured{.device_used_bytes = 95,
                                  .device_total_bytes = 100,
                                  .first_card = {.used_bytes = 10, .total_bytes = 50}};
    const ui::MemoryParts parts = memory_parts({}, s, frame, 16, measured, cards);
    QCOMPARE(parts.cards.size(), std::size_t{2});
    const auto seen = [](const std::vector<ui::BudgetPart>& budget) {
      std::vector<std::pair<Kind, double>> all;
      for (const ui::BudgetPart& part : budget) all.emplace_back(part.kind, part.bytes);
      return all;
    };
    using Parts = std::vector<std::pair<Kind, double>>;
    // 800 bytes of nine units, five of them here; 400 of seven, three.
    QVERIFY((seen(parts.cards[0].budget) == Parts{{Kind::dense, 500},
                                                  {Kind::kv, 100},
                                                  {Kind::tier, 444},
                                                  {Kind::tier, 171},
                                                  {Kind::unplanned, 785}}));
    QVERIFY((seen(parts.cards[1].budget) ==
             Parts{{Kind::dense, 300}, {Kind::activations, 40}, {Kind::tier, 356}, {Kind::tier, 229}}));
    QVERIFY(!parts.cards[0].over_budget && parts.cards[1].over_budget && parts.over_budget);
    QVERIFY((seen(parts.budget) == Parts{{Kind::dense, 800},
                                         {Kind::kv, 100},
                                         {Kind::activations, 40},
                                         {Kind::tier, 800},
                                         {Kind::tier, 400},
                                         {Kind::unplanned, 785}}));
    QCOMPARE(parts.cards[0].device_total_bytes, 50.0);
    QCOMPARE(parts.cards[1].device_used_bytes, 95.0);
    QVERIFY(!parts.cards[0].device_full && parts.cards[1].device_full && parts.device_full);
    QVERIFY(memory_parts({}, s, frame, 16, measured).cards.empty());
  }

  void theFullerOfTwoCardsCounts() {
    const DeviceMemory full{.used_bytes = 96, .total_bytes = 100};
    QCOMPARE((MeasuredMemory{.device_used_bytes = 50, .device_total_bytes = 100, .first_card = full}.full()),
             std::optional(0.96));
  }

  void aDeviceIsFullAtNineTenths() {
    QVERIFY(!MeasuredMemory{}.full());
    QVERIFY(!(MeasuredMemory{.device_used_bytes = 90, .device_total_bytes = 100}.full()));
    QCOMPARE((MeasuredMemory{.device_used_bytes = 91, .device_total_bytes = 100}.full()),
             std::optional(0.91));
  }
};

FOVEA_TEST(MemoryPartsTest)
#include "memory_parts_test.moc"
