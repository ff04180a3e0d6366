// The first screen with the tests' own hub: one button from nothing to a model that is opened, and what it
// says.
#include "app/window/first_screen.h"

#include <QAbstractButton>
#include <QAction>
#include <QLabel>
#include <QSignalSpy>

#include "app/window/desktop.h"
#include "tests/app/download/hub_server.h"
#include "tests/app/window/closing.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/sidebar.h"

#include "../advisor/machines.h"

using namespace fovea;
using State = ui::ChatWindow::State;

namespace {

constexpr const char* kRepository = "unsloth/Qwen3-4B-Instruct-2507-GGUF";  // of the catalogue's qwen3-4b
constexpr const char* kFile = "Qwen3-4B-Instruct-2507-Q4_K_M.gguf";

bool wait_for(const std::function<bool()>& done) {
  return QTest::qWaitFor(done, fovea::tests::kLong);
}

// A first start on a machine without a model, with one in the catalogue.
struct FirstStart {
  FirstStart(const char* file, const QByteArray& bytes)
      : server({{file, bytes}}, kRepository),
        environment{{"FOVEA_DATA", in_folder("data")},
                    {"HF_HUB_CACHE", in_folder("hub")},
                    {"HF_ENDPOINT", QByteArray::fromStdString(server.endpoint())},
                    {"HF_HUB_OFFLINE", {}}},
        desktop(app::WindowRequest{}) {
    auto entries = app::catalogue();
    std::erase_if(entries, [](const app::CatalogueEntry& entry) { return entry.id != "qwen3-4b"; });
    desktop.first_screen().set_catalogue(entries);
  }
  // With so much free memory.
  bool begin(std::int64_t free_gib) {
    desktop.first_screen().set_machine(
        [free_gib] { return Result<app::Machine>(tests::processor(64, free_gib, 40)); });
    desktop.start();
    return wait_for([this] { return accept().isVisible() || find().isVisible(); });
  }
  QAbstractButton& accept() { return *button("welcomeMain"); }
  QAbstractButton& find() { return *button("welcomeFind"); }
  QAbstractButton* button(const char* name) {
    return desktop.window().welcome().findChild<QAbstractButton*>(QLatin1String(name));
  }
  QByteArray in_folder(const char* name) {
    return QByteArray::fromStdString((folder.path() / name).string());
  }

  tests::TemporaryFolder folder;
  tests::HubServer server;
  tests::Environment environment;
  app::Desktop desktop;
};

}  // namespace

class FirstScreenTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void oneButtonDownloadsAndOpens() {
    const auto bytes = QByteArray::fromStdString(  // in the real model's place
        tests::content(tests::golden("models/qwen3_moe-0-gguf.gguf")));
    FirstStart start(kFile, bytes);
    QVERIFY(start.begin(48));
    QVERIFY(!start.desktop.wizard().wizard());
    QVERIFY(start.accept().isVisible() && !start.find().isVisible());
    QVERIFY2(start.accept().text().contains(QStringLiteral("2.5")), qPrintable(start.accept().text()));
    QVERIFY(!start.button("welcomeDemo")->isVisible());  // there is none
    QVERIFY(!start.desktop.window().sidebar().isVisible());
    QSignalSpy opened(&start.desktop.first_screen(), &app::FirstScreen::openRequested);
    QTest::mouseClick(&start.accept(), Qt::LeftButton);
    QVERIFY(!start.accept().isVisible());
    QVERIFY(wait_for([&] { return !opened.isEmpty(); }));
    const std::filesystem::path path = opened[0][0].toString().toStdString();
    QCOMPARE(path.filename(), std::filesystem::path(kFile));
    QCOMPARE(tests::content(path), bytes.toStdString());
    QCOMPARE(start.desktop.window().state(), State::loading);
    QVERIFY(start.desktop.window().sidebar().isVisible());
    QVERIFY(start.server.bytes_sent() >= bytes.size());
    QVERIFY(tests::close(start.desktop));
  }

  // Where it was asked for, and it can be tried again.
  void whatGoesWrongIsSaid() {
    FirstStart start("another.gguf", QByteArray("GGUF"));
    QVERIFY(start.begin(48));
    QTest::mouseClick(&start.accept(), Qt::LeftButton);
    const auto* error = start.desktop.window().welcome().findChild<QLabel*>(QStringLiteral("welcomeError"));
    QVERIFY(wait_for([&] { return error->isVisible(); }));
    QVERIFY2(error->text().contains(QStringLiteral("no longer has this file")), qPrintable(error->text()));
    QVERIFY(start.accept().isVisible());
    QVERIFY(tests::close(start.desktop));
  }

  // What speaks of a file's insides stands behind Details.
  void aFileThatCannotBeOpenedHasDetails() {
    FirstStart start(kFile, QByteArray("no model at all"));
    QVERIFY(start.begin(48));
    QTest::mouseClick(&start.accept(), Qt::LeftButton);
    const auto* error = start.desktop.window().welcome().findChild<QLabel*>(QStringLiteral("welcomeError"));
    auto* more = start.button("moreDetails");
    QVERIFY(wait_for([&] { return error->isVisible() && more->isVisible(); }));
    const auto* details = error->parentWidget()->findChild<QLabel*>(QStringLiteral("details"));
    QVERIFY(!details->isVisible());
    more->click();
    QVERIFY(details->isVisible() && !details->text().isEmpty());
    QVERIFY(tests::close(start.desktop));
  }

  // Before there is a conversation or a model, beside the proposal is nothing; but all of it can be reached.
  void nothingIsBesideTheProposal() {
    FirstStart start(kFile, QByteArray("GGUF"));
    QVERIFY(start.begin(48));
    ui::ChatWindow& window = start.desktop.window();
    const auto* picker = window.findChild<QWidget*>(QStringLiteral("modelPicker"));
    const auto* more = window.findChild<QWidget*>(QStringLiteral("more"));
    QVERIFY(!window.sidebar().isVisible() && !picker->isVisible() && more->isVisible());
    window.findChild<QAction*>(QStringLiteral("searchAction"))->trigger();
    QVERIFY(window.sidebar().isVisible() && picker->isVisible());
    window.show_proposal_only(true);
    window.findChild<QAction*>(QStringLiteral("modelsAction"))->trigger();
    QVERIFY(wait_for([&] { return window.page() != nullptr; }));
    QVERIFY(window.sidebar().isVisible());
    window.leave_page();
    window.show_proposal_only(true);
    QVERIFY(!window.sidebar().isVisible());
    ui::ConversationItem item;
    item.id = 1;
    window.sidebar().set_conversations({item}, false);
    QVERIFY(window.sidebar().isVisible());
    QVERIFY(tests::close(start.desktop));
  }

  void whereNothingFitsTheWizardIsOffered() {
    FirstStart start(kFile, QByteArray("GGUF"));
    QVERIFY(start.begin(2));
    QVERIFY(start.find().isVisible() && !start.accept().isVisible());
    start.find().click();
    QVERIFY(start.desktop.wizard().wizard());
    QVERIFY(tests::close(start.desktop));
  }
};
FOVEA_TEST(FirstScreenTest)

#include "first_screen_test.moc"
