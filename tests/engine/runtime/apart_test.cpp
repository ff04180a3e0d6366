// The engine on a device whose memory the host cannot touch and whose work is late: the same bits as on the
// device's own kernels, through generation, shared prefixes, swaps, units on disk alone, and a device's
// failure.
#include <QDir>
#include <QTemporaryDir>
#include <thread>

#include "engine/checkpoint/store.h"
#include "engine/precision/plan_inputs.h"
#include "engine/precision/static_policy.h"
#include "engine/precision/swap_storm.h"
#include "engine/precision/tiers.h"
#include "engine/runtime/load.h"
#include "engine/runtime/load_precision.h"
#include "engine/runtime/prepare.h"
#include "engine/runtime/processor.h"
#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"
#include "tests/engine/chat/chat_model.h"
#include "expert_model.h"

using namespace fovea;
using namespace fovea::tests;
namespace expert = fovea::tests::expert_model;

namespace {

const kernels::Device& cpu() {
  static const kernels::Device& device = **runtime::chosen_device({});
  return device;
}

std::unique_ptr<Engine> load_on(const kernels::Device& device, const LoadOptions& request,
                                const runtime::PolicyMaker& policy = {}) {
  auto engine = runtime::load(request, policy, {}, {}, &device);
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

Result<std::unique_ptr<precision::Policy>> swap_storm(const precision::PolicyWorld& world) {
  return std::make_unique<precision::SwapStorm>(world, std::make_shared<precision::StormControl>());
}

}  // namespace

class ApartTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  ApartDevice apart_{cpu()};

  LoadOptions with_policy(PolicyKind policy) const {
    return expert::with_policy(folder_.path().toStdString(), policy, {"file", "q2"});
  }

  // An engine with two experts of each layer at the high tier, others after each pass. The processor reads
  // some weights where the file has them: the same plan has another budget on each device.
  std::unique_ptr<Engine> in_a_storm(const kernels::Device& device) const {
    LoadOptions request = with_policy(PolicyKind::dynaexq);
    request.chunk = 1;
    request.precision.publish_after_passes = 1;
    request.precision.first_token_layers = 0;  // a device apart has nothing like it
    const std::int64_t reserve = device.memory_is_host() ? 0 : precision::card_safety_bytes;
    for (std::int64_t budget = 200'000; budget < 1 << 20; budget += 2048) {
      request.precision.budget_bytes = reserve + budget;
      const auto engine = runtime::load(request, {}, {}, {}, &device);
      if (engine && (*engine)->plan().plan.high_per_layer == 2) break;
    }
    return load_on(device, request, swap_storm);
  }

 private Q_SLOTS:
  // Also where what they share with decoding is the link to the device's own memory.
  void swapsHaveALimit() {
    for (const kernels::Device* device : std::initializer_list<const kernels::Device*>{&apart_, &cpu()}) {
      QVERIFY(runtime::shared_gb_per_s(*device, 1) > 0);
    }
    const auto shared = [] { return 40.0; };
    QCOMPARE(runtime::traffic_limit_gb_per_s({}, shared), 2.0);
    QCOMPARE(runtime::traffic_limit_gb_per_s({.traffic_gb_per_s = 3.5}, shared), 3.5);
    QCOMPARE(runtime::traffic_limit_gb_per_s({}, [] { return 0.0; }), 0.0);
  }

  void cleanup() { QCOMPARE(apart_.allocated(), 0); }  // every engine has given everything back

  void conversationsAreTheSame() {
    const auto here = load_on(cpu(), chat_request());
    const auto there = load_on(apart_, chat_request());
    for (const auto& chat : expected_chat()["chats"]) {
      GenerateRequest request = greedy(messages_of(chat), 24);
      // Greedy; from all logits; from the likeliest tokens where they decide; with penalties.
      for (const std::uint64_t seed : {0U, 7U, 8U, 9U, 10U, 11U}) {
        if (seed != 0)
          request.sampling = {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .seed = seed};
        if (seed == 8) request.sampling.top_k = 20;
        if (seed == 9) request.sampling.top_p = 0.8F;
        if (seed == 10) request.sampling.repetition_penalty = 1.2F;
        if (seed == 11) request.sampling.temperature = 0.3F, request.sampling.top_p = 0.6F;
        const GenerateResult wanted = generate(*here, request), got = generate(*there, request);
        QCOMPARE(got.tokens, wanted.tokens);
        QCOMPARE(got.timings.reused_tokens, wanted.timings.reused_tokens);
      }
    }
  }

  // The second answer begins in the middle of a page that the first one goes on to use: it is copied.
  void branchesOfAConversationAreTheSame() {
    const auto here = load_on(cpu(), chat_request());
    const auto there = load_on(apart_, chat_request());
    for (const std::string question : {"one two three", "one two four", "one two three", "two"}) {
      const GenerateRequest request = greedy({{"user", question}}, 90);
      QCOMPARE(generate(*there, request).tokens, generate(*here, request).tokens);
    }
  }

