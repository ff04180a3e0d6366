#include "engine/eval/replay.h"

#include <cmath>
#include <fstream>

#include "engine/api/errors.h"
#include "engine/core/result.h"
#include "engine/eval/replay_residency.h"
#include "tests/support/test.h"

using namespace fovea::eval;
using fovea::ErrorKind;
using fovea::PolicyKind;
using fovea::ReplayRequest;
using fovea::SyntheticRouting;
using fovea::precision::Decision;
using fovea::precision::ExpertUse;
using fovea::precision::Observation;
using fovea::precision::Policy;
using fovea::precision::PolicyWorld;

namespace {

// One layer of four experts, whose versions have about 8 and 4 MB: 1,954 and 977 pages.
constexpr std::int64_t high_bytes = 8'003'584, low_bytes = 4'001'792;
PolicyWorld four_units() {
  return {.first_unit = {0, 4},
          .bits_per_weight = {4, 2},
          .unit_bytes = {high_bytes, low_bytes, high_bytes, low_bytes, high_bytes, low_bytes, high_bytes,
                         low_bytes},
          .damage = {},
          .capacity = {1, 3},
          .spare_blocks = 1,
          .high_per_layer = 1,
          .uses = {}};
}

// Room for the world's capacity and its spare blocks: two high versions and four low ones.
const fovea::precision::ArenaPlan room = {
    .slab_bytes = high_bytes, .slabs = 4, .block_bytes = {low_bytes, high_bytes}};

Decision move(std::int32_t unit, std::uint8_t target) {
  return {.unit = unit, .target = target};
}

// Unit 0 high, the others low, over a disk of 1 GB/s.
struct Four {
  explicit Four(const ReplaySettings& given) : settings(given) {
    settings.arena = room;
    auto made = ReplayResidency::create(world, settings, std::vector<std::uint8_t>{0, 1, 1, 1});
    if (!made) qFatal("%s", made.error().message().c_str());
    residency = *std::move(made);
  }
  bool request(std::int32_t unit, std::uint8_t target) {
    return residency->swaps().request(move(unit, target));
  }
  // A pass that ends at this moment.
  void end_pass(double seconds) {
    residency->compute(seconds - residency->now());
    residency->swaps().end_pass();
  }
  int tier(std::int32_t unit) const { return residency->versions().tier(unit); }

  PolicyWorld world = four_units();
  ReplaySettings settings;
  std::unique_ptr<ReplayResidency> residency;
};

class Passes final : public PassSource {
 public:
  explicit Passes(std::vector<TracePass> passes) : passes_(std::move(passes)) {
    shape_ = {
        .model = "m", .used = 1, .layers = {{.layer = 0, .experts = 4, .parameters = 100, .file_bytes = 50}}};
  }
  const TraceShape& shape() const override { return shape_; }
  fovea::Result<bool> next(TracePass& pass) override {
    if (next_ == passes_.size()) return false;
    pass = passes_[next_++];
    return true;
  }
  void rewind() override { next_ = 0; }

 private:
  TraceShape shape_;
  std::vector<TracePass> passes_;
  std::size_t next_ = 0;
};

// Swaps units 0 and 2 after the first pass.
class SwapOnce final : public Policy {
 public:
  std::string_view name() const override { return "swap once"; }
  std::vector<std::uint8_t> initial() const override { return {0, 1, 1, 1}; }
  void observe(const Observation&) override { ++passes_; }
  void propose(std::span<const std::uint8_t>, std::int32_t, std::vector<Decision>& decisions) override {
    if (passes_ == 1) decisions = {move(2, 0), move(0, 1)};
  }
  std::span<const float> hotness() const override { return {}; }

 private:
  int passes_ = 0;
};

// Moves nothing, wants so many tokens of a prompt in its passes, and keeps what it saw.
class Watcher final : public Policy {
 public:
  explicit Watcher(std::vector<std::int64_t> wanted) : wanted_(std::move(wanted)) {}
  std::string_view name() const override { return "watcher"; }
  std::vector<std::uint8_t> initial() const override { return {0, 1, 1, 1}; }
  std::int64_t prompt_pass_tokens(std::int64_t most) const override {
    return tokens.size() < wanted_.size() ? wanted_[tokens.size()] : most;
  }
  void observe(const Observation& seen) override {
    tokens.push_back(seen.tokens);
    uses.emplace_back(seen.uses.begin(), seen.uses.end());
    QCOMPARE(seen.routed[0], static_cast<std::int32_t>(seen.tokens));
  }
  void propose(std::span<const std::uint8_t>, std::int32_t, std::vector<Decision>&) override {}
  std::span<const float> hotness() const override { return {}; }

