// The open model beside other settings, in the window: with the real engine and the demo model.
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QRadioButton>
#include <cmath>
#include <fstream>

#include "app/library/comparison_text.h"
#include "app/live/live_session.h"
#include "app/window/compare_link.h"
#include "app/window/live_controller.h"
#include "tests/support/test.h"
#include "ui/chat/error_bar.h"
#include "ui/live/live_panel.h"

#include "desk.h"

using namespace fovea;
using State = ui::ChatWindow::State;

namespace {

constexpr app::CalibrationSettings quick{.max_seconds = 5, .rounds = 2, .round_seconds = 0.05};

// Experts of the demo move between two tiers that are quickly prepared.
LoadOptions moving(const std::filesystem::path& stores) {
  LoadOptions request{.model = tests::demo_model(), .context = 256, .threads = 2};
  request.precision.policy = PolicyKind::dynaexq;
  request.precision.tiers = {"bf16", "file"};
  request.precision.traffic_gb_per_s = 1;  // not measured
  request.precision.stores_folder = stores;
  const auto whole = plan_model(request);
  if (!whole) qFatal("%s", whole.error().message().c_str());
  request.precision.budget_bytes = (whole->plan.whole_bytes + whole->plan.min_bytes) / 2;
  return request;
}

app::SettingsComparison made_up(double difference, double error) {
  app::SettingsComparison found;
  found.log_likelihood = {difference, error};
  found.first.bytes = 572'000'000;
  found.second.bytes = 346'000'000;
  found.first.writing = {.tokens_per_second = 10, .slowest = 9, .fastest = 11};
  found.second.writing = {.tokens_per_second = 12, .slowest = 11.5, .fastest = 13};
  return found;
}

}  // namespace

class CompareTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    QVERIFY2(!tests::demo_model().empty(), "the demo model is not there; ./scripts/demo builds it");
  }

  void theSentence() {
    const QString other = QStringLiteral("everything at q2");
    app::SettingsComparison found = made_up(std::log(0.97), 0.001);
    QCOMPARE(
        app::comparison_sentence(found, other),
        QStringLiteral("As it is now, the model reaches 97.0\u00A0% of the quality of “everything at q2”, "
                       "takes 346\u00A0MB instead of 572\u00A0MB, and writes 1.20 × as fast."));
    found = made_up(std::log(0.97), 0.02);
    found.second.bytes = found.first.bytes;
    found.second.writing.slowest = 10.5;  // its rounds and the other's overlap
    QCOMPARE(app::comparison_sentence(found, other),
             QStringLiteral("As it is now, the model reaches 97.0\u00A0% of the quality of “everything at "
                            "q2”, takes as much memory (572\u00A0MB), and writes just as fast, as far as "
                            "can be told; the difference in quality could be chance."));
  }

  void withoutAModelThereIsNothingToCompare() {
    tests::Desk desk;
    app::CompareLink link(*desk.controller, desk.window);
    link.open();
    QVERIFY(desk.window.error_bar().message().contains(QStringLiteral("nothing to compare")));
    QVERIFY(!link.dialog());
  }

  // Beside the open model, which is the same afterwards and answers.
  void itSaysWhatIsLostAndGained() {
    tests::Desk desk;
    app::CompareLink link(*desk.controller, desk.window);
    link.set_speed(quick);
    app::LiveSession session;
    auto* panel = new ui::LivePanel(session, &desk.window);
    auto* live = new app::LiveController(session, *panel, *desk.controller);
    connect(&link, &app::CompareLink::routersCompared, live, &app::LiveController::set_fidelity);
    open(desk);
    auto* dialog = show(link);
    QVERIFY(dialog);
    QCOMPARE(desk.window.state(), State::ready);
    own_text(desk, *dialog);
    auto* start = dialog->findChild<QPushButton*>(QStringLiteral("startCompare"));
    QVERIFY(start->isEnabled());
    start->click();
    QVERIFY(dialog->is_running());
    auto* sentence = dialog->findChild<QLabel*>(QStringLiteral("compareSentence"));
    QTRY_VERIFY(!dialog->is_running());
    QVERIFY2(
        sentence->text().contains(QStringLiteral("every weight as in the model's file")),
        qPrintable(sentence->text() + dialog->findChild<QLabel*>(QStringLiteral("compareNote"))->text()));
    QVERIFY(sentence->isVisibleTo(dialog));
    // bf16 holds what eight bits do, so that next to nothing is lost.
    QVERIFY2(
        sentence->text().contains(QStringLiteral("100.")) || sentence->text().contains(QStringLiteral("99.")),
        qPrintable(sentence->text()));
    const QString alike = QStringLiteral("every weight as in the model's file");
    const QString meaning = dialog->findChild<QLabel*>(QStringLiteral("compareMeaning"))->text();
    QVERIFY2(meaning.contains(QStringLiteral("they make with “%1”").arg(alike)), qPrintable(meaning));
    dialog->reject();
    QCOMPARE(desk.window.state(), State::ready);
    desk.type(QStringLiteral("Hello."));
    QVERIFY(desk.answered());
    QVERIFY(!desk.stored(1).empty());
    // The panel's routers say so, too, as long as the model is open as it was, also behind other settings.
    const auto fidelity = [&] { return session.judge().routers.fidelity; };
    const auto answer_once_more = [&](const PrecisionRequest& precision) {
      desk.controller->reload(precision);
      QTRY_COMPARE(desk.window.state(), State::ready);
      desk.type(QStringLiteral("And now?"));
      QVERIFY(desk.answered());
      QTRY_VERIFY((session.advance(0), !session.nothing()));
    };
    QTRY_VERIFY((session.advance(0), !session.nothing()));
    QVERIFY(fidelity() && fidelity()->share > 0.9 && fidelity()->share <= 1);
    QCOMPARE(QString::fromStdString(fidelity()->other), alike);
    const PrecisionRequest same = desk.controller->model().settings.precision;
    PrecisionRequest fixed = same;
    fixed.policy = PolicyKind::static_tiers;
    answer_once_more(fixed);
    QVERIFY(!fidelity());
    answer_once_more(same);
    QVERIFY(fidelity());
  }

  void itIsStoppedAndBegunAgain() {
    tests::Desk desk;
    app::CompareLink link(*desk.controller, desk.window);
    link.set_speed(quick);
    open(desk);
    auto* dialog = show(link);
    QVERIFY(dialog);
    auto* start = dialog->findChild<QPushButton*>(QStringLiteral("startCompare"));
    start->click();
    start->click();
    QTRY_VERIFY(!dialog->is_running());
    QVERIFY(!dialog->findChild<QGroupBox*>(QStringLiteral("compareResult"))->isVisibleTo(dialog));
    QCOMPARE(dialog->findChild<QLabel*>(QStringLiteral("compareNote"))->text(),
             QStringLiteral("The comparison was stopped."));
    own_text(desk, *dialog);
    start->click();
    start->click();  // while the text is read
    QVERIFY(!dialog->is_running());
    start->click();
    QTRY_VERIFY(!dialog->is_running());
    QVERIFY(dialog->findChild<QGroupBox*>(QStringLiteral("compareResult"))->isVisibleTo(dialog));
    // Closing it stops it as well.
    dialog->findChild<QRadioButton*>(QStringLiteral("compareBuiltIn"))->setChecked(true);
    QSignalSpy failed(&desk.controller->worker(), &app::EngineWorker::comparisonFailed);
    start->click();
    QVERIFY(dialog->is_running());
    dialog->reject();
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(desk.controller->model_loaded());
  }

  void whatTheUserChoseIsRead() {
    tests::Desk desk;
    app::CompareLink link(*desk.controller, desk.window);
    open(desk);
    auto* dialog = show(link);
    QVERIFY(dialog);
    dialog->show_progress({}, 0, 0);
    Q_EMIT dialog->startRequested(0, q(desk.own.path() / "missing.txt"));
    auto* note = dialog->findChild<QLabel*>(QStringLiteral("compareNote"));
    QTRY_VERIFY(note->text().contains(QStringLiteral("missing.txt")));
  }

  void whereMemoryWantsItTheModelIsClosedMeanwhile() {
    tests::Desk desk;
    open(desk);
    app::ChatController& chat = *desk.controller;
    const LoadOptions before = chat.model().settings;
    LoadOptions plain = chat.opened_with({});
    app::ComparisonRequest request{.first = plain, .second = plain, .speed = quick};
    request.text = "too short";
    QSignalSpy closed(&chat, &app::ChatController::modelClosed),
        opened(&chat, &app::ChatController::modelOpened),
        failed(&chat.worker(), &app::EngineWorker::comparisonFailed);
    chat.compare(request, false);
    QCOMPARE(closed.count(), 1);
    QVERIFY(!chat.model_loaded());
    QCOMPARE(desk.window.state(), State::loading);
    QTRY_COMPARE(failed.count(), 1);
    QTRY_COMPARE(desk.window.state(), State::ready);
    QCOMPARE(opened.count(), 1);
    QCOMPARE(chat.model().settings.precision, before.precision);
    QCOMPARE(chat.model().settings.chunk, before.chunk);
    // Another model that is opened meanwhile stays.
    chat.compare(request, false);
    chat.open_model(plain);
    QTRY_COMPARE(desk.window.state(), State::ready);
    QTRY_COMPARE(failed.count(), 2);
    QTest::qWait(100);
    QCOMPARE(desk.window.state(), State::ready);
    QCOMPARE(chat.model().settings.precision.policy, PolicyKind::none);
  }

  void itGoesWithItsModel() {
    tests::Desk desk;
    app::CompareLink link(*desk.controller, desk.window);
    open(desk);
    const QPointer<ui::CompareDialog> dialog = show(link);
    QVERIFY(dialog);
    desk.controller->reload(desk.controller->model().settings.precision);
    QTRY_COMPARE(desk.window.state(), State::ready);
    QVERIFY(dialog && dialog->isVisible());  // the same once more
    desk.controller->reload({});
    QTRY_COMPARE(desk.window.state(), State::ready);
    QTRY_VERIFY(!dialog);
  }

  void itWaitsForAnAnswer() {
    tests::Desk desk(tests::endless_answers);
    app::CompareLink link(*desk.controller, desk.window);
    QVERIFY(desk.open_demo());
    desk.type(QStringLiteral("Tell me a long story."));
    QVERIFY(desk.streaming());
    auto* dialog = show(link);
    QVERIFY(dialog);
    auto* start = dialog->findChild<QPushButton*>(QStringLiteral("startCompare"));
    auto* note = dialog->findChild<QLabel*>(QStringLiteral("compareNote"));
    if (desk.window.state() == State::generating) {
      QVERIFY(!start->isEnabled());
      QVERIFY2(note->text().contains(QStringLiteral("is answering")), qPrintable(note->text()));
    }
    Q_EMIT desk.window.stopRequested();
    QTRY_VERIFY(!note->text().contains(QStringLiteral("is answering")));
  }

 private:
  static QString q(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }
  // A few windows are enough here.
  static void own_text(const tests::Desk& desk, ui::CompareDialog& dialog) {
    const std::filesystem::path file = desk.own.path() / "text.txt";
    std::ofstream(file) << app::comparison_text().substr(0, 2000);
    dialog.findChild<QRadioButton*>(QStringLiteral("compareOwn"))->setChecked(true);
    dialog.findChild<QLineEdit*>(QStringLiteral("compareFile"))->setText(q(file));
  }
  static void open(tests::Desk& desk) {
    desk.controller->open_model(moving(desk.own.path() / "stores"));
    QTRY_COMPARE(desk.window.state(), State::ready);
  }
  static ui::CompareDialog* show(app::CompareLink& link) {
    link.open();
    return QTest::qWaitFor([&] { return link.dialog() != nullptr; }, tests::kLong) ? link.dialog() : nullptr;
  }
};
FOVEA_TEST(CompareTest)

#include "compare_test.moc"
