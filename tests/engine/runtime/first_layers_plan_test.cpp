// -ngl on a device whose memory the host cannot touch: the first layers are the processor's, with their
// attention and their part of the KV cache, the plan counts what loading takes, and where it cannot be
// divided so it says what goes instead.
#include <QTemporaryDir>

#include "engine/api/plan.h"
#include "engine/api/sentence.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"
#include "expert_model.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

LoadOptions layers_request(const std::string& model, std::int64_t gpu_layers) {
  LoadOptions request = expert_model::plain_request();
  request.model = golden("models") / model;
  request.precision.offload.gpu_layers = gpu_layers;
  return request;
}

bool notes_say(const Plan& plan, const char* words) {
  return std::ranges::any_of(plan.notes, [&](const Phrase& note) { return english(note).contains(words); });
}

}  // namespace

class FirstLayersPlanTest : public QObject {
  Q_OBJECT

  const kernels::Device& processor_ = **runtime::chosen_device({});
  ApartDevice apart_{processor_};

  std::unique_ptr<Engine> load_on(const kernels::Device& device, const LoadOptions& request) const {
    auto engine = runtime::load(request, {}, {}, {}, &device);
    if (!engine) qFatal("%s", engine.error().message().c_str());
    return *std::move(engine);
  }

 private Q_SLOTS:
  void cleanup() { QCOMPARE(apart_.allocated(), 0); }

  // With windows, shared experts, biases, tied tables: the processor's bits, and each byte counted once.
  void theFirstLayersAreTheProcessors_data() {
    QTest::addColumn<QString>("model");
    for (const char* model : {"experts.gguf", "qwen3-0", "qwen2-0", "qwen2_moe-0", "mixtral-1",
                              "window-mistral", "llama-0-gguf.gguf"})
      QTest::newRow(model) << model;
  }
  void theFirstLayersAreTheProcessors() {
    QFETCH(QString, model);
    const auto tokens = expert_model::some_tokens(40);
    LoadOptions request = layers_request(model.toStdString(), -1);
    const auto whole = load_on(apart_, request);
    const auto expected = expert_model::logits(*load_on(processor_, request), tokens);
    const std::int64_t layers = whole->info().layers;
    for (std::int64_t kept = 2; kept <= layers; ++kept) {
      request.precision.offload.gpu_layers = kept;
      const auto divided = load_on(apart_, request);
      const LoadPlan& plan = divided->plan();
      QCOMPARE(plan.options.host_layers, layers + 1 - kept);
      QVERIFY(notes_say(plan.plan, "with their attention and their part of the KV cache"));
      QVERIFY(expert_model::logits(*divided, tokens) == expected);
      const MemoryUse memory = divided->memory();
      QCOMPARE(plan.plan.host.weights, memory.host_weights);
      QCOMPARE(plan.plan.host_bytes, memory.host_weights + memory.host_buffers);
      QCOMPARE(plan.plan.total_bytes - plan.plan.parts.safety, memory.on_device());
      QVERIFY(plan.plan.host.kv > 0);
      QVERIFY(memory.on_device() < whole->memory().on_device());
      // What decoding reads is read on one side or the other.
      const TokenCost cost = divided->cost(), all = whole->cost();
      QVERIFY(std::abs(cost.weight_bytes - all.weight_bytes) <= 128);  // a row of a table that both have
      QCOMPARE(cost.multiply_adds, all.multiply_adds);
      QVERIFY(cost.host_weight_bytes > 0 && cost.host_weight_bytes < cost.weight_bytes);
    }
  }

  // A conversation that goes on finds what both sides computed.
  void whatBothSidesKeepIsFoundAgain() {
    LoadOptions request = layers_request("experts.gguf", 2);
    const auto divided = load_on(apart_, request),
               here = load_on(processor_, layers_request("experts.gguf", -1));
    for (const std::int64_t length : {20, 31, 25}) {
      const auto tokens = expert_model::some_tokens(length);
      QVERIFY(expert_model::logits(*divided, tokens) == expert_model::logits(*here, tokens));
    }
  }

  // A published shape is planned alike: every layer takes its share. Where one state is all layers', experts
  // go alone.
  void shapesAreDividedToo() {
    MachineFacts card;
    card.device_memory_bytes = std::int64_t{80} << 30;
    LoadOptions request = layers_request("", -1);
    request.context = 4096;
    request.chunk = 512;
    const auto whole = plan_shape({.name = "qwen3-30b-a3b"}, request, card);
    FOVEA_VERIFY(whole);
    request.precision.offload.gpu_layers = 25;  // 24 of 48, and the output
    const auto half = plan_shape({.name = "qwen3-30b-a3b"}, request, card);
    FOVEA_VERIFY(half);
    QCOMPARE(half->options.host_layers, 24);
    QCOMPARE(half->plan.host.kv, half->plan.parts.kv);
    QCOMPARE(half->plan.host.kv + half->plan.parts.kv, whole->plan.parts.kv);
    const double share =
        static_cast<double>(half->plan.parts.dense) / static_cast<double>(whole->plan.parts.dense);
    QVERIFY(share > 0.3 && share < 0.6);
    QVERIFY(half->host_part.dense_bytes > 0 &&
            half->host_part.dense_bytes < whole->device_part.dense_bytes / 2);
    const auto hybrid = plan_shape({.name = "qwen3-next-80b-a3b"}, request, card);
    FOVEA_VERIFY(hybrid);
    QCOMPARE(hybrid->options.host_layers, 0);
    QVERIFY(notes_say(hybrid->plan, "leaves the experts of the first 24 layers"));
  }

  // A context that fits nowhere else: the plan says how many layers have to go, and that fits.
  void aLongContextHasAWayOut() {
    LoadOptions request = layers_request("experts.gguf", -1);
    request.context = 1 << 16;
    MachineFacts card;
    card.device_memory_bytes = std::int64_t{8} << 30;
    request.precision.policy = PolicyKind::none;
    request.precision.offload.cpu_moe_layers = 2;
    const auto without_experts = plan_model(request, card);
    FOVEA_VERIFY(without_experts);
    request.precision.budget_bytes = without_experts->plan.total_bytes - 1;
    request.precision.offload = {};
    const auto refused = plan_model(request, card);
    FOVEA_VERIFY(refused);
    QVERIFY(!refused->plan.fits);
    QVERIFY(std::ranges::any_of(refused->plan.advice, [](const Phrase& advice) {
      return english(advice).starts_with("--n-cpu-moe 2 -ngl 2 fits");
    }));
    request.precision.offload = {.cpu_moe_layers = 2, .override_tensors = {}, .gpu_layers = 2};
    const auto fits = plan_model(request, card);
    FOVEA_VERIFY(fits);
    QVERIFY(fits->plan.fits);
    QVERIFY(fits->plan.host.kv > fits->plan.host.weights);
  }
};

FOVEA_TEST(FirstLayersPlanTest)
#include "first_layers_plan_test.moc"
