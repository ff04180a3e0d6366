// What a snapshot shows, against the routers' choices and the swap log.
#include <QTemporaryDir>
#include <QThread>
#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "expert_model.h"

using fovea::Engine;
using fovea::LoadOptions;
using fovea::PolicyKind;
using fovea::Snapshot;
using namespace fovea::tests::expert_model;

class SnapshotTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  LoadOptions request(PolicyKind policy, std::vector<std::string> tiers, std::int64_t budget = 0) const {
    return with_policy(folder_.path().toStdString(), policy, std::move(tiers), budget);
  }

  // Room for everything at the high tier but a few units.
  LoadOptions swapping() const {
    LoadOptions dynamic = request(PolicyKind::dynaexq, {"file", "q2"});
    dynamic.precision.budget_bytes = load(dynamic)->plan().plan.whole_bytes - 4096;
    dynamic.precision.dynaexq.interval_tokens = 4;
    dynamic.precision.dynaexq.warm_up_tokens = 4;
    dynamic.precision.dynaexq.hysteresis = 0;
    dynamic.precision.publish_after_passes = 1;
    return dynamic;
  }

  // What the routers choose for `tokens` at the file's tier, [layers, experts].
  struct Chosen {
    std::vector<double> gates = std::vector<double>(layers * experts);  // means over the tokens
    std::vector<int> tokens = std::vector<int>(layers * experts);
  };
  static Chosen chosen_for(const std::vector<fovea::TokenId>& tokens) {
    Chosen all;
    LoadOptions plain = plain_request();
    plain.chunk = std::ssize(tokens);
    const auto routed =
        load(plain)->routing(tokens, plain.chunk, [&](const fovea::PassRouting& pass) -> fovea::Result<void> {
          for (std::size_t layer = 0; layer < pass.layers.size(); ++layer) {
            for (std::size_t i = 0; i < pass.layers[layer].ids.size(); ++i) {
              const std::size_t unit = layer * experts + std::size_t(pass.layers[layer].ids[i]);
              all.gates[unit] += double(pass.layers[layer].weights[i]) / double(tokens.size());
              ++all.tokens[unit];
            }
          }
          return {};
        });
    if (!routed) qFatal("%s", routed.error().message().c_str());
    return all;
  }

  static Snapshot look(Engine& engine) {
    Snapshot snapshot;
    engine.read_snapshot(snapshot);
    QThread::msleep(110);  // snapshots are made ten times a second
    logits(engine, some_tokens(1));
    if (!engine.read_snapshot(snapshot)) qFatal("there is no snapshot");
    return snapshot;
  }

 private Q_SLOTS:
  void hotnessTokensAndSkewAreWhatTheRoutersChose() {
    constexpr std::int64_t count = 40;
    const auto tokens = some_tokens(count);
    // Everything at the file's tier: the routers choose what they choose without a policy.
    const auto [gates, chosen] = chosen_for(tokens);
    LoadOptions pinned = request(PolicyKind::dynaexq, {"file", "q2"});
    pinned.chunk = count;
    pinned.precision.dynaexq.smoothing = 0.75;
    pinned.precision.dynaexq.smoothing_tokens = 0;  // one pass: S = (1 − 0.75) g
    const auto engine = load(pinned);
    Snapshot snapshot;
    QVERIFY(!engine->read_snapshot(snapshot));
    logits(*engine, tokens);
    QVERIFY(engine->read_snapshot(snapshot));

    QCOMPARE(snapshot.layers, layers);
    QCOMPARE(snapshot.units_per_layer, experts);
    for (std::size_t unit = 0; unit < snapshot.units.size(); ++unit) {
      QCOMPARE(int(snapshot.units[unit].recent_tokens), chosen[unit]);
      QCOMPARE(int(snapshot.units[unit].uses), chosen[unit]);
      QVERIFY(std::abs(double(snapshot.units[unit].hotness) - 0.25 * gates[unit]) < 1e-6);
    }
    for (std::size_t layer = 0; layer < std::size_t(layers); ++layer) {
      const auto first = gates.begin() + std::ptrdiff_t(layer) * experts;
      const double hottest = *std::max_element(first, first + experts);  // a tenth of 8 is one
      const double sum = std::accumulate(first, first + experts, 0.0);
      QVERIFY(std::abs(double(snapshot.skew[layer]) - hottest / sum) < 1e-5);
    }
    QCOMPARE(snapshot.tokens, count);
    QCOMPARE(snapshot.tiers[0].hits, count * layers * used);
    QCOMPARE(snapshot.tiers[1].hits, 0);
    QCOMPARE(snapshot.misses, 0);
    QCOMPARE(engine->precision()->bits_per_use, snapshot.tiers[0].bits_per_weight);
    QVERIFY(snapshot.prefill_tokens_per_second > 0);
    QCOMPARE(snapshot.tokens_per_second, 0.0);  // nothing was written
    QCOMPARE(snapshot.budget_bytes, engine->plan().plan.budget_bytes);
    QCOMPARE(snapshot.arena_bytes, engine->plan().plan.arena_bytes);
  }

  void bitsPerUse() {
    using fovea::bits_per_use;
    std::vector<fovea::TierState> tiers;
    QCOMPARE(bits_per_use(tiers, 5), 0.0);
    tiers.resize(2);
    tiers[0].bits_per_weight = 8;
    tiers[1].bits_per_weight = 2;
    QCOMPARE(bits_per_use(tiers, 0), 0.0);
    tiers[0].hits = 30;
    tiers[1].hits = 10;
    QCOMPARE(bits_per_use(tiers, 0), 6.5);
    QCOMPARE(bits_per_use(tiers, 20), 5.0);  // read at 2 bits
  }

  // Without a policy all stays as it is, and is shown: use, hotness, one tier, no arena.
  void withoutAPolicyTheUseIsShown() {
    constexpr std::int64_t count = 40;
    const auto tokens = some_tokens(count);
    const auto [gates, chosen] = chosen_for(tokens);
    LoadOptions plain = plain_request();
    plain.chunk = count;
    const auto engine = load(plain);
    Snapshot snapshot;
    QVERIFY(!engine->read_snapshot(snapshot));
    logits(*engine, tokens);
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(snapshot.layers, layers);
    QCOMPARE(snapshot.units_per_layer, experts);
    const double kept = std::pow(0.9, count / 50.0);  // DynaExq's smoothing over 50 tokens
    for (std::size_t unit = 0; unit < snapshot.units.size(); ++unit) {
      QCOMPARE(int(snapshot.units[unit].uses), chosen[unit]);
      QCOMPARE(int(snapshot.units[unit].recent_tokens), chosen[unit]);
      QCOMPARE(int(snapshot.units[unit].tier), 0);
      QCOMPARE(snapshot.units[unit].target, fovea::no_tier);
      QVERIFY(std::abs(double(snapshot.units[unit].hotness) - (1 - kept) * gates[unit]) < 1e-6);
    }
    QVERIFY(snapshot.skew[0] > 0);
    QCOMPARE(snapshot.tiers.size(), std::size_t{1});
    QCOMPARE(snapshot.tiers[0].name, "file");
    QCOMPARE(snapshot.tiers[0].units, layers * experts);
    QCOMPARE(snapshot.tiers[0].hits, count * layers * used);
    std::int64_t bytes = 0;
    double parameters = 0;
    for (const fovea::ExpertLayer& layer : engine->expert_layers()) {
      bytes += layer.experts * layer.file_bytes;
      parameters += static_cast<double>(layer.experts * layer.parameters);
    }
    QCOMPARE(snapshot.tiers[0].bytes, bytes);
    QCOMPARE(snapshot.mean_bits_per_weight, 8 * static_cast<double>(bytes) / parameters);
    QCOMPARE(snapshot.tokens, count);
    QVERIFY(snapshot.prefill_tokens_per_second > 0);
    QVERIFY(snapshot.pools.empty() && snapshot.arena_bytes == 0 && snapshot.budget_bytes == 0);
    QVERIFY(!engine->precision() && engine->plan().policy() == PolicyKind::none);
    // Once more: uses add up, hotness goes on from where it was, and what is recent fades from one to the
    // next.
    QThread::msleep(110);
    logits(*engine, tokens);
    QVERIFY(engine->read_snapshot(snapshot));
    for (std::size_t unit = 0; unit < snapshot.units.size(); ++unit) {
      QCOMPARE(int(snapshot.units[unit].uses), 2 * chosen[unit]);
      QCOMPARE(int(snapshot.units[unit].recent_tokens),
               int(0.7F * float(chosen[unit]) + float(chosen[unit])));
      QVERIFY(std::abs(double(snapshot.units[unit].hotness) - (1 - kept * kept) * gates[unit]) < 1e-6);
    }
  }

  void aModelWithoutExpertsShowsNothing() {
    LoadOptions dense = plain_request();
    dense.model = fovea::tests::golden("models/qwen3-0");
    const auto engine = load(dense);
    Snapshot snapshot;
    engine->read_snapshot(snapshot);
    logits(*engine, some_tokens(3));
    QVERIFY(!engine->read_snapshot(snapshot));
  }

  // Of its two layers the second has experts.
  void layersWithoutUnitsHaveNoRow_data() {
    QTest::addColumn<bool>("policy");
    QTest::newRow("no policy") << false;
    QTest::newRow("dynaexq") << true;
  }
  void layersWithoutUnitsHaveNoRow() {
    QFETCH(bool, policy);
    LoadOptions mixed = policy ? request(PolicyKind::dynaexq, {"file", "bf16"}) : plain_request();
    mixed.model = fovea::tests::golden("models/qwen3_moe-2");
    const auto engine = load(mixed);
    const auto experts_of = engine->expert_layers();
    QCOMPARE(experts_of.size(), std::size_t{1});
    QCOMPARE(experts_of[0].layer, 1);
    Snapshot snapshot;
    engine->read_snapshot(snapshot);
    logits(*engine, some_tokens(3));
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(snapshot.layers, 1);
    QCOMPARE(snapshot.units_per_layer, std::int64_t{experts_of[0].experts});
    QCOMPARE(std::ssize(snapshot.units), snapshot.units_per_layer);
    QCOMPARE(std::ssize(snapshot.skew), 1);
    std::int64_t uses = 0;
    for (const fovea::UnitState& unit : snapshot.units) uses += unit.uses;
    QCOMPARE(uses, snapshot.tiers[0].hits);
    QVERIFY(uses > 0);
  }

  // Nobody looked while it answered; who looks afterwards sees all of it.
  void behindAnAnswerAllIsShown() {
    LoadOptions chat = plain_request();
    chat.model = fovea::tests::golden("chat");
    chat.need_tokenizer = true;
    chat.context = 96;
    const auto engine = load(chat);
    fovea::GenerateRequest question;
    question.messages = {{"user", "one two three"}};
    question.max_tokens = 12;
    question.sampling.seed = 1;  // an answer of twelve tokens; others end before
    const auto answer = engine->generate(question);
    FOVEA_VERIFY(answer);
    QCOMPARE(answer->finish, fovea::FinishReason::max_tokens);
    Snapshot snapshot;
    QVERIFY(engine->read_snapshot(snapshot));
    // The last token that was generated went through no pass.
    QCOMPARE(snapshot.tokens, answer->timings.prompt_tokens + answer->timings.generated_tokens - 1);
    QVERIFY(snapshot.tokens_per_second > 0);
  }

  void readingAPromptIsNotWriting() {
    LoadOptions pinned = request(PolicyKind::dynaexq, {"file", "q2"});
    pinned.chunk = 1;  // as an answer is written
    const auto engine = load(pinned);
    Snapshot snapshot;
    engine->read_snapshot(snapshot);
    logits(*engine, some_tokens(1));
    QVERIFY(engine->read_snapshot(snapshot));
    QVERIFY(snapshot.tokens_per_second > 0);
    QCOMPARE(snapshot.prefill_tokens_per_second, 0.0);
  }

  void countersAndDecisionsAreThoseOfTheSwapLog() {
    LoadOptions dynamic = swapping();
    dynamic.precision.events = folder_.filePath("events.jsonl").toStdString();
    const auto engine = load(dynamic);
    Snapshot snapshot;
    engine->read_snapshot(snapshot);
    for (int turn = 0; turn < 6; ++turn) logits(*engine, some_tokens(50 + turn));
    snapshot = look(*engine);

    // by the time of the snapshot, which the last pass made
    fovea::SwapCounters told;
    std::vector<nlohmann::json> published;
    std::ifstream events(dynamic.precision.events);
    for (std::string line; std::getline(events, line);) {
      const auto event = nlohmann::json::parse(line);
      if (event["outcome"] != "published") continue;
      const bool up = event["to"] == "file";
      ++(up ? told.promotions : told.demotions);
      (up ? told.bytes_promoted : told.bytes_demoted) += event["bytes"].get<std::int64_t>();
      published.push_back(event);
    }
    QVERIFY(told.promotions > 0);
    QCOMPARE(snapshot.swaps.promotions, told.promotions);
    QCOMPARE(snapshot.swaps.demotions, told.demotions);
    QCOMPARE(snapshot.swaps.bytes_promoted, told.bytes_promoted);
    QCOMPARE(snapshot.swaps.bytes_demoted, told.bytes_demoted);
    QVERIFY(snapshot.swaps.bytes_read >= told.bytes_promoted + told.bytes_demoted);
    std::ranges::reverse(published);
    QVERIFY(published.back()["token"].get<std::int64_t>() > 0);
    for (std::size_t i = 0; i < std::min(published.size(), snapshot.decisions.size()); ++i) {
      const fovea::DecisionState& shown = snapshot.decisions[i];
      const auto& event = published[i];
      QCOMPARE(event["unit"], "blk." + std::to_string(shown.unit / experts) + ".expert." +
                                  std::to_string(shown.unit % experts));
      QCOMPARE(event["to"], snapshot.tiers[shown.to].name);
      QCOMPARE(event["from"], snapshot.tiers[shown.from].name);
      QCOMPARE(event["reason"], shown.reason == fovea::SwapReason::hotter ? "hotter" : "colder");
      QCOMPARE(event["token"].get<std::int64_t>(), shown.token);
      QVERIFY(event["score"].get<float>() == shown.score);
    }
    std::int64_t units = 0, bytes = 0, used_blocks = 0;
    for (const fovea::TierState& tier : snapshot.tiers) {
      units += tier.units;
      bytes += tier.bytes;
    }
    QCOMPARE(units, layers * experts);
    // blocks of swaps in flight are beside those of the published versions
    QVERIFY(bytes <= snapshot.arena_used_bytes && snapshot.arena_used_bytes <= snapshot.arena_bytes);
    for (const fovea::PoolState& pool : snapshot.pools) {
      QVERIFY(pool.used <= pool.blocks);
      used_blocks += pool.used * pool.block_bytes;
    }
    QCOMPARE(used_blocks, snapshot.arena_used_bytes);
    QCOMPARE(snapshot.tiers[0].hits + snapshot.tiers[1].hits + snapshot.misses,
             snapshot.tokens * layers * used);
  }

  void whatIsInFlightIsShown() {
    LoadOptions dynamic = swapping();
    dynamic.precision.publish_after_passes = 1'000'000;
    const auto engine = load(dynamic);
    Snapshot snapshot;
    engine->read_snapshot(snapshot);
    for (int turn = 0; turn < 6; ++turn) logits(*engine, some_tokens(50 + turn));
    snapshot = look(*engine);
    const auto moving = std::ranges::count_if(
        snapshot.units, [](const fovea::UnitState& unit) { return unit.target != fovea::no_tier; });
    QVERIFY(moving > 0 && moving <= dynamic.precision.dynaexq.in_flight);
    QCOMPARE(snapshot.swaps.refused, 0);  // what is under way is not asked for again
    QCOMPARE(snapshot.queued + snapshot.reading + snapshot.ready, moving);
    QCOMPARE(snapshot.swaps.promotions, 0);
  }

  // What the last pass decided is in flight when it ends; nothing more is asked, and it is finished.
  void whatWasBegunIsFinishedWhileNothingIsAsked() {
    LoadOptions dynamic = swapping();
    dynamic.precision.publish_after_passes = -1;
    dynamic.precision.dynaexq.interval_tokens = 1;
    dynamic.precision.dynaexq.smoothing = 0.2;  // other tokens, other experts
    dynamic.precision.dynaexq.smoothing_tokens = 0;
    dynamic.chunk = 16;
    const auto engine = load(dynamic);
    Snapshot snapshot;
    const auto in_flight = [&] { return snapshot.queued + snapshot.reading + snapshot.ready; };
    for (int turn = 0; turn < 100 && in_flight() == 0; ++turn) {
      engine->read_snapshot(snapshot);
      QThread::msleep(110);  // snapshots are made ten times a second
      logits(*engine, std::vector<fovea::TokenId>(16, turn * 7 % vocabulary));
      QVERIFY(engine->read_snapshot(snapshot));
    }
    QVERIFY(in_flight() > 0);
    const fovea::SwapCounters before = snapshot.swaps;
    QTRY_VERIFY(!engine->rest());
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(in_flight(), 0);
    QVERIFY(std::ranges::all_of(snapshot.units,
                                [](const fovea::UnitState& unit) { return unit.target == fovea::no_tier; }));
    QVERIFY(snapshot.swaps.promotions + snapshot.swaps.demotions > before.promotions + before.demotions);
    QVERIFY(!load(plain_request())->rest());
  }

  // Nobody looks for a while: none is made. A reader who comes back gets them again.
  void nothingIsMadeForNobody() {
    const auto engine = load(request(PolicyKind::dynaexq, {"file", "q2"}));
    Snapshot snapshot;
    engine->read_snapshot(snapshot);
    logits(*engine, some_tokens(3));
    QVERIFY(engine->read_snapshot(snapshot));
    const std::int64_t seen = snapshot.tokens;
    QThread::msleep(110);
    logits(*engine, some_tokens(3));  // the one that was asked for
    QThread::msleep(2100);
    for (int pass = 0; pass < 3; ++pass) {
      logits(*engine, some_tokens(3));
      QThread::msleep(110);
    }
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(snapshot.tokens, seen + 3);
    QVERIFY(!engine->read_snapshot(snapshot));
    logits(*engine, some_tokens(3));
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(snapshot.tokens, seen + 15);
  }

  void unitsOnDiskAloneAreMisses() {
    LoadOptions offload = request(PolicyKind::offload, {"file"});
    offload.precision.offload.cpu_moe_layers = 1;
    const auto engine = load(offload);
    Snapshot snapshot;
    engine->read_snapshot(snapshot);
    logits(*engine, some_tokens(1));
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(snapshot.misses, used);  // of the first layer; nothing had been read yet
    QCOMPARE(snapshot.swaps.stalls, used);
    QVERIFY(snapshot.swaps.stall_seconds > 0);
    QCOMPARE(snapshot.tiers[0].hits, used);
    const auto on_disk = std::ranges::count_if(
        snapshot.units, [](const fovea::UnitState& unit) { return unit.tier == fovea::no_tier; });
    QCOMPARE(on_disk, experts - used);
  }
};

FOVEA_TEST(SnapshotTest)
#include "snapshot_test.moc"
