#include "ui/live/router_health.h"

#include "tests/support/test.h"

using namespace fovea::ui;

class RouterHealthTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Shares worked out by hand. 8 experts, top-2, 1000 tokens: 2000 uses, one expert gets at most 1000.
  void alarms_data() {
    QTest::addColumn<std::vector<std::uint32_t>>("uses");
    QTest::addColumn<int>("used");
    QTest::addColumn<bool>("collapsed");
    using Uses = std::vector<std::uint32_t>;
    QTest::newRow("even") << Uses{250, 250, 250, 250, 250, 250, 250, 250} << 2 << false;
    QTest::newRow("two take all") << Uses{1000, 1000, 0, 0, 0, 0, 0, 0} << 2 << true;
    QTest::newRow("two take 80 % of all") << Uses{800, 800, 100, 100, 50, 50, 50, 50} << 2 << true;
    QTest::newRow("two take 79 %") << Uses{790, 790, 100, 100, 70, 50, 50, 50} << 2 << false;
    QTest::newRow("one is in 80 % of the tokens")
        << Uses{800, 300, 200, 200, 200, 100, 100, 100} << 2 << true;
    QTest::newRow("one is in 79 %") << Uses{790, 310, 200, 200, 200, 100, 100, 100} << 2 << false;
    // 16 experts, top-4: 4000 uses, two get at most half: 80 % of that are 1600.
    const auto with = [](Uses first, std::size_t experts, std::uint32_t total) {  // the rest evenly
      for (const std::uint32_t use : first) total -= use;
      while (first.size() < experts) {
        first.push_back(total / static_cast<std::uint32_t>(experts - first.size()));
        total -= first.back();
      }
      return first;
    };
    QTest::newRow("top 4, two take 40 %") << with({800, 800}, 16, 4000) << 4 << true;
    QTest::newRow("top 4, two take 39 %") << with({780, 780}, 16, 4000) << 4 << false;
    // Each expert serves 42 % of the tokens when the load is even: one that serves 82 % is no collapse.
    QTest::newRow("top 10 of 24") << with({820, 820}, 24, 10'000) << 10 << false;
    // The ten busiest take 10/24 when it is even: 90 % of the way from there to all is 94.2 %.
    QTest::newRow("top 10 of 24, ten take 95 %")
        << with({950, 950, 950, 950, 950, 950, 950, 950, 950, 950}, 24, 10'000) << 10 << true;
    QTest::newRow("top 10 of 24, ten take 94 %")
        << with({940, 940, 940, 940, 940, 940, 940, 940, 940, 940}, 24, 10'000) << 10 << false;
    QTest::newRow("too few uses") << Uses{60, 60, 0, 0, 0, 0, 0, 0} << 2 << false;
    QTest::newRow("idle") << Uses{0, 0, 0, 0, 0, 0, 0, 0} << 2 << false;
    // Every token uses all experts: nothing can collapse.
    QTest::newRow("all are used") << Uses{1000, 1000} << 2 << false;
  }
  void alarms() {
    QFETCH(std::vector<std::uint32_t>, uses);
    QFETCH(int, used);
    QFETCH(bool, collapsed);
    const RouterHealth health = router_health(uses, static_cast<std::int64_t>(uses.size()), {}, used);
    QCOMPARE(health.layers.size(), std::size_t{1});
    QCOMPARE(health.layers[0].collapsed, collapsed);
    QCOMPARE(health.collapsed, std::int64_t{collapsed});
  }

  void measures() {
    // Entropy of ½, ¼, ¼, 0 is 1.5 bits of at most 2.
    const std::vector<std::uint32_t> uses = {100, 50, 50, 0, /* another layer */ 0, 0, 0, 40};
    const RouterHealth health = router_health(uses, 4, {}, 1);
    QCOMPARE(health.layers.size(), std::size_t{2});
    QCOMPARE(health.layers[0].uses, 200);
    QVERIFY(qFuzzyCompare(health.layers[0].evenness, 0.75));
    QCOMPARE(health.layers[0].top_one, 0.5);
    QCOMPARE(health.layers[0].top_two, 0.75);
    QCOMPARE(health.layers[0].top_tenth, 0.5);
    QCOMPARE(health.layers[0].top_used, 0.5);
    QVERIFY(qFuzzyCompare(health.layers[0].concentration,
                          1.0 / 3));  // from a quarter, half is a third of the way
    QCOMPARE(health.layers[1].busiest, 3);
    QCOMPARE(health.layers[1].evenness, 0.0);
    QVERIFY(qFuzzyCompare(health.evenness, 0.375));
  }

  // A smaller layer's missing experts are no experts that get nothing.
  void countsOnlyTheLayersExperts() {
    const std::vector<std::uint32_t> uses = {100, 100, 0, 0};
    const std::vector<std::int64_t> experts = {2};
    QCOMPARE(router_health(uses, 4, experts, 1).layers[0].evenness, 1.0);
    QVERIFY(router_health(uses, 4, {}, 1).layers[0].evenness < 0.6);
  }

  void largestShares() {
    QCOMPARE(largest_share(2, 8), 0.25);
    QCOMPARE(largest_share(1, 8), 0.125);
    QCOMPARE(largest_share(2, 1), 1.0);
  }
};

FOVEA_TEST(RouterHealthTest)
#include "router_health_test.moc"
