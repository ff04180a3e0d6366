// Every operation's cases (kernels/cases) on the kernels as nvcc compiled them: the module's own host code
// starts them, their PTX is executed here, and the results are held against the reference device. The
// emulation (tests/kernels/cuda/emulation) compiles the same sources by another compiler, with other words
// for what a GPU alone has; between this and a card is only NVIDIA's last step, from PTX to machine code.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cases/case.h"
#include "kernels/cuda/module/device.h"
#include "kernels/reference/device.h"
#include "tests/support/test.h"

#include "runtime.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cases;
using namespace fovea::tests;

namespace {

const Cases& sweep() {
  static const Cases all = sweep_cases(seed());
  return all;
}

}  // namespace

class PtxOperationsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    ptx::use_seed(seed());
    ptx::watch(true);
    stream_ = device_.make_stream({});
  }
  void agrees_data() {
    QTest::addColumn<int>("index");
    // A part of them, which the seed chooses; with FOVEA_TEST_ROUNDS more, up to all.
    const auto step = static_cast<std::size_t>(std::max(1, 5 / rounds(1)));
    for (std::size_t i = seed() % step; i < sweep().size(); i += step)
      QTest::addRow("%s", sweep()[i]->name.c_str()) << static_cast<int>(i);
  }
  void agrees() {
    QFETCH(int, index);
    const Case& one = *sweep()[static_cast<std::size_t>(index)];
    std::string damage;
    const auto truth = reference::device().make_stream({});
    const std::vector<float> expected = run_once(one, reference::device(), *truth, false, damage);
    const std::vector<double> tolerance = one.tolerance(expected);
    for (const bool packed : {false, true}) {
      const std::int64_t before = ptx::kernels_run();
      const std::vector<float> outputs = run_once(one, device_, *stream_, packed, damage);
      std::string wrong = ptx::fault();
      if (wrong.empty()) wrong = stream_->failure().said;
      if (wrong.empty()) wrong = !damage.empty() ? damage : difference(outputs, expected, tolerance);
      QVERIFY2(wrong.empty(), ((packed ? "packed: " : "rows: ") + wrong).c_str());
      QVERIFY(ptx::kernels_run() > before);
    }
    QCOMPARE(ptx::waited_unasked(), 0);
  }

  // And gives fewer hints of weights.
  void whatIsSwitchedOffChangesNoBit_data() {
    QTest::addColumn<QString>("operation");
    for (const char* operation : {"linear", "rms_norm"})
      QTest::newRow(operation) << QString::fromUtf8(operation);
  }
  void whatIsSwitchedOffChangesNoBit() {
    QFETCH(QString, operation);
    const auto one = std::ranges::find_if(
        sweep(), [&](const auto& each) { return each->name.starts_with(operation.toStdString() + ' '); });
    const cuda::CudaDevice plain(0, {.pdl = false, .graph = false, .prefetch = false});
    const auto stream = plain.make_stream({});
    std::string damage;
    const std::int64_t begin = ptx::instructions_run();
    const std::vector<float> usual = run_once(**one, device_, *stream_, true, damage);
    const std::int64_t middle = ptx::instructions_run();
    const std::vector<float> without = run_once(**one, plain, *stream, true, damage);
    QCOMPARE(ptx::fault() + stream->failure().said + damage, std::string());
    QVERIFY(ptx::instructions_run() - middle < middle - begin);
    QCOMPARE(usual.size(), without.size());
    QCOMPARE(std::memcmp(usual.data(), without.data(), usual.size() * sizeof(float)), 0);
  }

 private:
  const cuda::CudaDevice device_{0};
  std::unique_ptr<Stream> stream_;
};
FOVEA_TEST(PtxOperationsTest)

#include "operations_test.moc"
