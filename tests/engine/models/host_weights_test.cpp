// A device that has only a part of the experts, while the processor computes the others: any division gives
// transformers' logits, whole layers give the processor's bits.
#include "engine/models/host_weights.h"

#include <functional>
#include <random>

#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

#include "apart_device.h"
#include "divided.h"
#include "golden_logits.h"
#include "runner.h"

using namespace fovea;
using namespace fovea::tests;
using models::HostShare;

namespace {

// Some of each layer: nothing, everything, or any experts.
Shares some_of(const models::Model& model, std::mt19937& random) {
  Shares shares = all_of(model);
  for (HostShare& share : shares) {
    const auto kind = random() % 4;
    share.shared = share.shared && kind != 0;
    for (std::size_t e = 0; e < share.experts.size(); ++e)
      share.experts[e] = kind != 0 && (kind == 1 || random() % 2 == 0);
  }
  return shares;
}

bool has_gated_shared_expert(const models::Model& model) {
  return std::ranges::any_of(model.layers(), [](const auto& layer) { return bool(layer.shared_gate); });
}

void add_cases() {
  QTest::addColumn<int>("index");
  for (std::size_t i = 0; i < cases().size(); ++i) QTest::newRow(cases()[i].name.c_str()) << int(i);
}

}  // namespace

class HostWeightsTest : public QObject {
  Q_OBJECT

  ApartDevice apart_{cpu()};

  void compare(const Case& c, const kernels::Device& device, int divisions, std::int64_t chunk) {
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    for (int division = 0; division < divisions; ++division) {
      std::mt19937 random(static_cast<unsigned>(division) + 1);
      const Divided divided = divide(c.model, device, some_of(*whole, random));
      const double difference =
          largest_difference(logits(divided.model, device, c.tokens, chunk, 5, divided.part()), c.expected);
      QVERIFY2(difference <= allowed(c, device),
               ("seed " + std::to_string(division + 1) + ": " + std::to_string(difference)).c_str());
    }
  }

 private Q_SLOTS:
  void cleanup() { QCOMPARE(apart_.allocated(), 0); }

  void anyDivisionEqualsTransformers_data() { add_cases(); }
  void anyDivisionEqualsTransformers() {
    QFETCH(int, index);
    const Case& c = cases()[std::size_t(index)];
    compare(c, apart_, 4, 7);
    compare(c, apart_, 1, 1);
  }

