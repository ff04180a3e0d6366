// The wizard's window by itself: what its keys, buttons and fields tell, and what it shows.
#include "ui/wizard/wizard_dialog.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QRadioButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QSlider>
#include <QToolButton>

#include "tests/support/test.h"
#include "ui/theme/detailed_text.h"
#include "ui/wizard/budget_bar.h"
#include "ui/wizard/model_list.h"
#include "ui/wizard/size_box.h"

using namespace fovea::ui;
using Page = WizardPage;

namespace {

ModelRow row(const QString& name, FitView fit, bool usable) {
  return {.name = name,
          .place = QStringLiteral("on this computer, 1.0 GB"),
          .fit = fit,
          .fit_text = QStringLiteral("Fits"),
          .good_at = QStringLiteral("Everything"),
          .holds = QStringLiteral("Weights 1 GB"),
          .facts = {{QStringLiteral("Speed"), QStringLiteral("at most 12 tokens a second"),
                     QStringLiteral("By memory.")}},
          .usable = usable};
}

// Knows megabytes alone.
std::optional<qint64> megabytes(const QString& text) {
  bool sound = text.endsWith(QStringLiteral(" MB"));
  const double number = sound ? text.chopped(3).toDouble(&sound) : 0;
  return sound ? std::optional(static_cast<qint64>(number * 1e6)) : std::nullopt;
}

MemoryOptions options() {
  return {.model = QStringLiteral("A model"),
          .contexts = {2048, 4096, 8192},
          .kv_types = {{QStringLiteral("32"), {}}, {QStringLiteral("16"), {}}, {QStringLiteral("8"), {}}},
          .precisions = {{QStringLiteral("file"), QStringLiteral("As it is.")}, {QStringLiteral("q4"), {}}},
          .max_bytes = 16'000'000'000,
          .size_of = megabytes};
}

}  // namespace

class WizardDialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    dialog_ = std::make_unique<WizardDialog>();
    dialog_->show();
    dialog_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(dialog_.get()));
  }
  void cleanup() { dialog_.reset(); }

  void theButtonsHaveKeys() {
    QSignalSpy back(dialog_.get(), &WizardDialog::backRequested);
    QSignalSpy next(dialog_.get(), &WizardDialog::nextRequested);
    QSignalSpy skip(dialog_.get(), &WizardDialog::skipRequested);
    QSignalSpy close(dialog_.get(), &WizardDialog::closeRequested);
    // A key shows the button pressed for a moment before it counts.
    QTest::keyClick(dialog_.get(), Qt::Key_N, Qt::AltModifier);
    QTRY_COMPARE(next.count(), 1);
    QTest::keyClick(dialog_.get(), Qt::Key_Return);
    QTRY_COMPARE(next.count(), 2);
    QTest::keyClick(dialog_.get(), Qt::Key_B, Qt::AltModifier);
    QTRY_COMPARE(back.count(), 1);
    QTest::keyClick(dialog_.get(), Qt::Key_S, Qt::AltModifier);
    QTRY_COMPARE(skip.count(), 1);
    QTest::keyClick(dialog_.get(), Qt::Key_Escape);
    QTRY_COMPARE(close.count(), 1);
    QVERIFY(dialog_->isVisible());  // whoever listens decides
    dialog_->set_navigation(
        {.back = false, .skip = false, .next = false, .next_text = QStringLiteral("&Open")});
    QTest::keyClick(dialog_.get(), Qt::Key_O, Qt::AltModifier);
    QTest::keyClick(dialog_.get(), Qt::Key_B, Qt::AltModifier);
    QTest::qWait(300);  // as long as a press would show
    QCOMPARE(next.count(), 2);
    QCOMPARE(back.count(), 1);
  }

  void eachPageHasATitle() {
    QStringList titles;
    for (int page = 0; page < wizard_pages; ++page) {
      dialog_->show_page(static_cast<Page>(page));
      QCOMPARE(dialog_->page(), static_cast<Page>(page));
      titles += dialog_->findChild<QLabel*>(QStringLiteral("wizardTitle"))->text();
    }
    titles.removeDuplicates();
    QCOMPARE(titles.size(), wizard_pages);
  }

  // One question for all of them.
  void theNumbersTellWhy() {
    dialog_->set_machine(
        {{QStringLiteral("Memory"), QStringLiteral("32 GB"), QStringLiteral("The system says so.")},
         {QStringLiteral("Disk"), QStringLiteral("1 TB"), QStringLiteral("The system says so.")},
         {QStringLiteral("File"), QStringLiteral("/a/file"), {}, true}},
        {}, false);
    std::vector<QToolButton*> asked;
    for (QToolButton* button : dialog_->findChildren<QToolButton*>())
      if (button->accessibleName().contains(QStringLiteral("Memory"))) asked.push_back(button);
    QCOMPARE(asked.size(), std::size_t{1});
    QToolButton* why = asked.front();
    const auto file = [this] {
      for (const QLabel* label : dialog_->findChildren<QLabel*>())
        if (label->text() == QStringLiteral("/a/file")) return label->isVisible();
      return false;
    };
    QVERIFY(!file());
    const auto shown = [this] {
      for (const QLabel* label : dialog_->findChildren<QLabel*>())
        if (label->text() == QStringLiteral("The system says so.")) return label->isVisible();
      return false;
    };
    QVERIFY(!shown());
    why->setFocus();
    QTest::keyClick(why, Qt::Key_Space);
    QVERIFY(shown());
    QVERIFY(file());
  }

  void aWishIsChosenByArrows() {
    dialog_->show_page(Page::wish);
    dialog_->set_wish(WishView::quality);
    QSignalSpy chosen(dialog_.get(), &WizardDialog::wishChosen);
    for (QRadioButton* button : dialog_->findChildren<QRadioButton*>())
      if (button->isChecked()) {
        button->setFocus();
        QTest::keyClick(button, Qt::Key_Down);
        break;
      }
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen.front().front().value<WishView>(), WishView::speed);
  }

  void aModelIsChosenByArrows() {
    dialog_->show_page(Page::models);
    dialog_->set_models(
        {row(QStringLiteral("a"), FitView::fits, true), row(QStringLiteral("b"), FitView::fits, true),
         row(QStringLiteral("c"), FitView::does_not_fit, false)},
        0, {}, false);
    auto* list = dialog_->findChild<QListView*>(QStringLiteral("wizardModels"));
    QSignalSpy chosen(dialog_.get(), &WizardDialog::modelChosen);
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Down);
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen.front().front().toInt(), 1);
    const QString spoken = list->model()->index(2, 0).data(Qt::AccessibleTextRole).toString();
    QVERIFY(spoken.contains(QStringLiteral("Weights 1 GB")));
  }

  // What is told of the last one takes room from the list, and whoever listens may give the rows again.
  void theLastModelIsSeenWhenItIsChosen() {
    dialog_->show_page(Page::models);
    dialog_->resize(dialog_->minimumSizeHint().expandedTo(QSize(600, 560)));
    std::vector<ModelRow> rows;
    for (int i = 0; i < 12; ++i) rows.push_back(row(QString::number(i), FitView::fits, true));
    for (int i = 0; i < 4; ++i) rows.back().facts.push_back(rows.back().facts.front());
    dialog_->set_models(rows, 0, {}, false);
    QCoreApplication::processEvents();
    auto* list = dialog_->findChild<QListView*>(QStringLiteral("wizardModels"));
    connect(dialog_.get(), &WizardDialog::modelChosen, this,
            [&](int chosen) { dialog_->set_models(rows, chosen, {}, false); });
    list->setFocus();
    const auto seen = [list] {
      return list->viewport()->rect().contains(list->visualRect(list->currentIndex()));
    };
    for (const auto& [key, index] : {std::pair{Qt::Key_End, 11}, {Qt::Key_Home, 0}, {Qt::Key_End, 11}}) {
      QTest::keyClick(list, key);
      QCoreApplication::processEvents();
      QCOMPARE(list->currentIndex().row(), index);
      QTRY_VERIFY(seen());
    }
  }

  void theListIsAProperModel() {
    ModelListModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.set_rows({row(QStringLiteral("a"), FitView::fits, true)});
    model.set_rows({});
    model.set_rows(
        {row(QStringLiteral("a"), FitView::fits, true), row(QStringLiteral("b"), FitView::fits, true)});
    QCOMPARE(model.rowCount(), 2);
  }

  void noModelsIsSaid() {
    dialog_->show_page(Page::models);
    dialog_->set_models({}, 0, QStringLiteral("None fits."), false);
    QVERIFY(!dialog_->findChild<QListView*>(QStringLiteral("wizardModels"))->isVisible());
    bool said = false;
    for (const QLabel* label : dialog_->findChildren<QLabel*>())
      said = said || (label->isVisible() && label->text() == QStringLiteral("None fits."));
    QVERIFY(said);
  }

  void whatIsSetIsTold() {
    dialog_->show_page(Page::memory);
    dialog_->set_memory_options(options());
    const MemoryChoice first{.context = 1, .kv_type = 1, .precision = 0, .budget_bytes = 7'123'456'789};
    QSignalSpy changed(dialog_.get(), &WizardDialog::memoryChanged);
    dialog_->set_memory_choice(first);
    QCOMPARE(changed.count(), 0);  // only people change something
    auto* context = dialog_->findChild<QComboBox*>(QStringLiteral("wizardContext"));
    context->setFocus();
    QTest::keyClick(context, Qt::Key_Down);
    QCOMPARE(changed.count(), 1);
    const auto told = changed.back().front().value<MemoryChoice>();
    QCOMPARE(told.context, 2);
    QCOMPARE(told.budget_bytes, first.budget_bytes);  // not what the box rounds it to
    auto* budget = dialog_->findChild<SizeBox*>(QStringLiteral("wizardBudget"));
    budget->setFocus();
    QTest::keyClick(budget, Qt::Key_Up);
    QCOMPARE(changed.count(), 2);
    QCOMPARE(changed.back().front().value<MemoryChoice>().budget_bytes, 7'200'000'000);  // a whole step
    QTest::keyClick(budget, Qt::Key_Down);
    QCOMPARE(changed.back().front().value<MemoryChoice>().budget_bytes, 7'100'000'000);
  }

  // Exact and fast are offered where they can be weighed; the slider is one more thing that is set.
  void exactAndFastAreWeighed() {
    dialog_->show_page(Page::memory);
    dialog_->set_memory_options(options());
    dialog_->set_memory_choice({.budget_bytes = 7'000'000'000});
    auto* prefer = dialog_->findChild<QSlider*>(QStringLiteral("wizardPrefer"));
    QVERIFY(!prefer->isVisible());
    BudgetView budget;
    budget.prefers = true;
    dialog_->set_budget(budget);
    QVERIFY(prefer->isVisible() && !prefer->isEnabled());
    budget.can_prefer = true;
    dialog_->set_budget(budget);
    QVERIFY(prefer->isEnabled());
    QSignalSpy changed(dialog_.get(), &WizardDialog::memoryChanged);
    prefer->setFocus();
    QTest::keyClick(prefer, Qt::Key_Right);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(changed.back().front().value<MemoryChoice>().prefer, 1);
    QTest::keyClick(prefer, Qt::Key_End);
    QCOMPARE(changed.back().front().value<MemoryChoice>().prefer, max_prefer);
    dialog_->set_memory_choice({.budget_bytes = 7'000'000'000});
    QCOMPARE(prefer->value(), 0);
    QCOMPARE(changed.count(), 2);
    budget.prefers = false;
    dialog_->set_budget(budget);
    QVERIFY(!prefer->isVisible());
  }

  // What is typed is what the parser says it is; what it is not is told, stays, and changes nothing.
  void aBudgetIsTyped() {
    dialog_->show_page(Page::memory);
    dialog_->set_memory_options(options());
    dialog_->set_memory_choice({.budget_bytes = 7'123'456'789});
    QSignalSpy changed(dialog_.get(), &WizardDialog::memoryChanged);
    QSignalSpy next(dialog_.get(), &WizardDialog::nextRequested);
    auto* budget = dialog_->findChild<SizeBox*>(QStringLiteral("wizardBudget"));
    auto* line = budget->findChild<QLineEdit*>();
    const auto* fault = dialog_->findChild<QLabel*>(QStringLiteral("wizardBudgetFault"));
    auto* go_on = dialog_->findChild<QPushButton*>(QStringLiteral("wizardNext"));
    const auto type = [&](const QString& text) {
      budget->setFocus();
      line->selectAll();
      QTest::keyClicks(line, text);
      go_on->click();
    };
    type(QStringLiteral("188 MB"));
    QCOMPARE(changed.count(), 1);
    QCOMPARE(changed.back().front().value<MemoryChoice>().budget_bytes, 188'000'000);
    QVERIFY(!fault->isVisible());
    QCOMPARE(next.count(), 1);
    type(QStringLiteral("187") + QLocale().decimalPoint() + QStringLiteral("5 MB"));
    QCOMPARE(changed.back().front().value<MemoryChoice>().budget_bytes, 187'500'000);
    QCOMPARE(next.count(), 2);
    for (const QString& wrong : {QStringLiteral("much"), QStringLiteral("18 000 MB"), QString()}) {
      type(QStringLiteral("188 MB"));
      const auto times = changed.count(), went_on = next.count();
      line->selectAll();
      wrong.isEmpty() ? QTest::keyClick(line, Qt::Key_Backspace) : QTest::keyClicks(line, wrong);
      go_on->click();
      QVERIFY(fault->isVisible() && !fault->text().isEmpty());
      QCOMPARE(line->text(), wrong);
      QCOMPARE(budget->bytes(), 188'000'000);
      QCOMPARE(changed.count(), times);
      QCOMPARE(next.count(), went_on);
    }
    type(QStringLiteral("16001 MB"));  // more than there are
    QVERIFY(fault->isVisible());
    QCOMPARE(budget->bytes(), 188'000'000);
    type(QStringLiteral("16000 MB"));
    QVERIFY(!fault->isVisible());
    QCOMPARE(budget->bytes(), 16'000'000'000);
  }

  void aPlanThatDoesNotFitProposes() {
    dialog_->show_page(Page::memory);
    dialog_->set_memory_options(options());
    BudgetView budget;
    budget.parts = {
        {.kind = BudgetPartView::Kind::dense, .name = QStringLiteral("Weights"), .bytes = 20'000'000'000}};
    budget.budget_bytes = 8'000'000'000;
    budget.total_bytes = 20'000'000'000;
    budget.fits = false;
    budget.verdict = QStringLiteral("It does not fit.");
    budget.remedies = {QStringLiteral("Shorten it"), QStringLiteral("Round it")};
    dialog_->set_budget(budget);
    QCOMPARE(dialog_->findChild<DetailedText*>(QStringLiteral("wizardVerdict"))->text(), budget.verdict);
    QSignalSpy chosen(dialog_.get(), &WizardDialog::remedyChosen);
    auto* second = dialog_->findChild<QPushButton*>(QStringLiteral("wizardRemedy1"));
    QVERIFY(second);
    QTRY_VERIFY(second->isVisible());
    second->setFocus();
    QTest::keyClick(second, Qt::Key_Space);
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen.front().front().toInt(), 1);
    const auto* bar = dialog_->findChild<BudgetBar*>(QStringLiteral("wizardBudgetBar"));
    QVERIFY(bar->accessibleDescription().contains(QStringLiteral("Weights")));
  }

  void aCommandIsCopied() {
    dialog_->show_page(Page::start);
    StartView start;
    start.command = QStringLiteral("fovea download a/b c.gguf");
    dialog_->set_start(start);
    QCoreApplication::processEvents();  // the layout
    for (QPushButton* copy : dialog_->findChildren<QPushButton*>(QStringLiteral("wizardCopy")))
      if (copy->isVisible()) QTest::mouseClick(copy, Qt::LeftButton);
    QCOMPARE(QGuiApplication::clipboard()->text(), start.command);
  }

  void workCanBeStopped() {
    dialog_->show_page(Page::start);
    StartView start;
    start.busy = true;
    start.progress = QStringLiteral("Loading…");
    dialog_->set_start(start);
    QCoreApplication::processEvents();  // the layout
    QSignalSpy stop(dialog_.get(), &WizardDialog::stopRequested);
    QTest::mouseClick(dialog_->findChild<QPushButton*>(QStringLiteral("wizardStop")), Qt::LeftButton);
    QCOMPARE(stop.count(), 1);
    dialog_->show_page(Page::calibration);
    dialog_->set_calibration({.running = true});
    QCoreApplication::processEvents();
    QTest::mouseClick(dialog_->findChild<QPushButton*>(QStringLiteral("wizardStopCalibration")),
                      Qt::LeftButton);
    QCOMPARE(stop.count(), 2);
  }

  // Tab reaches the buttons from every page, and everything that takes the focus has a name.
  void everythingCanBeReached() {
    dialog_->set_memory_options(options());
    dialog_->set_models({row(QStringLiteral("a"), FitView::fits, true)}, 0, {}, false);
    for (int page = 0; page < wizard_pages; ++page) {
      dialog_->show_page(static_cast<Page>(page));
      auto* next = dialog_->findChild<QPushButton*>(QStringLiteral("wizardNext"));
      bool reached = false;
      for (int i = 0; i < 40 && !reached; ++i) {
        QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : dialog_.get(),
                        Qt::Key_Tab);
        const QWidget* focused = QApplication::focusWidget();
        QVERIFY(focused);
        const auto* button = qobject_cast<const QAbstractButton*>(focused);
        const auto* combo = qobject_cast<const QComboBox*>(focused);
        const auto* spin = qobject_cast<const SizeBox*>(focused);
        QVERIFY2(
            !focused->accessibleName().isEmpty() || (button && !button->text().isEmpty()) || combo || spin,
            focused->metaObject()->className());
        reached = focused == next;
      }
      QVERIFY2(reached, qPrintable(QString::number(page)));
    }
  }

 private:
  std::unique_ptr<WizardDialog> dialog_;
};
FOVEA_TEST(WizardDialogTest)

#include "wizard_dialog_test.moc"
