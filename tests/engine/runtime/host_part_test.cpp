// The engine on a device whose memory the host cannot touch, with a part of the model left to the processor:
// llama.cpp's flags under every policy that takes them, what is counted where, and what a plan says first.
#include <QTemporaryDir>
#include <algorithm>
#include <fstream>

#include "engine/checkpoint/store.h"
#include "engine/core/result.h"
#include "engine/models/config.h"
#include "engine/models/plan.h"
#include "engine/precision/errors.h"
#include "engine/precision/plan_inputs.h"
#include "engine/precision/prepare.h"
#include "engine/precision/swap_storm.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"
#include "../models/meddled.h"
#include "tests/engine/chat/chat_model.h"
#include "tests/kernels/ptx/device.h"
#include "expert_model.h"
#include "measured_store.h"

using namespace fovea;
using namespace fovea::tests;
namespace expert = fovea::tests::expert_model;

Q_DECLARE_METATYPE(OffloadSettings)

namespace {

const kernels::Device& cpu() {
  static const kernels::Device& device = **runtime::chosen_device({});
  return device;
}

std::unique_ptr<Engine> load_on(const kernels::Device& device, const LoadOptions& request) {
  auto engine = runtime::load(request, {}, {}, {}, &device);
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

OffloadSettings cpu_moe(std::int64_t layers) {
  return {.cpu_moe_layers = layers, .override_tensors = {}};
}
OffloadSettings gpu_layers(std::int64_t layers) {
  return {.override_tensors = {}, .gpu_layers = layers};
}
OffloadSettings pattern(const char* text) {
  return {.override_tensors = {text}};
}

}  // namespace

class HostPartTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  ApartDevice apart_{cpu()};

  LoadOptions with_policy(PolicyKind policy, std::vector<std::string> tiers = {}) const {
    return expert::with_policy(folder_.path().toStdString(), policy, std::move(tiers));
  }
  LoadOptions dense_request() const {
    LoadOptions request = expert::plain_request();
    request.model = golden("models/qwen3-0");
    return request;
  }
  // The smallest budget in which so many experts of each layer are at the high tier.
  std::int64_t min_budget(LoadOptions request, std::int64_t high = 0) const {
    std::int64_t too_small = card_budget(0), enough = card_budget(std::int64_t{2} << 20);
    while (enough - too_small > 256) {
      const std::int64_t middle = (too_small + enough) / 2;
      request.precision.budget_bytes = middle;
      const auto engine = runtime::load(request, {}, {}, {}, &apart_);
      (engine && (*engine)->plan().plan.high_per_layer >= high ? enough : too_small) = middle;
    }
    return enough;
  }
  // Of a budget that has so many bytes behind the card's reserve.
  static std::int64_t card_budget(std::int64_t bytes) { return precision::card_safety_bytes + bytes; }

 private Q_SLOTS:
  void cleanup() { QCOMPARE(apart_.allocated(), 0); }

