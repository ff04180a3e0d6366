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

  void aDeviceIsFullAtNineTenths() {
    QVERIFY(!MeasuredMemory{}.full());
    QVERIFY(!(MeasuredMemory{.device_used_bytes = 90, .device_total_bytes = 100}.full()));
    QCOMPARE((MeasuredMemory{.device_used_bytes = 91, .device_total_bytes = 100}.full()),
             std::optional(0.91));
  }
};

FOVEA_TEST(MemoryPartsTest)
#include "memory_parts_test.moc"
