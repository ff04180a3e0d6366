// The token bucket on a clock that the test owns: never too much in any window, and never too little.
#include "engine/precision/traffic_limit.h"

#include <cmath>
#include <random>
#include <thread>

#include "tests/support/test.h"

#include "swap_world.h"

using namespace fovea;
using namespace fovea::tests;
using precision::TrafficLimit;

class TrafficLimitTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theBucketBeginsFullAndFills() {
    TrafficLimit limit(100, 1000);
    QCOMPARE(limit.take(600, 5.0), 0.0);
    QCOMPARE(limit.take(400, 5.0), 0.0);
    QCOMPARE(limit.take(50, 5.0), 0.5);
    QCOMPARE(limit.take(50, 5.25), 0.25);
    QCOMPARE(limit.take(50, 5.5), 0.0);
    QCOMPARE(limit.take(1000, 5.5), 10.0);
    QCOMPARE(limit.take(1000, 1000.0), 0.0);  // idle time does not save up more than the burst
    QCOMPARE(limit.take(1, 1000.0), 0.01);
  }

  void noLimitNeverWaits() {
    TrafficLimit limit(0, 10);
    for (int i = 0; i < 100; ++i) QCOMPARE(limit.take(1'000'000, 0), 0.0);
  }

  void aStopEndsTheWait() {
    TrafficLimit limit(1, 1000);
    QVERIFY(limit.wait(1000, precision::real_clock(), {}));
    std::stop_source stop;
    std::jthread stopper([&] { stop.request_stop(); });
    QVERIFY(!limit.wait(1000, precision::real_clock(), stop.get_token()));
  }

  void everyWindowKeepsTheLimit() {
    std::mt19937 random(tests::seed());
    for (int round = 0; round < tests::rounds(100); ++round) {
      const double rate = std::pow(10.0, static_cast<double>(random() % 10));
      const std::int64_t burst = 1 + static_cast<std::int64_t>(random() % 1'000'000);
      TrafficLimit limit(rate, burst);
      TestClock clock;
      std::vector<Movement> movements;
      for (int i = 0; i < 200; ++i) {
        const std::int64_t bytes = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(burst));
        if (random() % 4 == 0)
          clock.sleep(static_cast<double>(random() % 100) * static_cast<double>(burst) / rate / 30, {});
        QVERIFY(limit.wait(bytes, clock, {}));
        movements.push_back({clock.now(), bytes});
      }
      const std::string wrong = overfull_window(movements, rate, burst);
      QVERIFY2(wrong.empty(),
               (wrong + " (seed " + std::to_string(tests::seed()) + ", round " + std::to_string(round) + ")")
                   .c_str());
    }
  }

  void aBusyBucketUsesItsRate() {
    TrafficLimit limit(1000, 100);
    TestClock clock;
    for (int i = 0; i < 1000; ++i) QVERIFY(limit.wait(100, clock, {}));
    QVERIFY2(std::abs(clock.now() - 99.9) < 0.1, std::to_string(clock.now()).c_str());
  }

  // The check of windows must be able to fail.
  void anOverfullWindowIsSeen() {
    std::vector<Movement> movements;
    for (int i = 0; i < 100; ++i) movements.push_back({static_cast<double>(i), 100});
    QVERIFY(overfull_window(movements, 100, 100).empty());
    movements[57].seconds -= 0.01;
    QVERIFY(!overfull_window(movements, 100, 100).empty());
    movements[57].seconds += 0.01;
    movements[80].bytes += 1;
    QVERIFY(!overfull_window(movements, 100, 100).empty());
  }
};
FOVEA_TEST(TrafficLimitTest)

#include "traffic_limit_test.moc"
