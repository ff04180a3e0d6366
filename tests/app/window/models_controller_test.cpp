// From a search to an open model, with real widgets and the tests' own hub; and what a refusal, the offline
// switch and a restart show.
#include "app/window/models_controller.h"

#include <QAction>
#include <QDesktopServices>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTableView>
#include <QUrl>
#include <fstream>
#include <map>
#include <mutex>

#include "app/network/errors.h"
#include "tests/app/download/hub_server.h"
#include "tests/support/test.h"
#include "ui/language/language.h"
#include "ui/models/download_list.h"
#include "ui/models/download_page.h"
#include "ui/models/library_card.h"
#include "ui/models/library_page.h"
#include "ui/models/message_line.h"
#include "ui/models/models_view.h"
#include "ui/models/prepare_dialog.h"

#include "../../engine/precision/valued_experts.h"

namespace fs = std::filesystem;
using namespace fovea;
using namespace fovea::app;
using tests::content;
using tests::golden;
using tests::HubServer;
using tests::TemporaryFolder;
using tests::Values;
using tests::write_valued_experts;

namespace {

using fovea::tests::kLong;

// A keyring that everybody may look into; or that nobody can use.
struct OpenKeyring : Keyring {
  std::mutex mutex;
  std::map<QString, QString> entries;  // guarded by mutex
  bool is_locked = false;              // guarded by mutex

  Result<void> access() {
    if (is_locked) return std::unexpected(errors::keyring_denied());
    return {};
  }
  void read(const QString& key, QObject*, Read done) override {
    const std::scoped_lock lock(mutex);
    const auto found = entries.find(key);
    const auto allowed = access();
    if (!allowed) return done(std::unexpected(allowed.error()));
    done(found == entries.end() ? QString() : found->second);
  }
  void write(const QString& key, const QString& text, QObject*, Done done) override {
    const std::scoped_lock lock(mutex);
    if (!is_locked) entries[key] = text;
    done(access());
  }
  void remove(const QString& key, QObject*, Done done) override {
    {
      const std::scoped_lock lock(mutex);
      if (!is_locked) entries.erase(key);
    }
    done(access());
  }
  std::map<QString, QString> all() {
    const std::scoped_lock lock(mutex);
    return entries;
  }
};

// A hub with one repository, a place for everything, and the window.
struct Bench {
  QByteArray moe = QByteArray::fromStdString(content(golden("models/qwen3_moe-0-gguf.gguf")));
  HubServer server{{{"tiny-moe-Q8_0.gguf", moe}, {"README.md", "words", false}}};
  TemporaryFolder folder;
  QWidget window;  // shows the page in the main window's place
  std::shared_ptr<OpenKeyring> keyring = std::make_shared<OpenKeyring>();
  std::unique_ptr<ModelsController> controller;

  explicit Bench(bool offline = false) { begin(offline); }

  void begin(bool offline = false) {
    ModelsSettings settings;
    settings.own_folders = {folder.path() / "models"};
    settings.stores = folder.path() / "stores";
    settings.cache = folder.path() / "library.json";
    DownloadWorkerSettings& downloads = settings.downloads;
    downloads.network = NetworkSettings{};
    downloads.network.offline = offline;
    downloads.hub = HubSettings{};
    downloads.hub.endpoint = QUrl(QString::fromStdString(server.endpoint()));
    downloads.hub.retry_base_ms = 5;
    downloads.keyring = keyring;
    downloads.downloads.file = folder.path() / "downloads.json";
    downloads.downloads.job.cache = HubCache(folder.path() / "hub");
    downloads.downloads.job.library = folder.path() / "models";
    downloads.downloads.job.transfer.retry_base_ms = 5;
    downloads.downloads.job.transfer.partial.spare_bytes = 0;
    controller.reset();
    controller = std::make_unique<ModelsController>(window, settings);
    controller->set_limits(200, 0);
    window.resize(1000, 700);
    QObject::connect(controller.get(), &ModelsController::viewWanted, &window, [this] {
      window.show();
      controller->view()->resize(window.size());
      controller->view()->show();
      QObject::connect(controller->view(), &ui::Page::left, controller->view(), &QWidget::hide);
    });
  }

