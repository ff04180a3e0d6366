// The engine behind signals, without a window.
#include "app/window/engine_worker.h"

#include <QTemporaryDir>

#include "tests/support/paths.h"
#include "tests/support/test.h"

using namespace fovea;

namespace {

// With room for some of the experts at the high tier, which changes what it can.
LoadOptions swapping(const QTemporaryDir& folder) {
  LoadOptions request{.model = tests::demo_model(), .context = 256, .threads = 2, .chunk = 16};
  request.precision.policy = PolicyKind::dynaexq;
  request.precision.tiers = {"bf16", "file"};  // quickly prepared
  request.precision.traffic_gb_per_s = 1;      // not measured
  request.precision.stores_folder = folder.path().toStdString();
  request.precision.dynaexq.interval_tokens = 1;
  request.precision.dynaexq.warm_up_tokens = 4;
  request.precision.dynaexq.hysteresis = 0;
  const auto whole = Engine::load(request);
  if (!whole) qFatal("%s", whole.error().message().c_str());
  const Plan* plan = &(*whole)->plan().plan;
  request.precision.budget_bytes = (plan->total_bytes + plan->min_bytes) / 2;
  return request;
}

GenerateRequest question(int turn) {
  GenerateRequest request;
  request.messages = {{"user", "question " + std::to_string(turn)}};
  request.max_tokens = 3 + turn % 9;
  request.sampling.seed = 7;
  return request;
}

std::int32_t in_flight(const Snapshot& s) {
  return s.queued + s.reading + s.ready;
}

}  // namespace

class EngineWorkerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // An answer's last token decides what its last pass cannot publish; no other answer follows that would.
  void swapsAreFinishedWhenAnAnswerHasEnded() {
    if (tests::demo_model().empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const QTemporaryDir folder;
    const LoadOptions request = swapping(folder);
    constexpr int turns = 12;
    int left = 0;
    {
      const auto engine = Engine::load(request);
      FOVEA_VERIFY(engine);
      for (int turn = 0; turn < turns; ++turn) {
        FOVEA_VERIFY((*engine)->generate(question(turn)));
        Snapshot snapshot;
        QVERIFY((*engine)->read_snapshot(snapshot));
        left += in_flight(snapshot) > 0;
      }
    }
    QVERIFY(left > 0);  // the engine by itself leaves some
    app::EngineWorker worker;
    worker.load(worker.next_ticket(), request);
    Snapshot snapshot;
    for (int turn = 0; turn < turns; ++turn) {
      worker.generate(worker.next_ticket(), question(turn));
      QVERIFY(worker.read_snapshot(snapshot));
      QTRY_VERIFY((worker.read_snapshot(snapshot), in_flight(snapshot) == 0));
    }
    QVERIFY(snapshot.swaps.promotions > 0);
  }
};

FOVEA_TEST(EngineWorkerTest)
#include "engine_worker_test.moc"
