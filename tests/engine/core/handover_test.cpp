// The queue and the cell between two threads: order, bounds, and that no value is torn or lost.
#include <array>
#include <memory>
#include <set>
#include <thread>

#include "engine/core/spsc_ring.h"
#include "engine/core/triple_buffer.h"
#include "tests/support/test.h"

using fovea::SpscRing;
using fovea::TripleBuffer;

namespace {

// Sixty-four words that must always agree.
struct Wide {
  std::array<std::uint64_t, 64> words = {};
};
Wide wide(std::uint64_t value) {
  Wide w;
  w.words.fill(value);
  return w;
}
bool whole(const Wide& w) {
  for (const std::uint64_t word : w.words) {
    if (word != w.words[0]) return false;
  }
  return true;
}

}  // namespace

class HandoverTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aRingIsBoundedAndInOrder() {
    SpscRing<int> ring(3);
    QCOMPARE(ring.capacity(), std::size_t{4});
    QVERIFY(!ring.pop());
    for (int lap = 0; lap < 5; ++lap) {
      for (int i = 0; i < 4; ++i) QVERIFY(ring.push(10 * lap + i));
      QVERIFY(!ring.push(99));
      QCOMPARE(ring.size(), std::size_t{4});
      for (int i = 0; i < 4; ++i) QCOMPARE(ring.pop().value(), 10 * lap + i);
      QVERIFY(!ring.pop());
    }
  }

  void aRingKeepsAValueItHasNoRoomFor() {
    SpscRing<std::unique_ptr<int>> ring(1);
    auto first = std::make_unique<int>(1), second = std::make_unique<int>(2);
    QVERIFY(ring.push(std::move(first)));
    QVERIFY(!ring.push(std::move(second)));
    QVERIFY(second != nullptr);
    QCOMPARE(*ring.pop().value(), 1);
  }

  void aRingBetweenTwoThreadsLosesNothing() {
    const int count = fovea::tests::rounds(200'000);
    SpscRing<int> ring(64);
    std::jthread producer([&] {
      for (int i = 0; i < count;) {
        if (ring.push(i)) {
          ++i;
        } else {
          std::this_thread::yield();
        }
      }
    });
    for (int expected = 0; expected < count;) {
      if (const auto value = ring.pop()) {
        QCOMPARE(*value, expected);
        ++expected;
      } else {
        std::this_thread::yield();
      }
    }
    QCOMPARE(ring.size(), std::size_t{0});
  }

  void theNewestValueWins() {
    TripleBuffer<int> cell(7);
    QVERIFY(!cell.update());
    QCOMPARE(cell.front(), 7);
    for (int value = 1; value < 6; ++value) {
      cell.back() = value;
      cell.publish();
    }
    QCOMPARE(cell.front(), 7);
    QVERIFY(cell.update());
    QCOMPARE(cell.front(), 5);
    QVERIFY(!cell.update());
    QCOMPARE(cell.front(), 5);
  }

  void vectorsKeepTheirMemory() {
    TripleBuffer<std::vector<int>> cell(std::vector<int>(100, 3));
    std::set<const int*> memory;
    for (int round = 0; round < 30; ++round) {
      QCOMPARE(cell.back().size(), std::size_t{100});
      memory.insert(cell.back().data());
      std::fill(cell.back().begin(), cell.back().end(), round);
      cell.publish();
      if (round % 3 != 1) QVERIFY(cell.update());
    }
    QVERIFY(memory.size() <= 3);
  }

  void noValueIsTornBetweenTwoThreads() {
    const auto count = static_cast<std::uint64_t>(fovea::tests::rounds(100'000));
    TripleBuffer<Wide> cell(wide(0));
    std::jthread writer([&] {
      for (std::uint64_t value = 1; value <= count; ++value) {
        cell.back() = wide(value);
        cell.publish();
      }
    });
    std::uint64_t last = 0;
    while (last < count) {
      if (!cell.update()) {
        std::this_thread::yield();
        continue;
      }
      QVERIFY(whole(cell.front()));
      QVERIFY2(cell.front().words[0] > last, "an older value came after a newer one");
      last = cell.front().words[0];
    }
  }

  // The check above must be able to fail: a value that is half another's is not whole.
  void aTornValueIsSeen() {
    Wide torn = wide(4);
    torn.words[63] = 5;
    QVERIFY(!whole(torn));
  }
};
FOVEA_TEST(HandoverTest)

#include "handover_test.moc"
