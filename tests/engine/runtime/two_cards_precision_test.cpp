// Two cards with tiers, policies, budgets and experts that the processor computes: each moves its own, and
// the answers are those of one card.
#include <QTemporaryDir>
#include <algorithm>
#include <array>
#include <fstream>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_writer.h"
#include "engine/core/result.h"
#include "engine/layers/forward.h"
#include "engine/precision/errors.h"
#include "engine/precision/plan_inputs.h"
#include "engine/precision/swap_storm.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/load.h"
#include "engine/runtime/load_plan.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"
#include "expert_model.h"
#include "measured_store.h"

using namespace fovea;
using namespace fovea::tests;
namespace expert = fovea::tests::expert_model;

namespace {

constexpr std::int64_t main_memory = std::int64_t{1} << 30;

const kernels::Device& host() {
  static const kernels::Device& device = **runtime::chosen_device({});
  return device;
}

// The model with its layers so many times behind one another.
void write_stacked(const std::filesystem::path& model, std::int64_t times, const std::filesystem::path& to) {
  const auto opened = checkpoint::Checkpoint::open(model);
  if (!opened) qFatal("%s", opened.error().message().c_str());
  checkpoint::Metadata metadata = opened->metadata();
  const std::string key = std::string(*metadata.string("general.architecture")) + ".block_count";
  const std::int64_t layers = metadata.integer(key).value_or(0);
  metadata.set(key, static_cast<std::uint64_t>(times * layers), metadata.stored_type(key));
  std::vector<checkpoint::TensorInfo> infos;
  std::vector<const checkpoint::TensorInfo*> from;
  for (const checkpoint::TensorInfo& info : opened->tensors()) {
    const bool in_layer = info.name.starts_with("blk.");
    for (std::int64_t time = 0; time < (in_layer ? times : 1); ++time) {
      from.push_back(&info);
      checkpoint::TensorInfo& copy = infos.emplace_back(info);
      const std::size_t dot = info.name.find('.', 4);
      if (in_layer)
        copy.name =
            "blk." + std::to_string(std::stoll(info.name.substr(4)) + time * layers) + info.name.substr(dot);
    }
  }
  auto writer = checkpoint::GgufWriter::create(to, metadata, infos);
  if (!writer) qFatal("%s", writer.error().message().c_str());
  for (const checkpoint::TensorInfo* info : from)
    if (const auto done = writer->append(opened->bytes(*info)); !done)
      qFatal("%s", done.error().message().c_str());
  if (const auto done = writer->finish(); !done) qFatal("%s", done.error().message().c_str());
}

using precision::StormControl;
using precision::StormMode;
runtime::PolicyMaker storm(std::shared_ptr<StormControl> control) {
  return [control = std::move(control)](
             const precision::PolicyWorld& world) -> Result<std::unique_ptr<precision::Policy>> {
    return std::make_unique<precision::SwapStorm>(world, control, 2);
  };
}

std::int64_t units_at(const Snapshot& snapshot, std::uint8_t tier) {
  return std::ranges::count(snapshot.units, tier, &UnitState::tier);
}

}  // namespace

class TwoCardsPrecisionTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  ApartDevice first_{host()}, last_{host()}, one_{host()};

  LoadOptions request(PolicyKind policy, std::vector<std::string> tiers) const {
    LoadOptions load = expert::with_policy(folder_.path().toStdString(), policy, std::move(tiers));
    load.device = "cuda:0,cuda:1";
    load.context = 256;
    load.precision.publish_after_passes = 0;
    load.precision.fovea.interval_tokens = 4;
    load.precision.offload.stream_from = -1;
    return load;
  }
  std::filesystem::path stacked() const { return folder_.path().toStdString() + "/stacked.gguf"; }
  // Eight layers, so that each card has some; without a policy what is in its file alone.
  LoadOptions of_layers(PolicyKind policy) const {
    LoadOptions load = request(policy, {});
    load.model = stacked();
    load.chunk = 1;
    if (policy != PolicyKind::none && policy != PolicyKind::automatic) load.precision.tiers = {"file", "q2"};
    return load;
  }
  Result<std::unique_ptr<Engine>> load(const LoadOptions& request, const runtime::PolicyMaker& policy = {},
                                       std::int64_t memory = main_memory) const {
    return runtime::load(request, policy, {}, {}, &last_, {.main_memory_bytes = memory}, {}, &first_);
  }
  std::unique_ptr<Engine> loaded(const LoadOptions& request, const runtime::PolicyMaker& policy = {}) const {
    auto engine = load(request, policy);
    if (!engine) qFatal("%s", engine.error().message().c_str());
    return *std::move(engine);
  }
  std::unique_ptr<Engine> on_one(LoadOptions request) const {
    request.device.clear();
    request.precision.first_budget_bytes = 0;
    auto engine = runtime::load(request, {}, {}, {}, &one_, {.main_memory_bytes = main_memory});
    if (!engine) qFatal("%s", engine.error().message().c_str());
    return *std::move(engine);
  }
  // Of a budget for a card: so many bytes behind its reserve.
  static std::int64_t budget(std::int64_t bytes) { return precision::card_safety_bytes + bytes; }
  // A byte less for each card than it takes to have everything there as the file has it.
  void give_too_little(LoadOptions& request) const {
    LoadOptions whole = request;
    whole.precision.offload.cpu_moe_layers = 0;
    if (whole.precision.policy == PolicyKind::automatic) whole.precision.policy = PolicyKind::none;
    whole.precision.first_budget_bytes = whole.precision.budget_bytes = budget(std::int64_t{4} << 20);
    const auto plan = runtime::plan_file(
        whole, {.device = &last_, .first = &first_, .facts = {.main_memory_bytes = main_memory}});
    if (!plan) qFatal("%s", plan.error().message().c_str());
    request.precision.first_budget_bytes = plan->plan.first_card.total_bytes - 1;
    request.precision.budget_bytes = plan->plan.total_bytes - 1;
  }
  // The units of the first card.
  static std::int64_t first_units(const Engine& engine) {
    return engine.plan().first_unit[static_cast<std::size_t>(engine.plan().plan.first_card.layers)];
  }
  // Of both, the first card's first: some of its units, and not all.
  static bool some_of_each(const Engine& engine, const std::function<bool(std::int64_t unit)>& is) {
    const std::int64_t cut = first_units(engine), all = engine.plan().units();
    std::array<std::int64_t, 2> count{};
    for (std::int64_t unit = 0; unit < all; ++unit) count[unit < cut ? 0 : 1] += is(unit) ? 1 : 0;
    return count[0] > 0 && count[0] < cut && count[1] > 0 && count[1] < all - cut;
  }
  static std::vector<std::uint8_t> tiers_of(Engine& engine) {
    const Snapshot snapshot = snapshot_of(engine);
    std::vector<std::uint8_t> tiers;
    for (const UnitState& unit : snapshot.units) tiers.push_back(unit.tier);
    return tiers;
  }
  static Snapshot snapshot_of(Engine& engine) {
    Snapshot snapshot;
    while (!engine.read_snapshot(snapshot)) expert::logits(engine, expert::some_tokens(4));
    return snapshot;
  }
  // Each card has what the plan says, and main memory, too.
  void check_memory(const Engine& engine) const {
    const Plan& plan = engine.plan().plan;
    const MemoryUse use = engine.memory();
    QCOMPARE(use.first_card, plan.first_card.total_bytes - plan.first_card.parts.safety);
    QCOMPARE(first_.allocated(), use.first_card);
    QCOMPARE(use.on_device() + plan.arena_bytes, plan.total_bytes - plan.parts.safety);
    QCOMPARE(last_.allocated(), use.on_device() + plan.arena_bytes);
    QVERIFY(plan.first_card.total_bytes <= plan.first_card.budget_bytes);
    QVERIFY(plan.total_bytes <= plan.budget_bytes);
    QCOMPARE(plan.host_bytes, use.host_weights + use.host_buffers);
    if (const auto precision = engine.precision()) {
      QCOMPARE(precision->accounted_bytes, plan.total_bytes + plan.first_card.total_bytes);
      QCOMPARE(precision->budget_bytes, plan.budget_bytes + plan.first_card.budget_bytes);
    }
  }

 private Q_SLOTS:
  void initTestCase() { write_stacked(golden("models/experts.gguf"), 4, stacked()); }
  void cleanup() {
    QCOMPARE(first_.allocated(), 0);
    QCOMPARE(last_.allocated(), 0);
    QCOMPARE(one_.allocated(), 0);
  }

  // What stays where it is: one card's bits, whatever tier, and whoever computes it.
  void fixedPlacesGiveOneCardsBits_data() {
    QTest::addColumn<QStringList>("tiers");
    QTest::addColumn<int>("cpu_moe_layers");
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<int>("on_host");
    const auto row = [](const char* name, const QStringList& tiers, int cpu_moe, const char* pattern,
                        int on_host) { QTest::newRow(name) << tiers << cpu_moe << pattern << on_host; };
    row("q2", {"q2"}, 0, "", 0);
    row("file and q2, all at file", {"file", "q2"}, 0, "", 0);
    row("first card's experts by the processor", {}, 1, "", 8);
    row("all", {}, 2, "", 16);
    row("the other's", {}, 0, "blk\\.1\\.=CPU", 8);
    row("q2, first card's by the processor", {"q2"}, 1, "", 8);
    row("q2, the other's", {"q2"}, 0, "blk\\.1\\.=CPU", 8);
  }
  void fixedPlacesGiveOneCardsBits() {
    QFETCH(QStringList, tiers);
    QFETCH(int, cpu_moe_layers);
    QFETCH(QString, pattern);
    QFETCH(int, on_host);
    LoadOptions fixed = request(tiers.empty() ? PolicyKind::none : PolicyKind::static_tiers, {});
    for (const QString& tier : tiers) fixed.precision.tiers.push_back(tier.toStdString());
    fixed.precision.offload.cpu_moe_layers = cpu_moe_layers;
    if (!pattern.isEmpty()) fixed.precision.offload.override_tensors = {pattern.toStdString()};
    const auto tokens = expert::some_tokens(40);
    for (const std::int64_t chunk : {16, 1}) {
      fixed.chunk = chunk;
      const auto engine = loaded(fixed);
      check_memory(*engine);
      QCOMPARE(engine->plan().plan.first_card.layers, 1);
      QCOMPARE(engine->plan().plan.units_on_host, on_host);
      QCOMPARE(engine->plan().units_offloaded, on_host);
      QVERIFY(expert::logits(*engine, tokens) == expert::logits(*on_one(fixed), tokens));
      const Snapshot snapshot = snapshot_of(*engine);
      QCOMPARE(snapshot.host_units, on_host);
      QCOMPARE(units_at(snapshot, host_tier), on_host);
      QCOMPARE(units_at(snapshot, no_tier), 0);
    }
  }

  // A map names the units of both.
  void aMapIsBoths() {
    const std::filesystem::path map = folder_.filePath("map").toStdString();
    std::ofstream file(map);
    for (int layer = 0; layer < expert::layers; ++layer)
      for (int e = 0; e < expert::experts; ++e)
        file << "blk." << layer << ".expert." << e << ((e + layer) % 3 == 0 ? " file\n" : " q2\n");
    file.close();
    LoadOptions mapped = request(PolicyKind::static_tiers, {"file", "q2"});
    mapped.precision.tier_map = map;
    const auto engine = loaded(mapped);
    check_memory(*engine);
    QVERIFY(expert::logits(*engine, expert::some_tokens(40)) ==
            expert::logits(*on_one(mapped), expert::some_tokens(40)));
    const Plan& plan = engine->plan().plan;
    QCOMPARE(plan.first_card.parts.experts.front().units, 3);
    QCOMPARE(plan.parts.experts.front().units, 2);
  }

  // On both cards experts change tiers in each pass; when they are back, so is the answer.
  void aStormOnBothEndsWithTheFirstAnswer() {
    LoadOptions moving = of_layers(PolicyKind::dynaexq);
    moving.precision.publish_after_passes = 1;
    give_too_little(moving);
    const auto control = std::make_shared<StormControl>();
    control->mode = StormMode::home;
    const auto engine = loaded(moving, storm(control));
    check_memory(*engine);
    const auto tokens = expert::some_tokens(40);
    const auto before = expert::logits(*engine, tokens);
    const auto begun = tiers_of(*engine);
    QVERIFY(some_of_each(*engine, [&](std::int64_t unit) { return begun[precision::index(unit)] == 0; }));
    control->mode = StormMode::storm;
    bool changed = false;
    for (int round = 0; round < 100 && (!changed || engine->precision()->promotions < 100); ++round) {
      expert::logits(*engine, tokens);
      const auto now = tiers_of(*engine);
      changed = changed || some_of_each(*engine, [&](std::int64_t unit) {
                  return now[precision::index(unit)] != begun[precision::index(unit)];
                });
    }
    QVERIFY(changed);
    QVERIFY(engine->precision()->promotions >= 100);
    QCOMPARE(engine->precision()->swaps_failed, 0);
    check_memory(*engine);
    control->mode = StormMode::home;
    for (int round = 0; round < 100 && !control->home; ++round) expert::logits(*engine, tokens);
    QVERIFY(control->home);
    QVERIFY(expert::logits(*engine, tokens) == before);
  }

  // fovea and dynaexq follow the work on both, within each budget.
  void policiesFollowTheWorkOnBoth_data() {
    QTest::addColumn<int>("policy");
    QTest::newRow("fovea") << static_cast<int>(PolicyKind::fovea);
    QTest::newRow("dynaexq") << static_cast<int>(PolicyKind::dynaexq);
  }
  void policiesFollowTheWorkOnBoth() {
    QFETCH(int, policy);
    LoadOptions moving = of_layers(static_cast<PolicyKind>(policy));
    moving.precision.dynaexq.warm_up_tokens = 4;
    moving.precision.dynaexq.interval_tokens = 1;
    give_too_little(moving);
    const auto engine = loaded(moving);
    const auto begun = tiers_of(*engine);
    bool changed = false;
    std::vector<TokenId> text;
    for (int i = 0; i < 60; ++i) text.push_back(i / 30 % 2 == 0 ? 5 + i % 3 : 23 + i % 3);
    for (int round = 0; round < 5; ++round) {
      expert::logits(*engine, text);
      const Snapshot now = snapshot_of(*engine);
      const auto tiers = tiers_of(*engine);
      changed = changed || some_of_each(*engine, [&](std::int64_t unit) {
                  return tiers[precision::index(unit)] != begun[precision::index(unit)];
                });
      std::int64_t units = 0;
      for (const TierState& tier : now.tiers) units += tier.units;
      QCOMPARE(units, engine->plan().units());
      QVERIFY(now.arena_used_bytes <= now.arena_bytes);
      QCOMPARE(now.arena_bytes, engine->plan().plan.arena_bytes + engine->plan().plan.first_card.arena_bytes);
    }
    QVERIFY(changed);
    check_memory(*engine);
    const PrecisionUse use = *engine->precision();
    QVERIFY(use.quality_kept && *use.quality_kept > 0 && *use.quality_kept <= 1);
    QVERIFY(use.promotions > 0);
    QVERIFY(use.bits_per_use > 2 && use.bits_per_use < 4.5);
  }

  // A budget for each, in the order of the cards; a byte too little names the card and what it needs.
  void eachHasItsBudget() {
    LoadOptions moving = of_layers(PolicyKind::fovea);
    give_too_little(moving);
    const Plan even = loaded(moving)->plan().plan;
    QVERIFY(even.first_card.parts.experts.back().units > 0);
    moving.precision.first_budget_bytes += 1;
    const auto engine = loaded(moving);
    check_memory(*engine);
    const Plan& plan = engine->plan().plan;
    QCOMPARE(plan.first_card.budget_bytes, moving.precision.first_budget_bytes);
    QCOMPARE(plan.budget_bytes, moving.precision.budget_bytes);
    QCOMPARE(plan.first_card.parts.experts.back().units, 0);
    QCOMPARE(plan.parts.experts, even.parts.experts);

    for (const bool of_first : {true, false}) {
      LoadOptions small = of_layers(PolicyKind::fovea);
      small.precision.first_budget_bytes = plan.first_card.min_bytes - (of_first ? 1 : 0);
      small.precision.budget_bytes = plan.min_bytes - (of_first ? 0 : 1);
      const auto refused = load(small);
      QVERIFY(!refused);
      QVERIFY2(refused.error().is(errors::two_cards_too_small.code), refused.error().message().c_str());
      QCOMPARE(refused.error().number("first_needs").value_or(0),
               static_cast<double>(plan.first_card.min_bytes));
      QCOMPARE(refused.error().number("last_needs").value_or(0), static_cast<double>(plan.min_bytes));
    }
  }

  // --n-cpu-moe auto: what either card has no room for is the processor's, and with room in main memory it
  // changes places with the rest.
  void autoLeavesWhatHasNoRoom_data() {
    QTest::addColumn<bool>("moves");
    QTest::newRow("they change places") << true;
    QTest::newRow("they stay") << false;
  }
  void autoLeavesWhatHasNoRoom() {
    QFETCH(bool, moves);
    LoadOptions automatic = of_layers(moves ? PolicyKind::automatic : PolicyKind::none);
    automatic.precision.offload.cpu_moe_layers = -1;
    give_too_little(automatic);
    const auto tokens = expert::some_tokens(40);
    LoadOptions plain = expert::plain_request();
    plain.model = automatic.model;
    const auto whole = expert::logits(*expert::load(plain), tokens);
    const auto engine = loaded(automatic);
    check_memory(*engine);
    const Plan& plan = engine->plan().plan;
    QCOMPARE(engine->plan().policy(), moves ? PolicyKind::fovea : PolicyKind::none);
    QVERIFY(some_of_each(*engine, [&](std::int64_t unit) {
      return engine->plan().unit_tiers[precision::index(unit)] == not_on_device;
    }));
    const auto code = moves ? phrases::experts_change_places.code : phrases::cpu_moe_auto_of_two_cards.code;
    QCOMPARE(std::ranges::count_if(plan.notes, [&](const Phrase& note) { return note.is(code); }), 1);
    for (int round = 0; round < 3; ++round) {
      const auto given = expert::logits(*engine, tokens);
      QCOMPARE(given.size(), whole.size());
      for (std::size_t i = 0; i < given.size(); ++i) QVERIFY(std::abs(given[i] - whole[i]) < 1e-4);
    }
    if (moves) QVERIFY(engine->precision()->promotions > 0);
    // No room for all in main memory: they stay, and what says so is the plan.
    if (moves) {
      const auto still = load(automatic, {}, engine->plan().plan.host_bytes);
      FOVEA_VERIFY(still);
      QCOMPARE((*still)->plan().policy(), PolicyKind::none);
    }
  }

  // Of DynaExq as of fovea; where but one card leaves the processor something, all stay, which is told.
  void dynaexqChangesPlacesOnBoth() {
    LoadOptions moving = of_layers(PolicyKind::dynaexq);
    moving.precision.tiers = {"file"};
    moving.precision.offload.cpu_moe_layers = -1;
    moving.precision.dynaexq.warm_up_tokens = 4;
    moving.precision.dynaexq.interval_tokens = 4;
    LoadOptions open = of_layers(PolicyKind::automatic);
    open.precision.offload.cpu_moe_layers = -1;
    give_too_little(open);
    moving.precision.first_budget_bytes = open.precision.first_budget_bytes;
    moving.precision.budget_bytes = open.precision.budget_bytes;
    const auto engine = loaded(moving);
    check_memory(*engine);
    QCOMPARE(engine->plan().policy(), PolicyKind::dynaexq);
    QVERIFY(some_of_each(*engine, [&](std::int64_t unit) {
      return engine->plan().unit_tiers[precision::index(unit)] == not_on_device;
    }));
    LoadOptions one_sided = of_layers(PolicyKind::fovea);
    one_sided.precision.tiers = {"file"};
    one_sided.precision.offload.cpu_moe_layers = 1;
    const auto still = loaded(one_sided);
    QCOMPARE(still->plan().policy(), PolicyKind::none);
    QCOMPARE(still->plan().plan.units_on_host, expert::experts);
    QCOMPARE(std::ranges::count_if(
                 still->plan().plan.notes,
                 [](const Phrase& note) { return note.is(phrases::places_need_both_cards.code); }),
             1);
  }

  // Prompts bring experts to whichever card leaves some to the processor, in passes of one length; the other
  // one takes nothing for it.
  void promptsBringExpertsToEither_data() {
    QTest::addColumn<QString>("pattern");
    QTest::newRow("first") << "blk\\.[01]\\.=CPU";
    QTest::newRow("other") << "blk\\.[67]\\.=CPU";
    QTest::newRow("both") << "blk\\.[16]\\.=CPU";
  }
  void promptsBringExpertsToEither() {
    QFETCH(QString, pattern);
    LoadOptions offloaded = of_layers(PolicyKind::none);
    offloaded.chunk = 16;
    offloaded.precision.offload = {.override_tensors = {pattern.toStdString()}, .stream_from = 16};
    const layers::Forward* forward = nullptr;
    auto engine = runtime::load(
        offloaded, {}, {}, {}, &last_, {.main_memory_bytes = main_memory},
        [&](const layers::Forward& made) { forward = &made; }, &first_);
    FOVEA_VERIFY(engine);
    check_memory(**engine);
    const auto tokens = expert::some_tokens(48);
    QVERIFY(expert::logits(**engine, tokens) == expert::logits(*on_one(offloaded), tokens));
    QCOMPARE(forward->streamed_layers(), 2 * 3);  // layers, passes
    // Left to the planner, passes grow for both.
    offloaded.chunk = 0;
    offloaded.context = 4096;
    offloaded.precision.offload.stream_from = 0;
    const auto open = runtime::plan_file(
        offloaded, {.device = &last_, .first = &first_, .facts = {.main_memory_bytes = main_memory}});
    FOVEA_VERIFY(open);
    QVERIFY(open->options.chunk > 512);
    LoadOptions fixed = offloaded;
    fixed.chunk = open->options.chunk;
    fixed.host_layers = open->options.host_layers;  // cut there
    const auto same = runtime::plan_file(
        fixed, {.device = &last_, .first = &first_, .facts = {.main_memory_bytes = main_memory}});
    FOVEA_VERIFY(same);
    QCOMPARE(same->plan.first_card.total_bytes, open->plan.first_card.total_bytes);
    QCOMPARE(same->plan.total_bytes, open->plan.total_bytes);
  }

  // What main memory keeps of versions is divided: no more than was asked for, or than half of what is left.
  void theCacheIsBoths() {
    LoadOptions moving = of_layers(PolicyKind::fovea);
    give_too_little(moving);
    const auto free = loaded(moving);
    const Plan& plan = free->plan().plan;
    QVERIFY(plan.host_cache_bytes > 0);
    QVERIFY(plan.host_cache_bytes <= (plan.host_available_bytes - plan.host_bytes) / 2);
    moving.precision.host_cache_bytes = plan.host_cache_bytes / 2;
    const auto asked = loaded(moving);
    QVERIFY(asked->plan().plan.host_cache_bytes > 0);
    QVERIFY(asked->plan().plan.host_cache_bytes <= moving.precision.host_cache_bytes);
    for (int round = 0; round < 5; ++round) expert::logits(*asked, expert::some_tokens(60));
    QVERIFY(asked->memory().host_cache <= asked->plan().plan.host_cache_bytes);
    moving.precision.host_cache_bytes = main_memory;
    const auto refused = load(moving, {}, plan.host_bytes + (std::int64_t{1} << 10));
    QVERIFY(!refused);
    QVERIFY2(refused.error().is(errors::host_cache_too_large.code), refused.error().message().c_str());
  }

  // Where time has a price each card weighs its own experts, and those of the other one are not its to give.
  void timeHasAPriceOnBoth() {
    LoadOptions priced = of_layers(PolicyKind::static_tiers);
    auto store = expert::measured_store(priced, last_, host());
    FOVEA_VERIFY(store);
    priced.precision.store = *store;
    priced.precision.nats_per_ms = 1e-6;
    give_too_little(priced);
    auto engine = runtime::load(
        priced, {}, {}, {}, &last_,
        {.main_memory_bytes = main_memory, .device_gb_per_s = 1000, .main_memory_gb_per_s = 10}, {}, &first_);
    FOVEA_VERIFY(engine);
    const Plan& plan = (*engine)->plan().plan;
    QVERIFY(plan.units_on_host > 0 && plan.units_on_host < (*engine)->plan().units() / 2);
    QVERIFY(some_of_each(**engine, [&](std::int64_t unit) {
      return (*engine)->plan().unit_tiers[precision::index(unit)] == not_on_device;
    }));
    QCOMPARE(std::ranges::count_if(
                 plan.notes, [](const Phrase& note) { return note.is(phrases::prefer_moves_to_host.code); }),
             1);
    check_memory(**engine);
  }

  // What was shown is what is loaded.
  void thePlanThatIsShownIsLoaded_data() {
    QTest::addColumn<int>("policy");
    QTest::newRow("fovea") << static_cast<int>(PolicyKind::fovea);
    QTest::newRow("static") << static_cast<int>(PolicyKind::static_tiers);
    QTest::newRow("none") << static_cast<int>(PolicyKind::none);
  }
  void thePlanThatIsShownIsLoaded() {
    QFETCH(int, policy);
    LoadOptions moving = of_layers(static_cast<PolicyKind>(policy));
    moving.precision.first_budget_bytes = budget(std::int64_t{3} << 20);
    moving.precision.budget_bytes = budget(std::int64_t{2} << 20);
    loaded(moving);  // the store is there
    const MachineFacts facts{.main_memory_bytes = main_memory};
    const auto shown = runtime::plan_file(moving, {.device = &last_, .first = &first_, .facts = facts});
    FOVEA_VERIFY(shown);
    const auto engine = runtime::load(*shown, IfChanged::refuse, &last_, facts, {}, {}, &first_);
    FOVEA_VERIFY(engine);
    QVERIFY((*engine)->plan().plan == shown->plan);
    QCOMPARE((*engine)->plan().unit_tiers, shown->unit_tiers);
  }

  // Too little main memory for what both leave to the processor is one message.
  void mainMemoryIsBoths() {
    LoadOptions offloaded = request(PolicyKind::none, {});
    offloaded.precision.offload.cpu_moe_layers = 2;
    const std::int64_t needs = loaded(offloaded)->plan().plan.host_bytes;
    FOVEA_VERIFY(load(offloaded, {}, needs));
    const auto refused = load(offloaded, {}, needs - 1);
    QVERIFY(!refused);
    QVERIFY(refused.error().is(errors::main_memory_too_small.code));
    QCOMPARE(refused.error().number("needed").value_or(0), static_cast<double>(needs));
  }
};

FOVEA_TEST(TwoCardsPrecisionTest)
#include "two_cards_precision_test.moc"