  void logitsAreTheSame() {
    const auto tokens = expert::some_tokens(50);
    for (const int chunk : {1, 7, 64}) {
      LoadOptions request = expert::plain_request();
      request.chunk = chunk;
      QVERIFY(expert::logits(*load_on(apart_, request), tokens) ==
              expert::logits(*load_on(cpu(), request), tokens));
    }
  }

  void routingIsTheSame() {
    const auto tokens = expert::some_tokens(40);
    const auto choices = [&](const kernels::Device& device) {
      std::vector<std::int32_t> ids;
      std::vector<float> weights;
      const auto sink = [&](const auto& pass) -> Result<void> {
        for (const LayerRouting& layer : pass.layers) {
          ids.insert(ids.end(), layer.ids.begin(), layer.ids.end());
          weights.insert(weights.end(), layer.weights.begin(), layer.weights.end());
        }
        return {};
      };
      if (const auto done = load_on(device, expert::plain_request())->routing(tokens, 7, sink); !done)
        qFatal("%s", done.error().message().c_str());
      return std::pair(ids, weights);
    };
    const auto wanted = choices(cpu());
    QCOMPARE(std::ssize(wanted.first), std::ssize(tokens) * expert::layers * expert::used);
    QVERIFY(choices(apart_) == wanted);
  }

  // Every unit at the file's tier, and the policy's own choices with swaps at fixed passes.
  void policiesAreTheSame_data() {
    QTest::addColumn<int>("policy");
    QTest::newRow("static") << static_cast<int>(PolicyKind::static_tiers);
    QTest::newRow("dynaexq") << static_cast<int>(PolicyKind::dynaexq);
  }
  void policiesAreTheSame() {
    QFETCH(int, policy);
    const auto tokens = expert::some_tokens(50);
    LoadOptions request = with_policy(static_cast<PolicyKind>(policy));
    request.precision.publish_after_passes = 1;
    const auto there = load_on(apart_, request);
    QVERIFY(expert::logits(*there, tokens) == expert::logits(*load_on(cpu(), request), tokens));
    QVERIFY(there->precision()->hit_rate > 0);
  }

  // The device's own count of what it gave away, while experts move; main memory is counted beside it.
  void whatIsAllocatedIsWhatWasPlanned() {
    const auto engine = in_a_storm(apart_);
    expert::logits(*engine, expert::some_tokens(20));
    const Plan& plan = engine->plan().plan;
    const std::int64_t planned = plan.total_bytes - plan.parts.safety;
    QCOMPARE(apart_.allocated(), planned);
    QCOMPARE(engine->precision()->accounted_bytes - plan.parts.safety, planned);
    QCOMPARE(engine->memory().host_buffers, plan.host_bytes);
    QCOMPARE(plan.host.weights, 0);
    QVERIFY(plan.host.transfer > 0 && plan.host.exchange > 0);
  }

  // Experts change tier in every pass, and each pass must read those that are published in it.
  void aSwapStormIsTheSame() {
    const auto tokens = expert::some_tokens(60);
    const auto here = in_a_storm(cpu()), there = in_a_storm(apart_);
    const ApartDevice::Graphs before = apart_.graphs();
    QVERIFY(expert::logits(*there, tokens) == expert::logits(*here, tokens));
    QCOMPARE(there->precision()->promotions, here->precision()->promotions);
    QVERIFY(there->precision()->promotions > 20);
    QVERIFY(there->precision()->demotions > 20);
    // One graph served nearly all of it.
    QCOMPARE(apart_.graphs().captured - before.captured, 1);
    QCOMPARE(apart_.graphs().launched - before.launched, 59);
  }

  // Calibrated by the processor, as its own is (CalibrateTest has the errors), and measured by it.
  void aCardsStoreIsCalibrated() {
    FOVEA_NEEDS_PTX;
    const auto gpu = ptx::device();
    PrepareRequest request;
    request.model = golden("chat");
    request.tiers = {"file", "bf16"};
    request.threads = 2;
    request.calibration = {
        .text = "the text that the model reads first, and then once more, until it has learnt",
        .tokens = 16,
        .window = 16,
        .divergence_tokens = 16};
    const auto calibrated = [&](const kernels::Device& device) {
      request.store = folder_.filePath(QString::fromStdString(device.name())).toStdString();
      const auto report = runtime::prepare(request, device);
      if (!report) qFatal("%s", report.error().message().c_str());
      return report->calibrated_units;
    };
    QVERIFY(calibrated(*gpu) > 0);
    QCOMPARE(calibrated(*gpu), calibrated(cpu()));
    const auto store_of = [&](const kernels::Device& device) {
      return checkpoint::Store::open(folder_.filePath(QString::fromStdString(device.name())).toStdString());
    };
    const auto theirs = store_of(*gpu), ours = store_of(cpu());
    FOVEA_VERIFY(theirs);
    FOVEA_VERIFY(ours);
    for (std::int64_t unit = 0; unit < ours->identity().units; ++unit) {
      QVERIFY(ours->extent(unit, 1).divergence >= 0);
      QCOMPARE(theirs->extent(unit, 1).divergence, ours->extent(unit, 1).divergence);
    }
    QCOMPARE(QDir(folder_.path()).entryList({"*.measured*"}).size(), 0);
  }

