// What `fovea plan --json` says is what a loaded engine reports by its own books: byte for byte, unit for
// unit.
#include <nlohmann/json.hpp>

#include "app/commands/plan_report.h"
#include "engine/api/engine.h"
#include "engine/runtime/load.h"
#include "engine/runtime/load_plan.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

#include "../../engine/models/apart_device.h"

using namespace fovea;
using namespace fovea::tests;
using Json = nlohmann::ordered_json;

namespace {

// What anybody else does to the machine's memory decides nothing here.
constexpr MachineFacts pinned{.device_free_bytes = std::int64_t{8} << 30,
                              .main_memory_bytes = std::int64_t{16} << 30,
                              .main_memory_gb_per_s = 20};

const kernels::Device& processor() {
  return **runtime::chosen_device({});
}

// Of the plan, what an engine can tell as well: without a policy, it follows experts alone.
Json said(const LoadPlan& plan, bool has_experts = true) {
  const Json whole = app::plan_json(plan, 512);
  std::int64_t units = 0;
  for (const auto& [tier, bytes] : whole["parts"]["experts"].items()) units += bytes.get<std::int64_t>();
  const bool arena = whole["policy"] != "none";
  Json layers = Json::array();
  for (const Json& layer : whole["layers"])
    if (!layer.empty() && (arena || has_experts)) layers.push_back(layer);
  return {{"policy", whole["policy"]},
          {"context", whole["context"]},
          {"chunk", whole["chunk"]},
          {"kv_type", whole["kv_type"]},
          {"weights", whole["parts"]["dense"].get<std::int64_t>() + (arena ? 0 : units)},
          {"kv", whole["parts"]["kv"]},
          {"windows", whole["parts"]["windows"]},
          {"states", whole["parts"]["states"]},
          {"activations", whole["parts"]["activations"]},
          {"arena", arena ? units : 0},
          {"total", whole["total_bytes"].get<std::int64_t>() - whole["parts"]["safety"].get<std::int64_t>()},
          {"host_weights", whole["host_parts"]["weights"]},
          {"host_buffers", whole["host_parts"]["transfer"].get<std::int64_t>() +
                               whole["host_parts"]["exchange"].get<std::int64_t>()},
          {"layers", layers}};
}

// Layer after layer, which of its units are at which tier.
Json layers_of(const Snapshot& snapshot) {
  Json layers = Json::array();
  for (std::int64_t row = 0; row < snapshot.layers; ++row) {
    Json& tiers = layers.emplace_back(Json::object());
    for (std::int64_t i = 0; i < snapshot.units_per_layer; ++i) {
      const std::uint8_t tier =
          snapshot.units[static_cast<std::size_t>(row * snapshot.units_per_layer + i)].tier;
      const std::string name = tier == host_tier ? "host"
                               : tier == no_tier ? "disk"
                                                 : snapshot.tiers[tier].name;
      tiers[name].push_back(i);
    }
  }
  return layers;
}

// By the engine's own books: what it has allocated, and what it publishes.
Json done(Engine& engine) {
  Snapshot snapshot;
  engine.read_snapshot(snapshot);
  // Nothing has moved yet; without a policy nothing ever does.
  engine.rest();
  if (!engine.precision()) {
    const std::vector<TokenId> one{1};
    if (const auto run = engine.logits(one, [](auto, auto) {}); !run)
      qFatal("%s", run.error().message().c_str());
  }
  engine.read_snapshot(snapshot);
  const MemoryUse memory = engine.memory();
  const LoadOptions& options = engine.settings();
  const auto use = engine.precision();
  const std::int64_t total = memory.on_device() + snapshot.arena_bytes;
  if (use && use->accounted_bytes - engine.plan().plan.parts.safety != total)
    qFatal("accounted are %lld bytes, held %lld", static_cast<long long>(use->accounted_bytes),
           static_cast<long long>(total));
  return {{"policy", name_in(policy_names, options.precision.policy)},
          {"context", options.context},
          {"chunk", options.chunk},
          {"kv_type", name_in(kv_names, options.kv)},
          {"weights", memory.weights},
          {"kv", memory.kv_cache},
          {"windows", memory.windows},
          {"states", memory.states},
          {"activations", memory.activations},
          {"arena", snapshot.arena_bytes},
          {"total", total},
          {"host_weights", memory.host_weights},
          {"host_buffers", memory.host_buffers},
          {"layers", layers_of(snapshot)}};
}

// The names of what is not the same; empty: nothing.
std::string different(const Json& a, const Json& b) {
  std::string names;
  for (const auto& [name, value] : a.items())
    if (b.at(name) != value)
      names += (names.empty() ? "" : ", ") + name + ": " + value.dump() + " is " + b.at(name).dump();
  return names;
}

}  // namespace

