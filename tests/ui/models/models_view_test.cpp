// The page of models: what is here and what can be had on one page, and a search in the place of both.
#include "ui/models/models_view.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTableView>

#include "tests/support/test.h"
#include "tests/ui/models/samples.h"
#include "ui/models/catalogue_list.h"
#include "ui/models/download_page.h"
#include "ui/models/library_card.h"
#include "ui/models/library_page.h"
#include "ui/models/message_line.h"
#include "ui/theme/tokens.h"
#include "ui/theme/window_size.h"

using namespace fovea::ui;
using namespace fovea::tests;

class ModelsViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    view_ = std::make_unique<ModelsView>();
    view_->resize(1000, 500);
    view_->show();
    view_->library().set_models(sample_models());
    view_->download().set_catalogue(sample_catalogue());
    QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
  }
  void cleanup() { view_.reset(); }

  // One below the other, and what is typed is looked for in both.
  void bothAreOnOnePage() {
    QVERIFY(view_->library().isVisible() && view_->download().catalogue().isVisible());
    QTRY_VERIFY(view_->library().geometry().bottom() < view_->download().geometry().top());
    field()->setText(QStringLiteral("mxfp4"));
    QCOMPARE(std::ranges::count_if(view_->library().cards(),
                                   [](const LibraryCard* card) { return card->isVisible(); }),
             1);
    QCOMPARE(view_->download().catalogue().shown_count(), 0);
    field()->clear();
    QCOMPARE(view_->download().catalogue().shown_count(), 3);
  }

  // The first model that can be opened has the filled button; where none can, the first to download that
  // fits.
  void onePageHasOneFilledButton() {
    const auto filled = [&] {
      QStringList names;
      for (const QPushButton* button : view_->findChildren<QPushButton*>())
        if (button->isVisible() && button->property("foveaIsMain").toBool()) names += button->objectName();
      return names;
    };
    QCOMPARE(filled(), QStringList{QStringLiteral("openModel")});
    std::vector<LibraryRow> open = {sample_models()[0]};
    QVERIFY(open[0].is_open && !open[0].can_open);
    view_->library().set_models(open);
    QCOMPARE(filled(), QStringList{QStringLiteral("catalogueAction")});
  }

  // Also of cards that have more commands: those stand before the button.
  void allButtonsEndWhereTheCardsMarginIs() {
    QVERIFY(view_->findChild<QWidget*>(QStringLiteral("modelMore")));
    QCoreApplication::processEvents();
    int seen = 0;
    for (const QPushButton* button : view_->findChildren<QPushButton*>()) {
      auto* card = qobject_cast<ModelCard*>(button->parentWidget());
      if (!card || !card->isVisible()) continue;
      ++seen;
      QCOMPARE(card->width() - 1 - button->geometry().right(), space::usual);
    }
    QVERIFY(seen >= 4);
  }

  // However it ends, the way back is there.
  void aSearchTakesTheirPlaceAndGivesItBack() {
    const auto search = [&] {
      field()->setText(QStringLiteral("qwen"));
      QTest::keyClick(field(), Qt::Key_Return);
      QVERIFY(!view_->library().isVisible());
    };
    search();
    view_->download().show_found(QStringLiteral("qwen"), sample_repositories());
    QVERIFY(view_->findChild<QTableView*>(QStringLiteral("repositories"))->isVisible());
    view_->show_library();
    QVERIFY(view_->library().isVisible() && view_->download().catalogue().isVisible());
    search();
    field()->clear();  // before it is answered
    QVERIFY(view_->library().isVisible());
    view_->download().show_found(QStringLiteral("qwen"), sample_repositories());  // too late
    QVERIFY(view_->library().isVisible());
    view_->download().set_catalogue({});  // nothing is known
    search();
    field()->clear();
    QVERIFY(view_->library().isVisible());
  }

  // Why a model cannot be opened is read to its end, on the page as it scrolls.
  void whatIsKnownOfAModelIsWhole() {
    std::vector<LibraryRow> models = sample_models();
    models[4].error_details = models[4].error;
    view_->library().set_models(models);
    for (const int width : {1163, 1000, 760}) {
      view_->resize(width, 500);
      for (const LibraryRow& model : models) {
        view_->library().select(model.path);
        view_->library().show_error(model.error);
        for (const QLabel* label : view_->library().findChildren<QLabel*>())
          if (label->isVisible() && label->wordWrap())
            QTRY_VERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
      }
    }
  }

  // What is told stands where it is seen.
  void whatIsToldIsSeen() {
    auto* area = view_->findChild<PageArea*>();
    const auto is_seen = [&](const QWidget& what) {
      return area->viewport()->rect().intersects(QRect(what.mapTo(area->viewport(), QPoint()), what.size()));
    };
    view_->resize(1000, 260);
    view_->library().show_error(QStringLiteral("the disk is on fire"));
    QTRY_VERIFY(is_seen(view_->library().message()));
    view_->download().show_notice(QStringLiteral("The token is in the keyring."));
    QTRY_VERIFY(is_seen(view_->download().message()));
  }

 private:
  QLineEdit* field() { return view_->findChild<QLineEdit*>(QStringLiteral("hubSearch")); }

  std::unique_ptr<ModelsView> view_;
};
FOVEA_TEST(ModelsViewTest)

#include "models_view_test.moc"
