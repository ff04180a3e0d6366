// The thread pool: every index exactly once, whatever the sizes, threads and pauses between loops.
#include "kernels/cpu/thread_pool.h"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "kernels/cpu/chunks.h"
#include "tests/support/test.h"

using fovea::kernels::cpu::ShrinkingChunks;
using fovea::kernels::cpu::ThreadPool;

class ThreadPoolTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void covers_every_index_once_data();
  void covers_every_index_once();
  void chunks_start_at_multiples_of_the_grain();
  void shrinking_chunks_cover_everything_and_shrink();
  void results_are_visible_after_the_loop();
  void wakes_sleeping_threads();
  void can_be_made_and_destroyed_at_once();
};

void ThreadPoolTest::covers_every_index_once_data() {
  QTest::addColumn<int>("threads");
  for (const int threads : {0, 1, 2, 3, 8}) QTest::addRow("%d threads", threads) << threads;
}

void ThreadPoolTest::covers_every_index_once() {
  QFETCH(int, threads);
  ThreadPool pool(threads);
  QVERIFY(pool.threads() >= 1 && pool.threads() <= std::max(threads, 1));
  std::mt19937 random(fovea::tests::seed());
  for (int round = 0; round < fovea::tests::rounds(2000); ++round) {
    const auto count = static_cast<std::int64_t>(random() % 200);
    const auto grain = static_cast<std::int64_t>(random() % 9);
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    std::atomic<bool> bad_thread = false;
    pool.for_chunks(count, grain, [&](std::int64_t begin, std::int64_t end, int thread) {
      if (thread < 0 || thread >= pool.threads()) bad_thread = true;
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    QVERIFY(!bad_thread);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      QVERIFY2(seen[i] == 1, qPrintable(QStringLiteral("seed %1 round %2: index %3 was run %4 times")
                                            .arg(fovea::tests::seed())
                                            .arg(round)
                                            .arg(i)
                                            .arg(seen[i].load())));
    }
  }
}

void ThreadPoolTest::chunks_start_at_multiples_of_the_grain() {
  ThreadPool pool(3);
  std::atomic<int> wrong = 0;
  pool.for_chunks(1001, 10, [&](std::int64_t begin, std::int64_t end, int) {
    if (begin % 10 != 0 || (end != begin + 10 && end != 1001)) ++wrong;
  });
  QCOMPARE(wrong.load(), 0);
}

void ThreadPoolTest::shrinking_chunks_cover_everything_and_shrink() {
  std::mt19937 random(fovea::tests::seed());
  for (int round = 0; round < fovea::tests::rounds(3000); ++round) {
    const auto count = static_cast<std::int64_t>(random() % (round % 3 == 0 ? 100'000 : 300));
    const auto threads = static_cast<int>(1 + random() % 96);
    const auto largest = static_cast<std::int64_t>(random() % 400);
    const ShrinkingChunks chunks(count, threads, largest);
    const std::int64_t needed = (count + 511) / 512;  // there are 512 chunks at most
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < chunks.count(); ++i) {
      const std::int64_t size = chunks.end(i) - chunks.begin(i);
      QCOMPARE(chunks.begin(i), at);
      QVERIFY(size >= 1 && size <= std::max({largest, needed, std::int64_t{1}}));
      QVERIFY(size <= std::max((count - at) / (2 * threads), std::max<std::int64_t>(needed, 1)));
      at = chunks.end(i);
    }
    QCOMPARE(at, count);
  }
}

// Plain memory, so that a thread sanitizer sees a missing order.
void ThreadPoolTest::results_are_visible_after_the_loop() {
  ThreadPool pool(4);
  std::vector<std::int64_t> values(1000);
  for (std::int64_t round = 1; round < 500; ++round) {
    pool.for_chunks(1000, 7, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] += i;
    });
    QCOMPARE(values[999], 999 * round);
    QCOMPARE(values[1], round);
  }
}

void ThreadPoolTest::wakes_sleeping_threads() {
  ThreadPool pool(2);
  // Both chunks wait for each other: without the second thread the loop would never end.
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 4));
    std::atomic<int> arrived = 0;
    pool.for_chunks(2, 1, [&](std::int64_t, std::int64_t, int) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
    });
    QCOMPARE(arrived.load(), 2);
  }
}

void ThreadPoolTest::can_be_made_and_destroyed_at_once() {
  for (int round = 0; round < 200; ++round) {
    ThreadPool pool(3);
    if (round % 2 == 0) continue;
    std::atomic<std::int64_t> sum = 0;
    pool.for_chunks(10, 1, [&](std::int64_t begin, std::int64_t, int) { sum += begin; });
    QCOMPARE(sum.load(), 45);
  }
}

FOVEA_TEST(ThreadPoolTest)
#include "thread_pool_test.moc"
