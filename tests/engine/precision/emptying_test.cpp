// Slabs that are emptied for another pool while units are moved, read anew and looked at.
#include <algorithm>

#include "tests/support/test.h"

#include "swap_world.h"

using namespace fovea;
using namespace fovea::tests;
using precision::SwapOutcome;

class EmptyingTest : public QObject {
  Q_OBJECT

  // Six slabs: units 0 to 5 share one; 6, 7 and 9 went up, to one each, so that of the two slabs that their
  // pool still has 8 is alone in the first, 10 and 11 in the second.
  static Result<void> scatter(SwapWorld& world) {
    FOVEA_CHECK(world.open());
    for (const UnitId unit : {6, 7, 9}) world.request(unit, 0);
    settle(world);
    return {};
  }
  static WorldOptions options(bool any_mix) {
    QFETCH(bool, host_memory);
    QFETCH(bool, lagging_passes);
    QFETCH(int, publish_after);
    WorldOptions given{
        .host_memory = host_memory, .lagging_passes = lagging_passes, .slabs = 6, .any_mix = any_mix};
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
  void roomIsMadeForAnotherPool_data() { kinds(); }
  void roomIsMadeForAnotherPool() {
    {
      SwapWorld fixed(options(false));
      FOVEA_VERIFY(scatter(fixed));
      QVERIFY(fixed.request(0, 0));
      settle(fixed);
      QCOMPARE(fixed.residency().counters().refused, 1);
      VERIFY_WORLD(fixed);
    }
    SwapWorld world(options(true));
    FOVEA_VERIFY(scatter(world));
    const std::size_t told = world.story.events.size();
    QCOMPARE(world.residency().arena().free_slabs(), 0);
    QVERIFY(world.request(0, 0));
    settle(world);
    world.pass();
    QCOMPARE(int{world.residency().tiers()[0]}, 0);
    QCOMPARE(world.residency().tiers()[8], SwapWorld::lowest);
    QCOMPARE(world.residency().counters().refused, 0);
    QCOMPARE(world.residency().arena().emptying(), -1);
    // Unit 8 was moved, and nobody is told of it.
    QCOMPARE(world.story.events.size(), told + 1);
    QCOMPARE(world.residency().counters().promotions, 4);
    VERIFY_WORLD(world);
  }

  // Who waits in the slab itself is refused, and has room the next time.
  void whoLeavesTheSlabAsksAgain_data() { kinds(); }
  void whoLeavesTheSlabAsksAgain() {
    SwapWorld world(options(true));
    FOVEA_VERIFY(scatter(world));
    QVERIFY(world.request(8, 0));
    settle(world);
    QCOMPARE(world.residency().counters().refused, 1);
    QCOMPARE(world.residency().tiers()[8], SwapWorld::lowest);
    QVERIFY(world.request(8, 0));
    settle(world);
    QCOMPARE(world.residency().counters().refused, 1);
    QCOMPARE(int{world.residency().tiers()[8]}, 0);
    VERIFY_WORLD(world);
  }

  void aReadThatFailsLeavesTheUnitWhereItIs_data() { kinds(); }
  void aReadThatFailsLeavesTheUnitWhereItIs() {
    SwapWorld world(options(true));
    FOVEA_VERIFY(scatter(world));
    world.source().set_faults({.io_error = 100});
    QVERIFY(world.request(0, 0));
    settle(world);
    QVERIFY(world.residency().counters().io_errors >= 1);
    QCOMPARE(world.residency().counters().refused, 1);
    QCOMPARE(world.residency().arena().emptying(), -1);
    VERIFY_WORLD(world);
    world.source().set_faults({});
    QVERIFY(world.request(0, 0));
    settle(world);
    QCOMPARE(int{world.residency().tiers()[0]}, 0);
    VERIFY_WORLD(world);
  }

  void drainingEndsIt_data() { kinds(); }
  void drainingEndsIt() {
    SwapWorld world(options(true));
    FOVEA_VERIFY(scatter(world));
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

  // Of the host's memory nothing need be moved: blocks of any size have all of it.
  void pagesNeedNoMoving() {
    SwapWorld world({.slabs = 6, .any_mix = true, .paged = true});
    FOVEA_VERIFY(scatter(world));
    QVERIFY(world.request(0, 0));
    settle(world);
    QCOMPARE(int{world.residency().tiers()[0]}, 0);
    QCOMPARE(world.residency().counters().refused, 0);
    // 144 KiB: 12 and five times 4, three times 24 and three times 8 are 128; 16 more are 7's and 8's.
    QCOMPARE(world.residency().arena().used_bytes(), 128 << 10);
    QVERIFY(world.request(8, 0));
    QVERIFY(world.request(10, 0));
    settle(world);
    QCOMPARE(world.residency().counters().refused, 2);
    VERIFY_WORLD(world);
  }
};
FOVEA_TEST(EmptyingTest)

#include "emptying_test.moc"
