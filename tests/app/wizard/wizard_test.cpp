// The wizard over the whole application: from the first start to a model that is open, and what is kept when
// it is closed on the way.
#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QSignalSpy>
#include <QThreadPool>

#include "app/window/desktop.h"
#include "app/window/model_words.h"
#include "app/window/models_controller.h"
#include "app/wizard/wizard_controller.h"
#include "tests/app/window/closing.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/welcome_view.h"
#include "ui/live/live_panel.h"
#include "ui/models/models_view.h"
#include "ui/wizard/size_box.h"
#include "ui/wizard/wizard_dialog.h"

#include "../advisor/machines.h"

using namespace fovea;
using Page = ui::WizardPage;
using State = ui::ChatWindow::State;

namespace {

using fovea::tests::close;
using fovea::tests::kLong;

bool wait_for(const std::function<bool()>& done) {
  return QTest::qWaitFor(done, kLong);
}

app::WizardController& wizard(app::Desktop& desktop) {
  return *desktop.wizard().wizard();
}

void begin_with_wizard(app::Desktop& desktop) {
  desktop.start();
  Q_EMIT desktop.window().wizardRequested();
}

QAbstractButton* button(app::Desktop& desktop, const char* name) {
  return wizard(desktop).dialog().findChild<QAbstractButton*>(QLatin1String(name));
}

// By its key, as somebody without a mouse would.
void press_next(app::Desktop& desktop) {
  QTest::keyClick(&wizard(desktop).dialog(), Qt::Key_Return);
}

bool press(app::Desktop& desktop, Qt::Key key) {
  ui::WizardDialog& dialog = wizard(desktop).dialog();
  dialog.activateWindow();
  if (!QTest::qWaitForWindowActive(&dialog)) return false;
  QTest::keyClick(&dialog, key, Qt::AltModifier);
  return true;
}

// To a page that needs what is found on the way; the demo model is chosen.
bool go_to(app::Desktop& desktop, Page page) {
  while (wizard(desktop).page() != page) {
    if (!wait_for([&] { return button(desktop, "wizardNext")->isEnabled(); })) return false;
    if (wizard(desktop).page() == Page::models) {
      if (!wait_for([&] { return !wizard(desktop).candidates().empty(); })) return false;
      auto* list = wizard(desktop).dialog().findChild<QListView*>(QStringLiteral("wizardModels"));
      int row = 0;
      for (const app::Candidate& candidate : wizard(desktop).candidates()) {
        if (candidate.entry && candidate.entry->id == "demo")
          list->setCurrentIndex(list->model()->index(row, 0));
        ++row;
      }
    }
    const Page before = wizard(desktop).page();
    press_next(desktop);
    if (!wait_for([&] { return wizard(desktop).page() != before; })) return false;
  }
  return true;
}

QByteArray settings_text() {
  QFile file(QString::fromStdString(app::settings_path().string()));
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class WizardTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    model_ = tests::demo_model();  // before the data folder is another
    QVERIFY2(!model_.empty(), "the demo model is not there; ./scripts/demo builds it");
  }
  void init() {
    folder_ = std::make_unique<tests::DataFolder>();
    std::filesystem::create_directories(folder_->path() / "models");
    std::filesystem::create_symlink(model_, folder_->path() / "models/demo.gguf");
  }
  void cleanup() { folder_.reset(); }

  void opensWhereItIsAskedFor() {
    {
      app::Desktop desktop({});
      desktop.start();
      QVERIFY(!desktop.wizard().wizard());  // the first screen leads to it
      auto& welcome = desktop.window().welcome();
      QVERIFY(welcome.isVisible());
      welcome.findChild<QAbstractButton*>(QStringLiteral("welcomeWizard"))->click();
      QVERIFY(desktop.wizard().wizard());
      QVERIFY(wizard(desktop).dialog().isVisible());
      QVERIFY(close(desktop));
    }
    app::Desktop again({});
    again.start();
    QVERIFY(!again.wizard().wizard());
    Q_EMIT again.window().wizardRequested();  // from the menu
    QVERIFY(again.wizard().wizard());
    QTest::keyClick(&wizard(again).dialog(), Qt::Key_Escape);
    QVERIFY(!again.wizard().wizard());
    Q_EMIT again.window().settingsRequested();
    again.window().findChild<QAbstractButton*>(QStringLiteral("openWizard"))->click();
    QVERIFY(again.wizard().wizard());
    QVERIFY(close(again));
  }

  void aModelOnTheCommandLineGoesStraightToTheChat() {
    app::WindowRequest request;
    request.load.emplace();
    request.load->model = model_;
    request.load->context = 512;
    app::Desktop desktop(request);
    desktop.start();
    QVERIFY(!desktop.wizard().wizard());
    QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
    QVERIFY(close(desktop));
  }

