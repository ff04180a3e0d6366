// A model of every family opens in the window, answers, and the panel shows its experts moving.
#include <QTemporaryDir>

#include "app/live/live_session.h"
#include "app/window/desktop.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/chat_settings_dialog.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/transcript_view.h"
#include "ui/live/live_panel.h"

#include "../../engine/runtime/family_models.h"
#include "closing.h"

using namespace fovea;
using State = ui::ChatWindow::State;
using tests::close;
using tests::kLong;
using tests::family_models::subjects;

class FamiliesInWindowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void opensAnswersAndMoves_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < std::size(subjects); ++i)
      QTest::newRow(subjects[i].file) << static_cast<int>(i);
  }
  void opensAnswersAndMoves() {
    QFETCH(int, index);
    const auto& subject = subjects[index];
    const tests::DataFolder folder;
    app::WindowRequest request;
    request.load = options_of(subject, folder.path());
    app::Desktop desktop(request);
    desktop.start();
    QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
    QVERIFY2(desktop.chat().model_loaded(), qPrintable(desktop.window().error_bar().message()));
    desktop.live_panel().show();
    desktop.window().show_live_panel(true);
    ui::ChatSettingsView settings;
    settings.seed = 3;
    settings.max_tokens = 60;
    settings.temperature = 1.5;
    desktop.chat().conversation().set_chat_settings(settings);
    // The panel looks ten times a second, and these models answer within milliseconds.
    const auto has_moved = [&] {
      const auto& ring = desktop.live_session().ring();
      return !ring.empty() && ring.last().numbers.swaps.promotions > 0;
    };
    std::size_t turns = 0;
    for (; turns < 2 || (turns < 12 && subject.experts > 0 && !has_moved()); ++turns) {
      Q_EMIT desktop.window().sendRequested(QStringLiteral("abc %1 xyz").arg(turns));
      QVERIFY(QTest::qWaitFor([&] { return desktop.window().state() == State::ready; }, kLong));
      QTest::qWait(200);
    }
    QCOMPARE(desktop.chat().conversation().messages().size(), 2 * turns);
    if (const QString pictures = qEnvironmentVariable("FOVEA_TEST_PICTURES"); !pictures.isEmpty())
      desktop.window().grab().save(pictures + QLatin1Char('/') + QLatin1String(subject.file) +
                                   QStringLiteral(".png"));
    QVERIFY(std::ranges::any_of(
        desktop.chat().conversation().messages(), [](const app::history::Message& message) {
          return message.role == app::history::Role::assistant && !message.text.empty();
        }));
    if (subject.experts > 0) QVERIFY(has_moved());
    QVERIFY2(desktop.window().error_bar().message().isEmpty(),
             qPrintable(desktop.window().error_bar().message()));
    QVERIFY(close(desktop));
  }

 private:
  static LoadOptions options_of(const tests::family_models::Subject& subject,
                                const std::filesystem::path& folder) {
    LoadOptions load;
    load.model = folder / subject.file;
    tests::family_models::Copy(subject.file, load.model);
    load.context = 768;
    load.threads = 1;
    load.precision.stores_folder = folder / "stores";
    load.precision.traffic_gb_per_s = 1;  // not measured
    if (subject.experts == 0) return load;
    load.precision.policy = PolicyKind::dynaexq;
    load.precision.tiers = {"file", subject.low};
    load.precision.dynaexq.interval_tokens = 4;
    load.precision.dynaexq.warm_up_tokens = 4;
    load.precision.dynaexq.hysteresis = 0;
    load.precision.budget_bytes = tests::family_models::budget_of_some_high(load);
    return load;
  }
};
FOVEA_TEST(FamiliesInWindowTest)

#include "families_in_window_test.moc"