  ui::DownloadPage& page() const { return controller->view()->download(); }
  ui::LibraryPage& library() const { return controller->view()->library(); }
  template <class Widget>
  Widget* find(const char* name) const {
    return controller->view()->findChild<Widget*>(QLatin1String(name));
  }
  // The button of the only download, when it is there and visible.
  QPushButton* line_button(const char* name) const {
    const auto lines = page().downloads().findChildren<ui::DownloadLine*>();
    if (lines.isEmpty()) return nullptr;
    auto* button = lines.front()->findChild<QPushButton*>(QLatin1String(name));
    return button && button->isVisible() ? button : nullptr;
  }
  QString line_text() const {
    const auto lines = page().downloads().findChildren<ui::DownloadLine*>();
    return lines.isEmpty() ? QString() : lines.front()->download().text;
  }

  bool search_and_list() {
    controller->show_downloads();
    auto* field = find<QLineEdit>("hubSearch");
    field->clear();
    QTest::keyClicks(field, QStringLiteral("tiny"));
    QTest::keyClick(field, Qt::Key_Return);
    return QTest::qWaitFor([this] { return find<QTableView>("versions")->model()->rowCount() == 1; }, kLong);
  }
  void download() { QTest::mouseClick(find<QPushButton>("download"), Qt::LeftButton); }
};

}  // namespace

class ModelsControllerTest : public QObject {
  Q_OBJECT

 public:
  Q_INVOKABLE void shown_outside(const QUrl& url) { shown_ = url; }

 private:
  QUrl shown_;

 private Q_SLOTS:
  void searchChooseDownloadOpen() {
    Bench bench;
    QVERIFY(bench.search_and_list());
    QVERIFY(bench.find<QLabel>("versionWhy")->text().contains(QStringLiteral("Estimated from")));
    bench.download();
    QVERIFY(QTest::qWaitFor([&] { return bench.line_button("openDownload") != nullptr; }, kLong));
    // It is in the library, read and fitted by the planner.
    const QString path = QString::fromStdString((bench.folder.path() / "models/tiny-moe-Q8_0.gguf").string());
    QVERIFY(QTest::qWaitFor(
        [&] {
          const ui::LibraryCard* card = bench.library().card(path);
          return card && card->model().fit == ui::FitView::fits;
        },
        kLong));
    const ui::LibraryRow row = bench.library().card(path)->model();
    QCOMPARE(row.architecture, QStringLiteral("qwen3_moe"));
    QVERIFY(row.experts > 0);
    QVERIFY(!row.fit_why.contains(QStringLiteral("estimate")));
    QSignalSpy opened(bench.controller.get(), &ModelsController::openRequested);
    QTest::mouseClick(bench.line_button("openDownload"), Qt::LeftButton);
    QCOMPARE(opened.count(), 1);
    QVERIFY(fs::equivalent(opened[0][0].toString().toStdString(), path.toStdString()));
    QCOMPARE(opened[0][1].value<PrecisionRequest>().policy, PolicyKind::none);  // it fits as it is
    QVERIFY(!bench.controller->view()->isVisible());
    // While it is open it cannot be deleted, whatever path it was opened by.
    bench.controller->set_open_model(opened[0][0].toString(), 1);
    bench.controller->show_library();
    bench.library().select(path);
    QVERIFY(bench.library().card(path)->model().is_open);
    QVERIFY(!bench.find<QAction>("removeModel")->isEnabled());
  }

  // The list of downloads is there after a restart; one that had ended can still be opened.
  void aRestartKeepsTheDownloads() {
    Bench bench;
    QVERIFY(bench.search_and_list());
    bench.download();
    QVERIFY(QTest::qWaitFor([&] { return bench.line_button("openDownload") != nullptr; }, kLong));
    bench.begin();
    bench.controller->show_downloads();
    QVERIFY(QTest::qWaitFor([&] { return bench.line_button("openDownload") != nullptr; }, kLong));
    QSignalSpy opened(bench.controller.get(), &ModelsController::openRequested);
    QTest::mouseClick(bench.line_button("openDownload"), Qt::LeftButton);
    QCOMPARE(opened.count(), 1);
    QVERIFY(fs::exists(opened[0][0].toString().toStdString()));
  }

  // What is wrong with the list at the start is told when the window is made, which may be much later.
  void aBrokenListOfDownloadsIsTold() {
    Bench bench;
    bench.controller.reset();
    std::ofstream(bench.folder.path() / "downloads.json") << "{broken";
    bench.begin();
    const QDir folder(QString::fromStdString(bench.folder.path().string()));
    const QStringList moved(QStringLiteral("downloads.broken-*"));
    QVERIFY(QTest::qWaitFor([&] { return !folder.entryList(moved).isEmpty(); }, kLong));
    bench.controller->show_downloads();
    QVERIFY(QTest::qWaitFor([&] { return bench.page().message().is_error(); }, kLong));
    const auto* details = bench.page().message().findChild<QLabel*>(QStringLiteral("details"));
    QVERIFY2(details->text().contains(QStringLiteral("downloads.broken-")), qPrintable(details->text()));
  }