class PlanIsLoadedTest : public QObject {
  Q_OBJECT

  QTemporaryDir stores_;
  ApartDevice apart_{processor()};

  LoadOptions options_for(const QString& model, PolicyKind policy) const {
    LoadOptions options{.model = golden("models") / model.toStdString(),
                        .context = 96,
                        .threads = 2,
                        .chunk = 5,
                        .need_tokenizer = false};
    options.precision.policy = policy;
    options.precision.stores_folder = stores_.path().toStdString();
    options.precision.traffic_gb_per_s = 1;  // not measured
    // The others' rows are no whole blocks.
    const bool blocks = model == QStringLiteral("experts.gguf");
    if (policy == PolicyKind::static_tiers)
      options.precision.tiers =
          blocks ? std::vector<std::string>{"file", "q4", "q2"} : std::vector<std::string>{"file", "bf16"};
    if (policy == PolicyKind::dynaexq || policy == PolicyKind::fovea)
      options.precision.tiers = {"file", blocks ? "q2" : "bf16"};
    if (fovea::lowers_layers(policy)) options.precision.tiers = {"file", "bf16"};
    if (policy == PolicyKind::pmpd) options.precision.pmpd.schedule = {4};
    return options;
  }

 private Q_SLOTS:
  void whatIsSaidIsDone_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("policy");
    QTest::addColumn<bool>("card");
    QTest::addColumn<double>(
        "budget");  // between the least that would do and everything at the highest tier; < 0: none
    QTest::addColumn<int>("cpu_moe");
    const std::pair<PolicyKind, const char*> policies[] = {
        {PolicyKind::none, "none"},       {PolicyKind::static_tiers, "static"},
        {PolicyKind::dynaexq, "dynaexq"}, {PolicyKind::fovea, "fovea"},
        {PolicyKind::offload, "offload"}, {PolicyKind::flexquant, "flexquant"},
        {PolicyKind::pmpd, "pmpd"},       {PolicyKind::automatic, "automatic"}};
    for (const char* model : {"experts.gguf", "qwen2_moe-0", "mixtral-0", "qwen3-0", "window-qwen3"}) {
      const bool experts = QString(model) != "qwen3-0" && QString(model) != "window-qwen3";
      for (const auto& [policy, name] : policies) {
        const bool of_experts =
            policy == PolicyKind::dynaexq || policy == PolicyKind::fovea || policy == PolicyKind::offload;
        if (!experts && of_experts) continue;
        for (const bool card : {false, true}) {
          for (const double budget : {-1.0, 0.0, 0.4, 1.0}) {
            if (budget >= 0 && policy == PolicyKind::none && !card) continue;  // nothing keeps to it
            if (budget < 0 && policy == PolicyKind::automatic) continue;       // it means none
            for (const int cpu_moe : {0, 1, -1}) {
              const bool offloads = policy == PolicyKind::offload || card;
              if (cpu_moe != 0 && (fovea::lowers_layers(policy) || !(experts && offloads))) continue;
              if (cpu_moe < 0 && budget < 0 && !card) continue;  // auto needs a budget to fit
              QTest::addRow("%s %s %s budget %.1f away %d", model, name, card ? "card" : "cpu", budget,
                            cpu_moe)
                  << QString(model) << int(policy) << card << budget << cpu_moe;
            }
          }
        }
      }
    }
  }
  void whatIsSaidIsDone() {
    QFETCH(QString, model);
    QFETCH(int, policy);
    QFETCH(bool, card);
    QFETCH(double, budget);
    QFETCH(int, cpu_moe);
    const kernels::Device& device = card ? static_cast<const kernels::Device&>(apart_) : processor();
    const runtime::Machine machine{.device = &device, .facts = pinned};
    LoadOptions options = options_for(model, static_cast<PolicyKind>(policy));
    options.precision.offload.cpu_moe_layers = cpu_moe;
    if (budget >= 0) {
      LoadOptions whole = options;
      if (cpu_moe < 0 || options.precision.policy == PolicyKind::automatic)
        whole.precision.budget_bytes = pinned.device_free_bytes;
      const auto sizes = runtime::plan_file(whole, machine);
      FOVEA_VERIFY(sizes);
      const std::int64_t least = sizes->plan.min_bytes, most = sizes->plan.whole_bytes;
      options.precision.budget_bytes =
          least + static_cast<std::int64_t>(budget * static_cast<double>(most - least));
    }
    auto plan = runtime::plan_file(options, machine);
    FOVEA_VERIFY(plan);
    QVERIFY2(plan->plan.fits, plan->plan.advice.empty() ? "" : english(plan->plan.advice.front()).c_str());
    auto engine = runtime::load(options, {}, {}, {}, &device, pinned);
    FOVEA_VERIFY(engine);
    // The first time the store was made: the plan says that it did not know it, and is made again.
    if (plan->policy() != PolicyKind::none && plan->basis.store_fingerprint.empty()) {
      QVERIFY(!(*engine)->plan().basis.store_fingerprint.empty());
      plan = runtime::plan_file(options, machine);
      FOVEA_VERIFY(plan);
    }
    const bool has_experts = model != QStringLiteral("qwen3-0") && model != QStringLiteral("window-qwen3");
    const Json expected = said(*plan, has_experts);
    const std::string names = different(expected, done(**engine));
    QVERIFY2(names.empty(), names.c_str());
    QVERIFY(differences(*plan, (*engine)->plan()).empty());

    // The plan itself, carried out.
    engine->reset();
    const auto shown = runtime::load(*plan, IfChanged::refuse, &device, pinned);
    FOVEA_VERIFY(shown);
    const std::string shown_names = different(expected, done(**shown));
    QVERIFY2(shown_names.empty(), shown_names.c_str());
  }

  // One byte, or one unit, is enough.
  void aPlantedDifferenceIsFound() {
    const runtime::Machine machine{.device = &processor(), .facts = pinned};
    LoadOptions options = options_for(QStringLiteral("experts.gguf"), PolicyKind::static_tiers);
    const auto whole = runtime::plan_file(options, machine);
    FOVEA_VERIFY(whole);
    options.precision.budget_bytes = (whole->plan.min_bytes + whole->plan.whole_bytes) / 2;
    const auto engine = runtime::load(options, {}, {}, {}, &processor(), pinned);
    FOVEA_VERIFY(engine);
    const LoadPlan& carried_out = (*engine)->plan();
    const Json found = done(**engine);
    QCOMPARE(different(said(carried_out), found), std::string());
    LoadPlan byte = carried_out;
    ++byte.plan.parts.kv;
    QVERIFY(different(said(byte), found).starts_with("kv: "));
    LoadPlan unit = carried_out;
    unit.unit_tiers[3] = unit.unit_tiers[3] == 0 ? 1 : 0;
    QVERIFY(different(said(unit), found).starts_with("layers: "));
    QCOMPARE(differences(carried_out, unit).size(), std::size_t{1});
  }
};

FOVEA_TEST(PlanIsLoadedTest)
#include "plan_is_loaded_test.moc"
