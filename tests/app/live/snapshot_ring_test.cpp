#include "app/live/measures/snapshot_ring.h"

#include <QRandomGenerator>
#include <algorithm>
#include <cmath>

#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::ui;

namespace {

Snapshot blank(std::int64_t layers, std::int64_t units) {
  Snapshot snapshot;
  snapshot.layers = layers;
  snapshot.units_per_layer = units;
  snapshot.units.resize(static_cast<std::size_t>(layers * units));
  for (UnitState& unit : snapshot.units) unit.tier = 1;
  snapshot.tiers = {{.name = "q4", .bits_per_weight = 4.5}, {.name = "q2", .bits_per_weight = 2.25}};
  return snapshot;
}

// What a frame must hold.
void compare(const MapFrame& frame, const Snapshot& snapshot) {
  QCOMPARE(frame.size(), snapshot.units.size());
  for (std::size_t unit = 0; unit < frame.size(); ++unit) {
    QCOMPARE(frame.tier[unit], snapshot.units[unit].tier);
    QCOMPARE(frame.target[unit], snapshot.units[unit].target);
    QCOMPARE(frame.uses[unit], snapshot.units[unit].uses);
    const float hotness = snapshot.units[unit].hotness;
    if (hotness == 0) {
      QCOMPARE(frame.hot[unit], std::uint8_t{0});
    } else {
      QVERIFY(std::abs(std::log2(hotness_of(frame.hot[unit]) / hotness)) <= 24.0 / 254 / 2 + 0.006);
    }
  }
}

// Some units change a little, as a session's do.
void change(Snapshot& snapshot, QRandomGenerator& random) {
  for (UnitState& unit : snapshot.units) {
    unit.hotness *= 0.99F;
    if (random.bounded(8) == 0) {
      unit.uses += static_cast<std::uint32_t>(random.bounded(400));
      unit.hotness += static_cast<float>(random.bounded(0.2));
    }
    if (random.bounded(50) == 0) unit.tier = static_cast<std::uint8_t>(random.bounded(2));
    if (random.bounded(50) == 0) unit.target = random.bounded(2) == 0 ? no_tier : 0;
  }
  snapshot.tokens += 3;
}

}  // namespace

class SnapshotRingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Every frame of a random session comes back, in whatever order it is asked for.
  void everyFrameComesBack() {
    const int rounds = tests::rounds(3);
    for (int round = 0; round < rounds; ++round) {
      const unsigned seed = tests::seed() + static_cast<unsigned>(round);
      QRandomGenerator random(seed);
      Snapshot snapshot = blank(3, 17);
      SnapshotRing ring;
      std::vector<Snapshot> all;
      for (int i = 0; i < 200; ++i) {
        change(snapshot, random);
        all.push_back(snapshot);
        ring.add(snapshot, i * 0.1);
      }
      FrameCursor cursor;
      for (int i = 0; i < 300; ++i) {
        const auto index = i < 200 ? i : static_cast<int>(random.bounded(200));
        QVERIFY(cursor.seek(ring, index));
        compare(cursor.frame(), all[static_cast<std::size_t>(index)]);
        if (QTest::currentTestFailed()) qFatal("FOVEA_TEST_SEED=%u, frame %d", seed, index);
      }
      QVERIFY(!cursor.seek(ring, 200));
      QVERIFY(!cursor.seek(ring, -1));
    }
  }

  void dropsTheOldest() {
    Snapshot snapshot = blank(2, 8);
    SnapshotRing ring({.seconds = 10, .bytes = std::size_t{1} << 30});
    for (int i = 0; i < 1000; ++i) {
      ++snapshot.tokens;
      ++snapshot.units[3].uses;
      ring.add(snapshot, i * 0.1);
    }
    QCOMPARE(ring.end(), 1000);
    // Whole groups go, and what lies within the limit stays.
    QVERIFY(ring.first() > 800 && ring.moment(ring.first()).seconds <= ring.last().seconds - 10);
    FrameCursor cursor;
    QVERIFY(!cursor.seek(ring, ring.first() - 1));
    for (std::int64_t index = ring.first(); index < ring.end(); ++index) {
      QVERIFY(cursor.seek(ring, index));
      QCOMPARE(cursor.frame().uses[3], static_cast<std::uint32_t>(index + 1));
    }
    QCOMPARE(ring.at(95), 950);
    QCOMPARE(ring.at(1e9), ring.end());
  }

  void keepsToItsMemory() {
    QRandomGenerator random(tests::seed());
    Snapshot snapshot = blank(48, 128);
    constexpr std::size_t limit = std::size_t{2} << 20;
    SnapshotRing ring({.seconds = 1e9, .bytes = limit});
    for (int i = 0; i < 400; ++i) {
      change(snapshot, random);
      ring.add(snapshot, i * 0.1);
      // The group that is being written may stand over it.
      QVERIFY(ring.memory_bytes() < limit + (std::size_t{2} << 20));
    }
    QVERIFY(ring.first() > 0);
  }

  void beginsAnewWithAnotherModel() {
    SnapshotRing ring;
    FrameCursor cursor;
    Snapshot first = blank(2, 8);
    first.tokens = 10;
    for (int i = 0; i < 5; ++i) ring.add(first, i);
    QVERIFY(cursor.seek(ring, 4));
    Snapshot second = blank(3, 8);
    second.tokens = 20;
    second.units[5].uses = 77;
    ring.add(second, 6);
    QCOMPARE(ring.end() - ring.first(), 1);
    QVERIFY(cursor.seek(ring, ring.first()));
    QCOMPARE(cursor.frame().uses[5], 77U);
    // The same shape, but its counts begin again.
    second.tokens = 1;
    ring.add(second, 7);
    QCOMPARE(ring.end() - ring.first(), 1);
  }

  void explainsChanges() {
    SnapshotRing ring;
    Snapshot snapshot = blank(2, 8);
    ring.add(snapshot, 1);
    snapshot.units[4].tier = 0;
    snapshot.units[9].tier = 0;
    snapshot.decisions[0] = {
        .unit = 4, .from = 1, .to = 0, .reason = SwapReason::hotter, .score = 0.5F, .token = 3};
    ring.add(snapshot, 2);
    ring.add(snapshot, 3);  // the same decisions are not changes again
    QCOMPARE(ring.changes().size(), std::size_t{2});
    const auto last = ring.last_changes(10);
    QCOMPARE(last.size(), std::size_t{16});
    QVERIFY(last[4].decision.unit == 4 && last[4].explained);
    QCOMPARE(last[4].decision.reason, SwapReason::hotter);
    QCOMPARE(last[4].seconds_ago, 8.0);
    QVERIFY(last[9].decision.unit == 9 && !last[9].explained);
    QCOMPARE(last[9].decision.from, std::uint8_t{1});
    QCOMPARE(last[5].decision.unit, -1);
    QCOMPARE(ring.last_changes(1.5)[4].decision.unit, -1);
  }

  // As many as the largest model changes at once.
  void explainsManyAtOnce() {
    SnapshotRing ring;
    Snapshot snapshot = blank(48, 512);
    ring.add(snapshot, 1);
    for (std::int32_t i = 0; i < 256; ++i) {
      snapshot.units[static_cast<std::size_t>(90 * i)].tier = 0;
      snapshot.decisions[static_cast<std::size_t>(i)] = {
          .unit = 90 * i, .from = 1, .to = 0, .reason = SwapReason::expected, .token = 128};
    }
    ring.add(snapshot, 2);
    QCOMPARE(ring.changes().size(), std::size_t{256});
    QVERIFY(std::ranges::all_of(ring.changes(), &TierChange::explained));
  }

  void showsRecentUseWhereNoHotnessIsMeasured() {
    SnapshotRing ring;
    Snapshot snapshot = blank(1, 4);
    snapshot.units[2].recent_tokens = 9;
    ring.add(snapshot, 0);
    QVERIFY(ring.last_frame().hot_is_recent_use);
    QVERIFY(ring.last_frame().hot[2] > 0);
    QCOMPARE(ring.last_frame().hot[1], std::uint8_t{0});
  }
};

FOVEA_TEST(SnapshotRingTest)
#include "snapshot_ring_test.moc"
