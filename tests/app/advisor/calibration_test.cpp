// The real engine and the demo model: what is measured is of the order that can be.
#include "app/advisor/calibration.h"

#include <numeric>

#include "tests/support/test.h"

using namespace fovea;

namespace {

constexpr app::CalibrationSettings kShort{.max_seconds = 5, .rounds = 3, .round_seconds = 0.1};

}  // namespace

class CalibrationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    const auto model = tests::demo_model();
    QVERIFY2(!model.empty(), "the demo model is not there; ./scripts/demo builds it");
    LoadOptions request;
    request.model = model;
    request.context = 512;
    request.threads = 2;
    auto engine = Engine::load(request);
    FOVEA_VERIFY(engine);
    engine_ = *std::move(engine);
  }

  void measures() {
    std::vector<Progress> reports;
    const auto result =
        app::calibrate(*engine_, kShort, [&](const Progress& progress) { reports.push_back(progress); });
    FOVEA_VERIFY(result);
    QVERIFY(result->tokens >= 3 * 2);
    QVERIFY(result->slowest <= result->tokens_per_second && result->tokens_per_second <= result->fastest);
    QVERIFY(result->slowest > 0);
    QVERIFY(result->read_gb_per_s > 0);
    // The file has 130 MB, and two of 16 experts work.
    QVERIFY(result->bytes_per_token > 20'000'000 && result->bytes_per_token < 130'000'000);
    QVERIFY(result->accounted_bytes > 100'000'000);
    QVERIFY(result->resident_bytes > 50'000'000);
    QVERIFY(!reports.empty());
    for (const Progress& report : reports) QVERIFY(report.done <= report.total);
  }

  void theMedianOfTwoIsTheirMean() {
    const auto result = app::calibrate(*engine_, {.max_seconds = 60, .rounds = 2, .round_seconds = 0.01});
    FOVEA_VERIFY(result);
    QCOMPARE(result->tokens_per_second, std::midpoint(result->slowest, result->fastest));
  }

  void stops() {
    std::stop_source stop;
    const auto result =
        app::calibrate(*engine_, kShort, [&](const Progress&) { stop.request_stop(); }, stop.get_token());
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::cancelled);
  }

 private:
  std::unique_ptr<Engine> engine_;
};
FOVEA_TEST(CalibrationTest)

#include "calibration_test.moc"