  // On whichever page it is closed: nothing that it asked is kept, and there is a model to talk to.
  void closingOpensWhatFits_data() {
    QTest::addColumn<int>("page");
    for (int page = 0; page < ui::wizard_pages; ++page) QTest::addRow("page %d", page + 1) << page;
  }
  void closingOpensWhatFits() {
    QFETCH(int, page);
    app::Desktop desktop({});
    desktop.wizard().set_calibration(short_);
    begin_with_wizard(desktop);
    const app::Settings before = desktop.settings();
    const QByteArray text_before = settings_text();
    QVERIFY(go_to(desktop, static_cast<Page>(page)));
    QVERIFY(desktop.settings() == before);
    QCOMPARE(settings_text(), text_before);
    QTest::keyClick(&wizard(desktop).dialog(), Qt::Key_Escape);
    QVERIFY(!desktop.wizard().wizard());
    QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
    QCOMPARE(desktop.chat().model().info.path.filename(), std::filesystem::path("demo.gguf"));
    QVERIFY(desktop.settings().model_setups.empty());
    QCOMPARE(desktop.settings().recent_models.size(), std::size_t{1});
    // What was opened by itself is said; what somebody has tried stays without a word.
    QCOMPARE(desktop.window().error_bar().message().contains(QStringLiteral("only model here")), page < 5);
    QVERIFY(close(desktop));
  }

  // The window is closed while it looks for a model in the background.
  void closingTheWindowOpensNothing() {
    app::Desktop desktop({});
    begin_with_wizard(desktop);
    QTest::keyClick(&wizard(desktop).dialog(), Qt::Key_Escape);
    QVERIFY(close(desktop));
    QVERIFY(QThreadPool::globalInstance()->waitForDone(fovea::tests::kLong));
    QCoreApplication::processEvents();
    QVERIFY(!desktop.chat().model_loaded());
    QCOMPARE(desktop.window().state(), State::no_model);
  }

  void closingWithoutAModelLeavesTheWaysToOne() {
    std::filesystem::remove(folder_->path() / "models/demo.gguf");
    app::Desktop desktop({});
    begin_with_wizard(desktop);
    QTest::keyClick(&wizard(desktop).dialog(), Qt::Key_Escape);
    QVERIFY(!desktop.wizard().wizard());
    const auto* welcome = desktop.window().findChild<QWidget*>(QStringLiteral("welcome"));
    QVERIFY(welcome->isVisible());
    QTest::mouseClick(welcome->findChild<QAbstractButton*>(QStringLiteral("welcomeModels")), Qt::LeftButton);
    QVERIFY(desktop.models().view() && desktop.models().view()->isVisible());
    Q_EMIT desktop.models().view()->left();
    QTest::mouseClick(welcome->findChild<QAbstractButton*>(QStringLiteral("welcomeWizard")), Qt::LeftButton);
    QVERIFY(desktop.wizard().wizard());
    QTest::keyClick(&wizard(desktop).dialog(), Qt::Key_Escape);
    QCOMPARE(desktop.window().state(), State::no_model);
    QCOMPARE(desktop.window().error_bar().message(), QString());
    QVERIFY(close(desktop));
  }

  void closingWhereNothingFitsSaysSo() {
    FOVEA_VERIFY(
        app::SettingsFile(app::settings_path()).update([](app::Settings& s) { s.budget_gb = 0.01; }));
    app::Desktop desktop({});
    desktop.start();  // not the first start: it looks by itself
    QVERIFY(!desktop.wizard().wizard());
    QVERIFY(wait_for([&] {
      return desktop.window().error_bar().message().contains(QStringLiteral("None of the models here fits"));
    }));
    QCOMPARE(desktop.window().state(), State::no_model);
    QVERIFY(desktop.window().findChild<QWidget*>(QStringLiteral("welcome"))->isVisible());
    QVERIFY(close(desktop));
  }

