// Every operation's cases (kernels/cases) on the kernels as nvcc compiled them (tests/kernels/ptx) against
// the reference device, in the file's packing and in the device's, and a part of them watched for races;
// between this and a card is only NVIDIA's last step, from PTX to machine code. FOVEA_TEST_SEED changes the
// values, the order of threads and what is watched; with FOVEA_TEST_ROUNDS that is more, up to all.
#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/cases/case.h"
#include "kernels/cases/weights.h"
#include "kernels/reference/device.h"
#include "tests/kernels/ptx/device.h"
#include "tests/kernels/ptx/runtime.h"
#include "tests/support/test.h"

#include "fake_cublas.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cases;
using namespace fovea::tests;

namespace {

const Cases& sweep() {
  static const Cases all = sweep_cases(seed());
  return all;
}

// In the place of NVIDIA's, for streams that want one: over the cards' memory, in the streams' order.
void use_fake_cublas() {
  qputenv("FOVEA_CUBLAS", FAKE_CUBLAS);
  auto* const give = reinterpret_cast<FakeCublas* (*)()>(dlsym(dlopen(FAKE_CUBLAS, RTLD_NOW), "fake_cublas"));
  FakeCublas& library = *give();
  library.later = [](void* stream, std::function<void()> work) {
    ptx::do_later(static_cast<cudaStream_t>(stream), std::move(work));
  };
  library.reach = [](void* stream, const void* memory, std::size_t bytes) {
    return static_cast<void*>(ptx::reach(static_cast<cudaStream_t>(stream), memory, bytes));
  };
}

}  // namespace

class CudaOperationsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    use_fake_cublas();
    for (const bool watch : {false, true})
      devices_[watch] = ptx::device(
          {.seed = seed(), .watch = watch, .on_error = [this](const std::string& text) { error_ = text; }});
  }
  void agrees_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < sweep().size(); ++i)
      QTest::addRow("%s", sweep()[i]->name.c_str()) << static_cast<int>(i);
  }
  void agrees() {
    QFETCH(int, index);
    const Case& one = *sweep()[static_cast<std::size_t>(index)];
    const auto step = static_cast<unsigned>(std::max(1, 5 / rounds(1)));
    const Device& device = *devices_[static_cast<unsigned>(index) % step == seed() % step ? 1 : 0];
    std::string damage;
    const auto truth = reference::device().make_stream({});
    const std::vector<float> expected = run_once(one, reference::device(), *truth, false, damage);
    const std::vector<double> tolerance = one.tolerance(expected);
    const bool has_library = one.name.starts_with("linear");
    for (const auto& [packed, library] : {std::pair(false, false), {true, false}, {false, true}}) {
      if (library && !has_library) continue;
      const auto stream = device.make_stream({.multiplies_bf16 = library});
      error_.clear();
      const std::int64_t before = ptx::kernels_run(device);
      const std::vector<float> outputs = run_once(one, device, *stream, packed, damage);
      QVERIFY(ptx::kernels_run(device) > before);
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
    QCOMPARE(ptx::waited_unasked(device), 0);
  }
  // And gives fewer hints of weights.
  void what_is_switched_off_changes_no_bit_data() {
    QTest::addColumn<QString>("operation");
    for (const char* operation : {"linear", "rms_norm"})
      QTest::newRow(operation) << QString::fromUtf8(operation);
  }
  void what_is_switched_off_changes_no_bit() {
    QFETCH(QString, operation);
    const auto one = std::ranges::find_if(
        sweep(), [&](const auto& each) { return each->name.starts_with(operation.toStdString() + ' '); });
    const auto run = [&](bool mechanisms) {
      const auto device = ptx::device({.seed = seed(), .mechanisms = mechanisms});
      const auto stream = device->make_stream({});
      std::string damage;
      const std::vector<float> outputs = run_once(**one, *device, *stream, true, damage);
      return std::pair(outputs, ptx::instructions_run(*device));
    };
    const auto [usual, many] = run(true);
    const auto [without, fewer] = run(false);
    QVERIFY(fewer < many);
    QCOMPARE(usual.size(), without.size());
    QCOMPARE(std::memcmp(usual.data(), without.data(), usual.size() * sizeof(float)), 0);
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
    QTest::newRow(
        "feed_forward F32/F32 0 experts, 0 used, d 45, width 19, 8 tokens, shared, normed, added, "
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
    const auto device = ptx::device({.seed = seed(),
                                     .multiprocessors = multiprocessors,
                                     .on_error = [&](const std::string& text) { error = text; }});
    const auto stream = device->make_stream({});
    const auto truth = reference::device().make_stream({});
    const std::vector<float> expected = run_once(**found, reference::device(), *truth, false, damage);
    const std::int64_t before = ptx::kernels_run(*device);
    const std::vector<float> outputs = run_once(**found, *device, *stream, false, damage);
    QCOMPARE(ptx::kernels_run(*device) - before, kernels);
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
      const auto device = ptx::device({.seed = seed(), .order = order});
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
    const Device& device = *devices_[1];
    Memory memory(device, true);
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
    const auto stream = device.make_stream({});
    device.operations().router(op, *stream);
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
  void cleanupTestCase() { devices_ = {}; }

 private:
  std::array<std::unique_ptr<Device>, 2> devices_;  // the second one is watched for races
  std::string error_;
};
FOVEA_TEST(CudaOperationsTest)

#include "operations_test.moc"
