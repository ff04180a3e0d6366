// The thread pool: every index exactly once, whatever the sizes, threads and pauses between loops.
#include "kernels/cpu/thread_pool.h"

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <pthread.h>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/cpu/chunks.h"
#include "tests/support/test.h"

using fovea::kernels::cpu::ShrinkingChunks;
using fovea::kernels::cpu::ThreadPool;
using fovea::kernels::cpu::Waiting;

namespace {

// New threads want more memory for their stack than there are addresses.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t none = before_;
    ::pthread_attr_setstacksize(&none, std::size_t{1} << 50);
    ::pthread_setattr_default_np(&none);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  ~NoMoreThreads() { ::pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_{};
};

}  // namespace

class ThreadPoolTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void covers_every_index_once_data();
  void covers_every_index_once();
  void chunks_start_at_multiples_of_the_grain();
  void shrinking_chunks_cover_everything_and_shrink();
  void results_are_visible_after_the_loop();
  void wakes_sleeping_threads_data() { both_ways_of_waiting(); }
  void wakes_sleeping_threads();
  void no_more_threads_than_asked_for_data() { both_ways_of_waiting(); }
  void no_more_threads_than_asked_for();
  void waits_asleep_for_the_last_chunk();
  void an_exception_reaches_the_caller_data() { both_ways_of_waiting(); }
  void an_exception_reaches_the_caller();
  void does_without_threads_that_the_system_refuses();
  void can_be_made_and_destroyed_at_once();

 private:
  static void both_ways_of_waiting() {
    QTest::addColumn<Waiting>("waiting");
    QTest::newRow("spinning") << Waiting::spinning;
    QTest::newRow("sleeping") << Waiting::sleeping;
  }
};

void ThreadPoolTest::covers_every_index_once_data() {
  QTest::addColumn<int>("threads");
  QTest::addColumn<Waiting>("waiting");
  for (const int threads : {0, 1, 2, 3, 8}) {
    QTest::addRow("%d threads", threads) << threads << Waiting::spinning;
    QTest::addRow("%d threads that sleep", threads) << threads << Waiting::sleeping;
  }
}

void ThreadPoolTest::covers_every_index_once() {
  QFETCH(int, threads);
  QFETCH(Waiting, waiting);
  ThreadPool pool(threads, waiting);
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
  QFETCH(Waiting, waiting);
  ThreadPool pool(2, waiting);
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

void ThreadPoolTest::no_more_threads_than_asked_for() {
  QFETCH(Waiting, waiting);
  ThreadPool pool(4, waiting);
  for (int round = 0; round < fovea::tests::rounds(200); ++round) {
    const int most = 1 + round % 5;
    std::atomic<int> wrong = 0, done = 0;
    std::array<std::atomic<int>, 4> busy{};
    const auto body = [&](std::int64_t, std::int64_t, int thread) {
      if (thread >= most || ++busy[static_cast<std::size_t>(thread)] != 1) ++wrong;
      std::this_thread::yield();
      --busy[static_cast<std::size_t>(thread)];
      ++done;
    };
    pool.for_chunks(16, 1, body, most);
    QCOMPARE(wrong.load(), 0);
    QCOMPARE(done.load(), 16);
  }
}

// The caller has nothing left to do long before its helper has, and takes no processor meanwhile.
void ThreadPoolTest::waits_asleep_for_the_last_chunk() {
  ThreadPool pool(2, Waiting::sleeping);
  std::atomic<int> done = 0;
  std::atomic<bool> helped = false;
  const auto seconds = [] {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double before = seconds();
  pool.for_chunks(2, 1, [&](std::int64_t, std::int64_t, int thread) {
    if (thread == 0) {
      helped.wait(false);
    } else {
      helped = true;
      helped.notify_one();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    ++done;
  });
  QCOMPARE(done.load(), 2);
  QVERIFY2(seconds() - before < 0.1, qPrintable(QString::number(seconds() - before)));
}

void ThreadPoolTest::an_exception_reaches_the_caller() {
  QFETCH(Waiting, waiting);
  ThreadPool pool(3, waiting);
  for (int round = 0; round < fovea::tests::rounds(100); ++round) {
    std::atomic<int> done = 0;
    const auto fails = [&](std::int64_t begin, std::int64_t, int) {
      ++done;
      if (begin == round % 20) throw std::runtime_error("planted");
    };
    QVERIFY_THROWS_EXCEPTION(std::runtime_error, pool.for_chunks(20, 1, fails));
    QCOMPARE(done.load(), 20);
    done = 0;
    pool.for_chunks(20, 1, [&](std::int64_t, std::int64_t, int) { ++done; });
    QCOMPARE(done.load(), 20);
  }
}

void ThreadPoolTest::does_without_threads_that_the_system_refuses() {
  const NoMoreThreads refused;
  ThreadPool pool(3);
  QCOMPARE(pool.threads(), 1);
  int sum = 0;
  pool.for_chunks(10, 1, [&](std::int64_t begin, std::int64_t, int) { sum += static_cast<int>(begin); });
  QCOMPARE(sum, 45);
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
