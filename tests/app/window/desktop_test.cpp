// The whole application in one process: settings, history, window, and what is there after a restart.
#include "app/window/desktop.h"

#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QFile>
#include <QImage>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTimer>
#include <QToolButton>
#include <fstream>

#include "app/demo/demo_prompts.h"
#include "app/library/stores.h"
#include "app/live/live_session.h"
#include "app/window/models_controller.h"
#include "tests/app/window/closing.h"
#include "tests/support/environment.h"
#include "tests/support/full_disk.h"
#include "tests/support/test.h"
#include "ui/chat/composer.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/starter_view.h"
#include "ui/chat/transcript_view.h"
#include "ui/language/number_text.h"
#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"
#include "ui/live/pools_view.h"
#include "ui/models/library_page.h"
#include "ui/models/models_view.h"

using namespace fovea;

namespace {

using fovea::tests::close;
using fovea::tests::kLong;

}  // namespace

class DesktopTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { model_ = tests::demo_model(); }  // before the data folder is another
  void init() { folder_ = std::make_unique<tests::DataFolder>(); }
  void cleanup() { folder_.reset(); }

  void startsEmpty() {
    app::Desktop desktop({});
    desktop.start();
    QCOMPARE(desktop.window().state(), ui::ChatWindow::State::no_model);
    QCOMPARE(desktop.window().error_bar().message(), QString());
    QVERIFY(close(desktop));
  }

  // The demo's, whatever its name is.
  void aSmallModelGetsShortQuestions() {
    app::WindowRequest request;
    request.load.emplace();
    request.load->model = tests::golden("chat");
    request.load->context = 256;
    app::Desktop desktop(request);
    desktop.start();
    QTRY_COMPARE_WITH_TIMEOUT(desktop.window().state(), ui::ChatWindow::State::ready, kLong);
    const auto cards = desktop.window().findChildren<ui::StarterCard*>();
    QCOMPARE(cards.size(), std::ssize(app::demo_prompts()));
    cards.front()->click();
    QTRY_VERIFY_WITH_TIMEOUT(!desktop.chat().conversation().messages().empty(), kLong);
    QCOMPARE(desktop.chat().conversation().messages().front().text,
             std::string(app::demo_prompts().front().text));
    QVERIFY(close(desktop));
  }

  void settingsAreKept() {
    {
      app::Desktop desktop({});
      desktop.start();
      Q_EMIT desktop.window().settingsRequested();
      auto* dialog = desktop.window().findChild<ui::SettingsPage*>();
      QVERIFY(dialog);
      auto* theme = dialog->findChild<QComboBox*>(QStringLiteral("theme"));
      theme->setCurrentIndex(2);
      Q_EMIT theme->activated(2);
      dialog->findChild<QSpinBox*>(QStringLiteral("textSize"))->setValue(120);
      QCOMPARE(desktop.settings().theme, app::ThemeChoice::dark);
      QVERIFY(qApp->palette().color(QPalette::Window).lightness() < 100);  // at once
      QVERIFY(close(desktop));
    }
    app::Desktop again({});
    QCOMPARE(again.settings().theme, app::ThemeChoice::dark);
    QCOMPARE(again.settings().text_percent, 120);
  }

  void theSettingsAreOneWindow() {
    app::Desktop desktop({});
    desktop.start();
    for (int i = 0; i < 2; ++i) Q_EMIT desktop.window().settingsRequested();
    const auto open = desktop.window().findChildren<ui::SettingsPage*>();
    QCOMPARE(open.size(), 1);
    Q_EMIT open.front()->left();
    Q_EMIT desktop.window().settingsRequested();
    QTRY_COMPARE(desktop.window().findChildren<ui::SettingsPage*>().size(), 1);
    QVERIFY(desktop.window().findChild<ui::SettingsPage*>()->isVisible());
    QVERIFY(close(desktop));
  }

  // Those of the conversation, and those that are kept under a name for others.
  void instructionsAreKept() {
    {
      app::Desktop desktop({});
      desktop.start();
      Q_EMIT desktop.window().chatSettingsRequested();
      auto* dialog = desktop.window().findChild<ui::ChatSettingsDialog*>();
      QVERIFY(dialog);
      dialog->findChild<QPlainTextEdit*>(QStringLiteral("instructions"))
          ->setPlainText(QStringLiteral("Be brief."));
      QTimer::singleShot(0, dialog, [] {
        auto* ask = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
        if (!ask) return;
        ask->setTextValue(QStringLiteral("Brief"));
        ask->accept();
      });
      for (QPushButton* button : dialog->findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Save as a preset…")) button->click();
      dialog->accept();
      QCOMPARE(desktop.chat().conversation().chat_settings().instructions, QStringLiteral("Be brief."));
      QVERIFY(close(desktop));
    }
    app::Desktop again({});
    QCOMPARE(again.settings().system_prompts.size(), std::size_t{1});
    QCOMPARE(again.settings().system_prompts[0].name, std::string("Brief"));
    QCOMPARE(again.settings().system_prompts[0].text, std::string("Be brief."));
  }

  // The keyring's answer is shown, whether there is one here or not.
  void aTokenIsForgottenInTheSettings() {
    app::Desktop desktop({});
    desktop.start();
    Q_EMIT desktop.window().settingsRequested();
    auto* dialog = desktop.window().findChild<ui::SettingsPage*>();
    QSignalSpy asked(dialog, &ui::SettingsPage::forgetTokenRequested);
    const auto* note = dialog->findChild<QLabel*>(QStringLiteral("tokenNote"));
    QVERIFY(note->isHidden());
    Q_EMIT desktop.models().tokenNote(QStringLiteral("The keyring no longer has a token for Fovea."), false);
    QVERIFY(!note->isHidden() && note->text().contains(QStringLiteral("no longer has")));
    auto* save = dialog->findChild<QAbstractButton*>(QStringLiteral("saveSettingsToken"));
    auto* field = dialog->findChild<QLineEdit*>(QStringLiteral("settingsToken"));
    QVERIFY(!save->isEnabled());
    QCOMPARE(field->echoMode(), QLineEdit::Password);
    field->setText(QStringLiteral("hf_x"));
    QVERIFY(save->isEnabled());
    dialog->disconnect(&desktop.models());  // this machine's keyring stays as it is
    dialog->findChild<QAbstractButton*>(QStringLiteral("forgetToken"))->click();
    QCOMPARE(asked.count(), 1);
    QVERIFY(close(desktop));
  }

  void aBrokenSettingsFileIsSetAsideAndSaid() {
    const std::filesystem::path path = app::settings_path();
    std::filesystem::create_directories(path.parent_path());
    QFile file(QString::fromStdString(path.string()));
    QVERIFY(file.open(QFile::WriteOnly));
    file.write("{ this is no JSON");
    file.close();
    app::Desktop desktop({});
    desktop.start();
    QVERIFY(!desktop.window().error_bar().message().isEmpty());
    QVERIFY(close(desktop));
  }

  // By hand, while the window is open; the next change finds it.
  void aSettingsFileBrokenLaterIsSaidToo() {
    app::Desktop desktop({});
    desktop.start();
    std::filesystem::create_directories(app::settings_path().parent_path());
    std::ofstream(app::settings_path()) << "{ this is no JSON";
    Q_EMIT desktop.window().livePanelShown(true);
    QTRY_VERIFY(desktop.window().error_bar().message().contains(QStringLiteral("settings.broken-")));
    QVERIFY(close(desktop));
  }

  // It is tried twice a second, and told once; what was dismissed stays away until it is stored.
  void aFullDiskIsToldOnceAndSoIsItsEnd() {
    app::Desktop desktop({});
    desktop.start();
    const ui::ErrorBar& bar = desktop.window().error_bar();
    bool made = false;  // the history, with room for it
    desktop.history().ask(
        this, [](app::history::History&) -> Result<void> { return {}; },
        [&](const Result<void>& opened) { made = opened.has_value(); });
    QTRY_VERIFY(made);
    {
      const tests::FullDisk full;
      desktop.window().composer().set_text(QStringLiteral("typed"));
      Q_EMIT desktop.window().composer().textEdited();
      QTRY_VERIFY(!bar.isHidden());
      QVERIFY(bar.kind() == ui::ErrorBar::Kind::error);
      bar.findChild<QAbstractButton*>(QStringLiteral("dismissError"))->click();
      QTest::qWait(1500);  // three more turns
      QVERIFY(bar.isHidden());
    }
    QTRY_VERIFY(!bar.isHidden());
    QVERIFY(bar.kind() == ui::ErrorBar::Kind::notice);
    QVERIFY2(bar.message().contains(QStringLiteral("is saved now")), qPrintable(bar.message()));
    QVERIFY(close(desktop));
    app::Desktop again({});
    QTRY_COMPARE(again.window().composer().text(), QStringLiteral("typed"));
  }

  void theModelsWindowOpensAndItsFoldersAreKept() {
    const std::string watched = (folder_->path() / "watched").string();
    std::filesystem::create_directories(watched);
    {
      app::Desktop desktop({});
      desktop.start();
      QVERIFY(!desktop.models().view());  // made when it is wanted
      desktop.window().findChild<QAction*>(QStringLiteral("modelsAction"))->trigger();
      QVERIFY(desktop.models().view() && desktop.models().view()->isVisible());
      Q_EMIT desktop.models().view()->library().addFolderRequested(QString::fromStdString(watched));
      QCOMPARE(desktop.settings().model_folders, std::vector{watched});
      QVERIFY(close(desktop));
    }
    app::Desktop again({});
    QCOMPARE(again.settings().model_folders, std::vector{watched});
    again.start();
    again.window().findChild<QAction*>(QStringLiteral("modelsAction"))->trigger();
    Q_EMIT again.models().view()->library().removeFolderRequested(QString::fromStdString(watched));
    QVERIFY(again.settings().model_folders.empty());
    QVERIFY(close(again));
  }

  void theOrderOfTheExpertsIsKept() {
    const auto button = [](app::Desktop& desktop) {
      return desktop.live_panel().findChild<QToolButton*>(QStringLiteral("hottestFirst"));
    };
    {
      app::Desktop desktop({});
      desktop.start();
      QVERIFY(button(desktop)->isChecked());
      button(desktop)->setChecked(false);
      QVERIFY(close(desktop));
    }
    app::Desktop again({});
    again.start();
    QVERIFY(!button(again)->isChecked());
    QCOMPARE(again.live_panel().heatmap().order(), ui::HeatOrder::by_index);
    button(again)->setChecked(false);
    QVERIFY(!again.settings().hottest_first);
    QVERIFY(close(again));
  }

  // As a newcomer opens it, without a budget.
  void theExpertsAreShownWithoutABudget() {
    if (model_.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    app::Desktop desktop(demo_request());
    desktop.start();
    using State = ui::ChatWindow::State;
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    ui::LivePanel& panel = desktop.live_panel();
    panel.show();
    desktop.window().show_live_panel(true);
    Q_EMIT desktop.window().sendRequested(QStringLiteral("Tell me about the sea"));
    QVERIFY(QTest::qWaitFor([&] { return has_shown_an_answer(desktop); }, kLong));
    Q_EMIT desktop.window().stopRequested();
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    QTRY_VERIFY(desktop.live_session().ring().last().numbers.tokens_per_second > 0);
    panel.refresh();
    const SnapshotNumbers& shown = desktop.live_session().ring().last().numbers;
    QCOMPARE(shown.tiers.size(), std::size_t{1});
    QVERIFY(shown.tiers[0].hits > 0);
    const auto* gain = panel.findChild<QLabel*>(QStringLiteral("gainSentence"));
    QVERIFY2(gain->text().contains(QStringLiteral("as it is in the model's file")), qPrintable(gain->text()));
    const auto* memory = panel.findChild<ui::PoolsView*>();
    QVERIFY2(memory->accessibleDescription().contains(QStringLiteral("Experts (8 bits)")),
             qPrintable(memory->accessibleDescription()));
  }

  // It says what it writes and how long that takes, and waits for a yes.
  void aFixedMixSaysWhatItTakesFirst() {
    if (model_.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const std::filesystem::path stores = folder_->path() / "stores";
    app::WindowRequest request = demo_request();
    request.load->precision.policy = PolicyKind::dynaexq;
    request.load->precision.tiers = {"bf16", "file"};  // quickly prepared
    request.load->precision.budget_bytes = 190'000'000;
    request.load->precision.stores_folder = stores;
    app::Desktop desktop(request);
    desktop.start();
    using State = ui::ChatWindow::State;
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    const auto asked = [&] {
      Q_EMIT desktop.live_panel().switchPolicyRequested();
      QPointer<QMessageBox> box;
      const auto find = [&] {
        return box = desktop.window().findChild<QMessageBox*>(QStringLiteral("confirmSwitch"));
      };
      return QTest::qWaitFor([&] { return find() && box->isVisible(); }, kLong) ? box : nullptr;
    };
    const auto policy = [&] { return desktop.chat().model().settings.precision.policy; };
    auto box = asked();
    QVERIFY(box);
    QVERIFY2(box->text().contains(QStringLiteral("Nothing is written")), qPrintable(box->text()));
    box->reject();
    QTRY_VERIFY(!box);
    QCOMPARE(policy(), PolicyKind::dynaexq);
    box = asked();
    QVERIFY(box);
    box->findChild<QAbstractButton*>(QStringLiteral("confirmSwitchYes"))->click();
    QVERIFY(QTest::qWaitFor([&] { return policy() == PolicyKind::static_tiers; }, kLong));
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    const auto made = app::stores_of(model_, stores);
    QCOMPARE(made.size(), std::size_t{1});  // the one that was there
    QTRY_VERIFY(!box);
    std::filesystem::remove(made.front().path);
    // Back is one click, too: to what was left. Without the store it says what it takes.
    box = asked();
    QVERIFY(box);
    for (const QString& part : {QStringLiteral("change their precision"), ui::bytes_text(made.front().bytes),
                                QStringLiteral("is free"), QStringLiteral("This takes about")})
      QVERIFY2(box->text().contains(part), qPrintable(box->text()));
    box->findChild<QAbstractButton*>(QStringLiteral("confirmSwitchYes"))->click();
    QVERIFY(QTest::qWaitFor([&] { return policy() == PolicyKind::dynaexq; }, kLong));
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    QCOMPARE(app::stores_of(model_, stores).size(), std::size_t{1});
    QVERIFY(close(desktop));
  }

  void theExpertsAreShownWhileItAnswers() {
    if (model_.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    app::WindowRequest request = demo_request();
    request.load->precision.policy = PolicyKind::automatic;  // as "--budget" without "--policy"
    request.load->precision.tiers = {"bf16", "file"};        // quickly prepared
    request.load->precision.budget_bytes = 190'000'000;
    request.load->precision.stores_folder = folder_->path() / "stores";
    app::Desktop desktop(request);
    desktop.start();
    using State = ui::ChatWindow::State;
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    desktop.live_panel().show();
    desktop.window().show_live_panel(true);
    Q_EMIT desktop.window().sendRequested(QStringLiteral("Tell me about the sea"));
    QVERIFY(QTest::qWaitFor([&] { return has_shown_an_answer(desktop); }, kLong));
    QTRY_VERIFY(desktop.live_session().device_total_bytes() > 0);
    Q_EMIT desktop.window().stopRequested();
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    // What the engine chose is what is shown, stored and compared.
    const QString chosen = QStringLiteral("hot experts at 16 bits, the others at the file's precision");
    QVERIFY2(desktop.window().status().text().contains(chosen), qPrintable(desktop.window().status().text()));
    QCOMPARE(desktop.chat().conversation().messages().back().origin.policy, "fovea bf16/file");
    const auto* gain = desktop.live_panel().findChild<QLabel*>(QStringLiteral("gainSentence"));
    desktop.live_panel().refresh();
    QVERIFY2(gain->text().contains(
                 QRegularExpression(QStringLiteral("tokens so far|Quality kept|over the lowest"))),
             qPrintable(gain->text()));
    QTRY_VERIFY(desktop.live_session().link_bytes_per_s() > 0);  // measured on the store

    // What is saved can be opened again, also by the panel.
    ui::LivePanel& panel = desktop.live_panel();
    const auto path = [this](const char* name) {
      return QString::fromStdString((folder_->path() / name).string());
    };
    using SaveAs = ui::LiveSource::SaveAs;
    app::LiveSession& session = desktop.live_session();
    const QImage picture = panel.grab().toImage();
    session.saver(SaveAs::png, picture)(path("panel.png"));
    QTRY_COMPARE(QImage(path("panel.png")).size(), picture.size());
    session.saver(SaveAs::csv, {})(path("panel.csv"));
    QTRY_VERIFY(QFile(path("panel.csv")).size() > 0);
    session.saver(SaveAs::json_lines, {})(path("panel.jsonl"));
    QTRY_VERIFY(QFile(path("panel.jsonl")).size() > 0);
    Q_EMIT panel.replayRequested(path("panel.jsonl"));
    QTRY_VERIFY(session.replaying());
    session.back_to_live();

    // The yes to what the button beside the sentence that a fixed mix would do as well asks.
    Q_EMIT panel.switchPolicyConfirmed();
    QCOMPARE(desktop.window().state(), State::loading);
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() != State::loading; }, kLong));
    QVERIFY2(desktop.window().state() == State::ready, qPrintable(desktop.window().error_bar().message()));
    QCOMPARE(desktop.chat().model().settings.precision.policy, PolicyKind::static_tiers);
    QCOMPARE(desktop.chat().model().settings.precision.budget_bytes, std::int64_t{190'000'000});
    QVERIFY(close(desktop));
  }

 private:
  app::WindowRequest demo_request() const {
    app::WindowRequest request;
    request.load.emplace();
    request.load->model = model_;
    request.load->context = 1024;
    request.load->threads = 2;
    return request;
  }
  // Some moments of an answer; a short one has few.
  static bool has_shown_an_answer(app::Desktop& desktop) {
    const app::SnapshotRing& ring = desktop.live_session().ring();
    return ring.end() > 3 || (!ring.empty() && desktop.window().state() == ui::ChatWindow::State::ready);
  }

  std::filesystem::path model_;
  std::unique_ptr<tests::DataFolder> folder_;
};
FOVEA_TEST(DesktopTest)

#include "desktop_test.moc"