  // With the GPU's own kernels.
  void anyDivisionEqualsTransformersOnAGpu_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"experts", "qwen2_moe-1", "qwen3-0"}) QTest::newRow(name) << name;
  }
  void anyDivisionEqualsTransformersOnAGpu() {
    QFETCH(QString, name);
    FOVEA_NEEDS_PTX;
    const auto gpu = ptx::device();
    compare(case_named(name.toStdString()), *gpu, 1, 7);
  }

  void wholeLayersGiveTheProcessorsBits_data() { add_cases(); }
  void wholeLayersGiveTheProcessorsBits() {
    QFETCH(int, index);
    const Case& c = cases()[std::size_t(index)];
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    // A gated shared expert stays on the device: its share is rounded before it is added, not after.
    if (has_gated_shared_expert(*whole)) return;
    Shares shares = all_of(*whole);
    for (const bool first_layer_on_device : {false, true}) {
      if (first_layer_on_device) shares.front() = {};
      const Divided divided = divide(c.model, apart_, shares);
      for (const std::int64_t chunk : {7, 1}) {
        QVERIFY(logits(divided.model, apart_, c.tokens, chunk, 5, divided.part()) ==
                logits(*whole, cpu(), c.tokens, chunk));
      }
    }
  }

  // What the host has takes no byte of the device's.
  void theDeviceHoldsTheRestAlone() {
    for (const char* name : {"experts", "qwen3-0"}) {
      const Case& c = case_named(name);
      const auto whole = load(c.model, apart_);
      FOVEA_VERIFY(whole);
      Shares shares = all_of(*whole);
      shares.resize(1);
      std::int64_t left_out = 0;
      const models::LayerPlan& layer = whole->plan().layers.front();
      const auto add = [&](const models::ExpertSource& expert) {
        for (const models::MatrixSource* m : {&expert.gate, &expert.up, &expert.down})
          left_out += (cpu().packed_bytes(cpu().preferred_packing(m->tensor->type, m->rows, m->columns),
                                          m->tensor->type, m->rows, m->columns) +
                       63) /
                      64 * 64;
      };
      std::ranges::for_each(layer.experts, add);
      if (layer.experts.empty()) add(layer.shared);
      const Divided divided = divide(c.model, apart_, shares);
      QVERIFY(left_out > 0);
      QCOMPARE(divided.model.weight_bytes(), whole->weight_bytes() - left_out);
      QVERIFY(divided.host.bytes() > 0);
      QCOMPARE(apart_.allocated(), divided.model.weight_bytes() + whole->weight_bytes());
    }
  }

  // While the processor computes, the device has its own experts to compute: they are queued, and nobody has
  // waited for them.
  void theDeviceIsGivenItsPartBeforeTheHostComputes() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    Shares shares = all_of(*whole);
    for (HostShare& share : shares) share.experts.front() = false;
    const Divided divided = divide(c.model, apart_, shares);
    int calls = 0, at_the_same_time = 0;
    const Watch watch([&] {
      ++calls;
      const auto counts = apart_.feed_forwards();
      at_the_same_time += counts.queued == counts.done + 1;
    });
    QVERIFY(!logits(divided.model, apart_, c.tokens, 7, 5, divided.part()).empty());
    QVERIFY(calls >= std::ssize(whole->layers()));
    QCOMPARE(at_the_same_time, calls);
  }

  // A device that is lost in the middle of a pass ends it; what it left behind is not looked up.
  void aLostDeviceEndsThePass_data() {
    QTest::addColumn<int>("at");
    // Two calls for a pass: by pieces, while it is captured, by its segments.
    for (const int at : {0, 1, 2, 3, 4, 5}) QTest::addRow("%d", at) << at;
  }
  void aLostDeviceEndsThePass() {
    QFETCH(int, at);
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    const ApartDevice lost(cpu());
    const Divided divided = divide(c.model, lost, all_of(*whole));
    const auto count = std::ssize(c.tokens);
    const Pages pages(lost, divided.model.config(), count, 4);
    auto forward =
        layers::Forward::create(divided.model, lost, {.tokens = 1, .pages = count}, divided.part());
    FOVEA_VERIFY(forward);
    const auto stream = lost.make_stream({.threads = 1});
    int calls = 0;
    if (at == 0) lost.fail("the device is lost");
    const Watch watch([&] {
      if (++calls == at) lost.fail("the device is lost");
    });
    for (std::int64_t t = 0; t < 3; ++t) {
      const auto row = forward->run({.segments = {{.tokens = std::span(c.tokens).subspan(std::size_t(t), 1),
                                                   .first = t,
                                                   .pages = pages.layers()}},
                                     .context = count},
                                    *stream);
      if (stream->failure().empty()) {
        QVERIFY(!row.empty());
        continue;
      }
      QCOMPARE(stream->failure().said, std::string("the device is lost"));
      QCOMPARE(calls, at);  // the host computed nothing more
      return;
    }
    QFAIL("the device was not lost");
  }

  void loadingCanBeCancelled() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    const auto model = load(c.model, apart_, all_of(*whole));
    FOVEA_VERIFY(model);
    std::stop_source stop;
    stop.request_stop();
    const auto host = models::HostWeights::load(*model, cpu(), 2, {}, stop.get_token());
    QVERIFY(!host);
    QCOMPARE(host.error().kind, ErrorKind::cancelled);
  }
};
FOVEA_TEST(HostWeightsTest)

#include "host_weights_test.moc"