  std::vector<std::int64_t> tokens;
  std::vector<std::vector<fovea::precision::ExpertUse>> uses;

 private:
  std::vector<std::int64_t> wanted_;
};

TracePass use_of(std::int32_t unit, std::int64_t tokens = 1) {
  return {.tokens = tokens,
          .prefill = tokens > 1,
          .entropy = -1,
          .routed = {static_cast<std::int32_t>(tokens)},
          .uses = {
              {.unit = unit, .tokens = static_cast<std::int32_t>(tokens), .gate_sum = 0.5F * float(tokens)}}};
}

bool close(double a, double b) {
  return std::abs(a - b) < 1e-9;
}

}  // namespace

class ReplayTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // 8.004 MB at 1 GB/s take 8.004 ms, then 4.002 MB half as long.
  void versionsArriveAfterTheirBytes() {
    Four four({.clock = {.read_gb_per_s = 1}});
    four.residency->compute(1);
    QVERIFY(four.request(2, 0));
    QVERIFY(four.request(0, 1));
    QCOMPARE(four.residency->swaps().lengths().reading, 2);
    QCOMPARE(int(four.residency->versions().targets()[2]), 0);
    four.end_pass(1.0079);
    QCOMPARE(four.tier(2), 1);
    four.end_pass(1.0081);
    QCOMPARE(four.tier(2), 0);
    QCOMPARE(four.tier(0), 0);
    four.end_pass(1.0121);
    QCOMPARE(four.tier(0), 1);
    QCOMPARE(four.residency->swaps().lengths().sum(), 0);
    QCOMPARE(four.residency->counters().promotions, 1);
    QCOMPARE(four.residency->counters().bytes_demoted, low_bytes);
    QCOMPARE(four.residency->counters().bytes_read, high_bytes + low_bytes);
    QVERIFY(close(four.residency->busy_seconds(), 1e-9 * double(high_bytes + low_bytes)));
    QVERIFY(close(four.residency->held_bits(), 4 + 3 * 2));
  }

  void uploadsFollowReads() {
    Four four({.clock = {.read_gb_per_s = 1, .upload_gb_per_s = 0.5}});
    QVERIFY(four.request(2, 0));  // read until 8 ms, uploaded until 24 ms
    QVERIFY(four.request(0, 1));  // read until 12 ms, uploaded until 32 ms
    four.end_pass(0.0239);
    QCOMPARE(four.tier(2), 1);
    four.end_pass(0.0319);
    QCOMPARE(four.tier(2), 0);
    QCOMPARE(four.tier(0), 0);
    four.end_pass(0.0321);
    QCOMPARE(four.tier(0), 1);
  }

  // As in the engine: what is one too many waits its turn, what nothing makes room for is refused.
  void theEnginesLimitsHold() {
    Four four({.clock = {.read_gb_per_s = 1}, .in_flight = 3});
    QVERIFY(four.request(2, 0));
    QVERIFY(!four.request(2, 0));  // on its way already
    QVERIFY(four.request(3, 0));   // no third block for high versions, and nothing vacates one
    QCOMPARE(four.residency->swaps().lengths().queued, 1);
    four.end_pass(0.001);
    QCOMPARE(four.residency->counters().refused, 2);
    Four narrow({.clock = {.transfer_bytes = high_bytes + low_bytes}});  // for one version
    QVERIFY(narrow.request(2, 0));
    QVERIFY(narrow.request(0, 1));
    QCOMPARE(narrow.residency->swaps().lengths().reading, 1);
    QCOMPARE(narrow.residency->swaps().lengths().queued, 1);
    const PolicyWorld world = four_units();
    const ReplaySettings none{.clock = {.transfer_bytes = low_bytes}, .arena = room};
    const auto made = ReplayResidency::create(world, none, std::vector<std::uint8_t>{0, 1, 1, 1});
    QVERIFY(!made);
    QCOMPARE(made.error().kind, ErrorKind::invalid);
  }

  // As in the engine: decided before the first of the passes, and the clock waits for the bytes.
  void publishesAfterExactlySoManyPasses() {
    Four four({.clock = {.read_gb_per_s = 1e-6, .publish_after_passes = 2}});
    QVERIFY(four.request(2, 0));
    for (int pass = 0; pass < 2; ++pass) {
      four.residency->swaps().end_pass();
      QCOMPARE(four.tier(2), 1);
    }
    four.residency->swaps().end_pass();
    QCOMPARE(four.tier(2), 0);
    QVERIFY(close(four.residency->now(), 1e-3 * double(high_bytes)));
  }

  // Between two passes of a prompt swaps follow one another for the time that they are given, and the one
  // that is being read then.
  void swapsSettleForAWhile() {
    Four four({.clock = {.read_gb_per_s = 1}});
    QVERIFY(four.request(2, 0));  // read until 8 ms
    QVERIFY(four.request(0, 1));  // until 12 ms
    four.residency->swaps().settle(0);
    QCOMPARE(four.tier(2), 1);
    four.residency->swaps().settle(0.005);
    QCOMPARE(four.tier(2), 0);
    QCOMPARE(four.tier(0), 0);
    four.residency->swaps().settle(1);
    QCOMPARE(four.tier(0), 1);
    QVERIFY(close(four.residency->now(), 1e-9 * double(high_bytes + low_bytes)));
    four.residency->swaps().settle(1);  // nothing is under way: nobody waits
    QVERIFY(close(four.residency->now(), 1e-9 * double(high_bytes + low_bytes)));
  }

  void countsWhatServedTheWork() {
    // A token takes 10 ms: the swap is decided after the first pass, and 12 ms later both are there.
    Passes passes({use_of(2), use_of(2), use_of(2), use_of(2), use_of(0, 3)});
    SwapOnce policy;
    const auto result = replay_passes(
        passes, four_units(), policy,
        {.clock = {.read_gb_per_s = 1, .decode_tok_per_s = 100, .prefill_tok_per_s = 300}, .arena = room});
    FOVEA_VERIFY(result);
    QCOMPARE(result->service.hits, (std::vector<std::int64_t>{2, 5}));
    QVERIFY(close(result->service.gate[0], 1) && close(result->service.gate[1], 2.5));
    QVERIFY(close(result->service.hit_rate(0), 2.0 / 7));
    // Damage is 4^−bits where it was not measured.
    QVERIFY(close(result->service.loss, 1.0 / 256 + 2.5 / 16));
    QCOMPARE(result->passes, 5);
    QCOMPARE(result->tokens, 7);
    QVERIFY(close(result->simulated_seconds, 0.05));
    QVERIFY(close(result->traffic_share, 1e-9 * double(high_bytes + low_bytes) / 0.05));
    // Two units of 4 bits while the demotion was under way, for one token.
    QVERIFY(close(result->service.mean_bits_per_weight, (2.5 * 7 + 0.5) / 7));
  }

  // A prompt's passes are put together as far as they fit and the policy wants; an answer's tokens never, and
  // without being asked for none.
  void promptPassesArePutTogether() {
    Passes passes({use_of(2, 4), use_of(1, 4), use_of(2, 4), use_of(3, 4), use_of(0, 4), use_of(0, 4),
                   use_of(1), use_of(1), use_of(2, 4), use_of(2, 9)});
    const auto seen = [&](std::int64_t most, std::vector<std::int64_t> wanted) {
      Watcher policy(std::move(wanted));
      const auto result =
          replay_passes(passes, four_units(), policy, {.prompt_pass_tokens = most, .arena = room});
      if (!result) qFatal("%s", result.error().message().c_str());
      if (result->passes != std::ssize(policy.tokens) || result->tokens != 39) qFatal("tokens are lost");
      return policy;
    };
    using Tokens = std::vector<std::int64_t>;
    QCOMPARE(seen(0, {}).tokens, (Tokens{4, 4, 4, 4, 4, 4, 1, 1, 4, 9}));
    QCOMPARE(seen(8, {8, 4, 2}).tokens, (Tokens{8, 4, 4, 8, 1, 1, 4, 9}));  // one is longer already
    const Watcher joined = seen(12, {});
    QCOMPARE(joined.tokens, (Tokens{12, 12, 1, 1, 4, 9}));
    const auto& uses = joined.uses.front();
    QCOMPARE(uses.size(), std::size_t{2});
    QVERIFY(uses[0].unit == 1 && uses[0].tokens == 4 && close(double(uses[0].gate_sum), 2));
    QVERIFY(uses[1].unit == 2 && uses[1].tokens == 8 && close(double(uses[1].gate_sum), 4));
  }

  void unitsOnDiskStall() {
    class OnDisk final : public Policy {
     public:
      std::string_view name() const override { return "on disk"; }
      std::vector<std::uint8_t> initial() const override { return {0, 1, fovea::no_tier, fovea::no_tier}; }
      void observe(const Observation&) override {}
      void propose(std::span<const std::uint8_t>, std::int32_t, std::vector<Decision>&) override {}
      std::span<const float> hotness() const override { return {}; }
    } policy;
    Passes passes({use_of(2), use_of(3), use_of(0), use_of(2), use_of(3), use_of(3)});
    const auto stalls = [&](std::int64_t blocks) {
      return replay_passes(passes, four_units(), policy,
                           {.clock = {.read_gb_per_s = 1, .decode_tok_per_s = 100},
                            .arena = room,
                            .on_demand_blocks = blocks});
    };
    const auto result = stalls(1);
    FOVEA_VERIFY(result);
    QCOMPARE(result->visits, 5);
    QCOMPARE(result->swaps.stalls, 4);
    QVERIFY(close(result->swaps.stall_seconds, 4e-9 * double(low_bytes)));
    QVERIFY(close(result->simulated_seconds, 0.06 + 4e-9 * double(low_bytes)));
    QCOMPARE(result->service.absent_hits, 4);
    QVERIFY(close(result->service.mean_bits_per_weight, (4 + 2) / 4.0));
    const auto all = stalls(0);  // the arena has room for both
    FOVEA_VERIFY(all);
    QCOMPARE(all->swaps.stalls, 2);
  }

  void fixedTiersServeTheTotals() {
    Passes passes({use_of(0), use_of(1), use_of(1), use_of(3, 4)});
    const auto totals = count_uses(passes);
    FOVEA_VERIFY(totals);
    QCOMPARE(totals->tokens, (std::vector<std::int64_t>{1, 2, 0, 4}));
    QCOMPARE(totals->pass_tokens, 7);
    const std::vector<std::uint8_t> tiers{1, 1, 1, 0};
    const Service service = serve_fixed(*totals, four_units(), tiers);
    QCOMPARE(service.hits, (std::vector<std::int64_t>{4, 3}));
    QVERIFY(close(service.mean_bits_per_weight, 2.5));
    const auto first = count_uses(passes, 2);
    FOVEA_VERIFY(first);
    QCOMPARE(first->tokens, (std::vector<std::int64_t>{1, 1, 0, 0}));
  }

  // Work that changes, with room for one kind's hot experts: following it beats every fixed mix. Work that
  // does not change: the best fixed mix cannot be beaten.
  void comparesWithFixedMixes_data() {
    QTest::addColumn<int>("phases");
    QTest::addColumn<bool>("beats");
    QTest::newRow("changing work") << 6 << true;
    QTest::newRow("one kind of work") << 1 << false;
  }
  void comparesWithFixedMixes() {
    QFETCH(int, phases);
    QFETCH(bool, beats);
    const SyntheticRouting routing{.layers = 3,
                                   .experts = 64,
                                   .used = 4,
                                   .skew = SyntheticRouting::Skew::exponential,
                                   .skew_strength = 8,
                                   .tokens = 30'000,
                                   .phases = phases,
                                   .overlap = {0.1}};
    const ReplayRequest request{.trace = {}, .synthetic = routing, .tiers = {"q8", "q4"}, .high_share = 0.25};
    const auto report = fovea::replay(request);
    FOVEA_VERIFY(report);
    const auto names =
        std::array{"dynaexq",         "static",  "fixed at start", "fixed hindsight", "look-ahead 200",
                   "look-ahead 2000", "ceiling", "all high",       "all low"};
    QCOMPARE(report->rows.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) QCOMPARE(report->rows[i].name, names[i]);
    const auto& [dynamic, fixed, profile, best] =
        std::tie(report->rows[0], report->rows[1], report->rows[2], report->rows[3]);
    const auto& [high, low] = std::tie(report->rows[7], report->rows[8]);
    QVERIFY(best.loss <= fixed.loss + 1e-12);
    for (std::size_t i = 0; i < 6; ++i) QVERIFY(report->rows[i].loss >= report->rows[6].loss - 1e-12);
    QCOMPARE(fixed.way, 0.0);
    QCOMPARE(std::max(report->rows[4].way, report->rows[5].way), 1.0);
    QCOMPARE(best.bytes, dynamic.bytes);
    QCOMPARE(report->high_per_layer, 16);
    QVERIFY(close(high.loss, 0) && close(low.loss, 1));
    QVERIFY(best.loss <= profile.loss + 1e-12);
    QVERIFY2((dynamic.loss < best.loss) == beats,
             qPrintable(QString("%1 against %2").arg(dynamic.loss).arg(best.loss)));
    QVERIFY(report->swaps.promotions > 0);
    const auto again = fovea::replay(request);
    FOVEA_VERIFY(again);
    QCOMPARE(again->rows[0].loss, dynamic.loss);
  }

  // Prompts that touch most experts move no more of them than their tokens allow: the first set, for which
  // there is no limit, and then so many of each layer in each interval.
  void aLongPromptKeepsToTheLimit() {
    const SyntheticRouting routing{.layers = 4,
                                   .experts = 64,
                                   .used = 4,
                                   .skew = SyntheticRouting::Skew::uniform,
                                   .tokens = 6400,
                                   .phases = 2,
                                   .prompt = 3000};
    const auto promotions = [&](int transitions) {
      ReplayRequest request{.trace = {}, .synthetic = routing, .tiers = {"q8", "q4"}, .high_share = 0.25};
      request.dynaexq.hysteresis = 0;
      request.dynaexq.transitions = transitions;
      const auto report = fovea::replay(request);
      return report && report->passes < 600 ? report->swaps.promotions : -1;  // chunks of 128 among them
    };
    const std::int64_t first_set = promotions(0), limited = promotions(4), free = promotions(64);
    const std::int64_t most = first_set + routing.layers * 4 * (routing.tokens / 200);
    QVERIFY2(first_set > 0 && limited > first_set && limited <= most,
             qPrintable(QString("%1, then %2 of %3").arg(first_set).arg(limited).arg(most)));
    QVERIFY(free > most);  // the bound can be exceeded
  }

  void aWrittenTraceReplaysAlike() {
    const fovea::tests::TemporaryFolder folder;
    const auto path = folder.path() / "synthetic.trace";
    const SyntheticRouting routing{.layers = 2, .experts = 32, .used = 4, .tokens = 3000, .prompt = 200};
    {
      std::ofstream file(path, std::ios::binary);
      FOVEA_VERIFY(fovea::write_synthetic_trace(routing, [&](std::string_view bytes) -> fovea::Result<void> {
        file << bytes;
        return {};
      }));
    }
    ReplayRequest request{.trace = path,
                          .synthetic = {},
                          .policy = PolicyKind::static_tiers,
                          .tiers = {"file", "low=2.25"},
                          .high_share = 0.5};
    const auto recorded = fovea::replay(request);
    FOVEA_VERIFY(recorded);
    request.synthetic = routing;
    const auto made_up = fovea::replay(request);
    FOVEA_VERIFY(made_up);
    QCOMPARE(recorded->tokens, 3000);
    QCOMPARE(recorded->passes, made_up->passes);
    QCOMPARE(recorded->tiers[0].bits_per_weight, 4.5);
    // Another text calibrates the made-up one, and nothing the recorded one, which says so.
    QCOMPARE(recorded->notes.size(), std::size_t{1});
    QVERIFY(made_up->notes.empty());
    const auto &there = recorded->rows[2], &here = made_up->rows[2];
    QCOMPARE(there.name, fovea::reference_hindsight);
    QVERIFY(std::abs(there.hit_rate[0] - here.hit_rate[0]) < 1e-3);
    QVERIFY(std::abs(there.loss - here.loss) < 1e-3);
  }

  void theBudgetBoundsTheExperts() {
    const SyntheticRouting routing{.layers = 4, .experts = 32, .used = 4, .tokens = 1000};
    ReplayRequest request{
        .trace = {}, .synthetic = routing, .tiers = {"q8", "q4"}, .budget_bytes = 480'000'000};
    const auto report = fovea::replay(request);
    FOVEA_VERIFY(report);
    QVERIFY(report->rows[0].bytes <= 480'000'000);
    QVERIFY(report->high_per_layer > 0 && report->high_per_layer < 32);
    request.budget_bytes = 1000;
    QCOMPARE(fovea::replay(request).error().kind, ErrorKind::memory);
  }

  // What the panel sees of a replay adds up to what the replay reports.
  void snapshotsAddUp() {
    const SyntheticRouting routing{.layers = 3, .experts = 16, .used = 2, .tokens = 2000, .phases = 4};
    ReplayRequest request{.trace = {}, .synthetic = routing, .tiers = {"q8", "q4"}, .high_share = 0.25};
    request.dynaexq.interval_tokens = 20;
    std::int64_t moments = 0, changes = 0;
    double last = -1;
    fovea::Snapshot end;
    std::vector<std::uint8_t> tiers;
    request.snapshots = [&](const fovea::Snapshot& s, double seconds) -> fovea::Result<void> {
      ++moments;
      if (last >= 0 && seconds - last < 0.0999) return fovea::fail(fovea::errors::stopped_on_request());
      last = seconds;
      std::int64_t uses = 0, hits = 0, units = 0, used = 0;
      for (const fovea::UnitState& unit : s.units) uses += unit.uses;
      for (const fovea::TierState& tier : s.tiers) hits += tier.hits, units += tier.units;
      for (const fovea::PoolState& pool : s.pools) used += pool.used * pool.block_bytes;
      if (uses != hits || uses != s.tokens * 3 * 2 || units != 48 || used != s.arena_used_bytes ||
          s.arena_used_bytes > s.arena_bytes)
        return fovea::fail(fovea::errors::no_memory());
      for (std::size_t unit = 0; unit < tiers.size(); ++unit) changes += tiers[unit] != s.units[unit].tier;
      tiers.clear();
      for (const fovea::UnitState& unit : s.units) tiers.push_back(unit.tier);
      end = s;
      return {};
    };
    const auto report = fovea::replay(request);
    FOVEA_VERIFY(report);
    QVERIFY(moments > 100);
    QVERIFY(changes > 0 && changes <= report->swaps.promotions + report->swaps.demotions);
    QVERIFY(end.decisions[0].unit >= 0);
    QCOMPARE(end.decisions[0].to, end.units[static_cast<std::size_t>(end.decisions[0].unit)].tier);
    QCOMPARE(end.tiers[0].name, std::string("q8"));
    // A sink that fails ends the replay with its error.
    request.snapshots = [](const fovea::Snapshot&, double) -> fovea::Result<void> {
      return fovea::fail(fovea::errors::not_a_regular_file());
    };
    QVERIFY(fovea::replay(request).error().is(fovea::errors::not_a_regular_file.code));
  }

  void wrongRequestsAreTypedErrors_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<int>("kind");
    const int invalid = int(ErrorKind::invalid);
    QTest::newRow("no room") << 0 << invalid;
    QTest::newRow("two rooms") << 1 << invalid;
    QTest::newRow("unknown tier") << 2 << invalid;
    QTest::newRow("tiers upside down") << 3 << invalid;
    QTest::newRow("bits") << 4 << invalid;
    QTest::newRow("bandwidth") << 5 << invalid;
    QTest::newRow("no trace") << 6 << int(ErrorKind::not_found);
    QTest::newRow("policy") << 7 << int(ErrorKind::unsupported);
    QTest::newRow("three tiers") << 8 << invalid;
    QTest::newRow("prompt's passes") << 9 << invalid;
  }
  void wrongRequestsAreTypedErrors() {
    QFETCH(int, which);
    QFETCH(int, kind);
    ReplayRequest request{.trace = {},
                          .synthetic = SyntheticRouting{.layers = 1, .experts = 16, .tokens = 10},
                          .tiers = {"q8", "q4"},
                          .high_share = 0.5};
    FOVEA_VERIFY(fovea::replay(request));
    if (which == 0) request.high_share = 0;
    if (which == 1) request.budget_bytes = 1;
    if (which == 2) request.tiers = {"q9", "q4"};
    if (which == 3) request.tiers = {"q4", "q8"};
    if (which == 4) request.tiers = {"q8", "q2=x"};
    if (which == 5) request.clock.read_gb_per_s = 0;
    if (which == 6) {
      request.synthetic.reset();
      request.trace = "/nonexistent.trace";
    }
    if (which == 7) request.policy = PolicyKind::automatic;
    if (which == 8) request.tiers = {"q8", "q4", "q2=2.25"};
    if (which == 9) request.prompt_pass_tokens = -1;
    const auto report = fovea::replay(request);
    QVERIFY(!report);
    QCOMPARE(int(report.error().kind), kind);
  }
};
FOVEA_TEST(ReplayTest)

#include "replay_test.moc"