  void throughAllPages() {
    {
      app::Desktop desktop({});
      desktop.wizard().set_calibration(short_);
      begin_with_wizard(desktop);
      QVERIFY(go_to(desktop, Page::memory));
      auto& dialog = wizard(desktop).dialog();
      auto* precision = dialog.findChild<QComboBox*>(QStringLiteral("wizardPrecision"));
      QVERIFY(wait_for([&] { return precision->count() > 2; }));
      // Too little: it says so, and Next waits; what it proposes makes it fit.
      auto* budget = dialog.findChild<ui::SizeBox*>(QStringLiteral("wizardBudget"));
      const auto type = [budget](const QString& text) {
        auto* line = budget->findChild<QLineEdit*>();
        line->selectAll();
        QTest::keyClicks(line, text);
        budget->take();  // as when the focus goes elsewhere
      };
      const QString before = QString::number(budget->bytes());
      type(QStringLiteral("60 MB"));
      QVERIFY(wait_for([&] { return !button(desktop, "wizardNext")->isEnabled(); }));
      type(before);
      QVERIFY(wait_for([&] { return button(desktop, "wizardNext")->isEnabled(); }));
      int hot = -1;
      for (int i = 0; i < precision->count(); ++i)
        if (precision->itemText(i).startsWith(QStringLiteral("Hot experts"))) hot = i;
      QVERIFY(hot >= 0);
      precision->setCurrentIndex(hot);
      type(QStringLiteral("0.22gb"));
      dialog.findChild<QComboBox*>(QStringLiteral("wizardContext"))->setCurrentIndex(0);
      QVERIFY(wait_for([&] { return wizard(desktop).setup().precision.budget_bytes == 220'000'000; }));
      QVERIFY(wait_for([&] { return button(desktop, "wizardNext")->isEnabled(); }));
      press_next(desktop);
      QCOMPARE(wizard(desktop).page(), Page::start);
      QVERIFY(press(desktop, Qt::Key_O));  // Open: prepares, loads, goes on
      QVERIFY(wait_for([&] { return wizard(desktop).page() == Page::calibration; }));
      QVERIFY(wait_for([&] { return wizard(desktop).measured().has_value(); }));
      QVERIFY(wizard(desktop).measured()->tokens_per_second > 0);
      // The plan is what the engine takes.
      QVERIFY(wizard(desktop).measured()->accounted_bytes <= 220'000'000);
      QVERIFY(wizard(desktop).measured()->planned_bytes <= 220'000'000);
      const double took = static_cast<double>(wizard(desktop).measured()->accounted_bytes);
      QVERIFY(std::abs(took / static_cast<double>(wizard(desktop).measured()->planned_bytes) - 1) < 0.02);
      const QString command = dialog.findChildren<QLineEdit*>(QStringLiteral("wizardCommand")).back()->text();
      QVERIFY2(command.startsWith(QStringLiteral("fovea demo --context 2048 --policy fovea")),
               qPrintable(command));
      QVERIFY(desktop.settings().model_setups.empty());
      QVERIFY(press(desktop, Qt::Key_F));  // Finish
      QVERIFY(wait_for([&] { return !desktop.wizard().wizard(); }));
      QCOMPARE(desktop.settings().model_setups.size(), std::size_t{1});
      QCOMPARE(desktop.settings().model_setups.front().precision.budget_bytes, std::int64_t{220'000'000});
      QCOMPARE(desktop.settings().recent_models.size(), std::size_t{1});
      QCOMPARE(desktop.window().state(), State::ready);
      QVERIFY(close(desktop));
    }
    // The next start opens it the same way.
    app::Desktop again({});
    again.start();
    QVERIFY(!again.wizard().wizard());
    QVERIFY(wait_for([&] { return again.window().state() == State::ready; }));
    QCOMPARE(again.chat().model().settings.precision.policy, PolicyKind::fovea);
    QCOMPARE(again.chat().model().settings.precision.budget_bytes, std::int64_t{220'000'000});
    QCOMPARE(again.chat().model().settings.context, std::int64_t{2048});
    // The live panel's empty page leads to the memory page of the open model.
    Q_EMIT again.live_panel().choosePrecisionRequested();
    QVERIFY(again.wizard().wizard());
    QCOMPARE(wizard(again).page(), Page::memory);
    QVERIFY(wait_for([&] { return wizard(again).chosen() != nullptr; }));
    QVERIFY(wait_for([&] { return wizard(again).setup().precision.budget_bytes == 220'000'000; }));
    // Trying something else and closing brings it back.
    QVERIFY(wait_for([&] { return button(again, "wizardNext")->isEnabled(); }));
    press_next(again);
    QVERIFY(wait_for([&] { return button(again, "wizardNext")->isEnabled(); }));
    press_next(again);
    QVERIFY(wait_for([&] { return wizard(again).page() == Page::calibration; }));
    QTest::keyClick(&wizard(again).dialog(), Qt::Key_Escape);
    QVERIFY(wait_for([&] { return again.window().state() == State::ready; }));
    QCOMPARE(again.chat().model().settings.precision.budget_bytes, std::int64_t{220'000'000});
    QVERIFY(close(again));
  }

  // Who would have to download what is recommended hears that a model is here already.
  void theWayWithoutADownloadIsSaid_data() {
    QTest::addColumn<bool>("is_here");
    QTest::newRow("a model is here") << true;
    QTest::newRow("none") << false;
  }
  void theWayWithoutADownloadIsSaid() {
    QFETCH(bool, is_here);
    app::WizardWorld world;
    world.models_folder = folder_->path() / (is_here ? "models" : "none");
    world.machine = [](const app::DeviceChoice&) -> Result<app::Machine> {
      return tests::processor(64, 48, 40);
    };
    app::WizardController recommending(std::move(world), nullptr);
    recommending.start();
    QVERIFY(wait_for([&] { return !recommending.candidates().empty(); }));
    QVERIFY(recommending.candidates().front().path.empty());
    const auto* note = recommending.dialog().findChild<QLabel*>(QStringLiteral("wizardModelsNote"));
    QCOMPARE(note->text().contains(QStringLiteral("closing this window")), is_here);
  }

