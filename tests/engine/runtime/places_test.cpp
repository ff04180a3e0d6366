// Experts that change places between a card and the processor while the model runs: on a device whose memory
// the host cannot touch, and with the GPU's kernels.
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>

#include "engine/core/result.h"
#include "engine/layers/forward.h"
#include "engine/precision/errors.h"
#include "engine/precision/host_source.h"
#include "engine/precision/plan_inputs.h"
#include "engine/precision/swap_storm.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"
#include "../models/meddled.h"
#include "tests/kernels/ptx/device.h"
#include "expert_model.h"
#include "measured_store.h"

using namespace fovea;
using namespace fovea::tests;
namespace expert = fovea::tests::expert_model;

namespace {

const kernels::Device& processor() {
  static const kernels::Device& device = **runtime::chosen_device({});
  return device;
}

OffloadSettings automatic() {
  return {.cpu_moe_layers = -1, .override_tensors = {}};
}

// By which they differ at the most, of the largest.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return 1;
  float most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return static_cast<double>(most / largest);
}

using precision::StormMode;

// In each pass one goes to the processor and another one comes back; the first ones are there to begin with.
runtime::PolicyMaker storm(std::shared_ptr<precision::StormControl> control) {
  return [control = std::move(control)](
             const precision::PolicyWorld& world) -> Result<std::unique_ptr<precision::Policy>> {
    std::vector<std::uint8_t> first(precision::index(world.units()), 0);
    std::fill_n(first.begin(), world.capacity.back(), std::uint8_t{1});
    return std::make_unique<precision::SwapStorm>(world, std::move(first), control, 2);
  };
}

// Two subjects that take turns.
std::vector<TokenId> subjects(int tokens) {
  std::vector<TokenId> text;
  for (int i = 0; i < tokens; ++i)
    text.push_back(static_cast<TokenId>(i / 30 % 2 == 0 ? 5 + i % 3 : 23 + i % 3));
  return text;
}

}  // namespace

class PlacesTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  ApartDevice apart_{processor()};
  static constexpr std::int64_t main_memory = std::int64_t{1} << 30;

  LoadOptions request(PolicyKind policy, std::vector<std::string> tiers,
                      const OffloadSettings& offload) const {
    LoadOptions request = expert::with_policy(folder_.path().toStdString(), policy, std::move(tiers));
    request.context = 256;
    request.precision.offload = offload;
    request.precision.publish_after_passes = 0;
    request.precision.fovea.interval_tokens = 4;
    return request;
  }
  // A budget that leaves about half of the experts to the processor.
  std::int64_t half_budget(LoadOptions request) const {
    std::int64_t too_small = precision::card_safety_bytes, enough = too_small + (std::int64_t{2} << 20);
    while (enough - too_small > 256) {
      request.precision.budget_bytes = (too_small + enough) / 2;
      const auto engine = runtime::load(request, {}, {}, {}, &apart_, {.main_memory_bytes = main_memory});
      const bool has_half = engine && (*engine)->plan().plan.units_on_host <= expert::experts;
      (has_half ? enough : too_small) = request.precision.budget_bytes;
    }
    return enough;
  }
  std::unique_ptr<Engine> load(const LoadOptions& request, const kernels::Device& device,
                               const runtime::PolicyMaker& policy = {},
                               const runtime::ForwardSink& forward = {}) const {
    auto engine =
        runtime::load(request, policy, {}, {}, &device, {.main_memory_bytes = main_memory}, forward);
    if (!engine) qFatal("%s", engine.error().message().c_str());
    return *std::move(engine);
  }
  static Snapshot snapshot_of(Engine& engine) {
    Snapshot snapshot;
    while (!engine.read_snapshot(snapshot)) expert::logits(engine, expert::some_tokens(4));
    return snapshot;
  }

 private Q_SLOTS:
  void cleanup() { QCOMPARE(apart_.allocated(), 0); }

  // In every pass others are the processor's, and the answer is the model's; when all are back, so are the
  // bits.
  void aStormOfPlacesChangesNoAnswer() {
    const auto tokens = expert::some_tokens(40);
    const auto whole = expert::logits(*expert::load(expert::plain_request()), tokens);
    LoadOptions moving = request(PolicyKind::fovea, {"file"}, automatic());
    moving.chunk = 1;
    moving.precision.publish_after_passes = 1;
    moving.precision.budget_bytes = half_budget(moving);
    const auto control = std::make_shared<precision::StormControl>();
    control->mode = StormMode::home;
    const auto engine = load(moving, apart_, storm(control));
    const ApartDevice::Graphs graphs = apart_.graphs();
    const auto before = expert::logits(*engine, tokens);
    QVERIFY(difference(before, whole) < 1e-5);

    control->mode = StormMode::storm;
    const std::int64_t wanted = 50;
    for (int round = 0; round < 100 && engine->precision()->promotions < wanted; ++round)
      QVERIFY(difference(expert::logits(*engine, tokens), whole) < 1e-5);
    const PrecisionUse use = *engine->precision();
    QVERIFY(use.promotions >= wanted && use.demotions >= wanted);
    QCOMPARE(use.swaps_failed, 0);
    QCOMPARE(use.stalls, 0);
    QCOMPARE(use.bytes_read, 0);
    QVERIFY(use.accounted_bytes <= use.budget_bytes);

    control->mode = StormMode::home;
    for (int round = 0; round < 100 && !control->home; ++round) expert::logits(*engine, tokens);
    QVERIFY(control->home);
    QVERIFY(expert::logits(*engine, tokens) == before);
    QCOMPARE(apart_.graphs().captured - graphs.captured, 1);
  }

  // What is used comes to the card, what is not goes; the numbers stay, and both memories keep to the plan.
  void theCardHasWhatIsUsed() {
    LoadOptions moving = request(PolicyKind::fovea, {"file"}, automatic());
    moving.precision.budget_bytes = half_budget(moving);
    const auto engine = load(moving, apart_);
    const LoadPlan& plan = engine->plan();
    QCOMPARE(plan.policy(), PolicyKind::fovea);
    const std::int64_t away = plan.plan.units_on_host;
    QVERIFY(away > 0 && away < expert::layers * expert::experts);
    QCOMPARE(plan.plan.host.weights, engine->memory().host_weights);
    QCOMPARE(plan.plan.host_bytes, engine->memory().host_weights + engine->memory().host_buffers);
    QCOMPARE(apart_.allocated(), engine->memory().on_device() + plan.plan.arena_bytes);
    // As many of each layer to begin with.
    for (std::size_t layer = 0; layer < expert::layers; ++layer) {
      const auto first = plan.unit_tiers.begin() + static_cast<std::ptrdiff_t>(layer * expert::experts);
      const auto here = std::count(first, first + expert::experts, not_on_device);
      QVERIFY(std::abs(2 * here - away) <= 1);
    }
    QVERIFY(plan.plan.total_bytes <= plan.plan.budget_bytes);

    LoadOptions still = request(PolicyKind::none, {}, automatic());
    still.precision.budget_bytes = moving.precision.budget_bytes;
    const auto fixed = load(still, apart_);
    const auto text = subjects(240);
    const auto moved = expert::logits(*engine, text), stayed = expert::logits(*fixed, text);
    QVERIFY(difference(moved, stayed) < 1e-5);
    const PrecisionUse use = *engine->precision();
    QVERIFY(use.promotions > 0);
    QCOMPARE(use.promotions, use.demotions);
    QCOMPARE(use.swaps_failed, 0);
    QCOMPARE(use.swaps_refused, 0);

    const Snapshot snapshot = snapshot_of(*engine), other = snapshot_of(*fixed);
    QCOMPARE(snapshot.host_units, away);
    QCOMPARE(snapshot.tiers[0].units, expert::layers * expert::experts - away);
    const auto on_host = [](const Snapshot& of) {
      return static_cast<double>(of.host_hits) / static_cast<double>(of.host_hits + of.tiers[0].hits);
    };
    QVERIFY2(on_host(snapshot) < 0.9 * on_host(other),
             qPrintable(QString("%1, %2").arg(on_host(snapshot)).arg(on_host(other))));
    bool goes_to_host = false;
    for (const DecisionState& decision : snapshot.decisions)
      goes_to_host = goes_to_host || (decision.unit >= 0 && decision.to == host_tier && decision.from == 0);
    QVERIFY(goes_to_host);
  }

  // The paper's policy does it as well: the hot ones of each layer are the card's, the cold ones the
  // processor's.
  void dynaexqMovesPlaces() {
    LoadOptions moving = request(PolicyKind::dynaexq, {"file"}, automatic());
    moving.precision.dynaexq.warm_up_tokens = 4;
    moving.precision.dynaexq.interval_tokens = 4;
    moving.precision.dynaexq.smoothing_tokens = 16;
    moving.precision.budget_bytes = half_budget(request(PolicyKind::fovea, {"file"}, automatic()));
    const auto engine = load(moving, apart_);
    const LoadPlan& plan = engine->plan();
    QCOMPARE(plan.policy(), PolicyKind::dynaexq);
    const std::int64_t away = plan.plan.units_on_host, all = expert::layers * expert::experts;
    QVERIFY(away > 0 && away < all);
    QCOMPARE(std::ranges::count(plan.unit_tiers, not_on_device), away);
    LoadOptions still = request(PolicyKind::none, {}, automatic());
    still.precision.budget_bytes = moving.precision.budget_bytes;
    const auto text = subjects(240);
    QVERIFY(difference(expert::logits(*engine, text), expert::logits(*load(still, apart_), text)) < 1e-5);
    const PrecisionUse use = *engine->precision();
    QVERIFY(use.promotions > 0);
    QCOMPARE(use.promotions, use.demotions);
    QCOMPARE(use.swaps_failed, 0);
    QCOMPARE(use.bytes_read, 0);
    QVERIFY(use.accounted_bytes <= use.budget_bytes);
    const Snapshot snapshot = snapshot_of(*engine);
    QCOMPARE(snapshot.host_units, away);
    QCOMPARE(snapshot.tiers[0].units, all - away);
    for (std::size_t layer = 0; layer < expert::layers; ++layer) {
      const auto first = snapshot.units.begin() + static_cast<std::ptrdiff_t>(layer * expert::experts);
      const auto here = std::count_if(first, first + expert::experts,
                                      [](const UnitState& unit) { return unit.tier == host_tier; });
      QVERIFY(std::abs(2 * here - away) <= 1);
    }
  }

  // Nobody has to ask for it: where main memory has room for all, it is what the planner chooses; where not,
  // experts stay, as with --policy none.
  void thePlannerChoosesIt() {
    LoadOptions open = request(PolicyKind::automatic, {}, automatic());
    open.precision.budget_bytes = half_budget(request(PolicyKind::fovea, {"file"}, automatic()));
    const auto planned = [&](std::int64_t memory) {
      auto engine = runtime::load(open, {}, {}, {}, &apart_, {.main_memory_bytes = memory});
      if (!engine) qFatal("%s", engine.error().message().c_str());
      return (*engine)->plan();
    };
    const LoadPlan moves = planned(main_memory);
    QCOMPARE(moves.policy(), PolicyKind::fovea);
    QCOMPARE(moves.options.precision.tiers, std::vector<std::string>{"file"});
    const auto says = [](const LoadPlan& plan) {
      return std::ranges::any_of(
          plan.plan.notes, [](const Phrase& note) { return note.is(phrases::experts_change_places.code); });
    };
    QVERIFY(says(moves));
    const LoadPlan stays = planned(moves.plan.host_bytes);
    QCOMPARE(stays.policy(), PolicyKind::none);
    QVERIFY(!says(stays));
    QVERIFY(stays.plan.host_bytes < moves.plan.host_bytes);

    // The plan that was shown is what is loaded.
    auto again = runtime::load(moves, IfChanged::refuse, &apart_, {.main_memory_bytes = main_memory});
    FOVEA_VERIFY(again);
    QCOMPARE((*again)->plan().plan.units_on_host, moves.plan.units_on_host);
    open.precision.offload = {.cpu_moe_layers = 1, .override_tensors = {}};
    QCOMPARE(planned(main_memory).policy(), PolicyKind::none);
    open.precision.offload = {.cpu_moe_layers = -1, .override_tensors = {"blk\\.1\\.=CPU"}};
    QCOMPARE(planned(main_memory).policy(), PolicyKind::none);
  }

  // Where time has a price the processor is a place beside the tiers, and how many each has follows the work.
  // Time is cheap here, so that nobody stays at q2, and the answers are the model's then.
  void tiersAndPlacesAreOneChoice() {
    LoadOptions priced = request(PolicyKind::fovea, {"file", "q2"}, {.override_tensors = {}});
    auto store = expert::measured_store(priced, apart_, processor());
    FOVEA_VERIFY(store);
    priced.precision.store = *store;
    priced.precision.nats_per_ms = 1e-6;
    priced.precision.fovea.numbers_interval_tokens = 8;
    const MachineFacts facts{
        .main_memory_bytes = main_memory, .device_gb_per_s = 1000, .main_memory_gb_per_s = 10};
    std::int64_t too_small = precision::card_safety_bytes, enough = too_small + (std::int64_t{2} << 20);
    while (enough - too_small > 256) {
      priced.precision.budget_bytes = (too_small + enough) / 2;
      (runtime::load(priced, {}, {}, {}, &apart_, facts) ? enough : too_small) =
          priced.precision.budget_bytes;
    }
    priced.precision.budget_bytes = enough + 8 * 4096;
    auto loaded = runtime::load(priced, {}, {}, {}, &apart_, facts);
    FOVEA_VERIFY(loaded);
    Engine& engine = **loaded;
    const Plan& plan = engine.plan().plan;
    QVERIFY(plan.units_on_host > 0 && plan.units_on_host < expert::layers * expert::experts);
    QCOMPARE(plan.host.weights, engine.memory().host_weights);
    LoadOptions whole = expert::plain_request();
    whole.context = 256;
    const auto text = subjects(240);
    for (int round = 0; round < 20 && snapshot_of(engine).tiers[1].units > 0; ++round)
      expert::logits(engine, text);
    QVERIFY(difference(expert::logits(engine, text), expert::logits(*expert::load(whole), text)) < 1e-5);
    const PrecisionUse use = *engine.precision();
    QVERIFY(use.promotions > 0 && use.demotions > 0);
    QVERIFY(use.bytes_read > 0 || use.bytes_found > 0);  // versions come from the store
    QCOMPARE(use.swaps_failed, 0);
    QVERIFY(use.accounted_bytes <= use.budget_bytes);
    const Snapshot snapshot = snapshot_of(engine);
    QCOMPARE(snapshot.tiers[1].units, 0);
    QCOMPARE(snapshot.tiers[0].units + snapshot.host_units, expert::layers * expert::experts);
  }

  // Main memory that cannot be pinned: what the planner chose itself is told and left out, what somebody
  // asked for is an error.
  void whereNothingCanBePinnedExpertsStay() {
    FOVEA_NEEDS_PTX;
    const auto gpu = ptx::device({.seed = seed()});
    Meddled card(*gpu);
    card.pins = false;
    LoadOptions asked = request(PolicyKind::fovea, {"file"}, {.cpu_moe_layers = 1, .override_tensors = {}});
    const auto refused = runtime::load(asked, {}, {}, {}, &card, {.main_memory_bytes = main_memory});
    QVERIFY(!refused);
    QVERIFY(refused.error().is(errors::no_memory_to_change_places.code));
    LoadOptions open = request(PolicyKind::automatic, {}, automatic());
    open.precision.offload.stream_from = -1;
    open.precision.budget_bytes = precision::card_safety_bytes;
    std::int64_t enough = std::int64_t{2} << 20;
    for (std::int64_t too_small = 0; enough - too_small > 256;) {
      const std::int64_t middle = (too_small + enough) / 2;
      LoadOptions tried = open;
      tried.precision.policy = PolicyKind::none;
      tried.precision.budget_bytes += middle;
      const auto engine = runtime::load(tried, {}, {}, {}, &card, {.main_memory_bytes = main_memory});
      const bool has_half = engine && (*engine)->plan().plan.units_on_host <= expert::experts;
      (has_half ? enough : too_small) = middle;
    }
    open.precision.budget_bytes += enough;
    const auto stays = runtime::load(open, {}, {}, {}, &card, {.main_memory_bytes = main_memory});
    FOVEA_VERIFY(stays);
    const LoadPlan& plan = (*stays)->plan();
    QCOMPARE(plan.policy(), PolicyKind::none);
    QVERIFY(plan.plan.units_on_host > 0);
    QVERIFY(std::ranges::any_of(plan.plan.notes,
                                [](const Phrase& note) { return note.is(phrases::experts_stay.code); }));
  }

  // What a pattern names is where it says, whatever the others do.
  void namedExpertsStay() {
    LoadOptions moving = request(PolicyKind::fovea, {"file"}, {.override_tensors = {"blk\\.1\\.=CPU"}});
    const auto engine = load(moving, apart_);
    QVERIFY(std::ranges::any_of(engine->plan().plan.notes, [](const Phrase& note) {
      return note.is(phrases::nothing_changes_places.code);
    }));
    expert::logits(*engine, subjects(120));
    const Snapshot snapshot = snapshot_of(*engine);
    for (std::size_t unit = 0; unit < snapshot.units.size(); ++unit)
      QCOMPARE(snapshot.units[unit].tier, unit < expert::experts ? 0 : host_tier);
  }

  // Of an expert that is the card's by name main memory has no copy: then none can change places, which is
  // told.
  void expertsNamedToTheCardKeepAll() {
    LoadOptions moving = request(PolicyKind::fovea, {"file"},
                                 {.cpu_moe_layers = 1, .override_tensors = {"blk\\.1\\.ffn_.*_exps=GPU"}});
    const auto engine = load(moving, apart_);
    QCOMPARE(engine->plan().policy(), PolicyKind::none);
    QVERIFY(std::ranges::any_of(engine->plan().plan.notes, [](const Phrase& note) {
      return note.is(phrases::nothing_changes_places.code);
    }));
    expert::logits(*engine, subjects(60));
  }

  // Prompts bring the processor's experts to the card, whichever these are now; the GPU's kernels unpack
  // them.
  void promptsBringWhatIsNotThere() {
    FOVEA_NEEDS_PTX;
    const auto gpu = ptx::device({.seed = seed()});
    const kernels::Device& card = *gpu;
    LoadOptions moving = request(PolicyKind::fovea, {"file"}, {.cpu_moe_layers = 1, .override_tensors = {}});
    moving.chunk = 16;
    moving.precision.offload.stream_from = 16;
    LoadOptions still = moving;
    still.precision.policy = PolicyKind::none;
    still.precision.tiers.clear();
    const layers::Forward* forward = nullptr;
    const auto engine = load(moving, card, storm(std::make_shared<precision::StormControl>()),
                             [&](const layers::Forward& made) { forward = &made; });
    const auto fixed = load(still, card);
    const auto text = subjects(64);
    const auto wanted = expert::logits(*fixed, text);
    for (int round = 0; round < 4; ++round) {
      const double differs = difference(expert::logits(*engine, text), wanted);
      QVERIFY2(differs < 1e-3, qPrintable(QString::number(differs)));
    }
    QVERIFY(engine->precision()->promotions >= 8);
    QVERIFY(forward->streamed_layers() > 0);
  }
};

FOVEA_TEST(PlacesTest)
#include "places_test.moc"
