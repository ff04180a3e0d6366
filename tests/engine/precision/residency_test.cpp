// One thing at a time: what a request, a publish, a failure, a stall and a filling do.
#include "engine/precision/residency.h"

#include <atomic>
#include <semaphore>
#include <thread>

#include "tests/support/test.h"

#include "swap_world.h"

using namespace fovea;
using namespace fovea::tests;
using precision::SwapOutcome;

class ResidencyTest : public QObject {
  Q_OBJECT

  static void kinds() {
    QTest::addColumn<bool>("host_memory");
    QTest::addColumn<bool>("lagging_passes");
    QTest::newRow("memory of the host") << true << false;
    QTest::newRow("memory of its own") << false << false;
    QTest::newRow("memory of its own, passes lag") << false << true;
  }
  static WorldOptions options() {
    QFETCH(bool, host_memory);
    QFETCH(bool, lagging_passes);
    return {.host_memory = host_memory, .lagging_passes = lagging_passes};
  }

 private Q_SLOTS:
  // What is brought ahead of its decision changes nothing that anybody sees, and is there when it is decided;
  // draining gives it up, and so does a read that fails.
  void whatIsBroughtAhead_data() { kinds(); }
  void whatIsBroughtAhead() {
    SwapWorld world(options());
    FOVEA_VERIFY(world.open());
    auto& residency = world.residency();
    const std::int64_t used = residency.arena().used_bytes();
    QVERIFY(residency.request({.unit = 3, .target = 0, .ahead = true}));
    QVERIFY(!residency.request({.unit = 3, .target = 0, .ahead = true}));  // once
    QCOMPARE(residency.queues().sum(), 0);
    const auto arrives = [&] {
      const std::int64_t before = residency.counters().bytes_read;
      while (residency.counters().bytes_read == before) {
        world.pass();
        residency.end_pass();
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    };
    arrives();
    QVERIFY(!residency.rest());
    QCOMPARE(int(residency.tiers()[3]), 2);
    QCOMPARE(int(residency.tiers_or_target()[3]), 2);
    QCOMPARE(residency.arena().used_bytes(), used + world.bytes(3, 0));
    QVERIFY(world.story.events.empty());
    VERIFY_WORLD(world);
    QVERIFY(residency.request({.unit = 3, .target = 0}));
    QCOMPARE(int(residency.tiers()[3]), 0);  // at once
    VERIFY_WORLD(world);
    settle(world);
    QCOMPARE(residency.arena().used_bytes(), used + world.bytes(3, 0) - world.bytes(3, 2));
    QCOMPARE(std::ssize(world.story.events), 1);

    QVERIFY(residency.request({.unit = 4, .target = 1, .ahead = true}));
    QVERIFY(residency.request({.unit = 4, .target = 1}));  // decided while it is read
    QCOMPARE(int(residency.tiers_or_target()[4]), 1);
    settle(world);
    QCOMPARE(int(residency.tiers()[4]), 1);

    QVERIFY(residency.request({.unit = 5, .target = 0, .ahead = true}));
    residency.drain();
    QCOMPARE(int(residency.tiers()[5]), 2);
    QCOMPARE(world.story.outcomes[SwapOutcome::cancelled], 1);
    world.source().set_faults({.io_error = 100});
    QVERIFY(residency.request({.unit = 5, .target = 0, .ahead = true}));
    while (world.story.outcomes[SwapOutcome::io_error] == 0) residency.end_pass();
    QCOMPARE(world.story.outcomes[SwapOutcome::io_error], 1);
    VERIFY_WORLD(world);
    QVERIFY(!residency.request({.unit = 5, .target = 2, .ahead = true}));  // it is there
    QVERIFY(!residency.request({.unit = 12, .target = 0, .ahead = true}));
    QVERIFY(!residency.request({.unit = 5, .target = 9, .ahead = true}));
  }

  void aPromotionAndItsDemotion_data() { kinds(); }
  void aPromotionAndItsDemotion() {
    SwapWorld world(options());
    FOVEA_VERIFY(world.open());
    auto& residency = world.residency();
    VERIFY_WORLD(world);
    QCOMPARE(world.story.handles, 12);
    QVERIFY(world.request(3, 0));
    QCOMPARE(int{residency.tiers()[3]}, 2);
    QCOMPARE(int{residency.tiers_or_target()[3]}, 0);
    QVERIFY(!world.request(3, 1));  // in flight
    settle(world);
    QCOMPARE(int{residency.tiers()[3]}, 0);
    QCOMPARE(residency.counters().promotions, 1);
    QCOMPARE(world.story.handles, 13);
    QCOMPARE(residency.counters().bytes_promoted, world.bytes(3, 0));
    QCOMPARE(residency.counters().bytes_read, world.bytes(3, 0));
    QCOMPARE(residency.counters().refused, 1);
    QVERIFY(world.request(3, 1));
    settle(world);
    QCOMPARE(residency.counters().demotions, 1);
    QCOMPARE(residency.counters().bytes_demoted, world.bytes(3, 1));
    const auto& event = world.story.events.back();
    QCOMPARE(event.decision.unit, 3);
    QCOMPARE(int{event.from}, 0);
    QCOMPARE(event.bytes, world.bytes(3, 1));
    QVERIFY(event.seconds >= 0 && event.pass > 0 && event.pass <= residency.passes());
    VERIFY_WORLD(world);
    QCOMPARE(residency.transfer_bytes(), options().host_memory ? 0 : 4 * world.bytes(11, 0));
  }

  void aSwapTellsHowLongItTook() {
    TestClock clock;
    SwapWorld world({.settings = {.swaps = {.publish_after_passes = 0}, .clock = &clock}});
    clock.sleep(100, {});
    FOVEA_VERIFY(world.open());
    QVERIFY(world.request(3, 0));
    clock.sleep(2, {});
    world.residency().end_pass();
    QCOMPARE(world.story.events.back().seconds, 2.0);
  }

  // No pass follows, and yet what was begun is finished, what waited for its turn as well.
  void restingFinishesWhatWasBegun_data() { kinds(); }
  void restingFinishesWhatWasBegun() {
    WorldOptions one_at_once = options();
    one_at_once.settings.swaps.in_flight = 1;
    SwapWorld world(one_at_once);
    FOVEA_VERIFY(world.open());
    const std::int64_t passes = world.residency().passes();
    QVERIFY(world.request(3, 0));
    QVERIFY(world.request(4, 1));
    QTRY_VERIFY(!world.residency().rest());
    QCOMPARE(int{world.residency().tiers()[3]}, 0);
    QCOMPARE(int{world.residency().tiers()[4]}, 1);
    QCOMPARE(world.residency().passes(), passes);
    const auto queues = world.residency().queues();
    QCOMPARE(queues.sum(), 0);
    VERIFY_WORLD(world);
  }

  // What further passes must publish waits for them.
  void restingChangesNothingThatIsDeterministic() {
    SwapWorld world({.settings = {.swaps = {.publish_after_passes = 0}}});
    FOVEA_VERIFY(world.open());
    QVERIFY(world.request(3, 0));
    QVERIFY(!world.residency().rest());
    QCOMPARE(int{world.residency().tiers()[3]}, int{SwapWorld::lowest});
    world.residency().end_pass();
    QCOMPARE(int{world.residency().tiers()[3]}, 0);
  }

  // The old version's block is in use until the passes have ended that could see it.
  void aSwapIsUnderWayUntilItsOldBlockIsFree() {
    SwapWorld world(
        {.host_memory = false, .lagging_passes = true, .settings = {.swaps = {.publish_after_passes = 0}}});
    FOVEA_VERIFY(world.open());
    QVERIFY(world.request(3, 0));
    world.pass(1);
    world.residency().end_pass();
    QCOMPARE(int{world.residency().tiers()[3]}, 0);
    QCOMPARE(world.residency().queues().ready, 1);
    world.pass(0);
    world.residency().end_pass();
    QCOMPARE(world.residency().queues().ready, 0);
    VERIFY_WORLD(world);
  }

  // The buffer has room for what may come to the device, which the host's larger units never do.
  void theHostsUnitsNeedNoBuffer() {
    SwapWorld world(
        {.host_memory = false,
         .first = {2, 2, 2, 2, 2, 2, no_tier, no_tier, no_tier, no_tier, no_tier, no_tier},
         .on_host = {false, false, false, false, false, false, true, true, true, true, true, true}});
    FOVEA_VERIFY(world.open());
    QCOMPARE(world.residency().transfer_bytes(), 4 * world.bytes(5, 0));
    QVERIFY(!world.residency().may_need());
    QVERIFY(!world.request(6, 2));
    VERIFY_WORLD(world);
    SwapWorld wrong(
        {.on_host = {true, false, false, false, false, false, false, false, false, false, false, false}});
    const auto opened = wrong.open();
    QVERIFY(!opened);
    QCOMPARE(opened.error().kind, ErrorKind::internal);
  }

  void whatMakesNoSenseIsRefused() {
    SwapWorld world({.settings = {.swaps = {.queue = 2}}});
    FOVEA_VERIFY(world.open());
    QVERIFY(!world.request(-1, 0));
    QVERIFY(!world.request(12, 0));
    QVERIFY(!world.request(0, 3));
    QVERIFY(!world.request(0, 2));  // already there
    QCOMPARE(world.residency().counters().refused, 4);
    QVERIFY(world.residency().tiers()[0] == 2);
  }

  // Three wait while the only slot moves the first: the next is refused, and all the others happen.
  void aFullQueueRefuses() {
    SwapWorld world(
        {.slabs = 30, .settings = {.swaps = {.in_flight = 1, .queue = 3, .publish_after_passes = 1}}});
    FOVEA_VERIFY(world.open());
    for (UnitId unit = 0; unit < 4; ++unit) QVERIFY(world.request(unit, 0));
    QCOMPARE(world.residency().queues().queued, 3);
    QVERIFY(!world.request(4, 0));
    QCOMPARE(world.residency().counters().refused, 1);
    QCOMPARE(int{world.residency().tiers_or_target()[4]}, 2);
    QCOMPARE(world.story.events.back().decision.unit, 4);
    QCOMPARE(world.story.events.back().outcome, SwapOutcome::refused);
    settle(world);
    QCOMPARE(world.residency().counters().promotions, 4);
    QCOMPARE(int{world.residency().tiers()[4]}, 2);
    VERIFY_WORLD(world);
    QVERIFY(world.request(4, 0));
    settle(world);
    QCOMPARE(int{world.residency().tiers()[4]}, 0);
    VERIFY_WORLD(world);
  }

  // The mean is exact: 16 bits, 8.5 and 4.5 with their scales.
  void theMeanCountsBits() {
    SwapWorld world({.slabs = 30});
    FOVEA_VERIFY(world.open());
    QCOMPARE(world.residency().mean_bits_per_weight(), 4.5);
    for (UnitId unit = 0; unit < 6; ++unit) QVERIFY(world.request(unit, 1));
    world.residency().drain();
    QCOMPARE(world.residency().mean_bits_per_weight(),
             (8.5 + 2 * 4.5) / 3);  // the second layer is twice as large
    VERIFY_WORLD(world);
  }

  void aDeviceThatGivesNoStreamsIsAnError() {
    SwapWorld world({.host_memory = false});
    world.device().gives_streams = false;
    const auto opened = world.open();
    QVERIFY(!opened);
    QCOMPARE(opened.error().kind, fovea::ErrorKind::memory);
    // The pipeline's own are missing still, when others are there again.
    world.device().gives_streams = true;
    const std::vector<TierId> first(SwapWorld::units, SwapWorld::lowest);
    FOVEA_VERIFY(world.residency().fill(first, 2, {}, {}));
    QVERIFY(world.request(3, 0));
    settle(world);
    QCOMPARE(int{world.residency().tiers()[3]}, int{SwapWorld::lowest});
    QCOMPARE(world.residency().counters().io_errors, 1);
    VERIFY_WORLD(world);
    SwapWorld behind({.host_memory = false, .lagging_passes = true});
    behind.device().gives_streams = false;
    const auto made = behind.make();
    QVERIFY(!made);
    QCOMPARE(made.error().kind, fovea::ErrorKind::device);
  }

  void aDeviceThatLosesCopiesIsAnError() {
    SwapWorld world({.host_memory = false});
    world.device().loses_copies = true;
    const auto opened = world.open();
    QVERIFY(!opened);
    QCOMPARE(opened.error().kind, fovea::ErrorKind::device);
    QCOMPARE(opened.error().what_words(), std::string("the device is gone"));
    world.device().loses_copies = false;
    const std::vector<TierId> first(SwapWorld::units, SwapWorld::lowest);
    FOVEA_VERIFY(world.residency().fill(first, 2, {}, {}));
    world.device().loses_copies = true;
    QVERIFY(world.request(3, 0));
    settle(world);
    QCOMPARE(int{world.residency().tiers()[3]}, int{SwapWorld::lowest});
    QCOMPARE(world.residency().counters().io_errors, 1);
    VERIFY_WORLD(world);
  }

  void aFailureLeavesTheOldVersion_data() {
    QTest::addColumn<bool>("host_memory");
    QTest::addColumn<bool>("checksum");
    for (const bool host_memory : {true, false}) {
      QTest::addRow("read error%s", host_memory ? "" : ", memory of its own") << host_memory << false;
      QTest::addRow("checksum error%s", host_memory ? "" : ", memory of its own") << host_memory << true;
    }
  }
  void aFailureLeavesTheOldVersion() {
    QFETCH(bool, host_memory);
    QFETCH(bool, checksum);
    SwapWorld world({.host_memory = host_memory,
                     .faults = {.io_error = checksum ? 0 : 100, .checksum_error = checksum ? 100 : 0}});
    FOVEA_VERIFY(world.open());
    const std::int64_t used = world.residency().arena().used_bytes();
    QVERIFY(world.request(5, 0));
    settle(world);
    QCOMPARE(int{world.residency().tiers()[5]}, 2);
    QCOMPARE(int{world.residency().tiers_or_target()[5]}, 2);
    QCOMPARE(world.residency().counters().io_errors, checksum ? 0 : 1);
    QCOMPARE(world.residency().counters().checksum_errors, checksum ? 1 : 0);
    QCOMPARE(world.residency().arena().used_bytes(), used);
    VERIFY_WORLD(world);
    world.source().set_faults({});
    QVERIFY(world.request(5, 0));
    settle(world);
    QCOMPARE(int{world.residency().tiers()[5]}, 0);
    VERIFY_WORLD(world);
  }

  void aCancelledSwapNeverHappens_data() { kinds(); }
  void aCancelledSwapNeverHappens() {
    SwapWorld world(options());
    FOVEA_VERIFY(world.open());
    for (UnitId unit = 0; unit < 6; ++unit) QVERIFY(world.request(unit, 1));
    world.residency().cancel_all();
    for (UnitId unit = 0; unit < 6; ++unit)
      QCOMPARE(int{world.residency().tiers_or_target()[static_cast<std::size_t>(unit)]}, 2);
    settle(world);
    QCOMPARE(world.residency().counters().cancelled, 6);
    QCOMPARE(world.residency().counters().promotions, 0);
    VERIFY_WORLD(world);
  }

  // A read that waits for its turn while it is cancelled ends with the piece that it waited for.
  void aCancelledSwapReadsNoFurther() {
    class HeldClock final : public precision::Clock {
     public:
      double now() const override { return seconds_; }
      void sleep(double, std::stop_token) override {
        asleep.release();
        wake.acquire();
        seconds_ = seconds_ + 1000;
      }
      std::binary_semaphore asleep{0}, wake{0};

     private:
      std::atomic<double> seconds_ = 0;
    } clock;
    SwapWorld world({.settings = {.bytes_per_second = 1e6, .clock = &clock}});
    FOVEA_VERIFY(world.open());
    QVERIFY(world.request(11, 0));  // as many bytes as may move without a pause
    QVERIFY(world.request(10, 0));
    clock.asleep.acquire();
    world.residency().cancel_all();
    clock.wake.release();
    settle(world);
    QCOMPARE(world.residency().counters().cancelled, 2);
    QCOMPARE(world.residency().counters().bytes_read, world.bytes(11, 0) + 4096);
    VERIFY_WORLD(world);
  }

  // Twelve units at the lowest tier in slabs of three and six blocks, and one slab more. The first layer's
  // high versions fill half a slab: the third promotion needs the block that a demotion vacates.
  void aPairSwapsThroughTheSpareBlock_data() { kinds(); }
  void aPairSwapsThroughTheSpareBlock() {
    WorldOptions given = options();
    given.slabs = 1 + 2 + 1;
    SwapWorld world(given);
    FOVEA_VERIFY(world.open());
    QVERIFY(world.request(0, 0));
    QVERIFY(world.request(1, 0));
    settle(world);
    QCOMPARE(int{world.residency().tiers()[0]}, 0);
    QCOMPARE(int{world.residency().tiers()[1]}, 0);
    QVERIFY(world.request(2, 0));  // no block: waits for the demotion behind it
    QCOMPARE(world.residency().queues().queued, 1);
    QVERIFY(world.request(0, 2));
    settle(world);
    QCOMPARE(int{world.residency().tiers()[2]}, 0);
    QCOMPARE(int{world.residency().tiers()[0]}, 2);
    QCOMPARE(world.residency().counters().refused, 0);
    VERIFY_WORLD(world);
  }

  void whatNothingMakesRoomForIsRefused() {
    SwapWorld world({.slabs = 1 + 2 + 1});
    FOVEA_VERIFY(world.open());
    for (const UnitId unit : {0, 1, 2}) QVERIFY(world.request(unit, 0));
    settle(world);
    QCOMPARE(world.residency().counters().promotions, 2);
    QCOMPARE(world.residency().counters().refused, 1);
    for (const auto& event : world.story.events)
      QCOMPARE(event.outcome == SwapOutcome::refused, event.decision.unit == 2);
    VERIFY_WORLD(world);
  }

  // Two requests that each wait for the block of the other, and no spare: both end, at once.
  void aCircleIsRefused() {
    // Every block of 12 KiB and of 24 KiB is taken; no slab is free.
    std::vector<TierId> first = {0, 0, 2, 2, 2, 2, 0, 1, 1, 1, 1, 1};
    SwapWorld world({.slabs = 1 + 1 + 1 + 5, .first = first});
    FOVEA_VERIFY(world.open());
    QCOMPARE(world.residency().arena().free_slabs(), 0);
    QVERIFY(world.request(7, 0));  // wants the 24 KiB of unit 6
    QVERIFY(world.request(6, 1));  // wants the 16 KiB of unit 7
    QCOMPARE(world.residency().queues().queued, 2);
    world.residency().end_pass();
    QCOMPARE(world.residency().counters().refused, 2);
    VERIFY_WORLD(world);
  }

  void deterministicPublishesAfterExactlySoManyPasses_data() {
    QTest::addColumn<int>("after");
    QTest::addColumn<bool>("host_memory");
    for (const int after : {0, 1, 5}) {
      QTest::addRow("%d", after) << after << true;
      QTest::addRow("%d, memory of its own", after) << after << false;
    }
  }
  void deterministicPublishesAfterExactlySoManyPasses() {
    QFETCH(int, after);
    QFETCH(bool, host_memory);
    SwapWorld world({.host_memory = host_memory,
                     .faults = {.slow = 50},
                     .settings = {.swaps = {.publish_after_passes = after}}});
    FOVEA_VERIFY(world.open());
    for (const UnitId unit : {1, 2, 3}) {
      QVERIFY(world.request(unit, 1));
      for (int pass = 0; pass < after; ++pass) {
        world.pass();
        world.residency().end_pass();
        QCOMPARE(int{world.residency().tiers()[static_cast<std::size_t>(unit)]}, 2);
      }
      world.pass();
      world.residency().end_pass();
      QCOMPARE(int{world.residency().tiers()[static_cast<std::size_t>(unit)]}, 1);
      VERIFY_WORLD(world);
    }
  }

  // One slot and two spare slabs: what waits for the slot or for a block is due with what it was decided
  // with.
  void deterministicSwapsOfOnePassArePublishedTogether() {
    SwapWorld world({.slabs = 5, .settings = {.swaps = {.in_flight = 1, .publish_after_passes = 0}}});
    FOVEA_VERIFY(world.open());
    for (const UnitId unit : {1, 2, 3}) {
      const auto before = static_cast<UnitId>(unit - 1);
      QVERIFY(world.request(unit, 0));
      if (before > 0) QVERIFY(world.request(before, SwapWorld::lowest));
      world.pass();
      world.residency().end_pass();
      QCOMPARE(int{world.residency().tiers()[static_cast<std::size_t>(unit)]}, 0);
      if (before > 0)
        QCOMPARE(world.residency().tiers()[static_cast<std::size_t>(before)], SwapWorld::lowest);
      QCOMPARE(world.residency().queues().sum(), 0);
      VERIFY_WORLD(world);
    }
    QCOMPARE(world.residency().counters().refused, 0);
  }

  void drainFinishesEverything_data() { kinds(); }
  void drainFinishesEverything() {
    WorldOptions given = options();
    given.slabs = 40;
    given.settings.swaps.publish_after_passes = 1000;
    SwapWorld world(given);
    FOVEA_VERIFY(world.open());
    for (UnitId unit = 0; unit < 12; ++unit) QVERIFY(world.request(unit, unit % 2 ? 0 : 1));
    world.pass(2);
    world.residency().drain();
    for (UnitId unit = 0; unit < 12; ++unit)
      QCOMPARE(int{world.residency().tiers()[static_cast<std::size_t>(unit)]}, unit % 2 ? 0 : 1);
    const auto queues = world.residency().queues();
    QCOMPARE(queues.sum(), 0);
    VERIFY_WORLD(world);
  }

  void aFillingThatFailsMayBeTriedAgain_data() { kinds(); }
  void aFillingThatFailsMayBeTriedAgain() {
    SwapWorld world(options());
    FOVEA_VERIFY(world.open());
    const std::vector<TierId> first(12, 1);
    const auto again = world.residency().fill(first, 2, {}, {});
    QVERIFY(!again);  // once only
    QCOMPARE(again.error().kind, ErrorKind::internal);
    VERIFY_WORLD(world);
  }

  void aFillingTellsAndStops() {
    std::stop_source stop;
    SwapWorld world({.slabs = 6});
    FOVEA_VERIFY(world.make());
    auto& residency = world.residency();
    residency.on_event = {};
    QVERIFY(!world.request(0, 1));  // there is nothing yet that it could replace
    std::int64_t total = 0, last = 0;
    const std::vector<TierId> first(12, 2);
    stop.request_stop();
    const auto stopped =
        residency.fill(first, 2, [&](const Progress& progress) { total = progress.total; }, stop.get_token());
    QVERIFY(!stopped);
    QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
    QCOMPARE(total, 6 * 4096 + 6 * 8192);
    QCOMPARE(residency.arena().used_bytes(), 0);
    FOVEA_VERIFY(residency.audit());
    world.source().set_faults({.io_error = 100});
    const auto failed = residency.fill(first, 2, {}, {});
    QVERIFY(!failed);
    QCOMPARE(failed.error().kind, ErrorKind::io);
    QCOMPARE(residency.arena().used_bytes(), 0);
    world.source().set_faults({});
    const auto too_large = residency.fill(std::vector<TierId>(12, 0), 2, {}, {});
    QVERIFY(!too_large);
    QCOMPARE(too_large.error().kind, ErrorKind::memory);
    QCOMPARE(residency.arena().used_bytes(), 0);
    FOVEA_VERIFY(residency.fill(first, 2, [&](const Progress& progress) { last = progress.done; }, {}));
    QCOMPARE(last, total);
    FOVEA_VERIFY(residency.audit());
  }

  void aBufferForNoVersionIsRefused() {
    SwapWorld world({.settings = {.swaps = {.transfer_bytes = 4096}}});
    const auto status = world.make();
    QVERIFY(!status);
    QCOMPARE(status.error().kind, ErrorKind::invalid);
  }

  void unitsOnDiskComeWhenNeeded_data() { kinds(); }
  void unitsOnDiskComeWhenNeeded() {
    WorldOptions given = options();
    given.first = {2, no_tier, no_tier, no_tier, no_tier, no_tier, 2, 2, 2, 2, no_tier, 2};
    given.slabs =
        2 + 2;  // 4 KiB: unit 0 and five more, one of them spare after each need; 8 KiB: five and spares
    SwapWorld world(given);
    FOVEA_VERIFY(world.open());
    auto& residency = world.residency();
    QVERIFY(residency.may_need());
    FOVEA_VERIFY(world.need({0, 1, 2}));
    QCOMPARE(residency.counters().stalls, 2);
    FOVEA_VERIFY(world.need({1, 2}));
    QCOMPARE(residency.counters().stalls, 2);
    FOVEA_VERIFY(world.need({10, 3, 4, 5}));
    VERIFY_WORLD(world);
    const std::int64_t stalls = residency.counters().stalls;
    QCOMPARE(stalls, 6);
    QCOMPARE(residency.counters().bytes_read, 5 * 4096 + 8192);
    QVERIFY(residency.counters().stall_seconds >= 0);
    // What a policy brings for good is not taken away by need().
    QVERIFY(world.request(10, 2));
    QCOMPARE(int{world.story.events.back().from}, 2);
    QVERIFY(world.request(3, 1));
    settle(world);
    QCOMPARE(int{residency.tiers()[3]}, 1);
    VERIFY_WORLD(world);
    for (int round = 0; round < 20; ++round) {
      FOVEA_VERIFY(world.need({1 + round % 2, 4 + round % 2}));
      QCOMPARE(int{residency.tiers()[3]}, 1);
      QCOMPARE(int{residency.tiers()[10]}, 2);
      VERIFY_WORLD(world);
    }
    // And back to the disk.
    QVERIFY(world.request(0, no_tier));
    settle(world);
    QCOMPARE(int{residency.tiers()[0]}, int{no_tier});
    FOVEA_VERIFY(world.need({0}));
    VERIFY_WORLD(world);
  }

  // A stall ends a swap's wait: what it brings is no promotion any more, and another tier's goes on.
  void aStallIsFasterThanASwap() {
    class TickingClock final : public precision::Clock {
     public:
      double now() const override { return seconds_.fetch_add(1); }
      void sleep(double, std::stop_token) override {}

     private:
      mutable std::atomic<double> seconds_ = 0;
    } clock;
    SwapWorld world({.first = {no_tier, no_tier, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                     .settings = {.swaps = {.publish_after_passes = 0}, .clock = &clock}});
    FOVEA_VERIFY(world.open());
    auto& residency = world.residency();
    QVERIFY(world.request(0, 2));
    QVERIFY(world.request(1, 0));
    FOVEA_VERIFY(world.need({0, 1}));
    QVERIFY(residency.counters().stall_seconds > 0);
    const double stalled = residency.counters().stall_seconds;
    FOVEA_VERIFY(world.need({0, 1}));
    QCOMPARE(residency.counters().stall_seconds, stalled);
    QCOMPARE(int{residency.tiers()[1]}, 2);
    QCOMPARE(int{residency.tiers_or_target()[1]}, 0);
    VERIFY_WORLD(world);
    residency.end_pass();
    QCOMPARE(int{residency.tiers()[1]}, 0);
    QCOMPARE(residency.counters().promotions, 1);
    QCOMPARE(residency.counters().demotions, 0);
    VERIFY_WORLD(world);
  }

  void theLeastRecentlyNeededGoesFirst() {
    // Of 4 KiB one slab, of six blocks; five for units on demand and one spare.
    SwapWorld world(
        {.slabs = 1 + 2,
         .first = {no_tier, no_tier, no_tier, no_tier, no_tier, no_tier, 1, 2, 2, 2, no_tier, no_tier},
         .settings = {.on_demand_blocks = 5}});
    FOVEA_VERIFY(world.open());
    for (UnitId unit = 0; unit < 5; ++unit) FOVEA_VERIFY(world.need({unit}));
    FOVEA_VERIFY(world.need({0}));
    FOVEA_VERIFY(world.need({5}));  // in the block of 1
    std::vector<int> present;
    for (UnitId unit = 0; unit < 6; ++unit) {
      if (world.residency().tiers()[static_cast<std::size_t>(unit)] != no_tier) present.push_back(unit);
    }
    QCOMPARE(present, (std::vector<int>{0, 2, 3, 4, 5}));
    VERIFY_WORLD(world);
    // All at once takes the spare rather than fail.
    FOVEA_VERIFY(world.need({0, 1, 2, 3, 4, 5}));
    VERIFY_WORLD(world);
  }

  // What a pass still reads that was begun before.
  void noBlockIsTakenFromAPassThatReadsIt() {
    SwapWorld world({.host_memory = false,
                     .lagging_passes = true,
                     .first = {no_tier, no_tier, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                     .settings = {.on_demand_blocks = 1}});
    FOVEA_VERIFY(world.open());
    FOVEA_VERIFY(world.need({0}));
    world.begin_pass(0);
    FOVEA_VERIFY(world.need({1}));
    QCOMPARE(int{world.residency().tiers()[0]}, int{no_tier});
    world.stream().synchronize();
    VERIFY_WORLD(world);
  }

  void moreThanHasRoomAtOnceIsAnError() {
    SwapWorld world({.slabs = 3, .first = {2, 2, 2, 2, 2, 2, 2, 2, 2, no_tier, no_tier, no_tier}});
    FOVEA_VERIFY(world.open());
    FOVEA_VERIFY(world.need({9, 10, 11}));
    SwapWorld small({.slabs = 2, .first = {2, 2, 2, 2, 2, 2, 2, 2, no_tier, no_tier, no_tier, no_tier}});
    FOVEA_VERIFY(small.open());
    FOVEA_VERIFY(small.need({8}));
    const auto status = small.need({9, 10});
    QVERIFY(!status);
    QCOMPARE(status.error().kind, ErrorKind::memory);
    VERIFY_WORLD(small);
  }

  void whatIsMissingIsReadTogether_data() { kinds(); }
  void whatIsMissingIsReadTogether() {
    WorldOptions given = options();
    given.first = std::vector<TierId>(12, no_tier);
    given.settings.reads_at_once = 3;
    given.faults.meet = 3;  // one after the other would take ten seconds a read, and be seen below
    SwapWorld world(given);
    FOVEA_VERIFY(world.open());
    FOVEA_VERIFY(world.need({0, 1, 2, 3, 4, 5, 6}));
    QCOMPARE(world.source().max_at_once(), 3);
    QCOMPARE(world.residency().counters().stalls, 7);
    VERIFY_WORLD(world);
  }

  void ofReadsTogetherSomeMayFail() {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      SwapWorld world({.seed = seed, .first = std::vector<TierId>(12, no_tier)});
      FOVEA_VERIFY(world.open());
      world.source().set_faults({.io_error = 40});
      const std::vector<UnitId> wanted = {0, 1, 2, 3, 4, 5};
      const auto status = world.residency().need(wanted);
      const auto errors = world.residency().counters().io_errors;
      QCOMPARE(status.has_value(), errors == 0);
      const auto present =
          std::ranges::count_if(world.residency().tiers(), [](TierId tier) { return tier != no_tier; });
      QCOMPARE(present, 6 - errors);
      VERIFY_WORLD(world);
      world.source().set_faults({});
      FOVEA_VERIFY(world.need(wanted));
      QCOMPARE(world.residency().counters().stalls, 6 + errors);
      VERIFY_WORLD(world);
    }
  }

  void aNeededUnitThatCannotBeReadIsAnError() {
    SwapWorld world({.first = {no_tier, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}});
    FOVEA_VERIFY(world.open());
    world.source().set_faults({.io_error = 100});
    const auto status = world.need({0});
    QVERIFY(!status);
    QCOMPARE(status.error().kind, ErrorKind::io);
    QCOMPARE(world.residency().counters().io_errors, 1);
    VERIFY_WORLD(world);
    world.source().set_faults({});
    FOVEA_VERIFY(world.need({0}));
    VERIFY_WORLD(world);
  }
};
FOVEA_TEST(ResidencyTest)

#include "residency_test.moc"
