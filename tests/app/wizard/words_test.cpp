// What the wizard says of a model that is not here.
#include <algorithm>

#include "app/advisor/candidates.h"
#include "app/wizard/wizard_words.h"
#include "tests/support/test.h"

#include "../advisor/machines.h"

using namespace fovea;

class WizardWordsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A size that nobody has asked the hub for is not told as if somebody had.
  void aComputedSizeIsSaidToBeOne_data() {
    QTest::addColumn<QByteArray>("id");
    QTest::addColumn<bool>("computed");
    QTest::newRow("listed") << QByteArray("qwen3-4b") << false;
    QTest::newRow("computed") << QByteArray("qwen3.5-9b") << true;
  }
  void aComputedSizeIsSaidToBeOne() {
    QFETCH(QByteArray, id);
    QFETCH(bool, computed);
    const app::Machine machine = tests::processor(32, 28, 45);
    const auto& entries = app::catalogue();
    const auto entry = std::ranges::find(entries, id.toStdString(), &app::CatalogueEntry::id);
    QVERIFY(entry != entries.end());
    const app::Candidate candidate = app::examine_entry(*entry, machine);
    const ui::ModelRow row = app::model_row(candidate, machine);
    QCOMPARE(row.place.startsWith(QStringLiteral("to download, about ")), computed);
    const auto facts = app::start_facts(candidate, {}, machine);
    const auto size = std::ranges::find(facts, QStringLiteral("Size"), &ui::FactView::name);
    QVERIFY(size != facts.end());
    QCOMPARE(size->value.startsWith(QStringLiteral("about ")), computed);
    QCOMPARE(size->why.startsWith(QStringLiteral("Computed")), computed);
  }

  // Where a long prompt's experts cross a link to the card, nobody has measured it yet.
  void aTimeThatRestsOnAnAssumptionSaysSo() {
    const app::Machine machine = tests::processor(32, 28, 45);
    app::Candidate candidate = app::examine_entry(app::catalogue().front(), machine);
    LoadPlan& plan = candidate.fit.report;
    plan.options.context = 4096;
    plan.options.chunk = 512;
    plan.prompt.device = {.multiply_adds = 1e9, .bytes = 1e9, .gop_per_s = 1e4};
    plan.prompt.host = {.multiply_adds = 1e9, .bytes = 4e9, .gop_per_s = 1e3};
    const auto first_word = [&] {
      const auto facts = app::model_row(candidate, machine).facts;
      const auto fact = std::ranges::find(facts, QStringLiteral("First word"), &ui::FactView::name);
      return fact == facts.end() ? QString() : fact->value;
    };
    QVERIFY(first_word().startsWith(QStringLiteral("at least ")));
    QVERIFY(!first_word().contains(QStringLiteral("assuming")));
    plan.prompt.brought_bytes = 4e9;
    QVERIFY2(first_word().endsWith(QStringLiteral(" s, assuming 20 GB/s to the card")),
             qPrintable(first_word()));
  }
};
FOVEA_TEST(WizardWordsTest)

#include "words_test.moc"
