// A plan counts what loading takes: exactly for the weights, the KV cache, the activations and the arena.
#include <cmath>
#include <map>
#include <numeric>

#include "engine/api/engine.h"
#include "engine/api/plan.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/models/model.h"
#include "engine/precision/model_shapes.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

std::int64_t experts(const Plan& plan) {
  return std::accumulate(plan.parts.experts.begin(), plan.parts.experts.end(), std::int64_t{0},
                         [](std::int64_t sum, const PlanTier& tier) { return sum + tier.bytes; });
}

std::int64_t total(const Plan& plan) {
  return plan.parts.dense + experts(plan) + plan.parts.kv + plan.parts.windows + plan.parts.states +
         plan.parts.activations + plan.parts.safety;
}

LoadOptions with(const std::vector<std::string>& tiers, std::int64_t budget, PolicyKind policy) {
  LoadOptions settings{.context = 200, .chunk = 7};
  settings.precision.policy = policy;
  settings.precision.tiers = tiers;
  settings.precision.budget_bytes = budget;
  return settings;
}

Result<LoadPlan> plan(const std::filesystem::path& model, LoadOptions options,
                      const MachineFacts& machine = {}) {
  options.model = model;
  return plan_model(options, machine);
}

std::int64_t dense_of_model(const std::filesystem::path& path, models::UnitScope scope) {
  auto file = checkpoint::Checkpoint::open(path);
  if (!file) return -1;
  const auto model = models::Model::load(*std::move(file), **runtime::chosen_device({}), 1, {}, {}, scope);
  return model ? model->weight_bytes() : -1;
}

}  // namespace

class PlanModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsWhatLoadingTakes_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("kv");
    for (const char* model :
         {"llama-0", "llama-0-gguf.gguf", "qwen2-1", "qwen2_moe-0", "qwen2_moe-fused", "qwen3_moe-0",
          "qwen3_moe-0-gguf.gguf", "mixtral-1", "mixtral-1-split-gguf.gguf", "blocks.gguf"}) {
      for (const KvType kv : {KvType::f32, KvType::f16})
        QTest::addRow("%s kv %d", model, int(kv)) << QString(model) << int(kv);
    }
  }
  void equalsWhatLoadingTakes() {
    QFETCH(QString, model);
    QFETCH(int, kv);
    const std::filesystem::path path = golden("models") / model.toStdString();
    const auto engine = Engine::load({.model = path,
                                      .context = 200,
                                      .kv = static_cast<KvType>(kv),
                                      .threads = 1,
                                      .chunk = 7,
                                      .need_tokenizer = false});
    FOVEA_VERIFY(engine);
    LoadOptions settings = with({}, 0, PolicyKind::none);
    settings.kv = static_cast<KvType>(kv);
    const auto report = plan(path, settings);
    FOVEA_VERIFY(report);
    const MemoryUse memory = (*engine)->memory();
    QCOMPARE(report->plan.parts.dense + experts(report->plan), memory.weights);
    QCOMPARE(report->plan.parts.kv, memory.kv_cache);
    QCOMPARE(report->plan.parts.windows, memory.windows);
    QCOMPARE(report->plan.parts.states, memory.states);
    QCOMPARE(report->plan.parts.activations, memory.activations);
    QCOMPARE(report->plan.total_bytes, total(report->plan));
    QVERIFY(report->plan.fits);
    QCOMPARE(report->policy(), PolicyKind::none);
  }

  // With a policy the units are the arena's and the rest is what loading without them takes.
  void equalsLoadingWithoutUnits_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<bool>("experts");
    QTest::newRow("dense") << "qwen3-0" << false;
    for (const char* model : {"qwen2_moe-0", "qwen3_moe-0-gguf.gguf", "mixtral-0"})
      QTest::newRow(model) << QString(model) << true;
  }
  void equalsLoadingWithoutUnits() {
    QFETCH(QString, model);
    QFETCH(bool, experts);
    const std::filesystem::path path = golden("models") / model.toStdString();
    const auto policy = experts ? PolicyKind::dynaexq : PolicyKind::static_tiers;
    const auto all = plan(path, with({"file", "bf16"}, 0, policy));
    FOVEA_VERIFY(all);
    const auto scope = experts ? models::UnitScope::experts : models::UnitScope::linear_layers;
    QCOMPARE(all->plan.parts.dense, dense_of_model(path, scope));
    QCOMPARE(all->plan.parts.experts[0].units, all->units());

    // Every budget from the least to the whole: fits, adds up, and all units are somewhere.
    const std::int64_t least = all->plan.min_bytes, most = all->plan.whole_bytes;
    if (least == most && model.startsWith("qwen")) return;  // one page at either tier
    QVERIFY(least < most);
    std::int64_t high = -1;
    for (int step = 0; step <= 20; ++step) {
      const auto report = plan(path, with({"file", "bf16"}, least + (most - least) * step / 20, policy));
      FOVEA_VERIFY(report);
      const Plan& plan = report->plan;
      QVERIFY(plan.fits && plan.total_bytes <= plan.budget_bytes);
      QCOMPARE(plan.total_bytes, total(plan));
      QCOMPARE(plan.arena_bytes, ::experts(plan));
      QCOMPARE(plan.parts.experts[0].units + plan.parts.experts[1].units, report->units());
      QVERIFY(plan.parts.experts[0].units >= high);
      high = plan.parts.experts[0].units;
    }
    QCOMPARE(high, all->units());
    const auto refused = plan(path, with({"file", "bf16"}, least - 1, policy));
    FOVEA_VERIFY(refused);
    QVERIFY(!refused->plan.fits);
    QCOMPARE(refused->plan.min_bytes, least);
  }

  // What a request without a policy means.
  void automatic_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<bool>("budget");
    QTest::addColumn<int>("tiers");
    QTest::addColumn<int>("offloadedLayers");
    QTest::addColumn<int>("policy");
    const auto row = [](const char* name, const char* model, bool budget, int tiers, int layers,
                        PolicyKind policy) {
      QTest::newRow(name) << QString(model) << budget << tiers << layers << int(policy);
    };
    row("nothing said", "qwen3_moe-0", false, 0, 0, PolicyKind::none);
    row("tiers", "qwen3_moe-0", false, 2, 0, PolicyKind::fovea);
    row("one tier", "qwen3_moe-0", false, 1, 0, PolicyKind::static_tiers);
    row("dense, tiers", "qwen3-0", false, 2, 0, PolicyKind::static_tiers);
    row("dense, budget", "qwen3-0", true, 0, 0, PolicyKind::static_tiers);
    row("budget", "experts.gguf", true, 0, 0, PolicyKind::fovea);
    row("budget, rows that no lower tier can hold", "qwen3_moe-0", true, 0, 0, PolicyKind::static_tiers);
    row("offload flag", "qwen3_moe-0", true, 0, 1, PolicyKind::offload);
  }
  void automatic() {
    QFETCH(QString, model);
    QFETCH(bool, budget);
    QFETCH(int, tiers);
    QFETCH(int, offloadedLayers);
    QFETCH(int, policy);
    const std::vector<std::string> both{"file", "bf16"};
    LoadOptions settings =
        with({both.begin(), both.begin() + tiers}, budget ? 1 << 30 : 0, PolicyKind::automatic);
    settings.precision.offload.cpu_moe_layers = offloadedLayers;
    const auto report = plan(golden("models") / model.toStdString(), settings);
    FOVEA_VERIFY(report);
    QCOMPARE(int(report->policy()), policy);
  }

  // On this machine what is offloaded needs blocks for its visits; a card leaves it to the host.
  void offloadedExpertsLeaveTheDevice() {
    const auto path = golden("models/qwen3_moe-0");
    MachineFacts machine;
    LoadOptions settings = with({}, 0, PolicyKind::offload);
    const auto whole = plan(path, settings, machine);
    FOVEA_VERIFY(whole);
    QCOMPARE(whole->units(), 10);  // 2 layers of 5
    settings.precision.offload.cpu_moe_layers = 1;
    const auto half = plan(path, settings, machine);
    FOVEA_VERIFY(half);
    QCOMPARE(half->units_offloaded, 5);
    QCOMPARE(half->plan.units_on_disk, 5);
    QCOMPARE(whole->disk_bytes_per_token, 0.0);
    // What was read stays: the layer's five have places, as many as a pass can need. Memory is read alike.
    QCOMPARE(half->plan.units_cached, 5);
    QCOMPARE(half->disk_bytes_per_token, 0.0);
    QCOMPARE(half->device_part.expert_bytes, whole->device_part.expert_bytes);
    // With a chunk of one token two have places, and of ten experts whose uses are alike eight miss.
    LoadOptions narrow = settings;
    narrow.chunk = 1;
    narrow.precision.offload.cpu_moe_layers = 2;
    const auto two = plan(path, narrow, machine);
    FOVEA_VERIFY(two);
    QCOMPARE(two->plan.units_cached, 2);
    QCOMPARE(two->disk_bytes_per_token, 0.8 * two->device_part.expert_bytes);
    // A budget's room is for more of them.
    narrow.precision.budget_bytes = two->plan.total_bytes + 4 * two->plan.parts.experts.front().unit_bytes;
    const auto four = plan(path, narrow, machine);
    FOVEA_VERIFY(four);
    QVERIFY(four->plan.units_cached > 2 && four->plan.units_cached <= 6);
    QVERIFY(four->disk_bytes_per_token < two->disk_bytes_per_token);
    QCOMPARE(half->plan.arena_bytes, whole->plan.arena_bytes);  // 5 present, 5 places for visits
    machine.device_memory_bytes = std::int64_t{8} << 30;
    const auto card = plan(path, settings, machine);
    FOVEA_VERIFY(card);
    QCOMPARE(card->plan.arena_bytes, whole->plan.arena_bytes / 2);
    QCOMPARE(card->plan.units_on_disk, 0);
    QCOMPARE(card->disk_bytes_per_token, 0.0);
    QCOMPARE(card->units_offloaded, 5);
    QCOMPARE(card->plan.parts.safety, 1 << 30);
  }

  // Beside a card the processor computes what is left to it: counted apart, as its own weights take.
  void whatTheHostComputesIsCountedApart_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<bool>("experts");
    for (const char* model : {"qwen3_moe-0", "experts.gguf", "mixtral-0"})
      QTest::newRow(model) << model << true;
    QTest::newRow("qwen3-0") << "qwen3-0" << false;
  }
  void whatTheHostComputesIsCountedApart() {
    QFETCH(QString, model);
    QFETCH(bool, experts);
    const auto path = golden("models") / model.toStdString();
    LoadOptions settings = with({}, 0, PolicyKind::none);
    MachineFacts machine;
    machine.device_memory_bytes = std::int64_t{8} << 30;
    const auto whole = plan(path, settings, machine);
    FOVEA_VERIFY(whole);
    QVERIFY(whole->host_computes);
    QCOMPARE(whole->plan.host.weights, 0);
    QCOMPARE(whole->plan.host.transfer, 0);
    QCOMPARE(whole->plan.host_bytes, whole->plan.host.exchange);
    QVERIFY(whole->plan.host.exchange > 0);
    settings.precision.policy = PolicyKind::automatic;
    settings.precision.offload.cpu_moe_layers = experts ? 99 : 0;
    settings.precision.offload.gpu_layers = experts ? -1 : 0;
    settings.precision.offload.stream_from = -1;
    const auto divided = plan(path, settings, machine);
    FOVEA_VERIFY(divided);
    QCOMPARE(divided->policy(), PolicyKind::none);  // needs no store
    QVERIFY(divided->units_offloaded > 0);
    QCOMPARE(divided->plan.units_on_host, divided->units_offloaded);
    QCOMPARE(divided->plan.units_on_disk, 0);
    QCOMPARE(divided->plan.total_bytes, total(divided->plan));
    QVERIFY(divided->plan.host.weights > 0);
    QVERIFY(divided->plan.host.exchange > whole->plan.host.exchange);
    QCOMPARE(divided->plan.host_bytes,
             divided->plan.host.weights + divided->plan.host.kv + divided->plan.host.exchange);
    // -ngl leaves whole layers there, with their part of the cache.
    QCOMPARE(divided->plan.host.kv + divided->plan.parts.kv, whole->plan.parts.kv);
    QCOMPARE(divided->plan.host.kv > 0, !experts);
    QVERIFY(divided->plan.total_bytes < whole->plan.total_bytes);
    if (experts) {
      QCOMPARE(divided->plan.host.weights, dense_of_model(path, models::UnitScope::none) -
                                               dense_of_model(path, models::UnitScope::experts));
    }

    // A card that lacks one byte: the plan says what to leave to the processor, and that fits.
    settings.precision = {};
    settings.precision.policy = PolicyKind::none;
    settings.precision.budget_bytes = whole->plan.total_bytes - 1;
    const auto refused = plan(path, settings, machine);
    FOVEA_VERIFY(refused);
    QVERIFY(!refused->plan.fits);
    const char* const flag = experts ? "--n-cpu-moe 1 fits: the processor computes" : "-ngl ";
    QVERIFY(std::ranges::any_of(refused->plan.advice,
                                [&](const Phrase& advice) { return english(advice).starts_with(flag); }));
    if (!experts) return;
    settings.precision.offload.cpu_moe_layers = -1;
    const auto found = plan(path, settings, machine);
    FOVEA_VERIFY(found);
    QVERIFY(found->plan.fits);
    QCOMPARE(found->cpu_moe_layers, 1);
  }

  // One byte of main memory too few: the plan says so, and the division that it names fits both.
  void mainMemoryIsPlannedToo() {
    const auto path = golden("models/qwen3_moe-0");
    LoadOptions settings = with({}, 0, PolicyKind::none);
    MachineFacts machine;
    machine.device_memory_bytes = std::int64_t{8} << 30;
    settings.precision.policy = PolicyKind::automatic;
    settings.precision.offload.cpu_moe_layers = 2;
    const auto all = plan(path, settings, machine);
    FOVEA_VERIFY(all);
    QVERIFY(all->plan.fits);
    QCOMPARE(all->plan.host_available_bytes, 0);  // another machine's
    machine.main_memory_bytes = all->plan.host_bytes;
    const auto just = plan(path, settings, machine);
    FOVEA_VERIFY(just);
    QVERIFY(just->plan.fits);
    QCOMPARE(just->plan.host_available_bytes, machine.main_memory_bytes);
    --machine.main_memory_bytes;
    const auto refused = plan(path, settings, machine);
    FOVEA_VERIFY(refused);
    QVERIFY(!refused->plan.fits);
    QVERIFY(refused->plan.total_bytes <= refused->plan.budget_bytes);
    QVERIFY2(english(refused->plan.advice.back()).contains("--n-cpu-moe 1 fits both memories"),
             english(refused->plan.advice.back()).c_str());
    // With too small a card for everything, one layer is the processor's.
    settings.precision.offload.cpu_moe_layers = 1;
    const auto one = plan(path, settings, machine);
    FOVEA_VERIFY(one);
    QVERIFY(one->plan.fits);
    settings.precision.budget_bytes = one->plan.total_bytes;
    settings.precision.offload.cpu_moe_layers = 2;
    const auto named = plan(path, settings, machine);
    FOVEA_VERIFY(named);
    QVERIFY(!named->plan.fits);
    QVERIFY2(english(named->plan.advice.back()).contains("--n-cpu-moe 1 fits both memories"),
             english(named->plan.advice.back()).c_str());
    // Nothing does where both are small.
    machine.main_memory_bytes = one->plan.host_bytes - 1;
    const auto neither = plan(path, settings, machine);
    FOVEA_VERIFY(neither);
    QVERIFY(!neither->plan.fits);
    QVERIFY2(english(neither->plan.advice.back()).contains("Lower tiers"),
             english(neither->plan.advice.back()).c_str());
  }

  // Half of Mixtral's layers are the processor's: of 2 experts of 3 · 4096 · 14336 weights in BF16 for each.
  void theTimeOfATokenIsPredicted() {
    LoadOptions settings;
    MachineFacts machine;
    machine.device_memory_bytes = std::int64_t{64} << 30;
    settings.precision.policy = PolicyKind::automatic;
    settings.precision.offload.cpu_moe_layers = 16;
    machine.main_memory_gb_per_s = 50;
    machine.device_gb_per_s = 1000;
    const auto report = plan_shape({.name = "mixtral-8x7b"}, settings, machine);
    FOVEA_VERIFY(report);
    const double half = 16.0 * 2 * 3 * 4096 * 14336 * 2;
    QCOMPARE(report->host_part.bytes(), half);
    QCOMPARE(report->host_part.ms(), half / 50e6);
    // Attention, routers and the output on top: 32 · (2 · 4096² + 2 · 4096 · 1024 + 8 · 4096) + 32000 · 4096.
    const double dense = 2 * (32 * (2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 8.0 * 4096) + 32000.0 * 4096);
    const double vectors = report->device_part.bytes() - half - dense;
    QVERIFY2(vectors > 0 && vectors < 4.0 * 100 * 4096, std::to_string(vectors).c_str());
    QCOMPARE(report->device_part.ms(), report->device_part.bytes() / 1000e6);
    // What nobody knows is not predicted.
    machine.device_gb_per_s = machine.main_memory_gb_per_s = 0;
    const auto unknown = plan_shape({.name = "mixtral-8x7b"}, settings, machine);
    FOVEA_VERIFY(unknown);
    QCOMPARE(unknown->device_part.ms(), 0.0);
    QCOMPARE(unknown->host_part.ms(), 0.0);
  }

  // Nothing of it has tiers before its file is here. 4,022,272,000 weights at 34 bytes for 32, 196,096
  // floats.
  void aDenseShapeIsPlannedAsAWhole() {
    LoadOptions settings;
    MachineFacts machine;
    machine.device_memory_bytes = std::int64_t{8} << 30;
    settings.precision.policy = PolicyKind::automatic;
    const auto report = plan_shape({.name = "qwen3-4b", .dense_tier = "q8"}, settings, machine);
    FOVEA_VERIFY(report);
    QCOMPARE(report->policy(), PolicyKind::none);
    QCOMPARE(report->units(), std::int64_t{0});
    QCOMPARE(report->plan.parts.dense, std::int64_t{4'022'272'000} / 32 * 34 + 196'096 * 4);
    QVERIFY(report->plan.fits);
    constexpr std::int64_t known = 2'500'000'000;
    QCOMPARE(plan_shape({.name = "qwen3-4b", .dense_bytes = known}, settings, machine)->plan.parts.dense,
             known);
    settings.precision.policy = PolicyKind::dynaexq;
    const auto refused = plan_shape({.name = "qwen3-4b"}, settings, machine);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::unsupported);
  }

  // What it tells by hand: 36 layers of 128 experts of 3 · 2880² weights at 4.25 bits, the others at 8.5; a
  // token reads 4 experts of each layer, attention, routers and the output.
  void aShapeTellsItsSizes() {
    const auto facts = shape_facts({.name = "gpt-oss-120b", .dense_tier = "q8"}, "file");
    FOVEA_VERIFY(facts);
    QCOMPARE(facts->experts, std::int64_t{128});
    QCOMPARE(facts->experts_used, std::int64_t{4});
    QCOMPARE(facts->context, std::int64_t{131072});
    const std::int64_t expert = 3 * 2880 * 2880;
    const std::int64_t attention = 2 * 2880 * (64 + 8) * 64, router = 128 * 2880, table = 201088 * 2880;
    QCOMPARE(facts->parameters_active, 36 * (4 * expert + attention + router) + table);
    // Published: 116.8 billion, 63,387,346,208 bytes.
    QVERIFY(std::abs(static_cast<double>(facts->parameters) / 116.8e9 - 1) < 0.001);
    QVERIFY(std::abs(static_cast<double>(facts->file_bytes) / 63'387'346'208 - 1) < 0.01);
    QVERIFY(!shape_facts({.name = "gpt-oss-120b"}, "q7"));
    QVERIFY(!shape_facts({.name = "gpt-9"}, "file"));
  }

  // The same for a file, whose dense weights have types of their own.
  void aFilesTokenReadsWhatItsTensorsSay() {
    const auto path = golden("models/qwen3_moe-0");
    LoadOptions settings = with({}, 0, PolicyKind::none);
    MachineFacts machine;
    machine.device_memory_bytes = std::int64_t{8} << 30;
    settings.precision.policy = PolicyKind::automatic;
    settings.precision.offload.cpu_moe_layers = 1;
    machine.main_memory_gb_per_s = 1;
    const auto report = plan(path, settings, machine);
    FOVEA_VERIFY(report);
    const auto engine = Engine::load({.model = path, .threads = 1, .need_tokenizer = false});
    FOVEA_VERIFY(engine);
    // Both sides read what a token reads, but for the padding of blocks.
    const auto whole = static_cast<double>((*engine)->cost().weight_bytes);
    const double sides = report->device_part.bytes() + report->host_part.bytes();
    QVERIFY2(sides >= whole - 1 && sides < 1.1 * whole + 4096,
             (std::to_string(sides) + " of " + std::to_string(whole)).c_str());
    QVERIFY(report->host_part.bytes() > 0);
  }

  // A long context has more graphs, for which more is kept free.
  void graphsOfALongContextAreReserved() {
    LoadOptions settings;
    MachineFacts machine;
    machine.device_memory_bytes = std::int64_t{64} << 30;
    settings.precision.policy = PolicyKind::automatic;
    settings.precision.tiers = {"q4"};
    settings.context = 8192;
    const auto usual = plan_shape({.name = "qwen3-30b-a3b"}, settings, machine);
    FOVEA_VERIFY(usual);
    QCOMPARE(usual->plan.parts.safety, std::int64_t{1} << 30);
    machine.device_memory_bytes = std::int64_t{128} << 30;
    settings.context = 524288;
    // 256 tokens and twice as many up to 524,288 are 12 graphs of 49 · 14 kernels at 64 KiB.
    const auto longer = plan_shape({.name = "qwen3-30b-a3b"}, settings, machine);
    FOVEA_VERIFY(longer);
    QCOMPARE(longer->plan.parts.safety, (std::int64_t{1} << 29) + 12 * 49 * 14 * (std::int64_t{64} << 10));
  }

  void wrongRequestsAreNamed_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("tier");
    QTest::addColumn<int>("policy");
    QTest::addColumn<int>("layers");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* model, const char* tier, PolicyKind policy, int layers,
                        const char* says) {
      QTest::newRow(name) << QString(model) << QString(tier) << int(policy) << layers << QString(says);
    };
    row("tier", "qwen3_moe-0", "q7", PolicyKind::static_tiers, 0, "\"q7\" is not a tier");
    row("rows", "qwen3_moe-0", "q8", PolicyKind::static_tiers, 0, "a multiple of 32");
    row("dense", "qwen3-0", "file", PolicyKind::dynaexq, 0, "no experts");
    row("one tier for dynaexq", "qwen3_moe-0", "file", PolicyKind::dynaexq, 0, "found 1 (file)");
    row("three tiers for dynaexq", "experts.gguf", "file,q4,q2", PolicyKind::dynaexq, 0,
        "Give two, for example --tiers file,q2, or --policy static");
    row("offload and another policy", "qwen3_moe-0", "file", PolicyKind::static_tiers, 1, "--policy offload");
    row("offloading a dense model's experts", "qwen3-0", "file", PolicyKind::offload, 1, "no experts");
  }
  void wrongRequestsAreNamed() {
    QFETCH(QString, model);
    QFETCH(QString, tier);
    QFETCH(int, policy);
    QFETCH(int, layers);
    QFETCH(QString, says);
    std::vector<std::string> tiers;
    for (const QString& each : tier.split(',')) tiers.push_back(each.toStdString());
    LoadOptions settings = with(std::move(tiers), 0, static_cast<PolicyKind>(policy));
    settings.precision.offload.cpu_moe_layers = layers;
    const auto report = plan(golden("models") / model.toStdString(), settings);
    QVERIFY(!report);
    QVERIFY2(QString::fromStdString(report.error().message()).contains(says),
             report.error().message().c_str());
  }

  // A card that holds all of Qwen3-30B-A3B at q4 spends the rest on BF16 experts.
  void aLargeBudgetRaisesTheTiers() {
    LoadOptions settings;
    MachineFacts machine;
    machine.device_memory_bytes = std::int64_t{32} << 30;
    settings.precision.policy = PolicyKind::dynaexq;
    const auto report = plan_shape({.name = "qwen3-30b-a3b"}, settings, machine);
    FOVEA_VERIFY(report);
    QVERIFY(report->plan.fits);
    QCOMPARE(report->plan.parts.experts[0].name, std::string("file"));
    QCOMPARE(report->plan.parts.experts[1].name, std::string("q4"));
    QVERIFY(report->plan.high_per_layer > 20 && report->plan.high_per_layer < 60);
  }

  // Three tiers, whose numbers may follow the work, where half or more would be at q4, unless file above q4
  // leaves enough to move; dynaexq knows two.
  void tiersFollowTheBudget_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<double>("of_all_at_q4");
    QTest::addColumn<QString>("tiers");
    const int fovea = int(PolicyKind::fovea), dynaexq = int(PolicyKind::dynaexq);
    QTest::newRow("well below") << fovea << 0.75 << "q4,q2";
    QTest::newRow("below") << fovea << 0.9 << "file,q4,q2";
    QTest::newRow("just below") << fovea << 0.99 << "file,q4,q2";
    QTest::newRow("just above") << fovea << 1.05 << "file,q4,q2";
    QTest::newRow("well above") << fovea << 2.0 << "file,q4";
    QTest::newRow("dynaexq, well below") << dynaexq << 0.75 << "q4,q2";
    QTest::newRow("dynaexq, just below") << dynaexq << 0.99 << "q4,q2";
    QTest::newRow("dynaexq, just above") << dynaexq << 1.05 << "file,q4";
  }
  void tiersFollowTheBudget() {
    QFETCH(int, policy);
    QFETCH(double, of_all_at_q4);
    QFETCH(QString, tiers);
    LoadOptions settings;
    MachineFacts machine;
    machine.device_memory_bytes = std::int64_t{80} << 30;
    settings.precision.tiers = {"q4"};
    settings.precision.policy = PolicyKind::static_tiers;
    const auto all = plan_shape({.name = "qwen3-30b-a3b"}, settings, machine);
    FOVEA_VERIFY(all);
    settings.precision.policy = static_cast<PolicyKind>(policy);
    settings.precision.tiers = {};
    settings.precision.budget_bytes =
        static_cast<std::int64_t>(of_all_at_q4 * static_cast<double>(all->plan.total_bytes));
    const auto report = plan_shape({.name = "qwen3-30b-a3b"}, settings, machine);
    FOVEA_VERIFY(report);
    QVERIFY(report->plan.fits);
    QStringList names;
    for (const auto& tier : report->plan.parts.experts) names << QString::fromStdString(tier.name);
    QCOMPARE(names.join(','), tiers);
  }

  // Every shape with experts on every card: within its memory, or refused with advice that holds.
  void cards_data() {
    QTest::addColumn<QString>("shape");
    QTest::addColumn<int>("gib");
    for (const std::string& shape : shape_names()) {
      if (shape_facts({.name = shape}, "file")->experts == 0) continue;
      for (const int gib : {24, 32, 48})
        QTest::addRow("%s on %d GiB", shape.c_str(), gib) << QString::fromStdString(shape) << gib;
    }
  }
  void cards() {
    QFETCH(QString, shape);
    QFETCH(int, gib);
    LoadOptions settings;
    MachineFacts machine;
    machine.device_memory_bytes = static_cast<std::int64_t>(gib) << 30;
    settings.precision.policy = PolicyKind::automatic;
    settings.precision.tiers = {"q8", "q4"};
    if (shape == "gpt-oss-120b") settings.precision.tiers = {"file"};
    const auto report = plan_shape({.name = shape.toStdString()}, settings, machine);
    FOVEA_VERIFY(report);
    const Plan& plan = report->plan;
    QCOMPARE(plan.total_bytes, total(plan));
    QCOMPARE(plan.fits, plan.total_bytes <= plan.budget_bytes);
    QVERIFY(!plan.advice.empty());
    if (!plan.fits) {
      QVERIFY(plan.min_bytes > plan.budget_bytes);
      settings.precision.budget_bytes = plan.min_bytes;
      const auto enough = plan_shape({.name = shape.toStdString()}, settings, machine);
      FOVEA_VERIFY(enough);
      QVERIFY(enough->plan.fits);
    }
    // What --n-cpu-moe auto finds fits, and one layer fewer does not. Bringing experts to the card for
    // prompts takes so much of it that one more layer may leave it.
    settings.precision = {};
    settings.precision.policy = PolicyKind::offload;
    settings.precision.offload.cpu_moe_layers = -1;
    const auto brings = plan_shape({.name = shape.toStdString()}, settings, machine);
    FOVEA_VERIFY(brings);
    QVERIFY(brings->plan.fits);
    settings.precision.offload.stream_from = -1;
    const auto found = plan_shape({.name = shape.toStdString()}, settings, machine);
    FOVEA_VERIFY(found);
    QVERIFY(found->plan.fits);
    QVERIFY(found->plan.total_bytes <= machine.device_memory_bytes);
    QVERIFY(brings->cpu_moe_layers - found->cpu_moe_layers <= 1 &&
            brings->cpu_moe_layers >= found->cpu_moe_layers);
    settings.precision.offload.cpu_moe_layers = found->cpu_moe_layers - 1;
    if (found->cpu_moe_layers == 0) return;
    if (found->cpu_moe_layers == 1) settings.precision.offload = {};
    settings.precision.budget_bytes = machine.device_memory_bytes;
    const auto fewer = plan_shape({.name = shape.toStdString()}, settings, machine);
    FOVEA_VERIFY(fewer);
    if (found->cpu_moe_layers > 1) QVERIFY(!fewer->plan.fits);
  }

  // What a long prompt takes where the processor's experts come to the card: nothing more for a short one,
  // and for a long one what the link takes instead of what the processor does.
  void promptsThatBringExpertsAreFaster() {
    MachineFacts machine{.device_memory_bytes = std::int64_t{12} << 30,
                         .main_memory_gb_per_s = 60,
                         .device_gop_per_s = 100'000,
                         .processor_gop_per_s = 400};
    LoadOptions settings;
    settings.precision.offload.cpu_moe_layers = -1;
    const auto seconds = [&](std::int64_t stream_from, std::int64_t tokens) {
      settings.precision.offload.stream_from = stream_from;
      const auto report = plan_shape({.name = "qwen3-30b-a3b"}, settings, machine);
      if (!report) qFatal("%s", report.error().message().c_str());
      return report->first_token_seconds(tokens);
    };
    QCOMPARE(seconds(0, 16), seconds(-1, 16));
    QCOMPARE(seconds(2048, 1024), seconds(-1, 1024));
    QVERIFY(seconds(-1, 4096) > 3 * seconds(0, 4096));
    QCOMPARE(seconds(9, 4096), seconds(0, 4096));
    // Two passes of 2,048 tokens, for each of which the experts come.
    settings.precision.offload.stream_from = 0;
    const auto report = plan_shape({.name = "qwen3-30b-a3b"}, settings, machine);
    FOVEA_VERIFY(report);
    QCOMPARE(report->options.chunk, 2048);
    QCOMPARE(seconds(0, 4096), 2 * static_cast<double>(report->plan.host.weights) / 20e9);
  }

  // Passes are as long as that pays, where nobody has said how long; where nothing is brought, as ever.
  void passesAreLongWhereExpertsAreBrought() {
    MachineFacts machine{.device_memory_bytes = std::int64_t{12} << 30};
    LoadOptions settings;
    const auto chunk = [&] {
      const auto report = plan_shape({.name = "qwen3-30b-a3b"}, settings, machine);
      if (!report) qFatal("%s", report.error().message().c_str());
      return report->options.chunk;
    };
    settings.precision.offload.cpu_moe_layers = -1;
    QCOMPARE(chunk(), 2048);
    settings.context = 1024;
    QCOMPARE(chunk(), 1024);
    settings.context = 0;
    settings.chunk = 300;
    QCOMPARE(chunk(), 300);
    settings.chunk = 0;
    settings.precision.offload.stream_from = -1;
    QCOMPARE(chunk(), 512);
    settings.precision.offload.stream_from = 0;
    machine.device_memory_bytes = std::int64_t{96} << 30;  // everything fits
    QCOMPARE(chunk(), 512);
    // More tokens than a pass has are never brought for.
    machine.device_memory_bytes = std::int64_t{12} << 30;
    settings.chunk = 300;
    settings.precision.offload.stream_from = 301;
    const auto refused = plan_shape({.name = "qwen3-30b-a3b"}, settings, machine);
    QVERIFY(!refused);
    QVERIFY(refused.error().is(errors::stream_from_beyond_chunk.code));
  }

  // Bytes of one more token: 48 layers of 4 heads of 128, keys and values of 2 bytes; of Qwen3-Next 12 layers
  // of 2 heads of 256; of gpt-oss half of 36 layers of 8 heads of 64. Its other half keeps what a window and
  // a pass see, of as many bytes for each token.
  void tokensOfTheCacheByHand_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<qint64>("bytes");
    QTest::addColumn<qint64>("bytes_in_windows");
    QTest::addColumn<int>("window");
    QTest::newRow("qwen3-4b") << "qwen3-4b" << qint64(36 * 8 * 128 * 2 * 2) << qint64(0) << 0;
    QTest::newRow("qwen3-30b") << "qwen3-30b-a3b" << qint64(48 * 4 * 128 * 2 * 2) << qint64(0) << 0;
    QTest::newRow("qwen3-next") << "qwen3-next-80b-a3b" << qint64(12 * 2 * 256 * 2 * 2) << qint64(0) << 0;
    QTest::newRow("mixtral") << "mixtral-8x7b" << qint64(32 * 8 * 128 * 2 * 2) << qint64(0) << 0;
    QTest::newRow("gpt-oss") << "gpt-oss-120b" << qint64(18 * 8 * 64 * 2 * 2) << qint64(18 * 8 * 64 * 2 * 2)
                             << 128;
    QTest::newRow("gemma 4") << "gemma-4-26b-a4b" << qint64(5 * 2 * 512 * 2 * 2)
                             << qint64(25 * 8 * 256 * 2 * 2) << 1024;
    QTest::newRow("gemma 3") << "gemma-3-27b" << qint64(10 * 16 * 128 * 2 * 2)
                             << qint64(52 * 16 * 128 * 2 * 2) << 1024;
    // Of 42 and 35 layers 18 and 20 read those of others.
    QTest::newRow("gemma 4 e4b") << "gemma-4-e4b" << qint64(4 * 2 * 512 * 2 * 2)
                                 << qint64(20 * 2 * 256 * 2 * 2) << 512;
    QTest::newRow("gemma 4 e2b") << "gemma-4-e2b" << qint64(3 * 1 * 512 * 2 * 2)
                                 << qint64(12 * 1 * 256 * 2 * 2) << 512;
    QTest::newRow("mellum") << "mellum2-12b-a2.5b" << qint64(7 * 4 * 128 * 2 * 2)
                            << qint64(21 * 4 * 128 * 2 * 2) << 1024;
    QTest::newRow("qwen3.6") << "qwen3.6-35b-a3b" << qint64(10 * 2 * 256 * 2 * 2) << qint64(0) << 0;
  }
  void tokensOfTheCacheByHand() {
    QFETCH(QString, name);
    QFETCH(qint64, bytes);
    QFETCH(qint64, bytes_in_windows);
    QFETCH(int, window);
    using runtime::KvCache;
    const models::ModelConfig config = precision::config_of(**precision::find_shape(name.toStdString()));
    const auto at = [&](std::int64_t context) {
      return runtime::kv_settings(config, {.context = context, .chunk = 256});
    };
    QCOMPARE(KvCache::bytes(at(8192 + 64)) - KvCache::bytes(at(8192)), 64 * bytes);
    const KvCache::Bytes in_windows = KvCache::window_bytes(at(65536));
    // Of a window less its token and a pass, which may begin and end within a page.
    const std::int64_t pages = window == 0 ? 0 : window == 128 ? 7 : window == 512 ? 13 : 21;
    QCOMPARE(in_windows.device, pages * 64 * bytes_in_windows);
    // What there is to return to: all of it, or a gibibyte, or twice a window.
    QVERIFY(in_windows.host <=
            std::max<std::int64_t>(std::min<std::int64_t>(std::int64_t{1} << 30, 65536 * bytes_in_windows),
                                   2 * (window + 128) * bytes_in_windows));
    QCOMPARE(in_windows.host > 0, window > 0);
    // Where the context is hardly longer than the window nothing has to go.
    QCOMPARE(KvCache::window_bytes(at(64)).device, std::int64_t{0});
  }
};
FOVEA_TEST(PlanModelTest)

#include "plan_model_test.moc"