  void pauseContinueAndCancel() {
    Bench bench;
    bench.server.set_pace(0, 20'000);  // the file takes seconds
    QVERIFY(bench.search_and_list());
    bench.download();
    QVERIFY(QTest::qWaitFor([&] { return bench.line_button("pauseDownload") != nullptr; }, kLong));
    QTest::mouseClick(bench.line_button("pauseDownload"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return bench.line_button("resumeDownload") != nullptr; }, kLong));
    // A pause holds over a restart.
    bench.begin();
    bench.controller->show_downloads();
    QVERIFY(QTest::qWaitFor([&] { return bench.line_button("resumeDownload") != nullptr; }, kLong));
    bench.server.set_pace(0, 0);
    QTest::mouseClick(bench.line_button("resumeDownload"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return bench.line_button("openDownload") != nullptr; }, kLong));
    QTest::mouseClick(bench.line_button("removeDownload"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return bench.page().downloads().count() == 0; }, kLong));
    QVERIFY(fs::exists(bench.folder.path() / "models/tiny-moe-Q8_0.gguf"));  // the model stays
  }

  // The hub's trouble is told in the line, and trying again is one click.
  void aFailureIsToldAndTriedAgain() {
    Bench bench;
    QVERIFY(bench.search_and_list());
    bench.server.set_fault([](const tests::HttpQuestion& question, tests::Wire& wire, int) {
      if (!question.at_storage) return false;
      wire.answer(403, {}, "{}");
      return true;
    });
    bench.download();
    QVERIFY(QTest::qWaitFor([&] { return bench.line_button("resumeDownload") != nullptr; }, kLong));
    QVERIFY2(bench.line_text().contains(QStringLiteral("403")), qPrintable(bench.line_text()));
    bench.server.set_fault({});
    QTest::mouseClick(bench.line_button("resumeDownload"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return bench.line_button("openDownload") != nullptr; }, kLong));
  }

  void aRefusalAsksForAToken() {
    Bench bench;
    bench.server.set_token("hf_secret");
    bench.controller->show_downloads(QStringLiteral("tiny"));
    QVERIFY(QTest::qWaitFor([&] { return bench.find<QLineEdit>("token")->isVisible(); }, kLong));
    QVERIFY(bench.page().message().is_error());
    QVERIFY(bench.page().message().message().contains(QStringLiteral("401")));
    QTest::keyClicks(bench.find<QLineEdit>("token"), QStringLiteral("hf_secret"));
    const QString before = bench.page().message().message();
    QTest::mouseClick(bench.find<QPushButton>("saveToken"), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return bench.page().message().message() != before; }, kLong));
    QVERIFY(!bench.page().message().message().contains(QStringLiteral("hf_secret")));
    QCOMPARE(bench.keyring->all().size(), 1U);
    QCOMPARE(bench.keyring->all().begin()->second, QStringLiteral("hf_secret"));
    QVERIFY(bench.search_and_list());
  }

  // Out of the keyring, and out of the questions that follow.
  void aTokenIsForgotten() {
    Bench bench;
    bench.server.set_token("hf_secret");
    bench.keyring->entries[QUrl(QString::fromStdString(bench.server.endpoint())).host()] =
        QStringLiteral("hf_secret");
    QVERIFY(bench.search_and_list());  // it is found there
    QSignalSpy notes(bench.controller.get(), &ModelsController::tokenNote);
    bench.controller->forget_token();
    QVERIFY(notes.wait(kLong));
    QVERIFY2(!notes[0][1].toBool(), qPrintable(notes[0][0].toString()));
    QVERIFY(bench.keyring->all().empty());
    bench.page().search(QStringLiteral("tiny"));
    QVERIFY(QTest::qWaitFor([&] { return bench.page().message().is_error(); }, kLong));
    QVERIFY(bench.page().message().message().contains(QStringLiteral("401")));
    bench.controller->forget_token();  // one that is not there
    QVERIFY(notes.wait(kLong));
    QVERIFY(!notes[1][1].toBool());
  }

  void aLockedKeyringKeepsItsTokenAndSaysSo() {
    Bench bench;
    bench.keyring->is_locked = true;
    QSignalSpy notes(bench.controller.get(), &ModelsController::tokenNote);
    bench.controller->forget_token();
    QVERIFY(notes.wait(kLong));
    QVERIFY(notes[0][1].toBool());
    QVERIFY(notes[0][0].toString().contains(QStringLiteral("denied")));
    bench.controller->save_token(QStringLiteral("hf_secret"));
    QVERIFY(notes.wait(kLong));
    QVERIFY(notes[1][1].toBool());
    QVERIFY(!notes[1][0].toString().contains(QStringLiteral("hf_secret")));
    // Nor can the hub be given the one that may be in it: that is said, too.
    bench.server.set_token("hf_secret");
    bench.controller->show_downloads(QStringLiteral("tiny"));
    QTRY_VERIFY(bench.page().message().message().contains(QStringLiteral("401")));
    const QString said = bench.page().message().message();
    QVERIFY2(said.contains(QStringLiteral("was denied")), qPrintable(said));
    ui::use_language(QStringLiteral("de"));
    bench.controller->forget_token();
    const bool answered = notes.wait(kLong);
    ui::use_language(QStringLiteral("en"));
    QVERIFY(answered);
    QVERIFY2(notes[2][0].toString().startsWith(QStringLiteral("Der Zugriff ist fehlgeschlagen: ")),
             qPrintable(notes[2][0].toString()));
  }

  // The hub lists a gated repository to everybody, and gives its files only to some.
  void aGatedFileAsksForATokenToo() {
    Bench bench;
    QVERIFY(bench.search_and_list());
    bench.server.set_fault([](const tests::HttpQuestion& question, tests::Wire& wire, int) {
      if (!question.target.contains("/resolve/")) return false;
      wire.answer(403, {"X-Error-Code: GatedRepo"}, "{}", question.method == "HEAD");
      return true;
    });
    bench.download();
    QVERIFY(QTest::qWaitFor([&] { return bench.find<QLineEdit>("token")->isVisible(); }, kLong));
    QVERIFY2(bench.line_text().contains(QStringLiteral("terms")), qPrintable(bench.line_text()));
  }

  void theOfflineSwitchHolds() {
    Bench bench(true);
    bench.controller->show_downloads(QStringLiteral("tiny"));
    QVERIFY(bench.find<QLabel>("offlineText")->isVisible());
    bench.controller->downloads().search(QStringLiteral("tiny"));  // past the widgets
    QVERIFY(QTest::qWaitFor([&] { return bench.page().message().is_error(); }, kLong));
    QCOMPARE(bench.server.connections(), 0);
    bench.controller->set_offline(false);
    QVERIFY(bench.search_and_list());
    bench.controller->set_offline(true);
    QVERIFY(bench.find<QLabel>("offlineText")->isVisible());
    QVERIFY(!bench.find<QPushButton>("download")->isEnabled());
  }

  // A model that is copied into a watched folder appears by itself; preparing and checking it work.
  void aCopiedModelAppearsAndIsPrepared() {
    Bench bench;
    const fs::path watched = bench.folder.path() / "mine";
    fs::create_directories(watched);
    bench.controller->show_library();
    bench.controller->set_folders({watched});
    const auto rows = [&] { return bench.library().cards().size(); };
    QVERIFY(QTest::qWaitFor(
        [&] { return bench.find<QPushButton>("addFolder")->isVisibleTo(bench.controller->view()); }, kLong));
    QSignalSpy changed(bench.controller.get(), &ModelsController::modelsNamed);
    QVERIFY(changed.count() > 0 || changed.wait(kLong));  // the folder is watched now
    fs::copy(golden("models/qwen3_moe-0-gguf.gguf"), watched / "copied.gguf");
    QVERIFY(
        QTest::qWaitFor([&] { return rows() == 1 && bench.library().cards()[0]->model().is_read; }, kLong));

    bench.find<QAction>("prepareModel")->trigger();
    ui::PrepareDialog* ask = nullptr;
    QVERIFY(QTest::qWaitFor(
        [&] {
          ask = bench.controller->view()->findChild<ui::PrepareDialog*>();
          return ask || !bench.library().message().message().isEmpty();
        },
        kLong));
    if (ask) {
      auto* start = ask->findChild<QPushButton*>(QStringLiteral("startPrepare"));
      QVERIFY(QTest::qWaitFor([&] { return start->isEnabled(); }, kLong));
      ask->findChild<QAbstractButton*>(QStringLiteral("noText"))->click();  // this model has no tokeniser
      QTest::mouseClick(start, Qt::LeftButton);
      QVERIFY(QTest::qWaitFor([&] { return !bench.library().cards()[0]->model().stores.isEmpty(); }, kLong));
      QVERIFY2(!bench.library().message().is_error(), qPrintable(bench.library().message().message()));
    }
    bench.find<QAction>("checkModel")->trigger();
    QVERIFY(QTest::qWaitFor(
        [&] { return bench.library().message().message().contains(QStringLiteral("is intact")); }, kLong));

    // Its folder, in whatever shows folders here.
    QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "shown_outside");
    bench.find<QAction>("showModel")->trigger();
    QDesktopServices::unsetUrlHandler(QStringLiteral("file"));
    QCOMPARE(shown_.toLocalFile().toStdString(), watched.string());

    QSignalSpy added(bench.controller.get(), &ModelsController::folderAdded);
    bench.controller->set_folders({});
    QVERIFY(QTest::qWaitFor([&] { return rows() == 0; }, kLong));
  }

  // Preparing offers q4e where it suits the weights better than q4, says by how much, and makes it.
  void aTierThatSuitsBetterIsOffered_data() {
    QTest::addColumn<int>("values");
    QTest::addColumn<bool>("offered");
    QTest::newRow("slabs") << static_cast<int>(Values::slabs) << true;
    QTest::newRow("normal") << static_cast<int>(Values::normal) << false;
  }
  void aTierThatSuitsBetterIsOffered() {
    QFETCH(int, values);
    QFETCH(bool, offered);
    Bench bench;
    fs::create_directories(bench.folder.path() / "models");
    const auto kind = static_cast<Values>(values);
    FOVEA_VERIFY(write_valued_experts(bench.folder.path() / "models" / "a.gguf", kind, kind));
    bench.controller->show_library();
    QVERIFY(QTest::qWaitFor(
        [&] { return bench.library().cards().size() == 1 && bench.library().cards()[0]->model().is_read; },
        kLong));
    bench.find<QAction>("prepareModel")->trigger();
    ui::PrepareDialog* ask = nullptr;
    QVERIFY(QTest::qWaitFor(
        [&] { return (ask = bench.controller->view()->findChild<ui::PrepareDialog*>()) != nullptr; }, kLong));
    auto* q4e = ask->findChild<QAbstractButton*>(QStringLiteral("tier_q4e"));
    QVERIFY(ask->findChild<QAbstractButton*>(QStringLiteral("tier_q4")));
    QCOMPARE(q4e != nullptr, offered);
    if (!offered) return;
    QVERIFY(!q4e->isChecked());
    // Errors of slabs: 0.045 and 0.071 (docs/tiers.md).
    QVERIFY2(q4e->text().contains(QRegularExpression(QStringLiteral("error 4\\.\\d instead of 7\\.\\d %"))),
             qPrintable(q4e->text()));
    q4e->click();
    QVERIFY(!ask->findChild<QAbstractButton*>(QStringLiteral("tier_q4"))->isChecked());
    auto* start = ask->findChild<QPushButton*>(QStringLiteral("startPrepare"));
    const auto* size = ask->findChild<QLabel*>(QStringLiteral("prepareSize"));
    const QStringList all = ask->tiers();
    for (const QString& tier : all.mid(1))
      ask->findChild<QAbstractButton*>(QStringLiteral("tier_") + tier)->click();
    QVERIFY2(size->text().contains(QStringLiteral("at least two")), qPrintable(size->text()));
    QVERIFY(!start->isEnabled());
    for (const QString& tier : all.mid(1))
      ask->findChild<QAbstractButton*>(QStringLiteral("tier_") + tier)->click();
    QCOMPARE(ask->tiers(), all);
    ask->findChild<QAbstractButton*>(QStringLiteral("noText"))->click();  // this model has no tokeniser
    QVERIFY(QTest::qWaitFor([&] { return start->isEnabled(); }, kLong));
    QVERIFY2(size->text().contains(QStringLiteral("on the disk; ")), qPrintable(size->text()));
    QTest::mouseClick(start, Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return !bench.library().cards()[0]->model().stores.isEmpty(); }, kLong));
    QVERIFY2(bench.library().cards()[0]->model().stores.join(' ').contains(QStringLiteral("other steps")),
             qPrintable(bench.library().cards()[0]->model().stores.join(' ')));
  }
};
FOVEA_TEST(ModelsControllerTest)

#include "models_controller_test.moc"
