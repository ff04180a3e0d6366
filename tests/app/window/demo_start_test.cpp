// The demo's first start: one can chat at once, its store is prepared meanwhile, and then its experts move.
#include "app/window/demo_start.h"

#include <QToolButton>

#include "app/demo/demo_precision.h"
#include "app/demo/demo_prompts.h"
#include "app/window/desktop.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/error_bar.h"
#include "ui/chat/starter_view.h"
#include "ui/chat/transcript_view.h"

#include "closing.h"

using namespace fovea;
using State = ui::ChatWindow::State;

namespace {

using fovea::tests::close;
using fovea::tests::kLong;

bool wait_for(const std::function<bool()>& done) {
  return QTest::qWaitFor(done, kLong);
}

}  // namespace

class DemoStartTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { source_ = tests::demo_model(); }  // before the data folder is another
  void init() {
    QVERIFY2(!source_.empty(), "the demo model is not there; ./scripts/demo builds it");
    folder_ = std::make_unique<tests::DataFolder>();
    std::filesystem::create_directories(folder_->path() / "models");
    model_ = folder_->path() / "models/demo.gguf";
    std::filesystem::create_symlink(source_, model_);
  }
  void cleanup() { folder_.reset(); }

  void itsExpertsMoveAsSoonAsTheyArePrepared() {
    {
      app::Desktop desktop(request());
      desktop.start();
      QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
      QCOMPARE(policy(desktop), PolicyKind::none);
      auto* starters = desktop.window().findChild<ui::StarterView*>();
      QVERIFY(starters->isVisible());
      QCOMPARE(starters->findChildren<ui::StarterCard*>().size(), std::ssize(app::demo_prompts()));
      QVERIFY(wait_for([&] { return desktop.window().error_bar().message().contains(QLatin1Char('%')); }));
      QCOMPARE(desktop.window().error_bar().kind(), ui::ErrorBar::Kind::notice);

      // Meanwhile one can ask; an answer under way is not disturbed.
      starters->findChild<ui::StarterCard*>()->click();
      QVERIFY(wait_for([&] { return desktop.window().state() == State::generating; }));
      QVERIFY(!starters->isVisible());
      const ui::ErrorBar& bar = desktop.window().error_bar();
      QVERIFY(wait_for(
          [&] { return policy(desktop) == PolicyKind::fovea || bar.kind() == ui::ErrorBar::Kind::error; }));
      QVERIFY2(bar.kind() == ui::ErrorBar::Kind::notice, qPrintable(bar.message()));
      QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
      QCOMPARE(desktop.chat().conversation().messages().size(), std::size_t{2});
      QVERIFY(!desktop.chat().conversation().messages()[1].text.empty());
      const LoadOptions& opened = desktop.chat().model().settings;
      QCOMPARE(opened.precision.tiers, app::demo_tiers());
      const Plan& plan = desktop.chat().model().plan.value();
      QVERIFY(plan.parts.experts.size() == 2 && plan.parts.experts[0].units > 0 &&
              plan.parts.experts[1].units > 0);
      QVERIFY(close(desktop));
    }
    app::Desktop again(request());
    again.start();
    QVERIFY(wait_for([&] { return again.window().state() == State::ready; }));
    QCOMPARE(policy(again), PolicyKind::fovea);
    // Another policy has the chunk that is its own.
    QCOMPARE(again.chat().model().settings.chunk, 128);
    PrecisionRequest none;
    none.policy = PolicyKind::none;
    again.chat().reload(none);
    QVERIFY(wait_for([&] { return again.window().state() == State::ready; }));
    QCOMPARE(policy(again), PolicyKind::none);
    QCOMPARE(again.chat().model().settings.chunk, 256);
    QVERIFY(close(again));

    app::WindowRequest fixed = request();
    fixed.policy_given = true;  // --policy none
    app::Desktop as_it_is(fixed);
    as_it_is.start();
    QVERIFY(wait_for([&] { return as_it_is.window().state() == State::ready; }));
    QCOMPARE(policy(as_it_is), PolicyKind::none);
    QVERIFY(close(as_it_is));
  }

  // What was begun is stopped with the window, at once.
  void theWindowDoesNotWaitForIt() {
    app::Desktop desktop(request());
    desktop.start();
    const ui::ErrorBar& bar = desktop.window().error_bar();
    QVERIFY(wait_for([&] { return bar.message().contains(QLatin1Char('%')); }));
    // Its progress stands below another notice, not in an error's place, and not once it was dismissed.
    desktop.window().show_notice(QStringLiteral("A notice."));
    QVERIFY(wait_for([&] {
      return bar.message().startsWith(QStringLiteral("A notice.\n")) &&
             bar.message().contains(QLatin1Char('%'));
    }));
    desktop.window().show_error(QStringLiteral("An error."));
    QTest::qWait(500);
    QCOMPARE(bar.message(), QStringLiteral("An error."));
    desktop.window().findChild<QToolButton*>(QStringLiteral("dismissError"))->click();
    QTest::qWait(500);
    QCOMPARE(bar.message(), QString());
    QVERIFY(close(desktop));
    QVERIFY(!app::demo_is_prepared(model_, folder_->path() / "stores"));
  }

 private:
  app::WindowRequest request() const {
    app::WindowRequest request;
    request.load.emplace();
    request.load->model = model_;
    request.load->context = 512;
    request.load->threads = 1;
    return request;
  }
  static PolicyKind policy(app::Desktop& desktop) {
    return desktop.chat().model_loaded() ? desktop.chat().model().settings.precision.policy
                                         : PolicyKind::none;
  }

  std::filesystem::path source_, model_;
  std::unique_ptr<tests::DataFolder> folder_;
};
FOVEA_TEST(DemoStartTest)

#include "demo_start_test.moc"
