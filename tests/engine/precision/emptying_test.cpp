// Regions whose ends are emptied for another pool: units move, and are looked at.
#include <algorithm>

#include "tests/support/test.h"

#include "swap_world.h"

using namespace fovea;
using namespace fovea::tests;
using precision::SwapOutcome;

class EmptyingTest : public QObject {
  Q_OBJECT

  static WorldOptions options(bool any_mix) {
    QFETCH(bool, host_memory);
    QFETCH(bool, lagging_passes);
    QFETCH(int, publish_after);
    WorldOptions given{.host_memory = host_memory,
                       .lagging_passes = lagging_passes,
                       .slabs = any_mix ? 6 : 3,
                       .any_mix = any_mix};
    given.settings.swaps.publish_after_passes = publish_after;
    return given;
  }
  static void kinds() {
    QTest::addColumn<bool>("host_memory");
    QTest::addColumn<bool>("lagging_passes");
    QTest::addColumn<int>("publish_after");
    QTest::newRow("memory of the host") << true << false << -1;
    QTest::newRow("memory of its own") << false << false << -1;
    QTest::newRow("memory of its own, passes lag") << false << true << -1;
    QTest::newRow("deterministic") << true << false << 0;
    QTest::newRow("deterministic, passes lag") << false << true << 2;
  }

 private Q_SLOTS:
  // Units of two sizes at three tiers, in the bytes that they take and no more: whatever order they have.
  void everyMixIsFilled_data() { kinds(); }
  void everyMixIsFilled() {
    WorldOptions given = options(true);
    given.first = {0, 2, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1};
    given.slabs = 6;
    std::int64_t bytes = 0;
    {
      SwapWorld any(given);
      for (UnitId unit = 0; unit < SwapWorld::units; ++unit)
        bytes += any.bytes(unit, given.first[static_cast<std::size_t>(unit)]);
    }
    QCOMPARE(bytes, given.slabs * SwapWorld::slab_bytes);
    SwapWorld world(given);
    FOVEA_VERIFY(world.open());
    world.pass();
    QCOMPARE(world.residency().arena().used_bytes(), bytes);
    VERIFY_WORLD(world);
  }

  void roomIsMadeForAnotherPool_data() { kinds(); }
  void roomIsMadeForAnotherPool() {
    {
      SwapWorld fixed(options(false));  // three slabs, of which none is free
      FOVEA_VERIFY(fixed.open());
      QVERIFY(fixed.request(0, 0));
      settle(fixed);
      QCOMPARE(fixed.residency().counters().refused, 1);
      VERIFY_WORLD(fixed);
    }
    // 144 KiB: blocks of 4 at the beginning, of 8 at the end, units 6 and 7 last. A block of 12 belongs
    // behind them.
    SwapWorld world(options(true));
    FOVEA_VERIFY(world.open());
    QVERIFY(world.request(0, 0));
    QCOMPARE(world.residency().queues().queued, 1);
    settle(world);
    world.pass();
    QCOMPARE(int{world.residency().tiers()[0]}, 0);
    QCOMPARE(world.residency().tiers()[6], SwapWorld::lowest);
    QCOMPARE(world.residency().counters().refused, 0);
    QVERIFY(!world.residency().arena().is_emptying());
    // Two units were moved, and nobody is told of it.
    QCOMPARE(world.story.events.size(), std::size_t{1});
    QCOMPARE(world.residency().counters().promotions, 1);
    QVERIFY(world.story.handles >= 3);
    VERIFY_WORLD(world);
  }

  // Who waits in the way itself moves as well, and goes up when there is room.
  void whoIsInTheWayGoesUp_data() { kinds(); }
  void whoIsInTheWayGoesUp() {
    SwapWorld world(options(true));
    FOVEA_VERIFY(world.open());
    QVERIFY(world.request(6, 0));
    QVERIFY(world.request(7, 0));
    settle(world);
    world.pass();
    QCOMPARE(world.residency().counters().refused, 0);
    QCOMPARE(int{world.residency().tiers()[6]}, 0);
    QCOMPARE(int{world.residency().tiers()[7]}, 0);
    VERIFY_WORLD(world);
  }

  void drainingEndsIt_data() { kinds(); }
  void drainingEndsIt() {
    SwapWorld world(options(true));
    FOVEA_VERIFY(world.open());
    QVERIFY(world.request(0, 0));
    world.residency().drain();
    QCOMPARE(int{world.residency().tiers()[0]}, 0);
    VERIFY_WORLD(world);
    QVERIFY(world.request(0, SwapWorld::lowest));
    QVERIFY(world.request(10, 0));
    world.residency().cancel_all();
    world.residency().drain();
    world.pass();
    VERIFY_WORLD(world);
  }
};
FOVEA_TEST(EmptyingTest)

#include "emptying_test.moc"