  // Whatever layers the processor computes: its own bits.
  void everyPolicyGivesTheProcessorsBits_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<bool>("tiers");
    QTest::addColumn<OffloadSettings>("offload");
    QTest::addColumn<int>("units");  // left to the processor
    const auto row = [](const char* name, PolicyKind policy, bool tiers, const OffloadSettings& offload,
                        int units) { QTest::newRow(name) << int(policy) << tiers << offload << units; };
    row("none, first layer", PolicyKind::none, false, cpu_moe(1), 8);
    row("none, all layers", PolicyKind::none, false, cpu_moe(99), 16);
    row("none, -ngl 2", PolicyKind::none, false, gpu_layers(2), 8);
    row("none, -ngl 0", PolicyKind::none, false, gpu_layers(0), 16);
    row("none, -ngl 99", PolicyKind::none, false, gpu_layers(99), 0);
    row("none, the second layer by name", PolicyKind::none, false, pattern("blk\\.1\\.=CPU"), 8);
    row("none, one tensor by name", PolicyKind::none, false, pattern("blk\\.0\\.ffn_up_exps=CPU"), 8);
    row("automatic", PolicyKind::automatic, false, cpu_moe(1), 8);
    row("static", PolicyKind::static_tiers, true, cpu_moe(1), 8);
    row("static, all layers", PolicyKind::static_tiers, true, cpu_moe(2), 16);
    row("offload", PolicyKind::offload, false, cpu_moe(1), 8);
    row("dynaexq", PolicyKind::dynaexq, true, cpu_moe(1), 8);
    row("dynaexq, all layers", PolicyKind::dynaexq, true, cpu_moe(2), 16);
    row("dynaexq, -ngl 2", PolicyKind::dynaexq, true, gpu_layers(2), 8);
    row("dynaexq, by name", PolicyKind::dynaexq, true, pattern("blk\\.1\\.=CPU"), 8);
    row("offload, by name", PolicyKind::offload, true, pattern("blk\\.1\\.=CPU"), 8);
  }
  void everyPolicyGivesTheProcessorsBits() {
    QFETCH(int, policy);
    QFETCH(bool, tiers);
    QFETCH(OffloadSettings, offload);
    QFETCH(int, units);
    const auto tokens = expert::some_tokens(40);
    const auto here = load_on(cpu(), expert::plain_request());
    LoadOptions request = with_policy(static_cast<PolicyKind>(policy));
    // With the whole card as its budget dynaexq has everything at its high tier.
    if (tiers) request.precision.tiers = {"file"};
    if (request.precision.policy == PolicyKind::dynaexq) request.precision.tiers.emplace_back("q2");
    request.precision.offload = offload;
    const auto there = load_on(apart_, request);
    QVERIFY(expert::logits(*there, tokens) == expert::logits(*here, tokens));
    QCOMPARE(there->memory().host_weights > 0, units > 0);
    if (there->plan().policy() != PolicyKind::none) {
      QCOMPARE(there->plan().plan.units_on_host, units);
      QCOMPARE(there->plan().plan.host.weights, there->memory().host_weights);
      QCOMPARE(there->plan().plan.host_bytes, there->memory().host_weights + there->memory().host_buffers);
      QCOMPARE(there->plan().plan.units_on_disk, 0);
      QCOMPARE(there->precision()->stalls, 0);
      QCOMPARE(there->precision()->hit_rate, 1 - units / 16.0);
    }
  }

  // The host keeps its units as the file has them, whatever tier the device's own have.
  void tiersAreTheDevicesAlone() {
    const auto tokens = expert::some_tokens(40);
    LoadOptions request = with_policy(PolicyKind::static_tiers, {"q2"});
    request.precision.offload = cpu_moe(1);
    const auto there = load_on(apart_, request);
    const std::filesystem::path map = folder_.filePath("map").toStdString();
    std::ofstream file(map);
    for (int layer = 0; layer < expert::layers; ++layer) {
      for (int e = 0; e < expert::experts; ++e)
        file << "blk." << layer << ".expert." << e << (layer == 0 ? " file\n" : " q2\n");
    }
    file.close();
    request = with_policy(PolicyKind::static_tiers, {"file", "q2"});
    request.precision.tier_map = map;
    const auto here = load_on(cpu(), request);
    QVERIFY(expert::logits(*there, tokens) == expert::logits(*here, tokens));
  }

  // With every unit of the device at one tier, a division under dynaexq is the static one, bit for bit.
  void dynaexqAtOneTierIsTheStaticDivision_data() {
    QTest::addColumn<bool>("high");
    QTest::addColumn<OffloadSettings>("offload");
    for (const bool high : {true, false}) {
      const char* const tier = high ? "high" : "low";
      QTest::addRow("%s, first layer", tier) << high << cpu_moe(1);
      QTest::addRow("%s, second layer", tier) << high << pattern("blk\\.1\\.=CPU");
    }
  }
  void dynaexqAtOneTierIsTheStaticDivision() {
    QFETCH(bool, high);
    QFETCH(OffloadSettings, offload);
    const auto tokens = expert::some_tokens(60);
    LoadOptions request = with_policy(PolicyKind::static_tiers, {high ? "file" : "q2"});
    request.precision.offload = offload;
    const auto wanted = expert::logits(*load_on(apart_, request), tokens);
    request = with_policy(PolicyKind::dynaexq, {"file", "q2"});
    request.precision.offload = offload;
    request.precision.dynaexq.warm_up_tokens = 4;
    request.precision.dynaexq.interval_tokens = 1;
    if (!high) request.precision.budget_bytes = min_budget(request);
    const auto engine = load_on(apart_, request);
    QVERIFY(expert::logits(*engine, tokens) == wanted);
    QCOMPARE(engine->plan().plan.high_per_layer, high ? 8 : 0);
    QCOMPARE(engine->plan().plan.units_on_host, 8);
    QVERIFY(engine->plan().plan.total_bytes <= engine->plan().plan.budget_bytes);
  }

  // Experts of the device change tier in every pass while others are the processor's; when they are back, so
  // is the answer, bit for bit.
  void aSwapStormEndsWithTheFirstAnswer_data() {
    QTest::addColumn<OffloadSettings>("offload");
    QTest::newRow("first layer") << cpu_moe(1);
    QTest::newRow("second layer") << pattern("blk\\.1\\.=CPU");
  }
  void aSwapStormEndsWithTheFirstAnswer() {
    QFETCH(OffloadSettings, offload);
    const auto tokens = expert::some_tokens(40);
    LoadOptions request = with_policy(PolicyKind::dynaexq, {"file", "q2"});
    request.chunk = 1;
    request.precision.offload = offload;
    request.precision.publish_after_passes = 1;
    request.precision.dynaexq.in_flight = 2;  // one spare block of each tier
    request.precision.budget_bytes = min_budget(request, 2);
    using precision::StormMode;
    const auto control = std::make_shared<precision::StormControl>();
    control->mode = StormMode::home;
    const runtime::PolicyMaker storm =
        [&](const precision::PolicyWorld& world) -> Result<std::unique_ptr<precision::Policy>> {
      return std::make_unique<precision::SwapStorm>(world, control);
    };
    auto loaded = runtime::load(request, storm, {}, {}, &apart_);
    FOVEA_VERIFY(loaded);
    Engine& engine = **loaded;
    const ApartDevice::Graphs graphs = apart_.graphs();
    const auto before = expert::logits(engine, tokens);

    control->mode = StormMode::storm;
    bool differs = false;
    const std::int64_t wanted = 50;
    for (int round = 0; round < 100 && (engine.precision()->promotions < wanted || !differs); ++round)
      differs = expert::logits(engine, tokens) != before || differs;
    QVERIFY(differs);
    const PrecisionUse use = *engine.precision();
    QVERIFY2(use.promotions >= wanted && use.demotions >= wanted, std::to_string(use.promotions).c_str());
    QCOMPARE(use.swaps_failed, 0);
    QCOMPARE(use.stalls, 0);
    QVERIFY(use.accounted_bytes <= use.budget_bytes);

    control->mode = StormMode::home;
    for (int round = 0; round < 100 && !control->home; ++round) expert::logits(engine, tokens);
    QVERIFY(control->home);
    QVERIFY(expert::logits(engine, tokens) == before);
    // One graph served nearly all of it.
    QCOMPARE(apart_.graphs().captured - graphs.captured, 1);
    QVERIFY(apart_.graphs().launched - graphs.launched > 2 * 40);

    // The books: the host's units have no tier, and their uses are counted apart.
    Snapshot snapshot;
    for (bool is_new = engine.read_snapshot(snapshot); !is_new; is_new = engine.read_snapshot(snapshot))
      expert::logits(engine, tokens);
    const auto host_layer = static_cast<std::size_t>(offload.cpu_moe_layers > 0 ? 0 : 1);
    for (std::size_t unit = 0; unit < snapshot.units.size(); ++unit)
      QCOMPARE(snapshot.units[unit].tier == host_tier, unit / expert::experts == host_layer);
    QCOMPARE(snapshot.host_units, expert::experts);
    QCOMPARE(snapshot.tiers[0].units + snapshot.tiers[1].units, expert::experts);
    QCOMPARE(snapshot.tiers[0].hits + snapshot.tiers[1].hits, snapshot.host_hits);  // one layer each
    QCOMPARE(snapshot.misses, 0);
    QVERIFY(engine.precision()->hit_rate > 0 && engine.precision()->hit_rate < 0.5);
  }

  // dynaexq's own choices: experts of the device move, within the budget, and the processor's stay.
  void dynaexqMovesTheDevicesExperts() {
    LoadOptions request = with_policy(PolicyKind::dynaexq, {"file", "q2"});
    request.precision.offload = cpu_moe(1);
    request.precision.publish_after_passes = 0;
    request.precision.dynaexq.warm_up_tokens = 4;
    request.precision.dynaexq.interval_tokens = 4;
    request.precision.dynaexq.hysteresis = 0;
    request.precision.dynaexq.in_flight = 2;  // one spare block of each tier
    request.precision.budget_bytes = min_budget(request, 1);
    const auto engine = load_on(apart_, request);
    QVERIFY(engine->plan().plan.high_per_layer > 0 && engine->plan().plan.high_per_layer < expert::experts);
    const auto tokens = expert::some_tokens(60);
    expert::logits(*engine, tokens);
    const PrecisionUse use = *engine->precision();
    QVERIFY(use.promotions > 0);
    QCOMPARE(use.swaps_refused, 0);
    QVERIFY(use.accounted_bytes <= request.precision.budget_bytes);
    QVERIFY(use.hit_rate > 0 && use.hit_rate < 0.5);
  }

  // What comes back is found in main memory, and everything else is as without it.
  void whatSwapsHaveReadIsKeptInMainMemory() {
    LoadOptions request = with_policy(PolicyKind::dynaexq, {"file", "q2"});
    request.precision.publish_after_passes = 0;
    request.precision.dynaexq.warm_up_tokens = 4;
    request.precision.dynaexq.interval_tokens = 4;
    request.precision.dynaexq.smoothing = 0.5;
    request.precision.dynaexq.smoothing_tokens = 1;
    request.precision.dynaexq.hysteresis = 0;
    request.precision.dynaexq.in_flight = 2;
    request.precision.budget_bytes = min_budget(request, 1);
    constexpr std::int64_t main_memory = std::int64_t{1} << 30;
    const auto run = [&](std::int64_t cache_bytes) {
      request.precision.host_cache_bytes = cache_bytes;
      auto engine = runtime::load(request, {}, {}, {}, &apart_, {.main_memory_bytes = main_memory});
      if (!engine) qFatal("%s", engine.error().message().c_str());
      return *std::move(engine);
    };
    // Two subjects that take turns.
    std::vector<TokenId> tokens;
    for (int i = 0; i < 60; ++i) tokens.push_back(i / 10 % 2 == 0 ? 5 : 23);
    const auto with = run(-1), without = run(0);
    const Plan &plan = with->plan().plan, &other = without->plan().plan;
    QVERIFY(plan.host_cache_bytes > 0);
    QVERIFY(plan.host_cache_bytes <= (main_memory - plan.host_bytes) / 2);
    QCOMPARE(other.host_cache_bytes, 0);
    QCOMPARE(plan.host_bytes, other.host_bytes);
    for (int round = 0; round < 4; ++round)
      QVERIFY(expert::logits(*with, tokens) == expert::logits(*without, tokens));
    const PrecisionUse use = *with->precision(), same = *without->precision();
    QVERIFY(use.promotions > 0);
    QCOMPARE(use.promotions, same.promotions);
    QCOMPARE(same.bytes_found, 0);
    QVERIFY(use.bytes_found > 0);
    QCOMPARE(use.bytes_found + use.bytes_read, same.bytes_read);

    // More than there is, of all that could be kept; and less than a version.
    const auto refused = [&](std::int64_t cache_bytes, std::int64_t left) {
      request.precision.host_cache_bytes = cache_bytes;
      const auto engine =
          runtime::load(request, {}, {}, {}, &apart_, {.main_memory_bytes = plan.host_bytes + left});
      return engine ? Error{} : engine.error();
    };
    QVERIFY(refused(main_memory, plan.host_cache_bytes - 1).is(errors::host_cache_too_large.code));
    QVERIFY(refused(main_memory, plan.host_cache_bytes) == Error{});
    QVERIFY(refused(1, main_memory).is(errors::host_cache_too_small.code));
  }

  // With several tiers the flags leave the usual policy what it does to the rest; auto finds the fewest
  // layers with which the lowest tier fits.
  void autoWhereExpertsMove() {
    LoadOptions request = with_policy(PolicyKind::automatic, {"file", "q2"});
    request.precision.offload = cpu_moe(1);
    request.precision.budget_bytes = min_budget(request);
    request.precision.offload = cpu_moe(-1);
    const auto engine = load_on(apart_, request);
    QCOMPARE(engine->plan().plan.units_on_host, 8);
    QCOMPARE(engine->plan().plan.high_per_layer, 0);

    // Too little: the error says which flag would do.
    request.precision.offload = {};
    const auto refused = runtime::load(request, {}, {}, {}, &apart_);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::memory);
    const std::string message = refused.error().message();
    QVERIFY2(message.contains("--policy fovea --n-cpu-moe 1 fits"), message.c_str());
  }

  // Without experts it is whole layers, or by name their feed-forward.
  void denseLayersGiveTheProcessorsBits_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<OffloadSettings>("offload");
    QTest::addColumn<int>("units");
    const int none = int(PolicyKind::none), fixed = int(PolicyKind::static_tiers);
    QTest::newRow("none") << none << gpu_layers(0) << 6;
    QTest::newRow("none, one layer") << none << gpu_layers(2) << 3;
    QTest::newRow("none, by name") << none << pattern("blk\\.1\\.=CPU") << 3;
    QTest::newRow("none, one tensor") << none << pattern("ffn_down=CPU") << 6;
    QTest::newRow("static") << fixed << gpu_layers(2) << 7;
  }
  void denseLayersGiveTheProcessorsBits() {
    QFETCH(int, policy);
    QFETCH(OffloadSettings, offload);
    QFETCH(int, units);
    const auto tokens = expert::some_tokens(20);
    const auto here = load_on(cpu(), dense_request());
    LoadOptions request = with_policy(static_cast<PolicyKind>(policy), {});
    request.model = dense_request().model;
    request.precision.offload = offload;
    const auto there = load_on(apart_, request);
    QVERIFY(expert::logits(*there, tokens) == expert::logits(*here, tokens));
    QVERIFY(there->memory().host_weights > 0);
    if (there->plan().policy() != PolicyKind::none) QCOMPARE(there->plan().plan.units_on_host, units);
  }

  void conversationsAreTheSame() {
    const auto here = load_on(cpu(), chat_request());
    LoadOptions request = chat_request();
    request.precision.offload = gpu_layers(1);
    const auto there = load_on(apart_, request);
    QVERIFY(there->memory().host_weights > 0);
    for (const auto& chat : expected_chat()["chats"]) {
      const GenerateRequest question = greedy(messages_of(chat), 24);
      const auto wanted = here->generate(question), got = there->generate(question);
      FOVEA_VERIFY(wanted);
      FOVEA_VERIFY(got);
      QCOMPARE(got->tokens, wanted->tokens);
    }
  }

  // Passes of as many tokens as asked for bring the processor's experts to the card. What that takes is in
  // the plan and kept to; it is left out where nobody wants it, and where there is no room for it and nobody
  // has asked.
  void promptsBringExperts() {
    const auto tokens = expert::some_tokens(40);
    const auto here = load_on(cpu(), expert::plain_request());
    LoadOptions request = with_policy(PolicyKind::none);
    request.precision.offload = cpu_moe(2);
    const auto load_from = [&](std::int64_t tokens_of_a_pass) {
      request.precision.offload.stream_from = tokens_of_a_pass;
      return runtime::load(request, {}, {}, {}, &apart_);
    };
    const auto brings = [](const Engine& engine) {
      return std::ranges::any_of(engine.plan().plan.notes, [](const Phrase& note) {
        return note.is(phrases::prompts_bring_experts.code);
      });
    };
    constexpr std::int64_t never = -1, when_faster = 0;
    request.chunk = 16;
    const auto with = load_from(9), without = load_from(never);
    FOVEA_VERIFY(with);
    FOVEA_VERIFY(without);
    QVERIFY(brings(**with) && !brings(**without));
    const std::vector<float> expected = expert::logits(*here, tokens);
    QVERIFY(expert::logits(**with, tokens) == expected);
    QVERIFY(expert::logits(**without, tokens) == expected);
    const MemoryUse more = (*with)->memory(), less = (*without)->memory();
    const Plan &larger = (*with)->plan().plan, &smaller = (*without)->plan().plan;
    QVERIFY(larger.total_bytes > smaller.total_bytes);
    QCOMPARE(more.on_device() - less.on_device(), larger.total_bytes - smaller.total_bytes);
    QCOMPARE(more.host_buffers - less.host_buffers, larger.host_bytes - smaller.host_bytes);

    request.precision.budget_bytes = card_budget(less.on_device());
    const auto tight = load_from(when_faster);
    FOVEA_VERIFY(tight);
    QVERIFY(!brings(**tight));
    const auto refused = load_from(9);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::memory);
  }

  // A budget that falls from everything to nothing: the smallest number of layers is found that fits it, what
  // is on the device stays below it, and one layer fewer is refused by the plan.
  void autoFindsTheFewestLayers() {
    LoadOptions request = with_policy(PolicyKind::none);
    const auto whole = load_on(apart_, request);
    const auto kept = [](const MemoryUse& m) { return m.on_device(); };
    const std::int64_t all = kept(whole->memory());
    std::vector<std::int64_t> host_bytes;
    for (const std::int64_t missing : {std::int64_t{0}, std::int64_t{1}, whole->memory().weights / 2}) {
      request.precision.budget_bytes = card_budget(all - missing);
      request.precision.offload = cpu_moe(-1);
      const auto engine = runtime::load(request, {}, {}, {}, &apart_);
      if (!engine) {
        QVERIFY(engine.error().message().find("even with all experts") != std::string::npos);
        QVERIFY(missing > 1);
        continue;
      }
      const MemoryUse memory = (*engine)->memory();
      QVERIFY(kept(memory) <= all - missing);
      host_bytes.push_back(memory.host_weights);
    }
    QVERIFY(host_bytes.size() >= 2);
    QCOMPARE(host_bytes[0], 0);
    QVERIFY(host_bytes[1] > 0);
    QVERIFY(std::ranges::is_sorted(host_bytes));
  }

  // Too little memory is known before a weight is read, with the number and the flags that help.
  void tooLittleMemoryIsAnErrorOfThePlan_data() {
    QTest::addColumn<bool>("dense");
    QTest::addColumn<QString>("flag");
    QTest::newRow("experts") << false << "--n-cpu-moe 1 fits (--n-cpu-moe auto finds it)";
    QTest::newRow("dense") << true << "-ngl 2 fits";
  }
  void tooLittleMemoryIsAnErrorOfThePlan() {
    QFETCH(bool, dense);
    QFETCH(QString, flag);
    LoadOptions request = dense ? dense_request() : expert::plain_request();
    const MemoryUse whole = load_on(apart_, request)->memory();
    const std::int64_t all = card_budget(whole.on_device());
    request.precision.budget_bytes = all - 1;
    bool progressed = false;
    const auto engine = runtime::load(request, {}, [&](const Progress&) { progressed = true; }, {}, &apart_);
    QVERIFY(!engine);
    QVERIFY(!progressed);
    QCOMPARE(engine.error().kind, ErrorKind::memory);
    const QString message = QString::fromStdString(engine.error().message());
    QVERIFY2(message.contains(QString::number(all)), qPrintable(message));
    QVERIFY2(message.contains(flag), qPrintable(message));
    QVERIFY2(message.contains("--override-tensor"), qPrintable(message));
    if (dense) {
      request.precision.offload = gpu_layers(2);
    } else {
      request.precision.offload = cpu_moe(1);
    }
    QVERIFY(load_on(apart_, request)->memory().host_weights > 0);
  }

  // Beside a card the processor is a place like a tier: experts go there whose tier would cost more than the
  // time does, and none where time is worth more.
  void expertsGoWhereTheyCostLeast_data() {
    QTest::addColumn<double>("nats_per_ms");
    QTest::addColumn<bool>("leave");
    QTest::newRow("exact") << 0.0 << false;  // time counts nothing, and nothing is weighed
    QTest::newRow("slow is better than wrong") << 1e-6 << true;
    QTest::newRow("nothing is as dear as time") << 1e9 << false;
  }
  void expertsGoWhereTheyCostLeast() {
    QFETCH(double, nats_per_ms);
    QFETCH(bool, leave);
    const QTemporaryDir stores;
    LoadOptions request =
        expert::with_policy(stores.path().toStdString(), PolicyKind::static_tiers, {"file", "q2"});
    auto measured = expert::measured_store(request, apart_, cpu());
    FOVEA_VERIFY(measured);
    request.precision.store = *measured;
    request.precision.nats_per_ms = nats_per_ms;
    LoadOptions least = request;
    least.precision.nats_per_ms = 0;
    request.precision.budget_bytes = min_budget(least) + 4096;
    const auto engine =
        runtime::load(request, {}, {}, {}, &apart_, {.device_gb_per_s = 1000, .main_memory_gb_per_s = 10});
    FOVEA_VERIFY(engine);
    const Plan& plan = (*engine)->plan().plan;
    QCOMPARE(plan.units_on_host > 0, leave);
    QVERIFY(plan.total_bytes <= plan.budget_bytes);
    const auto tokens = expert::some_tokens(40);
    const auto here = load_on(cpu(), expert::plain_request());
    // Who has left makes room: nobody is at q2 any more, and the answer is the model's own.
    const bool same = expert::logits(**engine, tokens) == expert::logits(*here, tokens);
    QCOMPARE(same, leave);
    QCOMPARE(plan.parts.experts.back().units == 0, leave);
  }

  // Main memory that lacks a byte is known before a weight is read or a store is built.
  void tooLittleMainMemoryIsAnErrorOfThePlan_data() {
    QTest::addColumn<int>("policy");
    QTest::newRow("none") << int(PolicyKind::none);
    QTest::newRow("static") << int(PolicyKind::static_tiers);
  }
  void tooLittleMainMemoryIsAnErrorOfThePlan() {
    QFETCH(int, policy);
    const QTemporaryDir stores;
    LoadOptions request =
        expert::with_policy(stores.path().toStdString(), static_cast<PolicyKind>(policy), {});
    request.precision.offload = cpu_moe(2);
    const MemoryUse use = load_on(apart_, request)->memory();
    const std::int64_t needed = use.host_weights + use.host_buffers;
    QVERIFY(runtime::load(request, {}, {}, {}, &apart_, {.main_memory_bytes = needed}));
    const QTemporaryDir empty;
    request.precision.stores_folder = empty.path().toStdString();
    bool progressed = false;
    const auto watch = [&](const Progress&) { progressed = true; };
    const auto engine = runtime::load(request, {}, watch, {}, &apart_, {.main_memory_bytes = needed - 1});
    QVERIFY(!engine);
    QVERIFY(!progressed);
    QVERIFY(std::filesystem::is_empty(request.precision.stores_folder));
    QCOMPARE(engine.error().kind, ErrorKind::memory);
    const std::string message = engine.error().message();
    // Under a policy the swaps' buffer takes more than the units do.
    const bool none = static_cast<PolicyKind>(policy) == PolicyKind::none;
    for (const std::string& text :
         {std::to_string(needed), std::to_string(needed - 1), std::string("16 units"),
          std::string(none ? "Leave everything on the card" : "Lower tiers keep more")})
      QVERIFY2(message.contains(text), message.c_str());
    QCOMPARE(apart_.allocated(), 0);
  }

  void whatCannotBeIsRefused_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<bool>("dense");
    QTest::addColumn<OffloadSettings>("offload");
    QTest::addColumn<QString>("says");
    const int none = int(PolicyKind::none);
    QTest::newRow("attention") << none << true << pattern("attn_q=CPU") << "names nothing that the processor";
    QTest::newRow("routers") << none << false << pattern("ffn_gate_inp=CPU")
                             << "names nothing that the processor";
    QTest::newRow("no experts") << none << true << cpu_moe(1) << "the model has no experts";
  }
  void whatCannotBeIsRefused() {
    QFETCH(int, policy);
    QFETCH(bool, dense);
    QFETCH(OffloadSettings, offload);
    QFETCH(QString, says);
    LoadOptions request = with_policy(static_cast<PolicyKind>(policy));
    if (dense) request.model = dense_request().model;
    request.precision.offload = offload;
    const auto engine = runtime::load(request, {}, {}, {}, &apart_);
    QVERIFY(!engine);
    QCOMPARE(engine.error().kind, ErrorKind::invalid);
    const QString message = QString::fromStdString(engine.error().message());
    QVERIFY2(message.contains(says), qPrintable(message));
  }

  void theProcessorsUsesAreCounted() {
    LoadOptions request = with_policy(PolicyKind::static_tiers, {"file"});
    request.precision.offload = cpu_moe(1);
    const auto engine = load_on(apart_, request);
    Snapshot snapshot;
    engine->read_snapshot(snapshot);  // asks for one
    expert::logits(*engine, expert::some_tokens(30));
    QVERIFY(engine->read_snapshot(snapshot));
    QVERIFY(snapshot.host_hits > 0);
    QCOMPARE(snapshot.tiers[0].hits, snapshot.host_hits);  // one layer each
    QCOMPARE(snapshot.misses, 0);
    QCOMPARE(snapshot.host_units, std::int64_t{8});
    for (std::size_t unit = 0; unit < snapshot.units.size(); ++unit)
      QCOMPARE(snapshot.units[unit].tier, unit < 8 ? host_tier : std::uint8_t{0});
  }

  // A device that is lost between two passes, or before the first one, ends the request.
  void aLostDeviceEndsTheRequest() {
    const ApartDevice lost(cpu());
    LoadOptions request = expert::plain_request();
    request.precision.offload = cpu_moe(99);
    const auto engine = load_on(lost, request);
    std::int64_t rows = 0;
    const auto done = engine->logits(expert::some_tokens(12), [&](std::int64_t, std::span<const float>) {
      if (++rows == request.chunk) lost.fail("the device is lost");
    });
    QVERIFY(!done);
    QCOMPARE(done.error().kind, ErrorKind::device);
    QVERIFY(done.error().message().find("the device is lost") != std::string::npos);
    QCOMPARE(rows, request.chunk);
  }

  // A card that does not hear the processor says so once, and goes on as if nothing had been.
  void anAnswerThatIsLateEndsTheRequest() {
    FOVEA_NEEDS_PTX;
    const auto gpu = ptx::device({.seed = seed()});
    Meddled card(*gpu);
    LoadOptions request = expert::plain_request();
    request.chunk = 1;
    request.precision.offload = cpu_moe(1);
    const auto tokens = expert::some_tokens(4);
    const auto wanted = expert::logits(*load_on(card, request), tokens);
    const auto engine = load_on(card, request);
    card.mute = true;
    const auto late = engine->logits(tokens, [](std::int64_t, std::span<const float>) {});
    QVERIFY(!late);
    QVERIFY(late.error().is(errors::processor_is_late.code));
    QCOMPARE(late.error().number("layer").value_or(-1), 0.0);
    card.mute = false;
    QVERIFY(expert::logits(*engine, tokens) == wanted);
  }
};
FOVEA_TEST(HostPartTest)

#include "host_part_test.moc"
