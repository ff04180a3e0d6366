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
};
FOVEA_TEST(WizardWordsTest)

#include "words_test.moc"
