// The dialog that compares two settings, as a user has it.
#include "ui/models/compare_dialog.h"

#include <QAccessible>
#include <QApplication>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTemporaryFile>
#include <QToolButton>

#include "tests/support/test.h"

using namespace fovea::ui;

namespace {

std::vector<CompareChoice> some_choices() {
  return {
      {.text = QStringLiteral("Every weight"), .note = QStringLiteral("It does not fit."), .possible = false},
      {.text = QStringLiteral("The lowest"), .note = QStringLiteral("It takes 1 GB.")},
      {.text = QStringLiteral("A mix"), .note = QStringLiteral("It takes 2 GB."), .closes_model = true}};
}

}  // namespace

class CompareDialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    dialog_ = std::make_unique<CompareDialog>(QStringLiteral("A model"),
                                              QStringLiteral("hot experts at 4 bits, the others at 2 bits"),
                                              some_choices());
    dialog_->show();
    QVERIFY(QTest::qWaitForWindowActive(dialog_.get()));
    start_ = dialog_->findChild<QPushButton*>(QStringLiteral("startCompare"));
    note_ = dialog_->findChild<QLabel*>(QStringLiteral("compareNote"));
  }
  void cleanup() { dialog_.reset(); }

  // The first that is possible is chosen; another one says why it is not, or what it does.
  void choices() {
    QCOMPARE(dialog_->choice(), 1);
    QCOMPARE(note_->text(), QStringLiteral("It takes 1 GB."));
    QCOMPARE(start_->text().remove(QLatin1Char('&')), QStringLiteral("Compare"));
    radio(0)->click();
    QCOMPARE(note_->text(), QStringLiteral("It does not fit."));
    QVERIFY(!start_->isEnabled());
    radio(2)->click();
    QVERIFY(start_->isEnabled());
    QCOMPARE(start_->text().remove(QLatin1Char('&')), QStringLiteral("Close the model and compare"));
  }

  // Why a choice cannot be, or how a run failed, for those who ask; the dialog grows with it.
  void detailsStandBehindAButton() {
    auto* more = dialog_->findChild<QToolButton*>(QStringLiteral("moreDetails"));
    const auto* details = dialog_->findChild<QLabel*>(QStringLiteral("details"));
    QVERIFY(!more->isVisible());
    start_->click();
    const QString insides = QStringLiteral("model.gguf, tensor blk.2: the shape is another. ").repeated(20);
    dialog_->show_error(QStringLiteral("A file is damaged."), insides);
    QCOMPARE(note_->text(), QStringLiteral("A file is damaged."));
    QVERIFY(more->isVisible() && !details->isVisible());
    more->click();
    QVERIFY(details->isVisible());
    QTRY_VERIFY(details->height() >= details->heightForWidth(details->width()));
    radio(2)->click();
    QVERIFY(!more->isVisible() && !details->isVisible());
  }

  void anObstacleComesBeforeAll() {
    dialog_->set_obstacle(QStringLiteral("It is answering."));
    QVERIFY(!start_->isEnabled());
    QCOMPARE(note_->text(), QStringLiteral("It is answering."));
    dialog_->set_obstacle({});
    QVERIFY(start_->isEnabled());
    QCOMPARE(note_->text(), QStringLiteral("It takes 1 GB."));
  }

  void anOwnTextMustBeThere() {
    QSignalSpy started(dialog_.get(), &CompareDialog::startRequested);
    auto* file = dialog_->findChild<QLineEdit*>(QStringLiteral("compareFile"));
    QTest::keyClicks(file, QStringLiteral("/no such file"));
    QVERIFY(dialog_->findChild<QRadioButton*>(QStringLiteral("compareOwn"))->isChecked());
    QVERIFY(!start_->isEnabled());
    QTemporaryFile text;
    QVERIFY(text.open());
    file->setText(text.fileName());
    QVERIFY(start_->isEnabled());
    start_->click();
    QCOMPARE(started.takeFirst(), (QVariantList{1, text.fileName()}));
  }

  void itRunsStopsAndTells() {
    QSignalSpy started(dialog_.get(), &CompareDialog::startRequested),
        stopped(dialog_.get(), &CompareDialog::stopRequested);
    auto* bar = dialog_->findChild<QProgressBar*>(QStringLiteral("compareProgress"));
    auto* result = dialog_->findChild<QGroupBox*>(QStringLiteral("compareResult"));
    QVERIFY(!bar->isVisible() && !result->isVisible());
    QTest::keyClick(dialog_.get(), Qt::Key_Return);  // the default button
    QCOMPARE(started.takeFirst(), (QVariantList{1, QString()}));
    QVERIFY(bar->isVisible() && !radio(1)->isEnabled());
    QCOMPARE(bar->maximum(), 0);
    dialog_->show_progress(QStringLiteral("Reads."), 1, 4);
    QCOMPARE(note_->text(), QStringLiteral("Reads."));
    QCOMPARE(4 * bar->value(), bar->maximum());
    start_->click();
    QCOMPARE(stopped.count(), 1);
    dialog_->show_stopped(QStringLiteral("Stopped."));
    QVERIFY(!bar->isVisible() && radio(1)->isEnabled() && !result->isVisible());
    QCOMPARE(note_->text(), QStringLiteral("Stopped."));
    start_->click();
    dialog_->show_result(
        {.sentence = QStringLiteral("It reaches 97 %."),
         .now = QStringLiteral("now"),
         .other = QStringLiteral("other"),
         .rows = {{QStringLiteral("Memory"), QStringLiteral("2 GB"), QStringLiteral("1 GB")}},
         .note = QStringLiteral("What it means.")});
    QVERIFY(result->isVisible());
    QCOMPARE(dialog_->findChild<QLabel*>(QStringLiteral("compareSentence"))->text(),
             QStringLiteral("It reaches 97 %."));
    QStringList texts;
    for (const QLabel* label : result->findChildren<QLabel*>()) texts += label->text();
    QVERIFY(texts.indexOf(QStringLiteral("1 GB")) < texts.indexOf(QStringLiteral("2 GB")));
    QVERIFY(texts.contains(QStringLiteral("What it means.")));
    // A second run begins with an empty page, and an error is one.
    start_->click();
    QVERIFY(!result->isVisible());
    dialog_->show_error(QStringLiteral("There is no room."));
    QCOMPARE(note_->text(), QStringLiteral("There is no room."));
    radio(2)->click();  // what was said of the last run goes
    QCOMPARE(note_->text(), QStringLiteral("It takes 2 GB."));
  }

  void closingStops() {
    QSignalSpy stopped(dialog_.get(), &CompareDialog::stopRequested);
    QTest::keyClick(dialog_.get(), Qt::Key_Escape);
    QCOMPARE(stopped.count(), 0);
    dialog_->show();
    start_->click();
    QTest::keyClick(dialog_.get(), Qt::Key_Escape);
    QCOMPARE(stopped.count(), 1);
    QVERIFY(!dialog_->isVisible());
  }

  // Tab reaches all of it, and each has a name.
  void keysAndNames() {
    std::vector<QWidget*> reached;
    radio(1)->setFocus();
    for (int i = 0; i < 30 && std::ranges::find(reached, QApplication::focusWidget()) == reached.end(); ++i) {
      reached.push_back(QApplication::focusWidget());
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    }
    for (const char* name :
         {"compareChoice1", "compareFile", "chooseCompareFile", "startCompare", "closeCompare"})
      QVERIFY2(
          std::ranges::any_of(reached, [&](QWidget* w) { return w->objectName() == QLatin1String(name); }),
          name);
    for (QWidget* widget : reached) {
      const QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
      QVERIFY2(face && !face->text(QAccessible::Name).isEmpty(), qPrintable(widget->objectName()));
    }
  }

 private:
  QRadioButton* radio(int choice) {
    return dialog_->findChild<QRadioButton*>(QStringLiteral("compareChoice%1").arg(choice));
  }

  std::unique_ptr<CompareDialog> dialog_;
  QPushButton* start_ = nullptr;
  QLabel* note_ = nullptr;
};
FOVEA_TEST(CompareDialogTest)

#include "compare_dialog_test.moc"
