// Threads of a pool: every index once, no more threads than asked for.
#include "engine/precision/thread_pool.h"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/test.h"

using fovea::precision::ThreadPool;

class ThreadPoolTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyIndexIsDoneOnceByAWorkerThatIsFree() {
    std::mt19937 random(1);
    ThreadPool pool(4);
    for (int run = 0; run < fovea::tests::rounds(200); ++run) {
      const auto count = static_cast<std::int64_t>(random() % 20);
      const auto workers = static_cast<std::int32_t>(1 + random() % 6);
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      std::vector<std::atomic<int>> busy(static_cast<std::size_t>(workers));
      std::atomic<int> wrong = 0;
      pool.run(count, workers, [&](std::int64_t index, std::int32_t worker) {
        if (worker < 0 || worker >= std::min(workers, 4) || ++busy[static_cast<std::size_t>(worker)] != 1) {
          ++wrong;
          return;
        }
        ++done[static_cast<std::size_t>(index)];
        --busy[static_cast<std::size_t>(worker)];
      });
      QCOMPARE(wrong.load(), 0);
      for (const auto& times : done) QCOMPARE(times.load(), 1);
    }
  }

  void fewerWorkersThanThreads() {
    ThreadPool pool(4);
    std::atomic<int> most = 0;
    for (int run = 0; run < fovea::tests::rounds(200); ++run) {
      pool.run(16, run % 2 ? 2 : 4, [&](std::int64_t, std::int32_t worker) {
        if (run % 2 && worker > most) most = worker;
        std::this_thread::yield();
      });
    }
    QVERIFY(most < 2);
  }

  // The caller has nothing left to do long before its helper has.
  void waitsForTheLast() {
    ThreadPool pool(2);
    std::atomic<int> done = 0;
    std::atomic<bool> helped = false;
    pool.run(2, 2, [&](std::int64_t, std::int32_t worker) {
      if (worker == 0) {
        helped.wait(false);
      } else {
        helped = true;
        helped.notify_one();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      ++done;
    });
    QCOMPARE(done.load(), 2);
  }

  void theCallersThreadIsEnough() {
    ThreadPool pool(1);
    int sum = 0;
    pool.run(10, 1, [&](std::int64_t index, std::int32_t) { sum += static_cast<int>(index); });
    QCOMPARE(sum, 45);
  }
};
FOVEA_TEST(ThreadPoolTest)

#include "thread_pool_test.moc"
