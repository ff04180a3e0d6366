// Every window opens within the smallest screens that Fovea is for (tests/support/screens; CTest has this
// with each), also with large text and German words, and shows whole sentences there.
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QScreen>
#include <QScrollBar>
#include <QTabWidget>
#include <QTimer>
#include <QTreeWidget>

#include "app/live/live_session.h"
#include "app/window/desktop.h"
#include "app/window/models_controller.h"
#include "tests/app/live/sessions.h"
#include "tests/app/window/closing.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "tests/ui/models/samples.h"
#include "ui/chat/chat_window.h"
#include "ui/chat/folder_dialog.h"
#include "ui/chat/transcript_view.h"
#include "ui/live/live_panel.h"
#include "ui/models/beside_dialog.h"
#include "ui/models/compare_dialog.h"
#include "ui/models/download_list.h"
#include "ui/models/download_page.h"
#include "ui/models/library_page.h"
#include "ui/models/models_view.h"
#include "ui/models/prepare_dialog.h"
#include "ui/wizard/wizard_dialog.h"

using namespace fovea;

namespace {

constexpr int kTitleAndBars = 70;  // a window's title and the desktop's bar

QString name_of(const QWidget& window) {
  return QStringLiteral("%1 \"%2\"")
      .arg(QLatin1String(window.metaObject()->className()), window.windowTitle());
}

// What is wrong with how a window stands on its screen; empty: nothing.
QString fault_of(const QWidget& window) {
  const QRect screen = window.screen()->geometry();
  const QRect area = window.frameGeometry();
  const int beside = window.windowType() == Qt::Popup ? 0 : kTitleAndBars;
  const auto fault = [&](const QString& what) {
    return QStringLiteral("%1 %2: (%3, %4) %5×%6")
        .arg(name_of(window), what)
        .arg(area.x())
        .arg(area.y())
        .arg(area.width())
        .arg(area.height());
  };
  if (area.width() > screen.width() || window.height() > screen.height() - beside)
    return fault(QStringLiteral("is too large"));
  if (!screen.contains(area)) return fault(QStringLiteral("is partly outside"));
  for (const QLabel* label : window.findChildren<QLabel*>()) {
    const bool is_squeezed = label->isVisible() && label->wordWrap() && label->window() == &window &&
                             label->height() < label->heightForWidth(label->width());
    if (is_squeezed) return fault(QStringLiteral("squeezes “%1”").arg(label->text()));
  }
  return {};
}

// Of all that is to be seen, a line for each.
QString faults() {
  for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
  QString found;
  for (const QWidget* window : QApplication::topLevelWidgets()) {
    if (!window->isVisible()) continue;
    if (const QString fault = fault_of(*window); !fault.isEmpty()) found += fault + QLatin1Char('\n');
  }
  return found;
}

}  // namespace

class ScreensTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    QFETCH(int, percent);
    QFETCH(QString, language);
    data_ = std::make_unique<tests::DataFolder>();
    FOVEA_VERIFY(app::SettingsFile(app::settings_path()).update([&](app::Settings& s) {
      s.text_percent = percent;
      s.language = language.toStdString();
    }));
    desktop_ = std::make_unique<app::Desktop>(app::WindowRequest{});
    desktop_->start();
    window_ = &desktop_->window();
  }
  void cleanup() {
    QVERIFY(tests::close(*desktop_));
    desktop_.reset();
    data_.reset();
  }

  void theChatWindow_data() { sizes(); }
  void theChatWindow() {
    QTRY_COMPARE(faults(), QString());
    // In an answer, with all that may be shown beside it.
    window_->set_model(QString(40, QLatin1Char('m')), QStringLiteral("details"));
    window_->set_requests(71, QStringLiteral("http://127.0.0.1:11435"));
    window_->set_state(ui::ChatWindow::State::generating);
    show_a_session();
    ui::MessageView question;
    question.id = 1;
    question.text = QStringLiteral("word ").repeated(400);
    window_->transcript().set_messages({question});
    window_->show_progress(QStringLiteral("Reading the prompt…"), 1, 2);
    window_->show_error(QStringLiteral("There is no room. ").repeated(20), QStringLiteral("Settings…"));
    QTRY_COMPARE(faults(), QString());
  }

  void thePanelApart_data() { sizes(); }
  void thePanelApart() {
    show_a_session();
    action("detachLiveAction")->trigger();
    QVERIFY(desktop_->live_panel().window() != window_);
    QTRY_COMPARE(faults(), QString());
  }

  void whatTheMenusOpen_data() { sizes(); }
  void whatTheMenusOpen() {
    for (const char* name :
         {"settingsAction", "chatSettingsAction", "presetsAction", "shortcutsAction", "conceptsAction"}) {
      action(name)->trigger();
      QWidget* dialog = window_->page();
      if (!dialog) dialog = opened<QDialog>();
      QVERIFY(dialog);
      const auto* device = dialog->findChild<QComboBox*>(QStringLiteral("device"));
      QTRY_VERIFY(!device || device->isEnabled());  // what there is has been found
      auto* tabs = dialog->findChild<QTabWidget*>();
      for (int tab = 0; tab < (tabs ? tabs->count() : 1); ++tab) {
        if (tabs) tabs->setCurrentIndex(tab);
        QTRY_COMPARE(faults(), QString());
      }
      // The keys stand beside the words.
      const auto* keys = dialog->findChild<QTreeWidget*>(QStringLiteral("shortcuts"));
      QVERIFY(!keys || keys->horizontalScrollBar()->maximum() == 0);
      if (window_->page())
        window_->leave_page();
      else
        dialog->close();
      QTRY_VERIFY(!opened<QDialog>());
    }
    for (const QAction* each : window_->menuBar()->actions()) {
      each->menu()->popup(window_->geometry().bottomRight());
      QTRY_COMPARE(faults(), QString());
      each->menu()->hide();
    }
  }

  void theModels_data() { sizes(); }
  void theModels() {
    action("modelsAction")->trigger();
    ui::ModelsView* dialog = desktop_->models().view();
    QVERIFY(dialog && dialog->isVisible());
    QTRY_COMPARE(faults(), QString());
    dialog->library().set_folders(tests::sample_folders());
    dialog->library().set_models(tests::sample_models());
    for (const ui::LibraryRow& model : tests::sample_models()) {
      dialog->library().select(model.path);
      if (!model.error.isEmpty()) dialog->library().show_error(model.error);
      QTRY_COMPARE(faults(), QString());
    }
    dialog->show_download();
    dialog->download().show_found(QStringLiteral("x"), tests::sample_repositories());
    dialog->download().show_versions(dialog->download().repository(), tests::sample_versions());
    for (const ui::DownloadRow& row : tests::sample_downloads())
      dialog->download().downloads().set_download(row);
    dialog->download().ask_token();
    QTRY_COMPARE(faults(), QString());
    window_->leave_page();
  }

  void preparing_data() { sizes(); }
  void preparing() {
    std::vector<ui::TierChoice> tiers;
    for (const char* name : {"file", "bf16", "q8", "q6", "q5", "q4", "q3", "q2", "t3", "t2"})
      tiers.push_back({QLatin1String(name),
                       QStringLiteral("%1: so many bits for each weight").arg(QLatin1String(name)),
                       true,
                       {}});
    ui::PrepareDialog dialog(QString(120, QLatin1Char('m')), tiers, true, window_);
    dialog.show();
    QTRY_COMPARE(faults(), QString());
    dialog.show_obstacle(QStringLiteral("There is no room. ").repeated(20), true);
    QTRY_COMPARE(faults(), QString());
  }

  void comparing_data() { sizes(); }
  void comparing() {
    const QString words = QStringLiteral("There is no room. ").repeated(12);
    ui::CompareDialog dialog(QString(120, QLatin1Char('m')),
                             QStringLiteral("hot experts at 4 bits, the others at 2 bits"),
                             {{.text = words.left(60), .note = words}, {.text = words.left(60)}}, window_);
    dialog.show();
    QTRY_COMPARE(faults(), QString());
    const ui::CompareRow row{words.left(30), words.left(20), words.left(20)};
    dialog.show_result({.sentence = words,
                        .now = words.left(20),
                        .other = words.left(30),
                        .rows = {row, row, row, row},
                        .note = words + words});
    QTRY_COMPARE(faults(), QString());
  }

  void sideBySide_data() { sizes(); }
  void sideBySide() {
    const QString words = QStringLiteral("There is no room. ").repeated(12);
    ui::BesideDialog dialog(words, words + words, words, true, window_);
    dialog.show();
    QTRY_COMPARE(faults(), QString());
    dialog.show_progress(words);
    QTRY_COMPARE(faults(), QString());
    for (const int column : {ui::BesideDialog::adaptive, ui::BesideDialog::fixed})
      dialog.add_text(column, words.repeated(20));
    dialog.show_result({words, words}, words);
    QTRY_COMPARE(faults(), QString());
  }

  void aFolder_data() { sizes(); }
  void aFolder() {
    const QString name(120, QLatin1Char('m'));
    const std::vector<ui::FolderChoice> some{{name, QStringLiteral("1")}};
    ui::FolderDialog dialog(name, some, QStringLiteral("gone"), some, QStringLiteral("1"), window_);
    dialog.show();
    QTRY_COMPARE(faults(), QString());
  }

  void theWizard_data() { sizes(); }
  void theWizard() {
    ui::WizardDialog wizard(window_);
    const QString words = QStringLiteral("Some words of it. ").repeated(12);
    const std::vector<ui::FactView> facts(8, {QStringLiteral("A fact"), QStringLiteral("a number"), words});
    wizard.set_machine(facts, words, true);
    wizard.set_models({{.name = QStringLiteral("A model"),
                        .place = QStringLiteral("here"),
                        .facts = facts,
                        .usable = true}},
                      0, words, false);
    wizard.set_memory_options({.model = words,
                               .contexts = {2048},
                               .kv_types = {{QStringLiteral("16 bits"), words}},
                               .precisions = {{QStringLiteral("as it is"), words}},
                               .max_bytes = 16'000'000'000});
    wizard.set_memory_choice({0, 0, 0, 1'000'000'000});
    ui::BudgetView budget;
    budget.verdict = budget.why = words;
    budget.notes = {words, words};
    budget.remedies = {words.left(60)};
    wizard.set_budget(budget);
    wizard.set_start({.text = words, .facts = facts, .command = words, .progress = words, .error = words});
    wizard.set_calibration({.text = words,
                            .rows = {8, {.name = words.left(40), .why = words}},
                            .error = words,
                            .command_line = words});
    wizard.show();
    for (int page = 0; page < ui::wizard_pages; ++page) {
      wizard.show_page(static_cast<ui::WizardPage>(page));
      QTRY_COMPARE(faults(), QString());
    }
  }

  void questions_data() { sizes(); }
  void questions() {
    QString found;
    int asked = 0;
    const auto answer = [&] {
      auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      if (!box) return;
      ++asked;
      found += faults();
      box->reject();
    };
    for (const QString& address :
         {QStringLiteral("https://a.example/"),
          QStringLiteral("https://a.example/") + QString(4000, QLatin1Char('x')),
          QStringLiteral("https://a.example/") + QStringLiteral("x-/").repeated(2000)}) {
      QTimer::singleShot(0, this, answer);
      Q_EMIT window_->transcript().linkActivated(address);
    }
    QTimer::singleShot(0, this, answer);
    action("aboutAction")->trigger();
    const auto choose = [&] {
      auto* files = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (!files) return;
      ++asked;
      found += faults();
      files->reject();
    };
    QTimer::singleShot(0, this, choose);
    action("openFileAction")->trigger();
    QCOMPARE(found, QString());
    QCOMPARE(asked, 5);
  }

  // A planted one.
  void theCheckCanFail_data() { sizes(); }
  void theCheckCanFail() {
    const QSize screen = window_->screen()->size();
    QDialog dialog;
    for (const QSize size : {QSize(100, screen.height() - 20), QSize(screen.width() + 1, 100)}) {
      dialog.resize(size);
      dialog.show();
      QCOMPARE(faults().count(QLatin1Char('\n')), 1);
    }
    dialog.resize(100, 100);
    QTRY_COMPARE(faults(), QString());
    auto* label = new QLabel(QStringLiteral("a few words"), &dialog);
    label->setWordWrap(true);
    label->setGeometry(0, 0, 50, 5);
    label->show();
    QCOMPARE(faults().count(QLatin1Char('\n')), 1);
  }

 private:
  static void sizes() {
    QTest::addColumn<int>("percent");
    QTest::addColumn<QString>("language");
    QTest::newRow("usual") << 100 << QStringLiteral("en");
    QTest::newRow("large and German") << 150 << QStringLiteral("de");
  }
  QAction* action(const char* name) { return window_->findChild<QAction*>(QLatin1String(name)); }
  template <typename Dialog>
  Dialog* opened() {
    for (QWidget* top : QApplication::topLevelWidgets())
      if (auto* dialog = qobject_cast<Dialog*>(top); dialog && dialog->isVisible()) return dialog;
    return nullptr;
  }
  void show_a_session() {
    const tests::SessionShape shape{.seconds = 3};
    ui::LivePanel& panel = desktop_->live_panel();
    window_->show_live_panel(true);
    app::LiveSession& session = desktop_->live_session();
    session.set_model(tests::session_model(shape));
    FOVEA_VERIFY(
        tests::play_session(shape, [&session](const Snapshot& snapshot, double seconds) -> Result<void> {
          session.add_snapshot(snapshot, seconds);
          return {};
        }));
    panel.refresh();
  }

  std::unique_ptr<tests::DataFolder> data_;
  std::unique_ptr<app::Desktop> desktop_;
  ui::ChatWindow* window_ = nullptr;
};
FOVEA_TEST(ScreensTest)

#include "screens_test.moc"
