// The page of models as a user has it: keys, clicks, and what is asked for.
#include "ui/models/library_page.h"

#include <QAction>
#include <QCheckBox>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTimer>
#include <QToolButton>
#include <algorithm>

#include "tests/support/test.h"
#include "tests/ui/models/samples.h"
#include "ui/models/library_card.h"
#include "ui/models/message_line.h"
#include "ui/models/prepare_dialog.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

using namespace fovea::ui;
using namespace fovea::tests;

namespace {

// Answers the next message box with the button of this text.
void answer_box_now(const QString& text) {
  auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
  QVERIFY(box);
  for (QAbstractButton* button : box->buttons())
    if (button->text().remove(QLatin1Char('&')) == text) return button->click();
  box->reject();
}
void answer_box(const QString& text) {
  QTimer::singleShot(0, qApp, [text] { answer_box_now(text); });
}

}  // namespace

class LibraryPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    page_ = std::make_unique<LibraryPage>();
    page_->resize(1000, 640);
    page_->show();
    QVERIFY(QTest::qWaitForWindowExposed(page_.get()));
  }
  void cleanup() { page_.reset(); }

  void emptySaysSo() {
    const auto* empty = page_->findChild<QLabel*>(QStringLiteral("libraryEmpty"));
    QVERIFY(empty->isVisible() && empty->text().contains(QStringLiteral("no models")));
    QVERIFY(page_->findChild<QPushButton*>(QStringLiteral("addFolder"))->isVisible());
    page_->set_looking(true);
    QVERIFY(empty->text().contains(QStringLiteral("Looking")));
    page_->set_models(sample_models());
    QVERIFY(!empty->isVisible());
  }

  // What each card says.
  void cardsSayWhatMatters() {
    page_->set_models(sample_models());
    const LibraryRow open = sample_models()[0];
    QCOMPARE(words(open.path, "cardName"), open.name);
    QCOMPARE(words(open.path, "cardSize"), QStringLiteral("18.6\u00A0GB"));
    QCOMPARE(words(open.path, "cardAbout"), QStringLiteral("128 experts in 48 layer(s), 8 for each token"));
    QCOMPARE(words(open.path, "cardFit"), QStringLiteral("Fits"));
    QCOMPARE(button(open.path)->text(), QStringLiteral("Already open"));
    QVERIFY(page_->card(open.path)->accessibleName().contains(QStringLiteral("Fits")));
    QCOMPARE(words(sample_models()[3].path, "cardAbout"), QStringLiteral("Each token uses all of it"));
    QCOMPARE(words(sample_models()[4].path, "cardFit"), QStringLiteral("Cannot be opened"));
    QCOMPARE(words(sample_models()[5].path, "cardFit"), QStringLiteral("Checking…"));
  }

  // The open one, then those that fit, best first; one button is filled.
  void theyStandInTheirOrder() {
    page_->set_models(sample_models());
    QStringList names;
    int filled = 0;
    for (const LibraryCard* card : page_->cards()) {
      names += card->model().name;
      filled += card->findChild<QPushButton*>(QStringLiteral("openModel"))->property("foveaIsMain").toBool();
    }
    QCOMPARE(names.front(), sample_models()[0].name);
    QCOMPARE(names.back(), sample_models()[4].name);  // broken
    QVERIFY(names.indexOf(sample_models()[1].name) < names.indexOf(sample_models()[3].name));
    QCOMPARE(filled, 1);
    for (std::size_t i = 1; i < page_->cards().size(); ++i)
      QTRY_VERIFY(page_->cards()[i - 1]->geometry().bottom() < page_->cards()[i]->geometry().top());
  }

  void detailsAreShownOfOneAtATime() {
    page_->set_models(sample_models());
    LibraryCard* const first = page_->card(sample_models()[1].path);
    QTest::mouseClick(first, Qt::LeftButton, {}, QPoint(20, 10));
    QCOMPARE(page_->selected(), sample_models()[1].path);
    const auto why = [](const LibraryCard* card) {
      return card->findChild<QLabel*>(QStringLiteral("detailWhy"))->text();
    };
    QCOMPARE(why(first), sample_models()[1].fit_why);
    // What was pressed elsewhere, or is let go elsewhere, is no click on the card.
    QTest::mouseRelease(first, Qt::LeftButton, {}, QPoint(20, 10));
    QVERIFY(first->shows_details());
    QTest::mousePress(first, Qt::LeftButton, {}, QPoint(20, 10));
    QTest::mouseRelease(first, Qt::LeftButton, {}, QPoint(-20, 10));
    QVERIFY(first->shows_details());
    LibraryCard* const broken = page_->card(sample_models()[4].path);
    broken->setFocus();
    QTest::keyClick(broken, Qt::Key_Space);
    QCOMPARE(page_->selected(), sample_models()[4].path);
    QVERIFY(!first->shows_details());
    QCOMPARE(why(broken), sample_models()[4].error);
    QVERIFY(!button(sample_models()[4].path)->isEnabled() &&
            !action(sample_models()[4].path, "prepareModel")->isEnabled());
    QVERIFY(action(sample_models()[4].path, "removeModel")->isEnabled());  // a broken one can be deleted
    QTest::keyClick(broken, Qt::Key_Space);
    QCOMPARE(page_->selected(), QString());
  }

  // What comes and goes leaves the others as they are.
  void cardsStayWhileOthersComeAndGo() {
    auto rows = sample_models();
    page_->set_models(rows);
    LibraryCard* const stays = page_->card(rows[2].path);
    page_->select(rows[2].path);
    rows.erase(rows.begin());
    std::swap(rows[0], rows[3]);
    rows.push_back(sample_models().front());
    rows.back().path = QStringLiteral("/another");
    page_->set_models(rows);
    QCOMPARE(page_->cards().size(), std::size_t{6});
    QVERIFY(page_->card(rows[1].path) == stays && stays->shows_details());
    QVERIFY(!page_->card(sample_models()[0].path) && page_->card(QStringLiteral("/another")));
    page_->set_models({});
    QVERIFY(page_->cards().empty());
  }

  void aModelIsReadWhileItIsSeen() {
    page_->set_models(sample_models());
    LibraryRow row = sample_models()[5];
    QVERIFY(!button(row.path)->isEnabled());
    row.is_read = row.can_open = true;
    row.fit = FitView::fits;
    row.fit_text = QStringLiteral("Fits");
    page_->set_model(row);
    QVERIFY(button(row.path)->isEnabled());
    QCOMPARE(words(row.path, "cardFit"), QStringLiteral("Fits"));
    row.path = QStringLiteral("/unknown");
    page_->set_model(row);
    QCOMPARE(page_->cards().size(), std::size_t{6});
  }

  void openingByButtonAndByEnter() {
    page_->set_models(sample_models());
    QSignalSpy opened(page_.get(), &LibraryPage::openRequested);
    const QString path = sample_models()[2].path;
    QTest::mouseClick(button(path), Qt::LeftButton);
    QCOMPARE(opened.count(), 1);
    QCOMPARE(opened[0][0].toString(), path);
    const auto enter = [this](const QString& on) {
      page_->card(on)->setFocus();
      QTest::keyClick(page_->card(on), Qt::Key_Return);
    };
    enter(path);
    QCOMPARE(opened.count(), 2);
    for (const std::size_t other : {3U, 4U, 0U})  // does not fit, broken, open already
      enter(sample_models()[other].path);
    QCOMPARE(opened.count(), 2);
    // What a button on it has no use for is not the card's.
    auto* more = page_->card(path)->findChild<QToolButton*>(QStringLiteral("modelMore"));
    more->setFocus();
    QTest::keyClick(page_->card(path), Qt::Key_Return);
    QCOMPARE(opened.count(), 2);
  }

  void theFilterLeavesWhatHasTheWords() {
    page_->set_models(sample_models());
    const auto shown = [&] {
      return std::ranges::count_if(page_->cards(), [](const LibraryCard* card) { return card->isVisible(); });
    };
    page_->set_filter(QStringLiteral("mxfp4"));
    QCOMPARE(shown(), 1);
    page_->set_filter(QStringLiteral("MXFP4zzz"));
    QCOMPARE(shown(), 0);
    QVERIFY(page_->findChild<QLabel*>(QStringLiteral("libraryEmpty"))
                ->text()
                .contains(QStringLiteral("MXFP4zzz")));
    page_->set_filter({});
    QCOMPARE(shown(), 6);
  }

  void deletingIsConfirmed() {
    page_->set_models(sample_models());
    const QString path = sample_models()[1].path;
    QSignalSpy removed(page_.get(), &LibraryPage::removeRequested);
    answer_box(QStringLiteral("Cancel"));
    action(path, "removeModel")->trigger();
    QCOMPARE(removed.count(), 0);
    answer_box(QStringLiteral("Move to the trash"));
    action(path, "removeModel")->trigger();
    QCOMPARE(removed.count(), 1);
    QCOMPARE(removed[0][0].toString(), path);
    QVERIFY(!action(sample_models()[0].path, "removeModel")->isEnabled());  // it is open
    // It may go while the question is asked.
    QTimer::singleShot(0, qApp, [this] {
      page_->set_models({});
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    });
    QTimer::singleShot(50, qApp, [] { answer_box_now(QStringLiteral("Move to the trash")); });
    action(path, "removeModel")->trigger();
    QCOMPARE(removed.count(), 2);
    QCOMPARE(removed[1][0].toString(), path);
  }

  void itsMenuAsksForTheRest() {
    page_->set_models(sample_models());
    const QString path = sample_models()[1].path;
    QSignalSpy prepare(page_.get(), &LibraryPage::prepareRequested),
        check(page_.get(), &LibraryPage::checkRequested),
        folder(page_.get(), &LibraryPage::showInFolderRequested);
    for (const char* name : {"prepareModel", "checkModel", "showModel"}) action(path, name)->trigger();
    for (const QSignalSpy* each : {&prepare, &check, &folder}) {
      QCOMPARE(each->count(), 1);
      QCOMPARE(each->first()[0].toString(), path);
    }
  }

  void workIsShownAndCancelled() {
    page_->set_models(sample_models());
    const QString path = sample_models()[1].path;
    QSignalSpy cancelled(page_.get(), &LibraryPage::cancelWorkRequested);
    page_->show_work(QStringLiteral("Checks it"), 1, 2);
    QVERIFY(!action(path, "checkModel")->isEnabled() && !action(path, "prepareModel")->isEnabled());
    QTest::mouseClick(page_->findChild<QPushButton*>(QStringLiteral("cancelWork")), Qt::LeftButton);
    QCOMPARE(cancelled.count(), 1);
    page_->show_work({}, 0, 0);
    QVERIFY(action(path, "checkModel")->isEnabled());
    page_->show_error(QStringLiteral("the disk is on fire"));
    QVERIFY(page_->message().is_error());
    QCOMPARE(page_->message().message(), QStringLiteral("the disk is on fire"));
  }

  void foldersAreListedAndTakenOut() {
    page_->set_folders(sample_folders());
    auto* menu = page_->findChild<QMenu*>(QStringLiteral("folderMenu"));
    Q_EMIT menu->aboutToShow();
    QSignalSpy removed(page_.get(), &LibraryPage::removeFolderRequested);
    QSignalSpy again(page_.get(), &LibraryPage::refreshRequested);
    QMenu* own = nullptr;
    int fixed = 0;
    for (QAction* each : menu->actions()) {
      if (each->menu()) own = each->menu();
      if (!each->isEnabled() && !each->isSeparator()) ++fixed;
    }
    QCOMPARE(fixed, 2);
    QVERIFY(own);
    own->actions().back()->trigger();
    QCOMPARE(removed.count(), 1);
    QCOMPARE(removed[0][0].toString(), QStringLiteral("/mnt/models"));
    menu->actions().front()->trigger();
    QCOMPARE(again.count(), 1);
  }

  void aLongWordDoesNotWidenIt() {
    auto rows = sample_models();
    const QString word(300, QLatin1Char('x'));
    rows[1].name = rows[1].path = rows[1].fit_why = rows[1].fit_text = word;
    page_->set_models(rows);
    page_->select(word);
    const int before = page_->width();
    page_->show_work(word, 1, 2);
    page_->show_error(word);
    QCoreApplication::processEvents();
    QVERIFY2(page_->minimumSizeHint().width() <= before,
             qPrintable(QString::number(page_->minimumSizeHint().width())));
  }

  // Words in colours of their own, too.
  void aThemeThatChangesReachesTheDetails() {
    const auto restore = qScopeGuard([colours = QApplication::palette()] {
      QApplication::setStyle(QStringLiteral("Fusion"));
      QApplication::setPalette(colours);
    });
    apply_theme(*qApp, Scheme::dark);
    page_->set_models(sample_models());
    const LibraryRow broken = sample_models()[4];
    page_->select(broken.path);
    const auto* why = page_->card(broken.path)->findChild<QLabel*>(QStringLiteral("detailWhy"));
    for (const Scheme scheme : {Scheme::dark, Scheme::light, Scheme::dark}) {
      apply_theme(*qApp, scheme);
      QCoreApplication::processEvents();
      QCOMPARE(why->palette().color(why->foregroundRole()), error_text(QApplication::palette()));
    }
  }

  void everythingHasAName() {
    page_->set_models(sample_models());
    for (const QWidget* widget : page_->findChildren<QWidget*>()) {
      if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible()) continue;
      const auto* button = qobject_cast<const QAbstractButton*>(widget);
      const auto* text = qobject_cast<const QLabel*>(widget);
      const bool named = !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()) ||
                         (text && !text->text().isEmpty());
      QVERIFY2(named || button, widget->metaObject()->className());
    }
  }

  // Whatever is shown of a model, nothing of it is cut off.
  void nothingIsCutOffInANarrowWindow() {
    const auto models = sample_models();
    page_->set_models(models);
    for (const int width : {1000, 620}) {
      for (const LibraryRow& model : models) {
        page_->select(model.path);
        page_->resize(width, page_->layout()->totalHeightForWidth(width));
        const LibraryCard* card = page_->card(model.path);
        for (const QLabel* label : card->findChildren<QLabel*>())
          if (label->isVisible() && label->wordWrap())
            QTRY_VERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
        QVERIFY(card->rect().contains(button(model.path)->geometry()));
      }
    }
  }

  // From the folders through the cards, each with its button and its menu.
  void tabGoesInTheOrderOfReading() {
    page_->set_models(sample_models());
    page_->activateWindow();
    page_->findChild<QToolButton*>(QStringLiteral("folders"))->setFocus();
    std::vector<const QWidget*> wanted;
    for (LibraryCard* card : page_->cards()) {
      wanted.push_back(card);
      if (card->action().isEnabled()) wanted.push_back(&card->action());
    }
    std::vector<const QWidget*> seen;
    for (int i = 0; i < 40 && seen.size() < wanted.size(); ++i) {
      QTest::keyClick(page_->focusWidget(), Qt::Key_Tab);
      const QWidget* now = page_->focusWidget();
      if (std::ranges::find(wanted, now) != wanted.end()) seen.push_back(now);
    }
    QVERIFY(seen == wanted);
  }

  void preparingStartsWhenItCan() {
    PrepareDialog dialog(QStringLiteral("m"),
                         {{QStringLiteral("file"), QStringLiteral("file"), true},
                          {QStringLiteral("q4"), QStringLiteral("q4"), true},
                          {QStringLiteral("q2"), QStringLiteral("q2"), false}},
                         true);
    dialog.show();
    auto* start = dialog.findChild<QPushButton*>(QStringLiteral("startPrepare"));
    QVERIFY(!start->isEnabled());  // its size is not known
    dialog.show_ready(QStringLiteral("It takes 10 B."));
    QVERIFY(start->isEnabled());
    QSignalSpy wanted(&dialog, &PrepareDialog::tiersChosen);
    auto* q2 = dialog.findChild<QAbstractButton*>(QStringLiteral("tier_q2"));
    q2->click();
    QCOMPARE(wanted.count(), 1);
    QCOMPARE(dialog.tiers(),
             (QStringList{QStringLiteral("file"), QStringLiteral("q4"), QStringLiteral("q2")}));
    QVERIFY(!start->isEnabled());
    dialog.show_obstacle(QStringLiteral("There is no room."), true);
    QVERIFY(!start->isEnabled());
    q2->click();
    dialog.findChild<QAbstractButton*>(QStringLiteral("tier_q4"))->click();
    QCOMPARE(wanted.count(), 3);
    QCOMPARE(dialog.tiers(), QStringList{QStringLiteral("file")});
    QVERIFY(!start->isEnabled());
  }

  void nothingIsMeasuredWithoutAText() {
    PrepareDialog dialog(QStringLiteral("m"),
                         {{QStringLiteral("file"), QStringLiteral("file"), true},
                          {QStringLiteral("q4"), QStringLiteral("q4"), true}},
                         true);
    dialog.show();
    auto* measure = dialog.findChild<QCheckBox*>(QStringLiteral("measureCost"));
    QVERIFY(dialog.measures());  // as is usual
    measure->click();
    QVERIFY(!dialog.measures());
    measure->click();
    dialog.findChild<QAbstractButton*>(QStringLiteral("noText"))->click();
    QVERIFY(!measure->isEnabled() && !dialog.measures());
    dialog.findChild<QAbstractButton*>(QStringLiteral("builtInText"))->click();
    QVERIFY(measure->isEnabled() && dialog.measures());
    // Of a model without experts it takes hours.
    const PrepareDialog dense(QStringLiteral("m"), {}, false);
    measure = dense.findChild<QCheckBox*>(QStringLiteral("measureCost"));
    QVERIFY(!dense.measures() && measure->isEnabled());
    QVERIFY(measure->text() != dialog.findChild<QCheckBox*>(QStringLiteral("measureCost"))->text());
  }

  // Whatever it says last, nothing is cut off.
  void preparingShowsAllItsWords() {
    PrepareDialog dialog(QStringLiteral("Qwen3-30B-A3B-Instruct-2507-Q4_K_M"),
                         {{QStringLiteral("file"), QStringLiteral("file"), true},
                          {QStringLiteral("q4"), QStringLiteral("q4"), true}},
                         true);
    dialog.show();
    for (const bool fits : {true, false}) {
      fits ? dialog.show_ready(QStringLiteral("It takes 10 B."))
           : dialog.show_obstacle(QStringLiteral("An error of many words. ").repeated(9), true);
      QCoreApplication::processEvents();
      for (const QLabel* label : dialog.findChildren<QLabel*>())
        if (label->wordWrap())
          QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
      for (const QAbstractButton* button : dialog.findChildren<QAbstractButton*>())
        QVERIFY2(button->width() >= button->sizeHint().width(), qPrintable(button->text()));
    }
  }

  void ofTwoTiersOfAsManyBitsOneIsChosen() {
    PrepareDialog dialog(QStringLiteral("m"),
                         {{QStringLiteral("file"), QStringLiteral("file"), true},
                          {QStringLiteral("q4"), QStringLiteral("q4"), true},
                          {QStringLiteral("q4e"), QStringLiteral("q4e"), false, QStringLiteral("q4")},
                          {QStringLiteral("q2"), QStringLiteral("q2"), true}},
                         true);
    QSignalSpy wanted(&dialog, &PrepareDialog::tiersChosen);
    const QStringList with_q4{QStringLiteral("file"), QStringLiteral("q4"), QStringLiteral("q2")};
    const QStringList with_q4e{QStringLiteral("file"), QStringLiteral("q4e"), QStringLiteral("q2")};
    QCOMPARE(dialog.tiers(), with_q4);
    dialog.findChild<QAbstractButton*>(QStringLiteral("tier_q4e"))->click();
    QCOMPARE(dialog.tiers(), with_q4e);
    dialog.findChild<QAbstractButton*>(QStringLiteral("tier_q4"))->click();
    QCOMPARE(dialog.tiers(), with_q4);
    QCOMPARE(wanted.count(), 2);  // each time for what is chosen then
    QCOMPARE(wanted[0][0].toStringList(), with_q4e);
    QCOMPARE(wanted[1][0].toStringList(), with_q4);
    // Without either.
    dialog.findChild<QAbstractButton*>(QStringLiteral("tier_q4"))->click();
    QCOMPARE(dialog.tiers(), (QStringList{QStringLiteral("file"), QStringLiteral("q2")}));
  }

  void preparingTakesAText() {
    PrepareDialog dialog(QStringLiteral("m"),
                         {{QStringLiteral("file"), QStringLiteral("file"), true},
                          {QStringLiteral("q4"), QStringLiteral("q4"), true}},
                         true);
    dialog.show();
    auto* start = dialog.findChild<QPushButton*>(QStringLiteral("startPrepare"));
    dialog.show_ready(QStringLiteral("It takes 10 B."));
    QCOMPARE(dialog.text(), PrepareText::built_in);
    QCOMPARE(dialog.text_file(), QString());
    dialog.findChild<QAbstractButton*>(QStringLiteral("noText"))->click();
    QCOMPARE(dialog.text(), PrepareText::none);
    QVERIFY(start->isEnabled());
    // A path that is typed chooses the file; it must be there.
    auto* path = dialog.findChild<QLineEdit*>(QStringLiteral("textFile"));
    QTest::keyClicks(path, QStringLiteral("/no/such/file"));
    QCOMPARE(dialog.text(), PrepareText::file);
    QVERIFY(!start->isEnabled());
    path->setText(QStringLiteral(FOVEA_SOURCE_DIR "/README.md"));
    QVERIFY(start->isEnabled());
    QCOMPARE(dialog.text_file(), QStringLiteral(FOVEA_SOURCE_DIR "/README.md"));
    dialog.show_obstacle(QStringLiteral("There is no room."), true);
    QVERIFY(!start->isEnabled());
  }

 private:
  QPushButton* button(const QString& path) {
    return page_->card(path)->findChild<QPushButton*>(QStringLiteral("openModel"));
  }
  QAction* action(const QString& path, const char* name) {
    return page_->card(path)->findChild<QAction*>(QLatin1String(name));
  }
  QString words(const QString& path, const char* name) {
    return page_->card(path)->findChild<QLabel*>(QLatin1String(name))->text();
  }

  std::unique_ptr<LibraryPage> page_;
};
FOVEA_TEST(LibraryPageTest)

#include "library_page_test.moc"
