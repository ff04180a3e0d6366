// Every operation's cases (kernels/cases) on the emulated device against the reference device, in
// the file's packing and in the device's. FOVEA_TEST_SEED changes the values and the order of threads.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/cases/case.h"
#include "kernels/cases/weights.h"
#include "kernels/reference/device.h"
#include "tests/kernels/cuda/emulation/device.h"
#include "tests/kernels/cuda/emulation/sanitizer.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cases;
using namespace fovea::tests;

namespace {

const Cases& sweep() {
  static const Cases all = sweep_cases(seed());
  return all;
}

}  // namespace

class CudaOperationsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    device_ = cuda::emulation::emulated_device(
        {.seed = seed(), .scratch_bytes = std::int64_t{4} << 20, .on_error = [this](const std::string& text) {
           error_ = text;
         }});
  }
  void agrees_data() {
    QTest::addColumn<int>("index");
    // With the address sanitizer some of them, which the seed chooses: it makes the emulation ten times
    // slower.
    const std::size_t step = cuda::emulation::address_sanitizer ? 8 : 1;
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
    const bool has_library = one.name.starts_with("linear");
    for (const auto& [packed, library] : {std::pair(false, false), {true, false}, {false, true}}) {
      if (library && !has_library) continue;
      const auto stream = device_->make_stream({.multiplies_bf16 = library});
      error_.clear();
      const std::vector<float> outputs = run_once(one, *device_, *stream, packed, damage);
      std::string wrong = !error_.empty()   ? error_
                          : !damage.empty() ? damage
                                            : difference(outputs, expected, tolerance);
      if (!wrong.empty()) {
        wrong += std::string(library  ? ", with a library"
                             : packed ? ", packed"
                                      : ", rows") +
                 " (seed " + std::to_string(seed()) + "; again: FOVEA_TEST_SEED=" + std::to_string(seed()) +
                 " test_kernels_cuda CudaOperationsTest \"agrees:" + one.name + "\")";
      }
      QVERIFY2(wrong.empty(), wrong.c_str());
    }
  }
  // A kernel costs a token more than most of what it computes: few splits are joined without one of their
  // own.
  // Attention of few splits is one kernel, and an addition and a norm are done with the product of few rows.
  void few_kernels_data() {
    QTest::addColumn<int>("multiprocessors");
    QTest::addColumn<int>("kernels");
    QTest::newRow("attention F16 2x64, pages of 16, 6 heads, 1 tokens at 15") << 4 << 1;  // one split
    QTest::newRow("attention F16 4x128, pages of 64, 32 heads, 1 tokens at 700") << 4 << 1;
    QTest::newRow("attention Q8_0 2x64, pages of 16, 16 heads, 1 tokens at 700, sinks") << 16 << 1;
    QTest::newRow("attention F16 1x64, pages of 24, 3 heads, 1 tokens at 5000") << 5 << 1;     // 15 splits
    QTest::newRow("attention F16 2x128, pages of 64, 16 heads, 2 tokens at 4200") << 32 << 2;  // 32
    // With one for quantising the input, and one more for reading what was quantised.
    QTest::newRow("linear Q4_F 96x512 8 tokens, added, norm, quantised") << 4 << 3;
    QTest::newRow("linear Q4_F 96x512 9 tokens, added, norm, quantised") << 4 << 6;  // its columns divided
    QTest::newRow("linear F16 45x33 1 tokens, added, scaled, norm") << 4 << 1;
    QTest::newRow("feed_forward F32/F32 0 experts, 0 used, d 45, width 19, 8 tokens, shared, normed, added, "
                  "scaled, norm")
        << 4 << 2;
  }
  void few_kernels() {
    QFETCH(int, multiprocessors);
    QFETCH(int, kernels);
    const auto found = std::ranges::find(sweep(), std::string(QTest::currentDataTag()),
                                         [](const auto& each) { return each->name; });
    QVERIFY(found != sweep().end());
    std::string error, damage;
    const auto device = cuda::emulation::emulated_device(
        {.seed = seed(), .multiprocessors = multiprocessors, .on_error = [&](const std::string& text) {
           error = text;
         }});
    const auto stream = device->make_stream({});
    const auto truth = reference::device().make_stream({});
    const std::vector<float> expected = run_once(**found, reference::device(), *truth, false, damage);
    const std::int64_t before = cuda::emulation::kernels_run(*device);
    const std::vector<float> outputs = run_once(**found, *device, *stream, false, damage);
    QCOMPARE(cuda::emulation::kernels_run(*device) - before, kernels);
    QCOMPARE(error + damage, std::string());
    QCOMPARE(difference(outputs, expected, (*found)->tolerance(expected)), std::string());
  }
  // Tokens are grouped by expert in an order that chance decides, and blocks come in any order.
  void the_order_of_threads_changes_no_bit_data() {
    QTest::addColumn<QString>("name");
    for (const char* name :
         {"feed_forward mixed types 7 experts, 3 used, d 256, width 256, 21 tokens, weighted shared",
          "feed_forward Q4_0/Q4_0 1 experts, 1 used, d 32, width 32, 70 tokens",
          "attention F16 1x64, pages of 64, 5 heads, 33 tokens at 130", "linear Q2_K 37x256 19 tokens"})
      QTest::addRow("%s", name) << QString::fromUtf8(name);
  }
  void the_order_of_threads_changes_no_bit() {
    QFETCH(QString, name);
    const Case* one = nullptr;
    for (const auto& each : sweep()) {
      if (each->name == name.toStdString()) one = each.get();
    }
    QVERIFY(one);
    std::vector<float> first;
    for (std::uint64_t order = 1; order <= 3; ++order) {
      const auto device = cuda::emulation::emulated_device({.seed = order});
      std::string damage;
      const auto stream = device->make_stream({});
      const std::vector<float> outputs = run_once(*one, *device, *stream, true, damage);
      if (order == 1) first = outputs;
      QCOMPARE(outputs.size(), first.size());
      QVERIFY(std::memcmp(outputs.data(), first.data(), first.size() * sizeof(float)) == 0);
    }
  }
  // Whatever a broken model computes: what reads the experts' handles must find some.
  void logits_that_are_no_numbers_choose_experts_data() {
    QTest::addColumn<int>("tokens");
    QTest::newRow("few") << 2;
    QTest::newRow("many") << 20;
  }
  void logits_that_are_no_numbers_choose_experts() {
    QFETCH(int, tokens);
    constexpr std::int64_t experts = 5, used = 3, d = 32;
    Random random(seed());
    Memory memory(*device_, true);
    std::vector<float> x = normals(random, tokens * d);
    std::fill_n(x.begin(), d, std::numeric_limits<float>::quiet_NaN());
    Router op;
    op.x = memory.input(x);
    op.tokens = tokens;
    op.weight = memory.weight(random_weight(random, Type::f32, experts, d));
    op.used = used;
    op.logits = memory.used_up(std::vector<float>(static_cast<std::size_t>(tokens * experts)));
    op.ids = memory.output<std::int32_t>(tokens * used);
    op.weights = memory.used_up(std::vector<float>(static_cast<std::size_t>(tokens * used)));
    error_.clear();
    memory.reset();
    const auto stream = device_->make_stream({});
    device_->operations().router(op, *stream);
    stream->synchronize();
    QCOMPARE(error_, std::string());
    const std::vector<float> ids = memory.outputs();
    QCOMPARE(std::ssize(ids), tokens * used);
    for (std::size_t first = 0; first < ids.size(); first += used) {
      std::set<float> chosen(ids.begin() + static_cast<std::ptrdiff_t>(first),
                             ids.begin() + static_cast<std::ptrdiff_t>(first + used));
      QCOMPARE(std::ssize(chosen), used);
      QVERIFY(*chosen.begin() >= 0 && *chosen.rbegin() < experts);
    }
  }
  void cleanupTestCase() { device_.reset(); }

 private:
  std::unique_ptr<Device> device_;
  std::string error_;
};
FOVEA_TEST(CudaOperationsTest)

#include "operations_test.moc"
