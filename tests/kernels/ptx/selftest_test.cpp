// The parts of `fovea selftest` over whole models, on kernels as nvcc compiled them: goldens, captured
// decoding beside single calls bit for bit, experts that change tier or place in a storm of swaps, and a model
// that is divided.
#include "engine/selftest/selftest.h"

#include <QTemporaryDir>
#include <string>

#include "engine/core/result.h"
#include "kernels/cuda/module/device.h"
#include "tests/support/test.h"

#include "runtime.h"

using namespace fovea;
using namespace fovea::tests;

using Part = Result<SelfTestPart> (*)(const selftest::Bench&);
Q_DECLARE_METATYPE(Part)

class PtxSelfTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void passes_data() {
    QTest::addColumn<Part>("part");
    QTest::newRow("whole model") << &selftest::test_whole_model;
    QTest::newRow("decode graphs") << &selftest::test_decode_graphs;
    QTest::newRow("swap storm") << &selftest::test_swap_storm;
    QTest::newRow("changing places") << &selftest::test_places;
    QTest::newRow("two cards") << &selftest::test_two_cards;
  }
  void passes() {
    QFETCH(Part, part);
    ptx::use_seed(seed());
    ptx::watch(true);
    const kernels::cuda::CudaDevice device(0);
    const QTemporaryDir folder;
    const ProgressSink silent;
    const std::int64_t before = ptx::kernels_run();
    const auto result = part({.device = device,
                              .threads = 2,
                              .seed = seed(),
                              .folder = folder.path().toStdString(),
                              .progress = silent,
                              .stop = {}});
    const std::string fault = ptx::fault();
    QVERIFY2(fault.empty(), fault.c_str());
    QVERIFY2(result.has_value(), result ? "" : result.error().what_words().c_str());
    std::string faults;
    for (const fovea::Phrase& one : result->faults) faults += fovea::english(one) + "\n";
    QVERIFY2(result->failed == 0 && result->checks > 0, faults.c_str());
    QVERIFY(ptx::kernels_run() > before);
    qInfo("%lld kernels", static_cast<long long>(ptx::kernels_run() - before));
  }
};
FOVEA_TEST(PtxSelfTest)

#include "selftest_test.moc"
