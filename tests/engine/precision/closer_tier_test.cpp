// Which of two tiers of equal bits is named for which weights.
#include "engine/precision/closer_tier.h"

#include "engine/models/config.h"
#include "tests/support/test.h"

#include "valued_experts.h"

using namespace fovea;
using namespace fovea::precision;
using checkpoint::Checkpoint;
using tests::Values;

class CloserTierTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_the_tier_that_comes_closer_data() {
    QTest::addColumn<int>("first");
    QTest::addColumn<int>("second");
    QTest::addColumn<QString>("tiers");
    QTest::addColumn<QString>("closer");  // empty: none
    const auto row = [](const char* name, Values first, Values second, const char* tiers,
                        const char* closer) {
      QTest::newRow(name) << static_cast<int>(first) << static_cast<int>(second) << tiers << closer;
    };
    row("slabs at q4", Values::slabs, Values::slabs, "file,q4,q2", "q4e");
    row("a grid at q4", Values::grid, Values::grid, "q4", "q4e");
    row("normal values at q4", Values::normal, Values::normal, "file,q4", "");
    row("normal values at q4e", Values::normal, Values::normal, "file,q4e,q3", "q4");
    row("slabs at q4e", Values::slabs, Values::slabs, "q4e", "");
    row("no tier that has an equal", Values::slabs, Values::slabs, "file,q8,q3,q2", "");
    row("zeros", Values::zeros, Values::zeros, "q4", "");
    row("slabs and what has no error", Values::slabs, Values::zeros, "q4", "q4e");
    row("slabs and what is not finite", Values::not_finite, Values::slabs, "q4", "q4e");
    row("nothing that is finite", Values::not_finite, Values::not_finite, "q4", "");
  }
  void names_the_tier_that_comes_closer() {
    QFETCH(int, first);
    QFETCH(int, second);
    QFETCH(QString, tiers);
    QFETCH(QString, closer);
    const tests::TemporaryFolder folder;
    FOVEA_VERIFY(tests::write_valued_experts(folder.path() / "a.gguf", static_cast<Values>(first),
                                             static_cast<Values>(second)));
    const auto checkpoint = Checkpoint::open(folder.path() / "a.gguf");
    FOVEA_VERIFY(checkpoint);
    const auto config = models::read_config(*checkpoint);
    FOVEA_VERIFY(config);
    const auto plan = models::plan_weights(*checkpoint, *config);
    FOVEA_VERIFY(plan);
    const UnitTable units(*plan, UnitScope::experts);
    std::vector<std::string> names;
    for (const QString& name : tiers.split(',')) names.push_back(name.toStdString());
    const auto set = parse_tiers(names, units);
    FOVEA_VERIFY(set);
    const auto found = closer_tier(*checkpoint, units, *set);
    QCOMPARE(found.has_value(), !closer.isEmpty());
    if (!found) return;
    QCOMPARE(QString::fromStdString(found->closer), closer);
    QCOMPARE(QString::fromStdString(found->tier), closer == "q4" ? "q4e" : "q4");
    // docs/tiers.md: q4 makes an error of about 0.071 of all of these, q4e a larger one of normal values
    // alone.
    const bool normal = first == static_cast<int>(Values::normal);
    const double q4 = normal ? found->closer_weight_error : found->weight_error;
    const double q4e = normal ? found->weight_error : found->closer_weight_error;
    QVERIFY2(q4 > 0.06 && q4 < 0.08, qPrintable(QString::number(q4)));
    QVERIFY2(normal ? q4e > 0.08 && q4e < 0.095 : q4e > 0.025 && q4e < 0.055,
             qPrintable(QString::number(q4e)));
  }

  void two_tiers_of_equal_bits_are_refused_data() {
    QTest::addColumn<QString>("tiers");
    QTest::newRow("q4 before q4e") << "q4,q4e";
    QTest::newRow("q4e before q4") << "file,q4e,q4";
  }
  void two_tiers_of_equal_bits_are_refused() {
    QFETCH(QString, tiers);
    const auto checkpoint = Checkpoint::open(tests::golden("models/experts.gguf"));
    FOVEA_VERIFY(checkpoint);
    const auto config = models::read_config(*checkpoint);
    FOVEA_VERIFY(config);
    const auto plan = models::plan_weights(*checkpoint, *config);
    FOVEA_VERIFY(plan);
    std::vector<std::string> names;
    for (const QString& name : tiers.split(',')) names.push_back(name.toStdString());
    const auto refused = parse_tiers(names, UnitTable(*plan, UnitScope::experts));
    QVERIFY(!refused);
    const QString text = QString::fromStdString(refused.error().message());
    QVERIFY2(text.contains("\"" + QString::fromStdString(names.back()) + "\" has 4.25 bits per weight here"),
             qPrintable(text));
    QVERIFY2(text.contains("from high to low"), qPrintable(text));
  }
};

FOVEA_TEST(CloserTierTest)
#include "closer_tier_test.moc"
