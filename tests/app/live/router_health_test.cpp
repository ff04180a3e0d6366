#include "app/live/measures/router_health.h"

#include "tests/support/test.h"

using namespace fovea::app;
using namespace fovea::ui;

class RouterHealthTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // 8 experts, two for a token: evenly they get a quarter, so two that get 1/4 + 0.95 · 3/4 = 96.25 % leave
  // nothing to the others. 5000 tokens are 10000 uses.
  void alarms_data() {
    QTest::addColumn<std::vector<std::uint32_t>>("lately");
    QTest::addColumn<std::vector<std::uint32_t>>("since_start");
    QTest::addColumn<std::vector<float>>("calibrated");
    QTest::addColumn<int>("used");
    QTest::addColumn<bool>("collapsed");
    QTest::addColumn<bool>("one_subject");
    using Uses = std::vector<std::uint32_t>;
    using Shares = std::vector<float>;
    const Uses even{1250, 1250, 1250, 1250, 1250, 1250, 1250, 1250};
    const Uses two{4850, 4850, 50, 50, 50, 50, 50, 50}, nearly{4800, 4800, 100, 100, 50, 50, 50, 50};
    const Uses subject{3000, 3000, 2000, 1200, 200, 200, 200, 200};  // four serve 92 %
    const Shares none{}, mixed{0.15F, 0.1F, 0.1F, 0.1F, 0.1F, 0.15F, 0.15F, 0.15F};
    const Shares narrow{0.49F, 0.49F, 0, 0, 0.005F, 0.005F, 0.005F, 0.005F};
    QTest::newRow("even") << even << even << none << 2 << false << false;
    QTest::newRow("one subject, not calibrated") << subject << subject << none << 2 << false << false;
    QTest::newRow("one subject, calibrated") << subject << subject << mixed << 2 << false << true;
    QTest::newRow("many subjects, calibrated") << even << even << mixed << 2 << false << false;
    QTest::newRow("two take 97 % of a long run") << two << two << none << 2 << true << false;
    QTest::newRow("two take 96 % of a long run") << nearly << nearly << none << 2 << false << false;
    QTest::newRow("two now, others before") << two << even << none << 2 << false << false;
    const Uses early{3900, 3900, 0, 0, 0, 0, 0, 0};
    QTest::newRow("two so far, which is not long") << early << early << none << 2 << false << false;
    QTest::newRow("two now, others in the calibration") << two << two << mixed << 2 << false << true;
    QTest::newRow("two, in the calibration as well") << early << early << narrow << 2 << true << false;
    QTest::newRow("two of the calibration's, others now") << even << even << narrow << 2 << false << true;
    // Its partner changes: such experts are made on purpose.
    const Uses always{5000, 715, 715, 714, 714, 714, 714, 714};
    QTest::newRow("one in every token") << always << always << none << 2 << false << false;
    const Uses few{60, 60, 0, 0, 0, 0, 0, 0};
    QTest::newRow("too few uses") << few << two << narrow << 2 << false << false;
    const Uses idle{0, 0, 0, 0, 0, 0, 0, 0};
    QTest::newRow("idle") << idle << two << narrow << 2 << false << false;
    // With one expert for a token, the even share is 1/8.
    const Uses one{4800, 200, 0, 0, 0, 0, 0, 0};
    QTest::newRow("top 1, one takes 96 %") << one << one << none << 1 << true << false;
    // Every token uses all experts: nothing can collapse.
    const Uses all{5000, 5000};
    QTest::newRow("all are used") << all << all << none << 2 << false << false;
  }
  void alarms() {
    QFETCH(std::vector<std::uint32_t>, lately);
    QFETCH(std::vector<std::uint32_t>, since_start);
    QFETCH(std::vector<float>, calibrated);
    QFETCH(int, used);
    QFETCH(bool, collapsed);
    QFETCH(bool, one_subject);
    const RouterHealth health = router_health({.lately = lately,
                                               .since_start = since_start,
                                               .calibrated = calibrated,
                                               .units_per_layer = std::ssize(lately),
                                               .used = used});
    QCOMPARE(health.layers.size(), std::size_t{1});
    QCOMPARE(health.layers[0].collapsed, collapsed);
    QCOMPARE(health.layers[0].one_subject, one_subject);
    QCOMPARE(health.collapsed, std::int64_t{collapsed});
    QCOMPARE(health.one_subject, std::int64_t{one_subject});
  }

  void measures() {
    // Entropy of ½, ¼, ¼, 0 is 1.5 bits of at most 2.
    const std::vector<std::uint32_t> uses = {100, 50, 50, 0, /* another layer */ 0, 0, 0, 40};
    const RouterHealth health =
        router_health({.lately = uses, .since_start = uses, .units_per_layer = 4, .used = 1});
    QCOMPARE(health.layers.size(), std::size_t{2});
    QCOMPARE(health.layers[0].uses, 200);
    QVERIFY(qFuzzyCompare(health.layers[0].evenness, 0.75));
    QCOMPARE(health.layers[0].top_one, 0.5);
    QCOMPARE(health.layers[0].max_violation, 1.0);  // a half instead of a quarter
    QVERIFY(!health.layers[0].elsewhere && !health.elsewhere);
    QCOMPARE(health.layers[0].top_tenth, 0.5);
    QCOMPARE(health.layers[0].top_used, 0.5);
    QVERIFY(qFuzzyCompare(health.layers[0].narrow, 0.25 + 0.95 * 0.75));
    QCOMPARE(health.layers[1].busiest, 3);
    QCOMPARE(health.layers[1].evenness, 0.0);
    QVERIFY(qFuzzyCompare(health.evenness, 0.375));
    QCOMPARE(health.max_violation, 3.0);
  }

  // A smaller layer's missing experts are no experts that get nothing.
  void countsOnlyTheLayersExperts() {
    const std::vector<std::uint32_t> uses = {100, 100, 0, 0};
    const std::vector<std::int64_t> experts = {2};
    RouterUses of{.lately = uses, .since_start = uses, .units_per_layer = 4, .used = 1};
    QVERIFY(router_health(of).layers[0].evenness < 0.6);
    of.experts = experts;
    QCOMPARE(router_health(of).layers[0].evenness, 1.0);
  }

  // The calibration's shares stand without gaps behind one another.
  void findsTheCalibrationOfEachLayer() {
    const std::vector<std::uint32_t> uses = {500, 500, 0, 0, /* another layer */ 900, 33, 33, 34};
    const std::vector<std::int64_t> experts = {2, 4};
    const std::vector<float> calibrated = {0.5F, 0.5F, 0.1F, 0.3F, 0.3F, 0.3F};
    const RouterHealth health = router_health({.lately = uses,
                                               .since_start = uses,
                                               .calibrated = calibrated,
                                               .units_per_layer = 4,
                                               .experts = experts,
                                               .used = 1});
    QVERIFY(!health.layers[0].one_subject);
    QVERIFY(health.layers[1].one_subject);
    QCOMPARE(health.one_subject, 1);
    // The shares .9 .033 .033 .034 have .8 more of the first than .1 .3 .3 .3.
    QVERIFY(qFuzzyIsNull(*health.layers[0].elsewhere));
    QVERIFY(std::abs(*health.layers[1].elsewhere - 0.8) < 1e-6);
    QVERIFY(std::abs(*health.elsewhere - 0.4) < 1e-6);
  }
};

FOVEA_TEST(RouterHealthTest)
#include "router_health_test.moc"
