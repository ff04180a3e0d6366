// Models whose experts change precision, against the same models without a policy.
#include <QTemporaryDir>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/api/plan.h"
#include "engine/api/prepare.h"
#include "engine/runtime/load.h"
#include "tests/support/test.h"

#include "expert_model.h"

using fovea::Engine;
using fovea::ErrorKind;
using fovea::LoadOptions;
using fovea::PolicyKind;
using namespace fovea::tests::expert_model;

namespace {

// Leaves everything where it is and keeps what it was told of the output.
class Listener final : public fovea::precision::Policy {
 public:
  Listener(const fovea::precision::PolicyWorld& world, bool wants, std::vector<float>& heard)
      : tiers_(static_cast<std::size_t>(world.units())), wants_(wants), heard_(heard) {}
  std::string_view name() const override { return "listener"; }
  std::vector<std::uint8_t> initial() const override { return tiers_; }
  void observe(const fovea::precision::Observation& seen) override {
    heard_.push_back(seen.entropies.empty() ? -1 : seen.entropies.back());
  }
  bool wants_entropy() const override { return wants_; }
  void propose(std::span<const std::uint8_t>, std::int32_t,
               std::vector<fovea::precision::Decision>&) override {}
  std::span<const float> hotness() const override { return {}; }

 private:
  std::vector<std::uint8_t> tiers_;
  bool wants_;
  std::vector<float>& heard_;
};

}  // namespace

class PrecisionTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  LoadOptions request(PolicyKind policy, std::vector<std::string> tiers, std::int64_t budget = 0) const {
    return with_policy(folder_.path().toStdString(), policy, std::move(tiers), budget);
  }

  // Snapshots are made ten times a second.
  static bool worked_until_seen(Engine& engine, fovea::Snapshot& snapshot) {
    return QTest::qWaitFor(
        [&] {
          logits(engine, some_tokens(43));
          return engine.read_snapshot(snapshot);
        },
        fovea::tests::kLong);
  }

  std::int64_t min_budget() const {
    const auto refused = Engine::load(request(PolicyKind::dynaexq, {"file", "q2"}, 1000));
    return refused ? 0 : refused.error().number("least").value_or(0);
  }

  // A budget that holds one expert of each layer at the high tier.
  std::int64_t one_high_budget() const {
    constexpr std::int64_t step = 2048, most = 1 << 20;
    for (std::int64_t budget = min_budget(); budget < most; budget += step) {
      if (load(request(PolicyKind::dynaexq, {"file", "q2"}, budget))->plan().plan.high_per_layer == 1)
        return budget;
    }
    qFatal("no budget holds one expert");
  }

 private Q_SLOTS:
  void everyUnitAtTheFilesTierIsTheStaticModel_data() {
    QTest::addColumn<int>("chunk");
    for (const int chunk : {1, 7, 64}) QTest::addRow("chunk %d", chunk) << chunk;
  }
  void everyUnitAtTheFilesTierIsTheStaticModel() {
    QFETCH(int, chunk);
    const auto tokens = some_tokens(50);
    LoadOptions plain = plain_request();
    plain.chunk = chunk;
    const auto wanted = logits(*load(plain), tokens);
    for (const PolicyKind policy : {PolicyKind::static_tiers, PolicyKind::dynaexq, PolicyKind::fovea}) {
      LoadOptions pinned = request(policy, {"file", "q2"});  // without a budget everything is at the top
      pinned.chunk = chunk;
      const auto engine = load(pinned);
      QVERIFY(logits(*engine, tokens) == wanted);  // bit for bit
      QCOMPARE(engine->precision()->hit_rate, 1.0);
    }
    const auto low = load(request(PolicyKind::static_tiers, {"q2"}));
    QVERIFY(logits(*low, tokens) != wanted);  // the comparison can fail
  }

  // What is allocated is what was planned; the plan knows nothing of the engine's books.
  void whatIsAccountedIsWhatWasPlanned_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<bool>("tight");
    QTest::newRow("static") << int(PolicyKind::static_tiers) << false;
    QTest::newRow("static, a mix") << int(PolicyKind::static_tiers) << true;
    QTest::newRow("dynaexq") << int(PolicyKind::dynaexq) << false;
    QTest::newRow("dynaexq, both tiers") << int(PolicyKind::dynaexq) << true;
    QTest::newRow("fovea") << int(PolicyKind::fovea) << false;
    QTest::newRow("fovea, a mix") << int(PolicyKind::fovea) << true;
    QTest::newRow("offload") << int(PolicyKind::offload) << false;
  }
  void whatIsAccountedIsWhatWasPlanned() {
    QFETCH(int, policy);
    QFETCH(bool, tight);
    LoadOptions asked = request(static_cast<PolicyKind>(policy), {"file", "q2"});
    if (asked.precision.policy == PolicyKind::offload) {
      asked.precision.tiers = {"file"};
      asked.precision.offload.cpu_moe_layers = 1;
    }
    if (tight) {
      const auto whole = fovea::plan_model(asked);
      FOVEA_VERIFY(whole);
      asked.precision.budget_bytes = (whole->plan.min_bytes + whole->plan.whole_bytes) / 2;
    }
    const auto planned = fovea::plan_model(asked);
    FOVEA_VERIFY(planned);
    const auto engine = load(asked);
    fovea::Snapshot snapshot;
    engine->read_snapshot(snapshot);
    logits(*engine, some_tokens(60));
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(snapshot.arena_bytes, planned->plan.arena_bytes);
    const fovea::MemoryUse memory = engine->memory();
    QCOMPARE(memory.weights, planned->plan.parts.dense);
    QCOMPARE(memory.kv_cache, planned->plan.parts.kv);
    QCOMPARE(memory.activations, planned->plan.parts.activations);
    QCOMPARE(engine->precision()->accounted_bytes, snapshot.arena_bytes + memory.weights + memory.kv_cache +
                                                       memory.activations + planned->plan.parts.safety);
    const auto difference = engine->precision()->accounted_bytes - planned->plan.total_bytes;
    QVERIFY(50 * std::abs(difference) <= planned->plan.total_bytes);
  }

  // Of the passes whose logits were wanted, and only for a policy that asks.
  void aPolicyMayKnowTheOutputsEntropy_data() {
    QTest::addColumn<bool>("wants");
    QTest::newRow("wants it") << true;
    QTest::newRow("does not") << false;
  }
  void aPolicyMayKnowTheOutputsEntropy() {
    QFETCH(bool, wants);
    std::vector<float> heard;
    LoadOptions one_by_one = request(PolicyKind::dynaexq, {"file", "q2"});
    one_by_one.chunk = 1;
    auto engine = fovea::runtime::load(one_by_one,
                                       [&](const fovea::precision::PolicyWorld& world)
                                           -> fovea::Result<std::unique_ptr<fovea::precision::Policy>> {
                                         return std::make_unique<Listener>(world, wants, heard);
                                       });
    FOVEA_VERIFY(engine);
    const auto all = logits(**engine, some_tokens(9));
    QCOMPARE(heard.size(), std::size_t{9});
    for (std::size_t token = 0; token < heard.size(); ++token) {
      double sum = 0, entropy = 0;
      for (std::size_t i = 0; i < vocabulary; ++i) sum += std::exp(double(all[token * vocabulary + i]));
      for (std::size_t i = 0; i < vocabulary; ++i) {
        const double p = std::exp(double(all[token * vocabulary + i])) / sum;
        entropy -= p * std::log(p);
      }
      QVERIFY2(std::abs(double(heard[token]) - (wants ? entropy : -1)) < 1e-4,
               qPrintable(QString("%1, expected %2").arg(double(heard[token])).arg(entropy)));
    }
    QVERIFY((*engine)->time_prefill(5).has_value());
  }

  void aLogThatCannotBeWrittenIsTold() {
    LoadOptions dynamic = request(PolicyKind::dynaexq, {"file", "q2"}, one_high_budget());
    dynamic.precision.dynaexq.interval_tokens = 4;
    dynamic.precision.dynaexq.warm_up_tokens = 4;
    dynamic.precision.dynaexq.hysteresis = 0;
    dynamic.precision.publish_after_passes = 1;
    dynamic.precision.events = "/dev/full";
    const auto engine = load(dynamic);
    QVERIFY(engine->precision()->log_failure.empty());
    for (int turn = 0; turn < 4; ++turn) logits(*engine, some_tokens(50 + turn));
    QVERIFY(engine->precision()->promotions > 0);  // goes on
    QVERIFY(english(engine->precision()->log_failure).starts_with("/dev/full"));
  }

  void swapsGoOnWhileItTalksAndStayInTheBudget_data() {
    QTest::addColumn<int>("policy");
    QTest::newRow("dynaexq") << int(PolicyKind::dynaexq);
    QTest::newRow("fovea") << int(PolicyKind::fovea);
  }
  void swapsGoOnWhileItTalksAndStayInTheBudget() {
    QFETCH(int, policy);
    LoadOptions dynamic = request(static_cast<PolicyKind>(policy), {"file", "q2"}, one_high_budget());
    dynamic.precision.fovea = {.interval_tokens = 4, .margin = 0};
    dynamic.precision.dynaexq.interval_tokens = 4;
    dynamic.precision.dynaexq.warm_up_tokens = 4;
    dynamic.precision.dynaexq.hysteresis = 0;
    dynamic.precision.publish_after_passes = 1;  // a token takes microseconds here
    dynamic.precision.events = folder_.filePath("events.jsonl").toStdString();
    const auto engine = load(dynamic);
    const std::int64_t at_start = engine->plan().plan.arena_bytes;
    for (int turn = 0; turn < 4; ++turn) logits(*engine, some_tokens(50 + turn));
    const auto use = *engine->precision();
    QVERIFY(use.promotions > 0);
    QCOMPARE(use.promotions, use.demotions);
    QVERIFY(use.bytes_read > 0);
    QVERIFY(use.hit_rate > 0 && use.hit_rate < 1);
    QVERIFY(use.accounted_bytes <= use.budget_bytes);
    QCOMPARE(engine->plan().plan.arena_bytes, at_start);
    fovea::Snapshot snapshot;
    QVERIFY(worked_until_seen(*engine, snapshot));
    QCOMPARE(snapshot.calibration_part, -1.0);  // the store has no calibration

    std::ifstream events(dynamic.precision.events);
    std::int64_t published = 0;
    for (std::string line; std::getline(events, line);) {
      const auto event = nlohmann::json::parse(line);
      QVERIFY(event["unit"].get<std::string>().starts_with("blk."));
      QVERIFY(event["from"] != event["to"]);
      published += event["outcome"] == "published";
    }
    QCOMPARE(published, use.promotions + use.demotions);
  }

  // The same with three tiers, whatever moves between which of them.
  void threeTiersStayInTheBudget() {
    LoadOptions asked = request(PolicyKind::fovea, {"file", "q4", "q2"});
    const auto whole = fovea::plan_model(asked);
    FOVEA_VERIFY(whole);
    asked.precision.budget_bytes = (whole->plan.min_bytes + whole->plan.whole_bytes) / 2;
    asked.precision.fovea = {.interval_tokens = 4, .numbers_interval_tokens = 8, .margin = 0};
    asked.precision.publish_after_passes = 1;
    const auto engine = load(asked);
    const fovea::Plan& plan = engine->plan().plan;
    const std::int64_t arena = plan.arena_bytes;
    QCOMPARE(plan.notes.size(), std::size_t{1});
    QVERIFY(english(plan.notes.front()).contains("follow what is used"));
    fovea::Snapshot snapshot;
    for (int turn = 0; turn < 6; ++turn) {
      QVERIFY(worked_until_seen(*engine, snapshot));
      QCOMPARE(snapshot.arena_bytes, arena);
      QVERIFY(engine->precision()->accounted_bytes <= asked.precision.budget_bytes);
      QVERIFY(snapshot.arena_used_bytes <= arena);
      std::int64_t units = 0;
      for (const fovea::TierState& tier : snapshot.tiers) units += tier.units;
      QCOMPARE(units, layers * experts);
      for (const fovea::PoolState& pool : snapshot.pools) QVERIFY(pool.blocks >= pool.used);
    }
    QCOMPARE(snapshot.tiers.size(), std::size_t{3});
    QVERIFY(engine->precision()->promotions > 0);
  }

  void theSamePassesGiveTheSameDecisions_data() { swapsGoOnWhileItTalksAndStayInTheBudget_data(); }
  void theSamePassesGiveTheSameDecisions() {
    QFETCH(int, policy);
    LoadOptions dynamic = request(static_cast<PolicyKind>(policy), {"file", "q2"}, one_high_budget());
    dynamic.precision.fovea = {.interval_tokens = 4, .margin = 0};
    dynamic.precision.dynaexq.interval_tokens = 4;
    dynamic.precision.dynaexq.warm_up_tokens = 4;
    dynamic.precision.dynaexq.hysteresis = 0;
    dynamic.precision.publish_after_passes = 2;
    std::vector<std::vector<float>> results;
    for (int run = 0; run < 2; ++run) {
      const auto engine = load(dynamic);
      results.push_back(logits(*engine, some_tokens(60)));
      QVERIFY(engine->precision()->promotions > 0);
    }
    QVERIFY(results[0] == results[1]);
  }

  // Without a second place to compute, what is off the device is read when a token needs it.
  void unitsOnDiskAloneAnswerWithCountedStalls() {
    const auto tokens = some_tokens(30);
    const auto wanted = logits(*load(plain_request()), tokens);
    LoadOptions offload = request(PolicyKind::offload, {"file"});
    offload.precision.offload.cpu_moe_layers = 1;
    const auto engine = load(offload);
    QVERIFY(logits(*engine, tokens) == wanted);
    QVERIFY(engine->precision()->stalls > 0);
    QVERIFY(engine->plan().plan.notes.empty());
    offload.precision.offload = {.override_tensors = {"blk\\.1\\.ffn_down_exps=CPU"}};
    const auto by_pattern = load(offload);
    QCOMPARE(by_pattern->plan().plan.notes.size(), std::size_t{1});
    QVERIFY(english(by_pattern->plan().plan.notes.front()).contains("8 units; a unit moves as a whole"));
  }

  // A token at a time leaves room for two experts of the layer on disk. Of two that a token needs, the one
  // that is there must not make the other one's room.
  void whatATokenNeedsIsNotTakenFromIt() {
    std::vector<fovea::TokenId> tokens(40);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = static_cast<fovea::TokenId>((i * i * 5 + i) % vocabulary);
    LoadOptions plain = plain_request();
    plain.chunk = 1;
    LoadOptions offload = request(PolicyKind::offload, {"file"});
    offload.chunk = 1;
    offload.precision.offload.cpu_moe_layers = 1;
    const auto engine = load(offload);
    QVERIFY(logits(*engine, tokens) == logits(*load(plain), tokens));
    const auto use = engine->precision();
    QVERIFY(use->stalls > 0 && use->stalls < 2 * std::ssize(tokens));
  }

  void everyLinearLayerServesEveryToken() {
    LoadOptions dense = request(PolicyKind::static_tiers, {"file"});
    dense.model = fovea::tests::golden("models/qwen3-0");
    const auto engine = load(dense);
    logits(*engine, some_tokens(3));
    const auto use = engine->precision();
    QVERIFY(use->uses > 0);
    QCOMPARE(use->uses % 3, 0);
    QCOMPARE(use->hit_rate, 1.0);
    const std::int64_t units = use->uses / 3;
    logits(*engine, some_tokens(5));
    QCOMPARE(engine->precision()->uses, 8 * units);
  }

  // What a layer cannot do without ends the request with its reason, and not as if somebody had stopped it.
  void aStoreThatIsDamagedWhileItIsReadIsTold_data() {
    QTest::addColumn<bool>("first_token");
    QTest::newRow("a unit on disk alone") << false;
    QTest::newRow("a first token's") << true;
  }
  void aStoreThatIsDamagedWhileItIsReadIsTold() {
    QFETCH(bool, first_token);
    const QTemporaryDir stores;
    LoadOptions asked = with_policy(stores.path().toStdString(), PolicyKind::offload, {"file"});
    if (first_token) {
      asked.precision.policy = PolicyKind::fovea;
      asked.precision.tiers = {"file", "q2"};
      asked.precision.budget_bytes = one_high_budget();
    } else {
      asked.precision.offload.cpu_moe_layers = 1;
    }
    const auto engine = load(asked);
    for (const auto& entry : std::filesystem::directory_iterator(stores.path().toStdString())) {
      std::fstream store(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      store.seekp(4096);
      const std::string damage(entry.file_size() - 4096, 'x');
      store.write(damage.data(), static_cast<std::streamsize>(damage.size()));
    }
    const auto done = engine->logits(some_tokens(3), [](std::int64_t, std::span<const float>) {});
    QVERIFY(engine->precision()->swaps_failed > 0);
    QCOMPARE(done.has_value(), first_token);  // it has the experts that are there
    if (first_token) return;
    QCOMPARE(done.error().kind, ErrorKind::format);
    QVERIFY2(done.error().message().contains("checksum"), done.error().message().c_str());
  }

  void aBudgetTooSmallNamesTheNumberThatWouldDo() {
    const auto refused = Engine::load(request(PolicyKind::dynaexq, {"file", "q2"}, 1000));
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, ErrorKind::memory);
    const std::int64_t least = refused.error().number("least").value_or(0);
    FOVEA_VERIFY(Engine::load(request(PolicyKind::dynaexq, {"file", "q2"}, least)));
    QVERIFY(!Engine::load(request(PolicyKind::dynaexq, {"file", "q2"}, least - 1)));
  }

  // Nobody says how long a pass is: a plan counts with what loading chooses, for the same request.
  void aPlanNamesTheSameNumber() {
    for (const PolicyKind policy : {PolicyKind::dynaexq, PolicyKind::automatic, PolicyKind::static_tiers}) {
      LoadOptions load = request(policy, {"file", "q2"}, 1000);
      load.context = 512;
      load.chunk = 0;
      const auto refused = Engine::load(load);
      QVERIFY(!refused);
      const auto report = fovea::plan_model(load);
      FOVEA_VERIFY(report);
      QCOMPARE(refused.error().number("least").value_or(0), report->plan.min_bytes);
      load.precision.budget_bytes = report->plan.min_bytes;
      const auto engine = Engine::load(load);
      FOVEA_VERIFY(engine);
      QCOMPARE((*engine)->settings().chunk, report->options.chunk);
      QCOMPARE(report->options.chunk, policy == PolicyKind::static_tiers ? 256 : 128);
    }
  }

  void aStoreOfAnotherModelIsRefusedByName() {
    LoadOptions first = request(PolicyKind::static_tiers, {"file"});
    first.precision.store = folder_.filePath("one.store").toStdString();
    load(first);
    LoadOptions other = first;
    other.model = fovea::tests::golden("models/mixtral-0");
    const auto refused = Engine::load(other);
    QVERIFY(!refused);
    QVERIFY2(refused.error().where_words().contains("one.store"), refused.error().message().c_str());
    // The command that mends it, with this store's tiers and place.
    const std::string advice = refused.error().advice_words();
    for (const char* part :
         {"fovea prepare ", "mixtral-0", " --tiers file --out ", "one.store", " --rebuild"})
      QVERIFY2(advice.contains(part), advice.c_str());
  }

  void aTierMapIsKept() {
    const std::string map = folder_.filePath("map").toStdString();
    std::ofstream(map) << "blk.0.expert.1 file\nblk.1.* file\ndefault q2\n";
    LoadOptions mapped = request(PolicyKind::static_tiers, {"file", "q2"});
    mapped.precision.tier_map = map;
    mapped.chunk = 16;
    const auto engine = load(mapped);
    fovea::Snapshot snapshot;
    engine->read_snapshot(snapshot);
    logits(*engine, some_tokens(16));  // one pass
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(snapshot.layers * snapshot.units_per_layer, layers * experts);
    for (std::int64_t unit = 0; unit < layers * experts; ++unit)
      QCOMPARE(int(snapshot.units[std::size_t(unit)].tier), unit == 1 || unit >= experts ? 0 : 1);
    QCOMPARE(snapshot.tiers[0].units, experts + 1);
    QCOMPARE(snapshot.tiers[1].units, experts - 1);
    QCOMPARE(snapshot.tiers[0].hits + snapshot.tiers[1].hits, 16 * layers * used);
    QVERIFY(snapshot.arena_used_bytes > 0 && snapshot.arena_used_bytes <= snapshot.arena_bytes);
    QVERIFY(!engine->read_snapshot(snapshot));  // nothing new
  }

  // What a window compares a conversation's uses with; a store that saw no text has nothing to tell.
  void theCalibrationsUsesAreThoseOfTheStore() {
    LoadOptions chat = request(PolicyKind::static_tiers, {"file", "bf16"});
    chat.model = fovea::tests::golden("chat");
    chat.need_tokenizer = true;
    QVERIFY(load(chat)->calibrated_uses().empty());
    chat.precision.store = folder_.filePath("calibrated").toStdString();
    const auto prepared = fovea::prepare(
        {.model = chat.model,
         .store = chat.precision.store,
         .tiers = chat.precision.tiers,
         .threads = 2,
         .calibration = {
             .text = "the text that the model reads first, and then once more, until it has learnt",
             .tokens = 16,
             .window = 16}});
    FOVEA_VERIFY(prepared);
    const auto engine = load(chat);
    auto uses = engine->calibrated_uses();
    for (const fovea::ExpertLayer& layer : engine->expert_layers()) {
      const auto count = static_cast<std::size_t>(layer.experts);
      QVERIFY(uses.size() >= count);
      const auto its = uses.first(count);
      QVERIFY(std::abs(std::accumulate(its.begin(), its.end(), 0.0F) - 1) < 1e-5F);
      QVERIFY(std::ranges::max(its) > 1.01F * std::ranges::min(its));
      uses = uses.subspan(count);
    }
    QVERIFY(uses.empty());
    QVERIFY(load(plain_request())->calibrated_uses().empty());
  }

  void withoutAPolicyThereIsNothingToTell() {
    const auto engine = load(plain_request());
    fovea::Snapshot snapshot;
    QVERIFY(!engine->precision());
    QCOMPARE(engine->plan().policy(), PolicyKind::none);
    QVERIFY(!engine->read_snapshot(snapshot));
  }
};

FOVEA_TEST(PrecisionTest)
#include "precision_test.moc"