  // The GPU's own kernels.
  void theGpusKernelsAnswerLikeTransformers() {
    FOVEA_NEEDS_PTX;
    const auto gpu = ptx::device();
    const auto engine = load_on(*gpu, chat_request());
    const auto& chat = expected_chat()["chats"][0];
    auto wanted = chat["answer"].get<std::vector<TokenId>>();
    if (wanted.size() > 12) wanted.resize(12);
    QCOMPARE(generate(*engine, greedy(messages_of(chat), std::ssize(wanted))).tokens, wanted);
  }

  // Of the likeliest tokens that the device has sorted out, at any temperature, and of what it routed.
  void tokensAreRecordedAlike() {
    const auto here = load_on(cpu(), chat_request()), there = load_on(apart_, chat_request());
    for (const float temperature : {0.0F, 0.7F, 1.6F}) {
      GenerateRequest request = greedy({{"user", "one"}}, 12);
      request.sampling.temperature = temperature;
      request.sampling.seed = 4;
      std::vector<TokenRecord> records[2];
      for (int i = 0; i < 2; ++i) {
        const auto keep = [&](std::span<const TokenRecord> more) {
          records[i].insert(records[i].end(), more.begin(), more.end());
        };
        FOVEA_VERIFY((i == 0 ? here : there)->generate(request, {}, {}, {}, keep));
      }
      QVERIFY(!records[0].empty());
      QCOMPARE(records[1].size(), records[0].size());
      for (std::size_t k = 0; k < records[0].size(); ++k) {
        const TokenRecord &ours = records[0][k], &theirs = records[1][k];
        QCOMPARE(theirs.token, ours.token);
        QVERIFY(std::abs(theirs.logprob - ours.logprob) < 1e-4F);
        QVERIFY(std::abs(theirs.entropy - ours.entropy) < 1e-3F);
        QVERIFY(theirs.uses == ours.uses);
        for (std::size_t i = 0; i < TokenRecord::most_likely; ++i) {
          QCOMPARE(theirs.likeliest[i].token, ours.likeliest[i].token);
          QVERIFY(std::abs(theirs.likeliest[i].logprob - ours.likeliest[i].logprob) < 1e-4F);
        }
      }
    }
  }

  // Some units live on disk alone: the router's choice must be known inside the pass.
  void unitsOnDiskAreBroughtInTime() {
    const auto tokens = expert::some_tokens(30);
    LoadOptions request = with_policy(PolicyKind::static_tiers);
    request.precision.tiers = {"file"};
    const auto first_layer_away = [](const precision::PolicyWorld& world) {
      std::vector<precision::TierId> tiers(static_cast<std::size_t>(world.units()), 0);
      std::fill_n(tiers.begin(), world.first_unit[1], no_tier);
      return precision::make_static(world, tiers);
    };
    const auto here = load_on(cpu(), request, first_layer_away);
    const auto there = load_on(apart_, request, first_layer_away);
    QVERIFY(expert::logits(*there, tokens) == expert::logits(*here, tokens));
    QVERIFY(there->precision()->stalls > 0);
  }

  // What the device could not do ends the request with its own words, and the engine can be let go.
  void aFailedDeviceEndsTheRequest() {
    const ApartDevice broken(cpu());
    const auto engine = load_on(broken, with_policy(PolicyKind::dynaexq));
    broken.fail("an illegal memory access was encountered");
    const auto tokens = expert::some_tokens(5);
    const auto done = engine->logits(tokens, [](std::int64_t, std::span<const float>) {});
    QVERIFY(!done);
    QCOMPARE(done.error().kind, ErrorKind::device);
    QVERIFY(done.error().message().contains("illegal memory access"));
    const ApartDevice lost(cpu());
    const auto chat = load_on(lost, chat_request());
    lost.fail("the device is lost");
    const auto answer = chat->generate(greedy({{"user", "one"}}, 3));
    QVERIFY(!answer);
    QCOMPARE(answer.error().kind, ErrorKind::device);
  }

  void aFailedDeviceEndsLoading() {
    const ApartDevice broken(cpu());
    broken.fail("the device is lost");
    const auto engine = runtime::load(expert::plain_request(), {}, {}, {}, &broken);
    QVERIFY(!engine);
    QCOMPARE(engine.error().kind, ErrorKind::device);
    QVERIFY(engine.error().message().contains("the device is lost"));
  }
};
FOVEA_TEST(ApartTest)

#include "apart_test.moc"
