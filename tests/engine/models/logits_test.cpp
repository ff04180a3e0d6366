// Every family's logits against transformers, on every device.
#include <algorithm>
#include <cmath>

#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

#include "golden_logits.h"
#include "runner.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

std::string label(const kernels::Device& device) {
  return device.name() + " " + device.instruction_set();
}

}  // namespace

class LogitsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalTransformers_data() {
    QTest::addColumn<int>("device");
    QTest::addColumn<int>("index");
    const auto devices = all_devices();
    for (std::size_t d = 0; d < devices.size(); ++d) {
      // A pass of a GPU's kernels takes seconds: every fourth model, and that of two rotary tables.
      const std::size_t step = is_gpu(*devices[d]) ? 4 : 1;
      for (std::size_t i = 0; i < cases().size(); ++i) {
        if (i % step != 0 && cases()[i].name != "mellum-tables") continue;
        QTest::newRow((cases()[i].name + ", " + label(*devices[d])).c_str()) << int(d) << int(i);
      }
    }
  }
  void equalTransformers() {
    QFETCH(int, device);
    QFETCH(int, index);
    const kernels::Device& on = *all_devices()[std::size_t(device)];
    const Case& c = cases()[std::size_t(index)];
    const auto model = load(c.model, on);
    FOVEA_VERIFY(model);
    QVERIFY(!c.expected.empty());
    // All at once, in chunks that do not divide the prompt, and token by token.
    for (const std::int64_t chunk : {7, 0, 4, 1}) {
      if (is_gpu(on) && chunk != 7) break;
      const double difference = largest_difference(logits(*model, on, c.tokens, chunk), c.expected);
      QVERIFY2(difference <= allowed(c, on),
               ("chunk " + std::to_string(chunk) + ": difference " + std::to_string(difference)).c_str());
    }
  }

  // A GPU computes many tokens at once by other kernels than few, and their attention by the cache's type.
  void promptsAtOnceOnAGpu_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<int>("cache");
    for (std::size_t i = 0; i < cases().size(); ++i) {
      const std::string& name = cases()[i].name;
      if (i % 6 != 0 && name != "experts") continue;  // every sixth model, and quantised experts
      for (const kernels::Type cache : {kernels::Type::f32, kernels::Type::f16})
        QTest::addRow("%s, %s", name.c_str(), std::string(kernels::type_name(cache)).c_str())
            << int(i) << int(cache);
    }
  }
  void promptsAtOnceOnAGpu() {
    QFETCH(int, index);
    QFETCH(int, cache);
    FOVEA_NEEDS_PTX;
    const Case& c = cases()[std::size_t(index)];
    const auto type = static_cast<kernels::Type>(cache);
    const auto model = load(c.model, *gpu());
    FOVEA_VERIFY(model);
    // What half floats add to the differences of `allowed`.
    double largest = 0;
    for (const float value : c.expected) largest = std::max(largest, std::abs(double(value)));
    const double share = type == kernels::Type::f32 ? 0 : 0.003;
    const double difference =
        largest_difference(logits(*model, *gpu(), c.tokens, 0, 5, {}, type), c.expected);
    QVERIFY2(difference <= allowed(c, *gpu()) + share * largest,
             ("difference " + std::to_string(difference) + ", largest " + std::to_string(largest)).c_str());
  }

  void lastRowIsTheLastOfAll() {
    const kernels::Device& on = apart();
    const Case& c = cases().front();
    const auto model = load(c.model, on);
    FOVEA_VERIFY(model);
    const auto count = static_cast<std::int64_t>(c.tokens.size());
    const Pages pages(on, model->config(), count, 4);
    auto forward = layers::Forward::create(*model, on, {.tokens = count, .pages = 16});
    FOVEA_VERIFY(forward);
    const auto stream = on.make_stream({.threads = 1});
    const std::span<const TokenId> tokens(c.tokens);
    // A first pass that wants no logits leaves the same cache behind.
    QVERIFY(forward
                ->run({.segments = {{.tokens = tokens.first(8),
                                     .first = 0,
                                     .pages = pages.layers(),
                                     .logits = layers::LogitsWanted::none}},
                       .context = count},
                      *stream)
                .empty());
    const auto last = forward->run({.segments = {{.tokens = tokens.subspan(8),
                                                  .first = 8,
                                                  .pages = pages.layers(),
                                                  .logits = layers::LogitsWanted::last}},
                                    .context = count},
                                   *stream);
    const auto vocabulary = static_cast<std::size_t>(model->config().vocabulary);
    QCOMPARE(last.size(), vocabulary);
    QVERIFY(largest_difference(last, std::span(c.expected).last(vocabulary)) <= tolerance);
  }

  // The comparison must see one wrong value, one that is missing, and one that is not a number.
  void comparisonCanFail() {
    const std::vector<float> a{1, 2, 3};
    QCOMPARE(largest_difference(a, std::vector<float>{1, 2, 3}), 0.0);
    QVERIFY(largest_difference(a, std::vector<float>{1, 2.001F, 3}) > tolerance);
    QVERIFY(largest_difference(a, std::vector<float>{1, 2}) > tolerance);
    QVERIFY(largest_difference(a, std::vector<float>{1, NAN, 3}) > tolerance);
  }
};
FOVEA_TEST(LogitsTest)

#include "logits_test.moc"
