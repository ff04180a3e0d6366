// -ngl on a device whose memory the host cannot touch: the first layers are the processor's, with their
// attention and their part of the KV cache, the plan counts what loading takes, and where it cannot be
// divided so it says what goes instead.
#include <QTemporaryDir>
#include <array>
#include <thread>

#include "engine/api/plan.h"
#include "engine/api/sentence.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"
#include "expert_model.h"
#include "family_models.h"

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

  // Patterns that name all of the first layers do what -ngl does with as many; one that names a later layer
  // says that its attention stays.
  void patternsNameWholeLayers() {
    const auto tokens = expert_model::some_tokens(40);
    LoadOptions by_name = layers_request("mellum-tables", -1);
    by_name.precision.offload.override_tensors = {"blk\\.[01]\\.=CPU"};
    const auto named = load_on(apart_, by_name);
    const auto numbered = load_on(apart_, layers_request("mellum-tables", 5));
    QCOMPARE(named->plan().options.host_layers, 2);
    QCOMPARE(named->plan().plan.total_bytes, numbered->plan().plan.total_bytes);
    QCOMPARE(named->plan().plan.host, numbered->plan().plan.host);
    QVERIFY(notes_say(named->plan().plan, "names all of the first 2 layers"));
    QVERIFY(!notes_say(named->plan().plan, "names attention"));
    QVERIFY(expert_model::logits(*named, tokens) == expert_model::logits(*numbered, tokens));
    by_name.precision.offload.override_tensors = {"blk\\.4\\.=CPU"};
    const auto later = load_on(apart_, by_name);
    QCOMPARE(later->plan().options.host_layers, 0);
    QVERIFY(notes_say(later->plan().plan, "names attention, too"));
    QVERIFY(expert_model::logits(*later, tokens) == expert_model::logits(*numbered, tokens));
  }

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

  // Whoever asks what the routers chose hears of both sides, whether experts are the device's to move or not.
  void theRoutersOfBothSidesAreTold_data() {
    QTest::addColumn<int>("policy");
    for (const PolicyKind policy : {PolicyKind::none, PolicyKind::dynaexq, PolicyKind::fovea})
      QTest::newRow(std::string(name_in(policy_names, policy)).c_str()) << int(policy);
  }
  void theRoutersOfBothSidesAreTold() {
    QFETCH(int, policy);
    const QTemporaryDir stores;
    LoadOptions request = layers_request("experts.gguf", 2);
    if (policy != int(PolicyKind::none)) {
      const auto with =
          expert_model::with_policy(stores.path().toStdString(), PolicyKind(policy), {"file", "q2"});
      request.precision = with.precision;
      request.precision.offload.gpu_layers = 2;
      request.precision.publish_after_passes = 1;
    }
    const auto divided = load_on(apart_, request),
               here = load_on(processor_, layers_request("experts.gguf", -1));
    QCOMPARE(divided->expert_layers().size(), std::size_t{2});
    const auto tokens = expert_model::some_tokens(40);
    std::array<std::vector<std::int32_t>, 2> first, second;
    const auto ids_of = [&](Engine& engine, std::array<std::vector<std::int32_t>, 2>& ids) {
      return engine.routing(tokens, 3, [&](const PassRouting& pass) -> Result<void> {
        for (std::size_t layer = 0; layer < ids.size(); ++layer)
          ids[layer].insert(ids[layer].end(), pass.layers[layer].ids.begin(), pass.layers[layer].ids.end());
        return {};
      });
    };
    FOVEA_VERIFY(ids_of(*divided, first));
    FOVEA_VERIFY(ids_of(*here, second));
    QCOMPARE(first[0].size(), std::size_t{40 * expert_model::used});
    QCOMPARE(first[0], second[0]);  // of the processor's layer
    if (policy == int(PolicyKind::none)) QCOMPARE(first[1], second[1]);
    Snapshot snapshot;
    QVERIFY(QTest::qWaitFor(
        [&] {
          expert_model::logits(*divided, tokens);
          return divided->read_snapshot(snapshot);
        },
        kLong));
    QCOMPARE(snapshot.layers, 2);
    QCOMPARE(snapshot.units.size(), std::size_t{16});
    QCOMPARE(divided->precision().has_value(), policy != int(PolicyKind::none));
    QCOMPARE(divided->plan().units_offloaded, 8);
  }

  // What an answer's tokens used, of several answers at once.
  void answersAreRecordedAsTheyAre() {
    LoadOptions request = expert_model::plain_request();
    const QTemporaryDir folder;
    request.model = std::filesystem::path(folder.filePath("model.gguf").toStdString());
    family_models::Copy("mellum-0.gguf", request.model);
    request.context = 256;
    request.need_tokenizer = true;
    request.sequences = 2;
    const auto here = load_on(processor_, request);
    request.precision.offload.gpu_layers = 2;
    const auto divided = load_on(apart_, request);
    QVERIFY(divided->plan().options.host_layers > 0);
    const auto answer = [](Engine& engine, std::vector<std::vector<std::int32_t>>& uses) {
      GenerateRequest question;
      question.raw_prompt = "abcdefgh";
      question.max_tokens = 16;
      question.sampling.temperature = 0;
      auto result = engine.generate(question, {}, {}, {}, [&](std::span<const TokenRecord> more) {
        for (const TokenRecord& record : more) {
          auto& own = uses.emplace_back();
          for (const auto& use : record.uses) own.push_back(use.expert);
        }
      });
      if (!result) qFatal("%s", result.error().message().c_str());
      return result->tokens;
    };
    std::vector<std::vector<std::int32_t>> uses_here, uses_divided;
    QCOMPARE(answer(*divided, uses_divided), answer(*here, uses_here));
    QCOMPARE(uses_divided, uses_here);
    QVERIFY(!uses_here.empty() && !uses_here.front().empty());
    // Two at once.
    std::vector<std::vector<std::int32_t>> one, two;
    std::vector<TokenId> other;
    std::thread beside([&] { other = answer(*divided, one); });
    const auto own = answer(*divided, two);
    beside.join();
    QCOMPARE(own, other);
    QCOMPARE(uses_divided, two);
  }

  // The last layer and the output stay; of that layer goes what can go by itself, and both are said.
  void nearlyAllGoes() {
    const auto tokens = expert_model::some_tokens(40);
    const auto expected =
        expert_model::logits(*load_on(processor_, layers_request("experts.gguf", -1)), tokens);
    for (const std::int64_t kept : {0, 1}) {
      const auto divided = load_on(apart_, layers_request("experts.gguf", kept));
      const LoadPlan& plan = divided->plan();
      QCOMPARE(plan.options.host_layers, 1);
      QCOMPARE(plan.units_offloaded, 16);
      QVERIFY(notes_say(plan.plan, "all layers but the last"));
      QVERIFY(expert_model::logits(*divided, tokens) == expected);
      QCOMPARE(plan.plan.host_bytes, divided->memory().host_weights + divided->memory().host_buffers);
    }
    LoadOptions request = layers_request("experts.gguf", 2);
    request.precision.offload.override_tensors = {"blk\\.0\\.=GPU"};
    QVERIFY(
        notes_say(load_on(apart_, request)->plan().plan, "--override-tensor keeps nothing of the first 1"));
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
    MachineFacts timed = card;
    timed.device_gop_per_s = 1e5;
    timed.device_gb_per_s = 1000;
    timed.processor_gop_per_s = 1e3;
    timed.main_memory_gb_per_s = 50;
    request.precision.offload.gpu_layers = -1;
    const auto fast = plan_shape({.name = "qwen3-4b"}, request, timed);
    request.precision.offload.gpu_layers = 19;  // of 36, and the output
    const auto slow = plan_shape({.name = "qwen3-4b"}, request, timed);
    FOVEA_VERIFY(fast);
    FOVEA_VERIFY(slow);
    QCOMPARE(slow->options.host_layers, 18);
    QCOMPARE(slow->units_offloaded, 0);  // a dense shape has no units, and its layers go all the same
    QVERIFY(slow->plan.host.weights > 0);
    // Half of the layers on a processor with a hundredth of the arithmetic.
    const double times = slow->first_token_seconds(1024) / fast->first_token_seconds(1024);
    QVERIFY2(times > 40 && times < 60, std::to_string(times).c_str());
    QVERIFY(slow->host_part.dense_bytes > 0.4 * fast->device_part.dense_bytes);
    request.precision.offload.gpu_layers = 25;
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
