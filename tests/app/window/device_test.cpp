// The device in the window: how one is chosen and kept, what is said of one that is gone, and what becomes of
// the conversation when one fails.
#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QStandardItemModel>

#include "app/library/data_folder.h"
#include "app/window/desktop.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "tests/app/window/closing.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/status_strip.h"
#include "ui/chat/transcript_view.h"

#include "../../engine/models/apart_device.h"

using namespace fovea;
using State = ui::ChatWindow::State;

namespace {

using fovea::tests::close;
using fovea::tests::kLong;

// A processor, and two cards that are not there.
app::Desktop::FoundDevices two_cards() {
  const auto card = [](const char* name, const char* description) {
    return DeviceInfo{.name = name,
                      .description = description,
                      .instruction_set = {},
                      .instruction_sets = {},
                      .memory_bytes = std::int64_t{32} << 30,
                      .memory_free_bytes = std::int64_t{30} << 30};
  };
  return {{{.name = "cpu",
            .description = "A processor",
            .instruction_set = {},
            .instruction_sets = {},
            .cores = 4,
            .memory_bytes = std::int64_t{64} << 30},
           card("cuda:0", "Card A"),
           card("cuda:1", "Card B")},
          {}};
}

QComboBox* device_box(app::Desktop& desktop) {
  Q_EMIT desktop.window().settingsRequested();
  auto* dialog = desktop.window().findChild<ui::SettingsPage*>();
  auto* box = dialog ? dialog->findChild<QComboBox*>(QStringLiteral("device")) : nullptr;
  if (!box || !QTest::qWaitFor([box] { return box->isEnabled(); }, kLong)) return nullptr;
  return box;
}

void choose(QComboBox* box, int index) {
  box->setCurrentIndex(index);
  Q_EMIT box->activated(index);
}

QAbstractButton* error_button(app::Desktop& desktop) {
  return desktop.window().findChild<QAbstractButton*>(QStringLiteral("errorAction"));
}

}  // namespace

class DeviceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<tests::DataFolder>(); }
  void cleanup() { folder_.reset(); }

  void theProcessorIsAutomatic() {
    app::Desktop desktop(with_model());
    desktop.start();
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    QVERIFY(desktop.settings().device.empty());
    QCOMPARE(desktop.chat().model().device.name, std::string("cpu"));
    const ui::StatusView& status = desktop.window().status().status();
    QCOMPARE(status.device, QStringLiteral("Processor"));
    QVERIFY(status.device_why.contains(QStringLiteral("runs on the processor")));
    QVERIFY(desktop.window().status().text().contains(QStringLiteral("Processor")));
    QVERIFY(close(desktop));
  }

  void aChosenCardIsKept() {
    {
      app::Desktop desktop({});
      desktop.set_devices(two_cards);
      desktop.start();
      QComboBox* box = device_box(desktop);
      QVERIFY(box);
      QCOMPARE(box->count(), 5);         // both cards as one, too
      QCOMPARE(box->currentIndex(), 0);  // automatic
      choose(box, box->findData(QStringLiteral("cuda:1")));
      QCOMPARE(desktop.settings().device, std::string("cuda:1"));
      QCOMPARE(desktop.settings().device_description, std::string("Card B"));
      QCOMPARE(desktop.chat().load_defaults().device, std::string("cuda:1"));
      QVERIFY(close(desktop));
    }
    app::Desktop again({});
    again.set_devices(two_cards);
    again.start();
    QCOMPARE(again.chat().load_defaults().device, std::string("cuda:1"));
    QComboBox* box = device_box(again);
    QVERIFY(box);
    QCOMPARE(box->currentData().toString(), QStringLiteral("cuda:1"));
    choose(box, 0);
    QVERIFY(again.settings().device.empty() && again.settings().device_description.empty());
    QVERIFY(close(again));
  }

  // What the command line names holds for this start, and is kept nowhere.
  void theCommandLineComesFirst() {
    keep_device("cuda:1", "Card B");
    app::WindowRequest request = with_model();
    request.load->device = "cpu";
    app::Desktop desktop(request);
    desktop.start();
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    QCOMPARE(desktop.settings().device, std::string("cuda:1"));
    QVERIFY(close(desktop));
  }

  // It stays chosen, nothing is opened in its place, and the way to the settings is offered.
  void aCardThatIsGoneIsSaid() {
    keep_device("cuda:7", "Card X");
    app::Desktop desktop(with_model());
    desktop.start();
    QVERIFY(QTest::qWaitFor([&] { return !desktop.window().error_bar().message().isEmpty(); }, kLong));
    QVERIFY2(desktop.window().error_bar().message().contains(QStringLiteral("cuda:7")),
             qPrintable(desktop.window().error_bar().message()));
    QCOMPARE(desktop.window().state(), State::no_model);
    QVERIFY(error_button(desktop)->isVisible());
    error_button(desktop)->click();
    auto* dialog = desktop.window().findChild<ui::SettingsPage*>();
    QVERIFY(dialog);
    auto* box = dialog->findChild<QComboBox*>(QStringLiteral("device"));
    QVERIFY(QTest::qWaitFor([box] { return box->isEnabled(); }, kLong));
    QVERIFY2(box->currentText().contains(QStringLiteral("Card X")), qPrintable(box->currentText()));
    QVERIFY(!qobject_cast<QStandardItemModel*>(box->model())->item(box->currentIndex())->isEnabled());
    QCOMPARE(desktop.settings().device, std::string("cuda:7"));
    // Another choice opens models again.
    choose(box, 0);
    desktop.chat().open_model(QString::fromStdString(model_.string()));
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    QVERIFY(close(desktop));
  }

  void aFailedDeviceOffersARestart() {
    const tests::ApartDevice card(**runtime::chosen_device({}));
    FOVEA_VERIFY(app::SettingsFile(app::settings_path()).update([](app::Settings& s) { s.max_tokens = 3; }));
    app::WindowRequest request = with_model();
    request.arguments = {model_.string(), "--context", "512"};
    std::int64_t conversation = 0;
    {
      app::Desktop desktop(request);
      desktop.chat().worker().set_loader(
          [&card](const LoadOptions& load, const std::optional<LoadPlan>&, const ProgressSink& progress,
                  const std::stop_token& stop) { return runtime::load(load, {}, progress, stop, &card); });
      desktop.start();
      QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
      Q_EMIT desktop.window().sendRequested(QStringLiteral("Hello"));
      QVERIFY(QTest::qWaitFor([&] { return messages(desktop) == 2 && is_ready(desktop); }, kLong));
      QVERIFY(!desktop.restart());
      card.fail("an illegal address was read");
      Q_EMIT desktop.window().sendRequested(QStringLiteral("And now?"));
      QVERIFY(QTest::qWaitFor([&] { return messages(desktop) == 4 && is_ready(desktop); }, kLong));
      const QString message = desktop.window().error_bar().message();
      QVERIFY2(message.contains(QStringLiteral("an illegal address was read")) &&
                   message.contains(QStringLiteral("The conversation is kept")),
               qPrintable(message));
      QVERIFY(error_button(desktop)->isVisible());
      QCOMPARE(error_button(desktop)->text(), QStringLiteral("Restart Fovea"));
      conversation = desktop.chat().conversation().conversation().id;
      QVERIFY(conversation > 0);
      QSignalSpy closed(&desktop, &app::Desktop::closed);
      error_button(desktop)->click();
      QVERIFY(closed.count() == 1 || closed.wait(kLong));
      QVERIFY(desktop.restart());
      const std::vector<std::string> expected{model_.string(), "--context", "512", "--conversation",
                                              std::to_string(conversation)};
      QCOMPARE(*desktop.restart(), expected);
    }
    // The new program: everything that was said is there.
    request.conversation = conversation;
    app::Desktop again(request);
    again.start();
    QVERIFY(QTest::qWaitFor([&] { return messages(again) == 4; }, kLong));
    QCOMPARE(again.chat().conversation().messages()[2].text, std::string("And now?"));
    QVERIFY(QTest::qWaitFor([&] { return again.window().state() == State::ready; }, kLong));
    QVERIFY(close(again));
  }

 private:
  app::WindowRequest with_model() const {
    app::WindowRequest request;
    request.load.emplace();
    request.load->model = model_;
    request.load->context = 512;
    request.load->threads = 2;
    return request;
  }
  static void keep_device(const std::string& name, const std::string& description) {
    FOVEA_VERIFY(app::SettingsFile(app::settings_path()).update([&](app::Settings& s) {
      s.device = name;
      s.device_description = description;
    }));
  }
  static std::size_t messages(app::Desktop& desktop) {
    return desktop.chat().conversation().messages().size();
  }
  static bool is_ready(app::Desktop& desktop) { return desktop.window().state() == State::ready; }

  const std::filesystem::path model_ = tests::golden("chat");
  std::unique_ptr<tests::DataFolder> folder_;
};
FOVEA_TEST(DeviceTest)

#include "device_test.moc"
