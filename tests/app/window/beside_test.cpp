// One question with adaptive and with fixed experts: two answers, and how far both are from the full
// model.
#include "app/window/beside_link.h"

#include <QPlainTextEdit>
#include <QPushButton>
#include <algorithm>

#include "app/window/desktop.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"

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

class BesideTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { model_ = tests::demo_model(); }  // before the data folder is another
  void init() { folder_ = std::make_unique<tests::DataFolder>(); }
  void cleanup() { folder_.reset(); }

  void answersTwiceAndOpensTheModelAgain() {
    QVERIFY2(!model_.empty(), "the demo model is not there; ./scripts/demo builds it");
    app::Desktop desktop(request());
    desktop.start();
    QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
    desktop.beside().set_most_tokens(24);
    Q_EMIT desktop.window().besideRequested();
    QVERIFY(wait_for([&] { return desktop.beside().dialog() != nullptr; }));
    ui::BesideDialog& dialog = *desktop.beside().dialog();
    QVERIFY2(dialog.note().contains(QStringLiteral("full precision")), qPrintable(dialog.note()));
    auto* start = dialog.findChild<QPushButton*>(QStringLiteral("startBeside"));
    QVERIFY(!start->isEnabled());  // nothing is asked
    dialog.findChild<QPlainTextEdit*>(QStringLiteral("besideQuestion"))
        ->setPlainText(QStringLiteral("What is the sea?"));
    QVERIFY(start->isEnabled());
    start->click();
    QVERIFY(dialog.is_running());
    QVERIFY(wait_for([&] { return !dialog.is_running(); }));
    for (const int column : {0, 1}) QVERIFY(!dialog.text(column).isEmpty());
    QCOMPARE(dialog.marked(0) + dialog.marked(1) == QStringList(), dialog.text(0) == dialog.text(1));
    QVERIFY2(dialog.note().contains(QStringLiteral("the full model")), qPrintable(dialog.note()));
    QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
    QCOMPARE(desktop.chat().model().settings.precision.policy, PolicyKind::fovea);
    QCOMPARE(desktop.chat().conversation().messages().size(), std::size_t{0});
    // Stopped, nothing is kept of it, and the model is opened again.
    start->click();
    QVERIFY(wait_for([&] { return !dialog.text(0).isEmpty(); }));
    dialog.reject();
    QVERIFY(wait_for([&] { return !dialog.is_running(); }));
    QVERIFY(wait_for([&] { return desktop.window().state() == State::ready; }));
    dialog.reject();
    QTRY_VERIFY(!desktop.beside().dialog());
    QVERIFY(close(desktop));
  }

  // The model that wrote the answer is as near to itself as can be: its own probabilities are found again.
  void theFullModelIsItsOwnMeasure() {
    QVERIFY2(!model_.empty(), "the demo model is not there; ./scripts/demo builds it");
    LoadOptions plain;
    plain.model = model_;
    plain.context = 512;
    app::BesideRequest asked{.adaptive = plain, .fixed = plain, .full = plain};
    asked.question.messages = {{"user", "What is the sea?"}};
    asked.question.max_tokens = 16;
    const auto load = [](const LoadOptions& options, const ProgressSink& progress,
                         const std::stop_token& stop) { return Engine::load(options, progress, stop); };
    std::string text;
    std::vector<std::int64_t> ends;  // of the first answer's tokens
    const auto found = app::answer_beside(asked, load, [&](const app::BesideProgress& progress) {
      if (progress.setting != 0) return;
      text += progress.text;
      for (const TokenRecord& token : progress.tokens) ends.push_back(token.text_end);
    });
    FOVEA_VERIFY(found);
    QCOMPARE(found->adaptive.text, found->fixed.text);
    QCOMPARE(text, found->adaptive.text);
    QCOMPARE(std::ssize(ends), found->adaptive.tokens);
    QVERIFY(std::ranges::is_sorted(ends));
    QCOMPARE(ends.back(), std::ssize(text));
    QVERIFY(found->seed != 0);
    QVERIFY2(std::abs(found->adaptive.divergence.value()) < 1e-3,
             qPrintable(QString::number(*found->adaptive.divergence)));
  }

  // Both answers stay, whatever becomes of the full model; and it says how long that will read.
  void theAnswersStayWithoutTheFullModel() {
    QVERIFY2(!model_.empty(), "the demo model is not there; ./scripts/demo builds it");
    LoadOptions plain;
    plain.model = model_;
    plain.context = 512;
    plain.chunk = 32;
    app::BesideRequest asked{.adaptive = plain, .fixed = plain, .full = plain, .full_pass_seconds = 1000};
    asked.question.messages = {{"user", "What is the sea?"}};
    asked.question.max_tokens = 8;
    const auto load = [](const LoadOptions& options, const ProgressSink& progress,
                         const std::stop_token& stop) { return Engine::load(options, progress, stop); };
    std::stop_source stop;
    double told = 0;
    auto found = app::answer_beside(
        asked, load,
        [&](const app::BesideProgress& progress) {
          if (progress.part != app::BesideProgress::Part::judges) return;
          told = std::max(told, progress.seconds_left);
          stop.request_stop();
        },
        stop.get_token());
    FOVEA_VERIFY(found);
    QVERIFY(found->left_out && !found->trouble && !found->adaptive.divergence);
    QVERIFY(!found->adaptive.text.empty() && !found->fixed.text.empty());
    QVERIFY(told >= 2000);  // a pass for each answer at least
    asked.full->model = folder_->path() / "nothing.gguf";
    found = app::answer_beside(asked, load);
    FOVEA_VERIFY(found);
    QVERIFY(!found->left_out && found->trouble && !found->fixed.divergence);
    QCOMPARE(found->adaptive.text, found->fixed.text);
  }

  void saysWhatItNeeds() {
    app::Desktop desktop({});
    Q_EMIT desktop.window().besideRequested();
    QVERIFY(!desktop.beside().dialog());
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

FOVEA_TEST(BesideTest)

#include "beside_test.moc"
