// The page of models as a user has it: keys, clicks, and what is asked for.
#include "ui/models/library_page.h"

#include <QCheckBox>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScopeGuard>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTimer>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/models/samples.h"
#include "ui/models/library_table.h"
#include "ui/models/message_line.h"
#include "ui/models/model_details.h"
#include "ui/models/prepare_dialog.h"
#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

using namespace fovea::ui;
using namespace fovea::tests;

namespace {

// Answers the next message box with the button of this text.
void answer_box(const QString& text) {
  QTimer::singleShot(0, qApp, [text] {
    auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    QVERIFY(box);
    for (QAbstractButton* button : box->buttons())
      if (button->text().remove(QLatin1Char('&')) == text) return button->click();
    box->reject();
  });
}

// What cannot be seen in full by scrolling; empty: all can.
QString cut_off(const QScrollArea& scroll) {
  const QWidget* content = scroll.widget();
  if (content->height() < content->layout()->heightForWidth(content->width()))
    return QStringLiteral("the page");
  if (scroll.verticalScrollBar()->maximum() != std::max(0, content->height() - scroll.viewport()->height()))
    return QStringLiteral("what is below");
  for (const QLabel* label : content->findChildren<QLabel*>()) {
    if (!label->isVisibleTo(content)) continue;
    if (label->height() < label->heightForWidth(label->width()) ||
        !content->rect().contains(QRect(label->mapTo(content, QPoint()), label->size())))
      return label->text();
  }
  return {};
}

}  // namespace

class LibraryPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    page_ = std::make_unique<LibraryPage>();
    page_->resize(1100, 640);
    page_->show();
    view_ = page_->findChild<QTableView*>(QStringLiteral("libraryTable"));
    QVERIFY(QTest::qWaitForWindowExposed(page_.get()));
  }
  void cleanup() { page_.reset(); }

  void emptyOffersWaysOut() {
    QSignalSpy downloads(page_.get(), &LibraryPage::downloadsRequested);
    auto* find = button("findModel");
    QVERIFY(find->isVisible());
    QTest::mouseClick(find, Qt::LeftButton);
    QCOMPARE(downloads.count(), 1);
    QVERIFY(page_->findChild<QLabel*>(QStringLiteral("libraryEmpty"))
                ->text()
                .contains(QStringLiteral("no models")));
    page_->set_looking(true);
    QVERIFY(page_->findChild<QLabel*>(QStringLiteral("libraryEmpty"))
                ->text()
                .contains(QStringLiteral("Looking")));
  }

  void theChosenModelIsExplained() {
    page_->set_models(sample_models());
    page_->select(sample_models()[1].path);
    QCOMPARE(page_->selected(), sample_models()[1].path);
    QVERIFY(label("detailFit")->text().contains(QStringLiteral("Fits with experts at lower precision")));
    QCOMPARE(label("detailWhy")->text(), sample_models()[1].fit_why);
    page_->select(sample_models()[4].path);
    QCOMPARE(label("detailWhy")->text(), sample_models()[4].error);
    QVERIFY(!button("openModel")->isEnabled() && !button("prepareModel")->isEnabled());
    QVERIFY(button("removeModel")->isEnabled());  // a broken one can be deleted
  }

  void sizesAreShownInFull() {
    std::vector<LibraryRow> models = sample_models();
    models[0].bytes = 888'800'000;
    page_->set_models(models);
    const int room = view_->fontMetrics().averageCharWidth();  // that a cell keeps beside its text
    const QAbstractItemView& view = *view_;
    QVERIFY(view_->columnWidth(LibraryTable::size) >= view.sizeHintForColumn(LibraryTable::size) + room);
  }

  // What was read later is shown without another click.
  void aModelIsReadWhileItIsChosen() {
    page_->set_models(sample_models());
    LibraryRow row = sample_models()[5];
    page_->select(row.path);
    QVERIFY(!button("openModel")->isEnabled());
    row.is_read = row.can_open = true;
    row.fit = FitView::fits;
    row.fit_text = QStringLiteral("Fits");
    page_->set_model(row);
    QVERIFY(button("openModel")->isEnabled());
  }

  void openingByButtonAndByEnter() {
    page_->set_models(sample_models());
    QSignalSpy opened(page_.get(), &LibraryPage::openRequested);
    page_->select(sample_models()[2].path);
    QTest::mouseClick(button("openModel"), Qt::LeftButton);
    QCOMPARE(opened.count(), 1);
    QCOMPARE(opened[0][0].toString(), sample_models()[2].path);
    view_->setFocus();
    QTest::keyClick(view_, Qt::Key_Return);
    QCOMPARE(opened.count(), 2);
    page_->select(sample_models()[3].path);  // does not fit
    QTest::keyClick(view_, Qt::Key_Return);
    page_->select(sample_models()[4].path);  // broken
    QTest::keyClick(view_, Qt::Key_Return);
    page_->select(sample_models()[0].path);  // open already
    QTest::keyClick(view_, Qt::Key_Return);
    QCOMPARE(opened.count(), 2);
  }

  void filterAndSort() {
    page_->set_models(sample_models());
    auto* filter = page_->findChild<QLineEdit*>(QStringLiteral("libraryFilter"));
    QTest::keyClicks(filter, QStringLiteral("MXFP4"));
    QCOMPARE(view_->model()->rowCount(), 1);
    QTest::keyClicks(filter, QStringLiteral("zzz"));
    QCOMPARE(view_->model()->rowCount(), 0);
    QVERIFY(page_->findChild<QLabel*>(QStringLiteral("libraryEmpty"))
                ->text()
                .contains(QStringLiteral("MXFP4zzz")));
    filter->clear();
    view_->sortByColumn(LibraryTable::size, Qt::DescendingOrder);
    QVERIFY(view_->model()->index(0, 0).data().toString().startsWith(QStringLiteral("Llama-3.1-405B")));
    view_->sortByColumn(LibraryTable::fit, Qt::DescendingOrder);
    QVERIFY(view_->model()->index(0, 0).data().toString().startsWith(QStringLiteral("mixtral")));
  }

  void deletingIsConfirmed() {
    page_->set_models(sample_models());
    page_->select(sample_models()[1].path);
    QSignalSpy removed(page_.get(), &LibraryPage::removeRequested);
    answer_box(QStringLiteral("Cancel"));
    QTest::mouseClick(button("removeModel"), Qt::LeftButton);
    QCOMPARE(removed.count(), 0);
    answer_box(QStringLiteral("Move to the trash"));
    QTest::mouseClick(button("removeModel"), Qt::LeftButton);
    QCOMPARE(removed.count(), 1);
    QCOMPARE(removed[0][0].toString(), sample_models()[1].path);
    page_->select(sample_models()[0].path);
    QVERIFY(!button("removeModel")->isEnabled());  // it is open
  }

  void workIsShownAndCancelled() {
    page_->set_models(sample_models());
    page_->select(sample_models()[1].path);
    QSignalSpy cancelled(page_.get(), &LibraryPage::cancelWorkRequested);
    page_->show_work(QStringLiteral("Checks it"), 1, 2);
    QVERIFY(!button("checkModel")->isEnabled() && !button("prepareModel")->isEnabled());
    QTest::mouseClick(button("cancelWork"), Qt::LeftButton);
    QCOMPARE(cancelled.count(), 1);
    page_->show_work({}, 0, 0);
    QVERIFY(button("checkModel")->isEnabled());
    page_->show_error(QStringLiteral("the disk is on fire"));
    QVERIFY(page_->message().is_error());
    QCOMPARE(page_->message().message(), QStringLiteral("the disk is on fire"));
  }

  void foldersAreListedAndTakenOut() {
    page_->set_folders(sample_folders());
    auto* menu = page_->findChild<QMenu*>(QStringLiteral("folderMenu"));
    Q_EMIT menu->aboutToShow();
    QSignalSpy removed(page_.get(), &LibraryPage::removeFolderRequested);
    QMenu* own = nullptr;
    int fixed = 0;
    for (QAction* action : menu->actions()) {
      if (action->menu()) own = action->menu();
      if (!action->isEnabled() && !action->isSeparator()) ++fixed;
    }
    QCOMPARE(fixed, 2);
    QVERIFY(own);
    own->actions().back()->trigger();
    QCOMPARE(removed.count(), 1);
    QCOMPARE(removed[0][0].toString(), QStringLiteral("/mnt/models"));
  }

  void aLongWordDoesNotWidenIt() {
    page_->set_models(sample_models());
    const int before = page_->width();
    const QString word(300, QLatin1Char('x'));
    page_->show_work(word, 1, 2);
    page_->show_error(word);
    QCoreApplication::processEvents();
    QVERIFY(page_->minimumSizeHint().width() <= before);
  }

  // Words in colours of their own, too.
  void aThemeThatChangesReachesTheDetails() {
    const auto restore = qScopeGuard([colours = QApplication::palette()] {
      QApplication::setStyle(QStringLiteral("Fusion"));
      QApplication::setPalette(colours);
    });
    apply_theme(*qApp, Scheme::dark);
    page_->set_models(sample_models());
    for (const LibraryRow& row : {sample_models()[0], sample_models()[4]}) {  // one that fits, a broken one
      page_->select(row.path);
      const auto* fit = page_->findChild<QLabel*>(QStringLiteral("detailFit"));
      const auto colour = [fit] { return fit->palette().color(fit->foregroundRole()); };
      const auto wanted = [&row] {
        const QPalette palette = QApplication::palette();
        return row.error.isEmpty() ? good_colour(palette) : error_text(palette);
      };
      for (const Scheme scheme : {Scheme::dark, Scheme::light}) {
        apply_theme(*qApp, scheme);
        QCoreApplication::processEvents();
        QCOMPARE(colour(), wanted());
      }
      apply_theme(*qApp, Scheme::dark);
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

  // Where the window is low, the details are scrolled to, and nothing of them is cut off.
  // As wide as the window of models is at first (models_view.cpp).
  void allColumnsAreSeen() {
    page_->set_models(sample_models());
    page_->resize(page_->fontMetrics().averageCharWidth() * 165, 600);
    QCoreApplication::processEvents();
    const auto* table = page_->findChild<QTableView*>(QStringLiteral("libraryTable"));
    QCOMPARE(table->horizontalScrollBar()->maximum(), 0);
  }

  void nothingIsCutOffInALowWindow() {
    const auto models = sample_models();
    page_->set_models(models);
    for (const int height : {640, 460, 330}) {
      page_->resize(620, height);
      for (const LibraryRow& model : models) {
        page_->select(model.path);
        // Layouts settle with the events to come.
        QTRY_COMPARE(cut_off(*page_->details().findChild<QScrollArea*>()), QString());
        for (const char* name : {"openModel", "removeModel"}) {
          const QPushButton* below = button(name);
          QVERIFY2(page_->rect().contains(QRect(below->mapTo(page_.get(), QPoint()), below->size())), name);
        }
      }
    }
  }

  // From the filter through the tools and the table to what can be done with the model.
  void tabGoesInTheOrderOfReading() {
    page_->set_models(sample_models());
    page_->select(sample_models()[1].path);
    QStringList names;
    page_->activateWindow();
    page_->findChild<QLineEdit*>(QStringLiteral("libraryFilter"))->setFocus();
    for (int i = 0; i < 12; ++i) {
      QWidget* now = page_->focusWidget();
      if (now && !now->objectName().isEmpty() && !names.contains(now->objectName()))
        names += now->objectName();
      QTest::keyClick(now ? now : page_.get(), Qt::Key_Tab);
    }
    QStringList wanted;
    for (const char* name : {"libraryFilter", "folders", "refresh", "libraryTable", "openModel",
                             "prepareModel", "checkModel", "showModel", "removeModel"})
      wanted += QLatin1String(name);
    names.erase(
        std::remove_if(names.begin(), names.end(), [&](const QString& n) { return !wanted.contains(n); }),
        names.end());
    QCOMPARE(names, wanted);
  }

  void preparingStartsWhenItCan() {
    PrepareDialog dialog(QStringLiteral("m"), {{QStringLiteral("file"), QStringLiteral("file"), true},
                                               {QStringLiteral("q4"), QStringLiteral("q4"), true},
                                               {QStringLiteral("q2"), QStringLiteral("q2"), false}});
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
    PrepareDialog dialog(QStringLiteral("m"), {{QStringLiteral("file"), QStringLiteral("file"), true},
                                               {QStringLiteral("q4"), QStringLiteral("q4"), true}});
    dialog.show();
    auto* measure = dialog.findChild<QCheckBox*>(QStringLiteral("measureCost"));
    QVERIFY(!dialog.measures());
    measure->click();
    QVERIFY(dialog.measures());
    dialog.findChild<QAbstractButton*>(QStringLiteral("noText"))->click();
    QVERIFY(!measure->isEnabled() && !dialog.measures());
    dialog.findChild<QAbstractButton*>(QStringLiteral("builtInText"))->click();
    QVERIFY(measure->isEnabled() && dialog.measures());
  }

  // Whatever it says last, nothing is cut off.
  void preparingShowsAllItsWords() {
    PrepareDialog dialog(QStringLiteral("Qwen3-30B-A3B-Instruct-2507-Q4_K_M"),
                         {{QStringLiteral("file"), QStringLiteral("file"), true},
                          {QStringLiteral("q4"), QStringLiteral("q4"), true}});
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
                          {QStringLiteral("q2"), QStringLiteral("q2"), true}});
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
    PrepareDialog dialog(QStringLiteral("m"), {{QStringLiteral("file"), QStringLiteral("file"), true},
                                               {QStringLiteral("q4"), QStringLiteral("q4"), true}});
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
  QPushButton* button(const char* name) { return page_->findChild<QPushButton*>(QLatin1String(name)); }
  QLabel* label(const char* name) { return page_->findChild<QLabel*>(QLatin1String(name)); }

  std::unique_ptr<LibraryPage> page_;
  QTableView* view_ = nullptr;
};
FOVEA_TEST(LibraryPageTest)

#include "library_page_test.moc"
