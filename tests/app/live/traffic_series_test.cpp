#include "app/live/measures/traffic_series.h"

#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::ui;

namespace {

Snapshot blank() {
  Snapshot snapshot;
  snapshot.layers = 1;
  snapshot.units_per_layer = 2;
  snapshot.units.resize(2);
  snapshot.tiers = {{.name = "q4"}, {.name = "q2"}};
  return snapshot;
}

double sum(const TrafficSeries::Strip& strip) {
  double total = 0;
  for (const double each : strip) total += each;
  return total;
}

}  // namespace

class TrafficSeriesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void countsPerSecond() {
    SnapshotRing ring;
    Snapshot s = blank();
    ring.add(s, 100);
    s.swaps.promotions = 4;
    s.swaps.demotions = 2;
    s.swaps.bytes_read = 1'000'000;
    s.tokens = 10;
    s.queued = 3;
    s.reading = 2;
    s.tiers[0].hits = 30;
    s.tiers[1].hits = 10;
    ring.add(s, 100.2);
    const TrafficSeries series = traffic_series(ring, 100.4);
    // Half a second is one bucket, the last one.
    QCOMPARE(series.promotions.back(), 8.0);
    QCOMPARE(series.demotions.back(), 4.0);
    QCOMPARE(series.bytes.back(), 2'000'000.0);
    QCOMPARE(series.tokens.back(), 20.0);
    QCOMPARE(series.queue.back(), 5.0);
    QCOMPARE(series.below_high.back(), 0.25);
    QCOMPARE(sum(series.promotions), 8.0);
    // Ten seconds later it has moved by twenty buckets, and nothing new came.
    const TrafficSeries later = traffic_series(ring, 110.4);
    QCOMPARE(later.promotions[traffic_buckets - 21], 8.0);
    QCOMPARE(later.promotions.back(), 0.0);
    QCOMPARE(sum(traffic_series(ring, 161).promotions), 0.0);
    QCOMPARE(sum(traffic_series(SnapshotRing(), 5).promotions), 0.0);
  }

  void percentiles() {
    TokenIntervals intervals;
    QCOMPARE(intervals.percentiles().count, std::size_t{0});
    for (int i = 100; i >= 1; --i) intervals.add(i / 1000.0);
    const auto p = intervals.percentiles();
    QCOMPARE(p.p50, 0.050);
    QCOMPARE(p.p95, 0.095);
    QCOMPARE(p.p99, 0.099);
    for (int i = 0; i < 600; ++i) intervals.add(1);
    QCOMPARE(intervals.percentiles().count, std::size_t{512});
    QCOMPARE(intervals.percentiles().p50, 1.0);
    intervals.add(-1);
    QCOMPARE(intervals.percentiles().p50, 1.0);
  }
};

FOVEA_TEST(TrafficSeriesTest)
#include "traffic_series_test.moc"
