// The tour: three subjects in a conversation of its own, captions that count, and nothing of the user's is
// lost.
#include "app/window/tour.h"

#include <QSignalSpy>
#include <QToolButton>

#include "app/window/desktop.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/composer.h"
#include "ui/chat/sidebar.h"
#include "ui/live/live_panel.h"

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

class TourTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { model_ = tests::demo_model(); }  // before the data folder is another
  void init() {
    QVERIFY2(!model_.empty(), "the demo model is not there; ./scripts/demo builds it");
    folder_ = std::make_unique<tests::DataFolder>();
  }
  void cleanup() { folder_.reset(); }

  void asksThreeSubjectsAndKeepsTheDraft() {
    app::Desktop desktop(request());
    desktop.start();
    QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
    desktop.tour().set_speed(500, 700, 8);
    desktop.window().composer().set_text(QStringLiteral("my own question"));
    QStringList captions;
    ui::TourView& view = desktop.live_panel().tour();
    const auto follow = [&] {
      if (captions.isEmpty() || captions.back() != view.text()) captions += view.text();
    };
    Q_EMIT desktop.window().tourRequested();
    QVERIFY(!view.isHidden());
    QVERIFY(wait_for([&] {
      follow();
      return !view.findChild<QToolButton*>(QStringLiteral("tourKeep"))->isHidden();
    }));
    const auto& messages = desktop.chat().conversation().messages();
    QCOMPARE(messages.size(), std::size_t{6});
    const QString all = captions.join(QLatin1Char('\n'));
    for (const char* part :
         {"1 of 3. A poem", "2 of 3. Now another subject: Python", "3 of 3", "For “Write a poem"})
      QVERIFY2(all.contains(QString::fromUtf8(part)), qPrintable(all));
    view.findChild<QToolButton*>(QStringLiteral("tourDelete"))->click();
    QVERIFY(view.isHidden());
    QVERIFY(!desktop.tour().is_under_way());
    // The conversation is gone, and what was typed is back where it was.
    QTRY_COMPARE(desktop.window().sidebar().current(), 0);
    QTRY_COMPARE(desktop.window().composer().text(), QStringLiteral("my own question"));
    QVERIFY(close(desktop));
  }

  void pausesSkipsAndEnds() {
    app::Desktop desktop(request());
    desktop.start();
    QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
    desktop.tour().set_speed(500, 100'000, 200);
    ui::TourView& view = desktop.live_panel().tour();
    const auto press = [&](const char* name) { view.findChild<QToolButton*>(QLatin1String(name))->click(); };
    Q_EMIT desktop.live_panel().tourRequested();
    QSignalSpy pieces(&desktop.chat().worker(), &app::EngineWorker::textArrived);
    QVERIFY(wait_for([&] { return pieces.size() > 2; }));
    press("tourPause");
    QTest::qWait(100);  // one that was on its way
    const auto paused_at = pieces.size();
    QTest::qWait(400);
    QVERIFY(pieces.size() <= paused_at + 1);
    QCOMPARE(desktop.window().state(), State::generating);
    press("tourPause");
    QVERIFY(wait_for([&] { return pieces.size() > paused_at + 2; }));
    press("tourSkip");  // to its numbers
    QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
    QVERIFY(view.text().contains(QStringLiteral("1 of 3")));
    press("tourSkip");  // to the next subject
    QVERIFY(wait_for([&] { return desktop.window().state() == State::generating; }));
    QVERIFY(view.text().contains(QStringLiteral("2 of 3")));
    // The stop button, too, ends it; what was written stays.
    Q_EMIT desktop.window().stopRequested();
    QVERIFY(wait_for([&] { return view.text().startsWith(QStringLiteral("That was the tour")); }));
    press("tourKeep");
    QVERIFY(view.isHidden());
    QCOMPARE(desktop.chat().conversation().messages().size(), std::size_t{4});
    QVERIFY(close(desktop));
  }

  void saysWhatItLacks() {
    app::Desktop desktop({});
    ui::TourView& view = desktop.live_panel().tour();
    Q_EMIT desktop.window().tourRequested();
    QVERIFY(view.text().contains(QStringLiteral("not on this computer")));
    view.findChild<QToolButton*>(QStringLiteral("tourEnd"))->click();
    QVERIFY(view.isHidden());
    QVERIFY(close(desktop));
  }

 private:
  app::WindowRequest request() const {
    app::WindowRequest request;
    request.load.emplace();
    request.load->model = model_;
    request.load->context = 1024;
    request.load->threads = 2;
    request.load->precision.policy = PolicyKind::automatic;
    request.load->precision.tiers = {"bf16", "file"};  // quickly prepared
    request.load->precision.budget_bytes = 190'000'000;
    request.load->precision.stores_folder = folder_->path() / "stores";
    return request;
  }

  std::filesystem::path model_;
  std::unique_ptr<tests::DataFolder> folder_;
};

FOVEA_TEST(TourTest)

#include "tour_test.moc"