  // From a model that is open as its file has it: what is proposed fits, and leaves some experts to change.
  void theButtonOfTheEmptyPanelLeadsToWhatFits() {
    app::WindowRequest request;
    request.load.emplace();
    request.load->model = model_;
    app::Desktop desktop(request);
    desktop.start();
    QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
    Q_EMIT desktop.live_panel().choosePrecisionRequested();
    QVERIFY(wait_for([&] { return wizard(desktop).chosen() != nullptr; }));
    QCOMPARE(wizard(desktop).setup().precision.policy, PolicyKind::fovea);
    QVERIFY(wizard(desktop).setup().precision.budget_bytes < app::memory_bytes(desktop.chat().model()));
    QVERIFY(wait_for([&] { return button(desktop, "wizardNext")->isEnabled(); }));
    QVERIFY(close(desktop));
  }

  void everyStepCanBeSkippedAndUndone() {
    app::Desktop desktop({});
    begin_with_wizard(desktop);
    for (int page = 0; page + 1 < ui::wizard_pages; ++page) {
      QCOMPARE(static_cast<int>(wizard(desktop).page()), page);
      QVERIFY(wait_for([&] { return button(desktop, "wizardSkip")->isEnabled(); }));
      QVERIFY(press(desktop, Qt::Key_S));
      QVERIFY(wait_for([&] { return static_cast<int>(wizard(desktop).page()) == page + 1; }));
    }
    for (int page = ui::wizard_pages - 1; page > 0; --page) {
      QCOMPARE(static_cast<int>(wizard(desktop).page()), page);
      QVERIFY(press(desktop, Qt::Key_B));
      QVERIFY(wait_for([&] { return static_cast<int>(wizard(desktop).page()) == page - 1; }));
    }
    QCOMPARE(wizard(desktop).page(), Page::machine);
    QVERIFY(!desktop.chat().model_loaded());
    QVERIFY(close(desktop));
  }

  // A model of the catalogue that is not here (tests/app/window/first_start_test.cpp downloads it).
  void whatCannotBeDownloadedIsNotOpened() {
    app::Desktop desktop({});
    begin_with_wizard(desktop);
    QVERIFY(wait_for([&] { return !wizard(desktop).candidates().empty(); }));
    while (wizard(desktop).page() != Page::models) press_next(desktop);
    auto* list = wizard(desktop).dialog().findChild<QListView*>(QStringLiteral("wizardModels"));
    int row = 0;
    for (const app::Candidate& candidate : wizard(desktop).candidates()) {
      if (candidate.entry && candidate.entry->id == "qwen3-4b")
        list->setCurrentIndex(list->model()->index(row, 0));
      ++row;
    }
    if (!wizard(desktop).chosen() || !wizard(desktop).chosen()->usable())
      QSKIP("this machine has too little memory");
    while (wizard(desktop).page() != Page::start) {
      QVERIFY(wait_for([&] { return button(desktop, "wizardNext")->isEnabled(); }));
      press_next(desktop);
    }
    QVERIFY(!button(desktop, "wizardNext")->isEnabled());
    QString repository, file;
    connect(&wizard(desktop), &app::WizardController::downloadRequested, this,
            [&](const QString& r, const QString& f) {
              repository = r;
              file = f;
            });
    QTest::mouseClick(button(desktop, "wizardDownload"), Qt::LeftButton);
    // Nothing goes out here: the hub's answer is that it cannot be reached.
    QVERIFY(wait_for([&] { return button(desktop, "wizardDownload")->isVisible(); }));
    QVERIFY(!wizard(desktop).dialog().findChild<QLabel*>(QStringLiteral("wizardError"))->text().isEmpty());
    QCOMPARE(repository, QStringLiteral("unsloth/Qwen3-4B-Instruct-2507-GGUF"));
    QCOMPARE(file, QStringLiteral("Qwen3-4B-Instruct-2507-Q4_K_M.gguf"));
    QVERIFY(!button(desktop, "wizardNext")->isEnabled());
    QVERIFY(close(desktop));
  }

 private:
  std::filesystem::path model_;
  const tests::Environment offline_{{"HF_HUB_OFFLINE", "1"}};
  std::unique_ptr<tests::DataFolder> folder_;
  app::CalibrationSettings short_{.max_seconds = 3, .rounds = 2, .round_seconds = 0.1};
};
FOVEA_TEST(WizardTest)

#include "wizard_test.moc"
