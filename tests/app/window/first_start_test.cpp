// A first start on a machine without a model: wizard, download from the tests' own hub, open, measure, chat,
// and all of it at the next start.
#include <QAbstractButton>
#include <QListView>
#include <QSignalSpy>
#include <algorithm>
#include <fstream>

#include "app/window/desktop.h"
#include "app/wizard/wizard_controller.h"
#include "tests/app/download/hub_server.h"
#include "tests/app/window/closing.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/error_bar.h"
#include "ui/wizard/wizard_dialog.h"

using namespace fovea;
using Page = ui::WizardPage;
using State = ui::ChatWindow::State;
using fovea::tests::close;

namespace {

constexpr const char* kRepository = "unsloth/Qwen3-4B-Instruct-2507-GGUF";  // of the catalogue's qwen3-4b
constexpr const char* kFile = "Qwen3-4B-Instruct-2507-Q4_K_M.gguf";

bool wait_for(const std::function<bool()>& done) {
  return QTest::qWaitFor(done, fovea::tests::kLong);
}

}  // namespace

class FirstStartTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void downloadsOpensAndAnswers() {
    const std::filesystem::path demo = tests::demo_model();  // before the data folder is another
    QVERIFY2(!demo.empty(), "the demo model is not there; ./scripts/demo builds it");
    const auto bytes = QByteArray::fromStdString(tests::content(demo));  // in the real model's place
    tests::HubServer server({{kFile, bytes}, {"README.md", "words", false}}, kRepository);
    const tests::TemporaryFolder folder;
    const auto in_folder = [&](const char* name) {
      return QByteArray::fromStdString((folder.path() / name).string());
    };
    const tests::Environment environment{
        {"FOVEA_DATA", in_folder("data")},
        {"HF_HUB_CACHE", in_folder("hub")},  // else what comes would stay, and other tests would find it
        {"HF_ENDPOINT", QByteArray::fromStdString(server.endpoint())},
        {"HF_HUB_OFFLINE", {}}};
    {
      app::Desktop desktop({});
      desktop.wizard().set_calibration({.max_seconds = 3, .rounds = 2, .round_seconds = 0.1});
      desktop.start();
      QVERIFY(!desktop.wizard().wizard());
      Q_EMIT desktop.window().wizardRequested();
      QVERIFY(desktop.wizard().wizard());
      app::WizardController& wizard = *desktop.wizard().wizard();
      const auto button = [&](const char* name) {
        return wizard.dialog().findChild<QAbstractButton*>(QLatin1String(name));
      };
      const auto next = [&] {
        const Page before = wizard.page();
        if (!wait_for([&] { return button("wizardNext")->isEnabled(); })) return false;
        QTest::keyClick(&wizard.dialog(), Qt::Key_Return);
        return wait_for([&] { return wizard.page() != before; });
      };
      while (wizard.page() != Page::models) QVERIFY(next());
      QVERIFY(wait_for([&] { return !wizard.candidates().empty(); }));
      const auto wanted = std::ranges::find_if(wizard.candidates(), [](const app::Candidate& candidate) {
        return candidate.entry && candidate.entry->id == "qwen3-4b";
      });
      QVERIFY(wanted != wizard.candidates().end());
      if (!wanted->usable()) QSKIP("this machine has too little memory for the model that is chosen");
      auto* list = wizard.dialog().findChild<QListView*>(QStringLiteral("wizardModels"));
      list->setCurrentIndex(list->model()->index(static_cast<int>(wanted - wizard.candidates().begin()), 0));
      while (wizard.page() != Page::start) QVERIFY(next());
      QVERIFY(!button("wizardNext")->isEnabled());
      QTest::mouseClick(button("wizardDownload"), Qt::LeftButton);
      QVERIFY(wait_for([&] { return button("wizardNext")->isEnabled(); }));
      QVERIFY(server.bytes_sent() >= bytes.size());
      QVERIFY(tests::content(wizard.chosen()->path) == bytes.toStdString());
      QVERIFY(next());  // opens it
      QCOMPARE(wizard.page(), Page::calibration);
      QVERIFY(wait_for([&] { return wizard.measured().has_value(); }));
      QTest::keyClick(&wizard.dialog(), Qt::Key_Return);
      QVERIFY(wait_for([&] { return !desktop.wizard().wizard(); }));
      QCOMPARE(desktop.window().state(), State::ready);
      QCOMPARE(desktop.chat().model().settings.model.filename(), std::filesystem::path(kFile));
      QSignalSpy arrived(&desktop.chat(), &app::ChatController::timingsArrived);
      Q_EMIT desktop.window().sendRequested(QStringLiteral("Hello"));
      QVERIFY(wait_for([&] { return arrived.count() > 3; }));
      Q_EMIT desktop.window().stopRequested();
      QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
      QCOMPARE(desktop.window().error_bar().message(), QString());
      const auto& messages = desktop.chat().conversation().messages();
      QCOMPARE(messages.size(), std::size_t{2});
      QVERIFY(!messages[1].text.empty());
      QVERIFY(close(desktop));
    }
    const auto sent = server.bytes_sent();
    app::Desktop again({});
    again.start();
    QVERIFY(!again.wizard().wizard());
    QVERIFY(wait_for([&] { return again.window().state() == State::ready; }));
    QCOMPARE(again.chat().model().settings.model.filename(), std::filesystem::path(kFile));
    QCOMPARE(server.bytes_sent(), sent);
    QVERIFY(close(again));
  }
};
FOVEA_TEST(FirstStartTest)

#include "first_start_test.moc"
