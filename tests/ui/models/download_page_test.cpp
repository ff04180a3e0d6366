// The page of downloads as a user has it.
#include "ui/models/download_page.h"

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTimer>
#include <QToolButton>

#include "tests/support/test.h"
#include "tests/ui/models/samples.h"
#include "ui/models/catalogue_list.h"
#include "ui/models/download_list.h"
#include "ui/models/message_line.h"

using namespace fovea::ui;
using namespace fovea::tests;

class DownloadPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    page_ = std::make_unique<DownloadPage>();
    page_->resize(1100, 700);
    page_->show();
    QVERIFY(QTest::qWaitForWindowExposed(page_.get()));
  }
  void cleanup() { page_.reset(); }

  void searchAndChoose() {
    QSignalSpy searched(page_.get(), &DownloadPage::searchRequested);
    QSignalSpy listed(page_.get(), &DownloadPage::listRequested);
    QSignalSpy wanted(page_.get(), &DownloadPage::downloadRequested);
    auto* field = page_->findChild<QLineEdit*>(QStringLiteral("hubSearch"));
    QVERIFY(!start_search()->isEnabled());
    QTest::keyClicks(field, QStringLiteral(" qwen "));
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(searched.count(), 1);
    QCOMPARE(searched[0][0].toString(), QStringLiteral("qwen"));
    page_->show_found(QStringLiteral("qwen"), sample_repositories());
    QCOMPARE(listed.count(), 1);  // the first is shown at once
    QCOMPARE(page_->repository(), sample_repositories()[0].id);
    table("repositories")->selectRow(1);
    QCOMPARE(listed.count(), 2);
    page_->show_versions(sample_repositories()[0].id, sample_versions());  // too late: another was chosen
    QCOMPARE(table("versions")->model()->rowCount(), 0);
    page_->show_versions(sample_repositories()[1].id, sample_versions());
    // What is proposed is chosen.
    QCOMPARE(table("versions")->currentIndex().row(), 2);
    QCOMPARE(page_->findChild<QLabel*>(QStringLiteral("versionWhy"))->text(), sample_versions()[2].fit_why);
    QCoreApplication::processEvents();  // the layout
    QTest::mouseClick(button("download"), Qt::LeftButton);
    QCOMPARE(wanted.count(), 1);
    QCOMPARE(wanted[0][0].toString(), sample_repositories()[1].id);
    QCOMPARE(wanted[0][1].toInt(), 2);
    table("versions")->selectRow(4);  // a part is missing
    QVERIFY(!button("download")->isEnabled());
  }

  // Before anything is typed; what is typed filters them, and Enter goes on to the hub.
  void knownModelsAreShownFirst() {
    page_->set_catalogue(sample_catalogue());
    CatalogueList& list = page_->catalogue();
    const auto heading = [&](const char* name) { return list.findChild<QLabel*>(QLatin1String(name)); };
    QVERIFY(list.isVisible());
    QCOMPARE(list.shown_count(), 3);
    QVERIFY(heading("catalogueFitting")->isVisible() && heading("catalogueTooLarge")->isVisible());
    QSignalSpy wanted(page_.get(), &DownloadPage::catalogueRequested);
    QSignalSpy opened(page_.get(), &DownloadPage::openRequested);
    for (auto* card_button : list.findChildren<QPushButton*>(QStringLiteral("catalogueAction")))
      card_button->click();
    QCOMPARE(wanted.count(), 2);
    QCOMPARE(wanted[0][0].toString(), QStringLiteral("fits"));
    QCOMPARE(opened.count(), 1);  // it is here
    QCOMPARE(opened[0][0].toString(), QStringLiteral("/models/here.gguf"));

    auto* field = page_->findChild<QLineEdit*>(QStringLiteral("hubSearch"));
    QSignalSpy searched(page_.get(), &DownloadPage::searchRequested);
    QTest::keyClicks(field, QStringLiteral("LARGE"));
    QCOMPARE(list.shown_count(), 1);
    QVERIFY(!heading("catalogueFitting")->isVisible() && heading("catalogueTooLarge")->isVisible());
    QCOMPARE(searched.count(), 0);
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(searched.count(), 1);
    QVERIFY(!list.isVisible());
    page_->show_found(QStringLiteral("LARGE"), sample_repositories());
    QVERIFY(table("repositories")->isVisible());
    field->clear();  // leads back
    QVERIFY(list.isVisible() && !table("repositories")->isVisible());
    QCOMPARE(list.shown_count(), 3);
  }

  void offlineNothingIsFetched() {
    page_->set_catalogue(sample_catalogue());
    page_->set_offline(true);
    int enabled = 0;
    for (auto* card_button : page_->catalogue().findChildren<QPushButton*>(QStringLiteral("catalogueAction")))
      enabled += card_button->isEnabled() ? 1 : 0;
    QCOMPARE(enabled, 1);  // the one that is here
  }

  void nothingIsAlsoAnAnswer() {
    page_->search(QStringLiteral("zzz"));
    page_->show_found(QStringLiteral("zzz"), {});
    QVERIFY(page_->findChild<QLabel*>(QStringLiteral("foundText"))->text().contains(QStringLiteral("zzz")));
    page_->search(QStringLiteral("qwen"));
    page_->show_found(QStringLiteral("qwen"), sample_repositories());
    page_->show_versions(sample_repositories()[0].id, {});
    QVERIFY(page_->findChild<QLabel*>(QStringLiteral("listedText"))
                ->text()
                .contains(QStringLiteral("has no file or folder")));
    page_->show_error(QStringLiteral("no route"));
    QVERIFY(page_->message().is_error());
  }

  // The hub may answer the search before later.
  void theLastSearchIsShown() {
    page_->search(QStringLiteral("qwen"));
    page_->search(QStringLiteral("zzz"));
    page_->show_found(QStringLiteral("zzz"), {});
    page_->show_found(QStringLiteral("qwen"), sample_repositories());
    QCOMPARE(table("repositories")->model()->rowCount(), 0);
    QVERIFY(page_->findChild<QLabel*>(QStringLiteral("foundText"))->text().contains(QStringLiteral("zzz")));
  }

  // The hub's client answers a search that it breaks off with an error.
  void aSearchThatGoesOfflineEnds() {
    page_->search(QStringLiteral("qwen"));
    page_->set_offline(true);
    page_->show_error(QStringLiteral("network: offline"));
    QCOMPARE(page_->findChild<QLabel*>(QStringLiteral("foundText"))->text(),
             QStringLiteral("The search failed."));
  }

  // The buttons beside it stay where they can be pressed.
  void aLongWordDoesNotWidenIt() {
    const int before = page_->width();
    const QString word(300, QLatin1Char('x'));
    page_->search(word);
    page_->show_found(word, sample_repositories());
    page_->show_error(word);
    DownloadRow failed = sample_downloads()[3];
    failed.name = failed.text = word;
    page_->downloads().set_download(failed);
    QCoreApplication::processEvents();
    QVERIFY(page_->minimumSizeHint().width() <= before);
    QVERIFY(!button("cancelDownload")->visibleRegion().isEmpty());
  }

  void offlineAsksNothing() {
    QSignalSpy searched(page_.get(), &DownloadPage::searchRequested);
    page_->set_offline(true);
    QVERIFY(page_->findChild<QLabel*>(QStringLiteral("offlineText"))->isVisible());
    page_->search(QStringLiteral("qwen"));
    QCOMPARE(searched.count(), 0);
    QVERIFY(!start_search()->isEnabled());
    page_->set_offline(false);
    start_search()->trigger();
    QCOMPARE(searched.count(), 1);
  }

  void theTokenIsAskedForAndNotShown() {
    auto* token = page_->findChild<QLineEdit*>(QStringLiteral("token"));
    QVERIFY(!token->isVisible());
    page_->ask_token();
    QVERIFY(token->isVisible());
    QCOMPARE(token->echoMode(), QLineEdit::Password);
    QSignalSpy entered(page_.get(), &DownloadPage::tokenEntered);
    QTest::mouseClick(button("saveToken"), Qt::LeftButton);
    QCOMPARE(entered.count(), 0);  // nothing to save
    QTest::keyClicks(token, QStringLiteral("hf_abc"));
    QTest::mouseClick(button("saveToken"), Qt::LeftButton);
    QCOMPARE(entered.count(), 1);
    QCOMPARE(entered[0][0].toString(), QStringLiteral("hf_abc"));
    page_->token_saved();
    QVERIFY(!token->isVisible() && token->text().isEmpty());
  }

  // Words of servers and files stand behind a click, and go with the error.
  void whyItFailedHasDetails() {
    DownloadRow row = sample_downloads()[3];
    row.state = DownloadStateView::failed;
    row.text = QStringLiteral("Failed. Try again later");
    row.details = QStringLiteral("hub: the server has a problem (status 500)");
    page_->downloads().set_download(row);
    auto* more = line(row.id)->findChild<QToolButton*>(QStringLiteral("moreDetails"));
    auto* details = line(row.id)->findChild<QLabel*>(QStringLiteral("details"));
    QVERIFY(!more->isHidden() && details->isHidden());
    more->click();
    QVERIFY(!details->isHidden());
    QCOMPARE(details->text(), row.details);
    row.state = DownloadStateView::running;
    row.text = QStringLiteral("3 of 18 GB");
    row.details.clear();
    page_->downloads().set_download(row);
    QVERIFY(more->isHidden() && details->isHidden());
  }

  void downloadsHaveTheButtonsOfTheirState() {
    DownloadList& list = page_->downloads();
    for (const DownloadRow& row : sample_downloads()) list.set_download(row);
    QCOMPARE(list.count(), 4);
    QSignalSpy paused(&list, &DownloadList::pauseRequested), resumed(&list, &DownloadList::resumeRequested),
        cancelled(&list, &DownloadList::cancelRequested), removed(&list, &DownloadList::removeRequested),
        opened(&list, &DownloadList::openRequested);
    click(1, "openDownload");
    click(1, "removeDownload");
    click(2, "pauseDownload");
    click(3, "resumeDownload");
    click(4, "resumeDownload");
    click(4, "cancelDownload");  // nothing has come: nothing to ask
    QCOMPARE(opened.count(), 1);
    QCOMPARE(opened[0][0].toString(), QStringLiteral("/models/smol.gguf"));
    QCOMPARE(removed.count(), 1);
    QCOMPARE(paused.count(), 1);
    QCOMPARE(paused[0][0].toLongLong(), 2);
    QCOMPARE(resumed.count(), 2);
    QCOMPARE(cancelled.count(), 1);
    QVERIFY(!line(1)->findChild<QPushButton*>(QStringLiteral("pauseDownload"))->isVisible());
    QVERIFY(!line(2)->findChild<QPushButton*>(QStringLiteral("openDownload"))->isVisible());
    // What has come is deleted only after a question.
    QTimer::singleShot(0, qApp,
                       [] { qobject_cast<QMessageBox*>(QApplication::activeModalWidget())->reject(); });
    click(2, "cancelDownload");
    QCOMPARE(cancelled.count(), 1);
    list.remove_download(2);
    QCOMPARE(list.count(), 3);
  }

 private:
  QAction* start_search() { return page_->findChild<QAction*>(QStringLiteral("startSearch")); }
  QPushButton* button(const char* name) { return page_->findChild<QPushButton*>(QLatin1String(name)); }
  QTableView* table(const char* name) { return page_->findChild<QTableView*>(QLatin1String(name)); }
  DownloadLine* line(qint64 id) {
    for (DownloadLine* one : page_->downloads().findChildren<DownloadLine*>())
      if (one->download().id == id) return one;
    return nullptr;
  }
  void click(qint64 id, const char* name) {
    auto* found = line(id)->findChild<QPushButton*>(QLatin1String(name));
    QVERIFY(found->isVisible());
    QTest::mouseClick(found, Qt::LeftButton);
  }

  std::unique_ptr<DownloadPage> page_;
};
FOVEA_TEST(DownloadPageTest)

#include "download_page_test.moc"
