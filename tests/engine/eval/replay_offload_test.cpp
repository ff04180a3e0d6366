// Replays of the policy offload: what misses, and how long it waits.
#include <cmath>

#include "engine/eval/replay.h"
#include "engine/eval/replay_residency.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::eval;

namespace {

// 8 experts of a layer, 64 layers' worth of bytes each: 4,718,592 weights at 4.5 bits.
constexpr std::int64_t version_bytes = 4'718'592 * 9 / 16 / 4096 * 4096;

ReplayRequest request_of(OffloadSettings offload, std::int64_t budget = 0) {
  return {.trace = {},
          .synthetic = SyntheticRouting{.layers = 4,
                                        .experts = 8,
                                        .used = 2,
                                        .skew = SyntheticRouting::Skew::uniform,
                                        .tokens = 500,
                                        .phases = 1},
          .policy = PolicyKind::offload,
          .offload = std::move(offload),
          .budget_bytes = budget};
}

bool is_near(double a, double b) {
  return std::abs(a - b) < 1e-9 * (1 + std::abs(b));
}

constexpr std::int64_t expert_bytes = 4'001'792;

// Experts of one size that are on disk alone, with room for so many and one spare block.
struct AllOnDisk {
  AllOnDisk(std::vector<std::int32_t> first_unit, std::int64_t room)
      : world{.first_unit = std::move(first_unit),
              .bits_per_weight = {4},
              .unit_bytes = {},
              .damage = {},
              .capacity = {0},
              .uses = {}} {
    const auto units = static_cast<std::size_t>(world.units());
    world.unit_bytes.assign(units, expert_bytes);
    settings = {.clock = {.read_gb_per_s = 1, .read_latency_ms = 0.5, .upload_gb_per_s = 2},
                .arena = {.slab_bytes = expert_bytes, .slabs = room + 1, .block_bytes = {expert_bytes}},
                .on_demand_blocks = room};
    made = ReplayResidency::create(world, settings, std::vector<std::uint8_t>(units, no_tier));
  }
  precision::PolicyWorld world;
  ReplaySettings settings;
  Result<std::unique_ptr<ReplayResidency>> made;
};

}  // namespace

class ReplayOffloadTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // One layer of four experts, all on disk alone.
  void whatWasBroughtStaysWhileThereIsRoom() {
    const AllOnDisk disk({0, 4}, 2);
    FOVEA_VERIFY(disk.made);
    ReplayResidency& residency = **disk.made;
    // Seconds that a layer waits that needs these.
    const auto wait = [&](std::vector<precision::UnitId> units) {
      const double before = residency.now();
      return residency.cache().need(units) ? residency.now() - before : -1;
    };
    const double read = 0.0005 + 1e-9 * double(expert_bytes), upload = 0.5e-9 * double(expert_bytes);
    QVERIFY(is_near(wait({0}), read + upload));
    QVERIFY(is_near(wait({1}), read + upload));
    QCOMPARE(wait({0}), 0.0);
    QVERIFY(is_near(wait({2}), read + upload));  // in the block of 1, which was needed once
    QVERIFY(is_near(wait({0, 1}), read + upload));
    QCOMPARE(residency.counters().stalls, 4);
    // What the layer itself needs is not taken away for another one that it needs.
    QVERIFY(is_near(wait({3, 0}), read + upload));
    QCOMPARE(residency.counters().stalls, 5);
    // Two together: one is read while the other is copied.
    QVERIFY(is_near(wait({1, 2}), 2 * read + upload));
    QVERIFY(is_near(residency.counters().stall_seconds, 7 * read + 6 * upload));
    QVERIFY(is_near(residency.busy_seconds(), 7 * read));
    QCOMPARE(residency.held_bits(), 0.0);
    FOVEA_VERIFY(residency.cache().need(std::vector<precision::UnitId>{0, 1, 2}));  // the spare block
    const auto too_many = residency.cache().need(std::vector<precision::UnitId>{0, 1, 2, 3});
    QVERIFY(!too_many);
    QCOMPARE(too_many.error().kind, ErrorKind::memory);
  }

  // Who is needed in every other pass stays when others come by once; who is needed no more goes in the end.
  void whatIsNeededOftenStays() {
    const AllOnDisk disk({0, 8}, 2);
    FOVEA_VERIFY(disk.made);
    ReplayResidency& residency = **disk.made;
    const auto stalls = [&](precision::UnitId unit) {
      const std::int64_t before = residency.counters().stalls;
      return residency.cache().need(std::vector{unit}) ? residency.counters().stalls - before : -1;
    };
    for (int i = 0; i < 100; ++i) QCOMPARE(stalls(0), i == 0);
    for (const precision::UnitId passing : {1, 2, 3, 4, 5, 6}) QCOMPARE(stalls(passing), 1);
    QCOMPARE(stalls(0), 0);  // needed least lately of all
    for (int i = 0; i < 400; ++i) (void)stalls(1 + i % 2);
    QCOMPARE(stalls(0), 1);
  }

  // A prompt needs all experts of each layer in their order, and memory has room for half of them. Who was
  // needed last comes last again, so that half of them stay; the least recently used would be gone each time.
  void aPromptDoesNotPutEverythingOut() {
    const AllOnDisk disk({0, 2, 4, 6, 8}, 4);
    FOVEA_VERIFY(disk.made);
    ReplayResidency& residency = **disk.made;
    constexpr int passes = 40;
    for (int pass = 0; pass < passes; ++pass)
      for (precision::UnitId first = 0; first < 8; first += 2)
        FOVEA_VERIFY(residency.cache().need(std::vector<precision::UnitId>{first, first + 1}));
    // The layer that runs has room in any case: of the other three, two miss at most.
    QVERIFY2(residency.counters().stalls <= 6 * passes,
             qPrintable(QString::number(residency.counters().stalls)));
    QVERIFY(residency.counters().stalls >= 4 * passes);  // half do not fit
  }

  // Every expert of two of four layers: half of all uses, and each miss reads one version.
  void theFirstLayersAreAway() {
    ReplayRequest request = request_of({.cpu_moe_layers = 2, .override_tensors = {}});
    request.clock = {.read_gb_per_s = 2, .read_latency_ms = 1};
    const auto report = replay(request);
    FOVEA_VERIFY(report);
    const ReplayRow& row = report->rows.front();
    QCOMPARE(row.name, "offload");
    QCOMPARE(report->tiers.size(), std::size_t{1});
    QCOMPARE(report->cpu_moe_layers, 2);
    QCOMPARE(row.bytes, std::int64_t{2 * 8} * report->rows.back().bytes / 32);
    QCOMPARE(report->visits, 500 * 2 * 2);
    QVERIFY(report->swaps.stalls > 0 && report->swaps.stalls <= report->visits);
    QVERIFY(is_near(row.absent_share, 0.5 * double(report->swaps.stalls) / double(report->visits)));
    const double seconds = double(report->swaps.stalls) * (0.001 + double(version_bytes) / 2e9);
    QVERIFY2(std::abs(report->swaps.stall_seconds - seconds) < 0.01 * seconds,
             qPrintable(QString("%1, expected %2").arg(report->swaps.stall_seconds).arg(seconds)));
    QVERIFY(is_near(report->simulated_seconds, 500 / 20.0 + report->swaps.stall_seconds));
    QCOMPARE(row.loss, 0.0);  // what is away is read as it is
  }

  void patternsAndTheLastLayers() {
    const auto by_pattern = replay(request_of({.override_tensors = {"blk\\.[12]\\.ffn_.*=CPU"}}));
    FOVEA_VERIFY(by_pattern);
    QCOMPARE(by_pattern->visits, 500 * 2 * 2);
    const auto last =
        replay(request_of({.override_tensors = {}, .gpu_layers = 2}));  // the output and one layer
    FOVEA_VERIFY(last);
    QCOMPARE(last->visits, 500 * 3 * 2);
    QVERIFY(!last->notes.empty());
  }

  // All layers share the budget: no more is read, but for chance, than with any number of layers that stays
  // in memory; these are read before the first token, which is not counted.
  void autoFitsTheBudget() {
    const auto whole = replay(request_of({.cpu_moe_layers = 4, .override_tensors = {}}));
    FOVEA_VERIFY(whole);
    const std::int64_t all = whole->rows.back().bytes;
    for (const double share : {0.35, 0.6, 0.85, 1.2}) {
      const auto budget = static_cast<std::int64_t>(share * double(all));
      const auto report = replay(request_of({.cpu_moe_layers = -1, .override_tensors = {}}, budget));
      FOVEA_VERIFY(report);
      QVERIFY(report->rows.front().bytes <= budget);
      QCOMPARE(report->cpu_moe_layers, share < 1 ? 4 : 0);
      for (int layers = 0; layers < 4; ++layers) {
        const auto fixed = replay(request_of({.cpu_moe_layers = layers, .override_tensors = {}}, budget));
        if (fixed)
          QVERIFY2(double(report->swaps.stalls) <= 1.05 * double(fixed->swaps.stalls) + 8 * (4 - layers),
                   qPrintable(QString("%1, %2").arg(report->swaps.stalls).arg(fixed->swaps.stalls)));
      }
    }
  }

  void nothingSaidIsRefused() {
    QCOMPARE(replay(request_of({})).error().kind, ErrorKind::invalid);
    QCOMPARE(replay(request_of({.cpu_moe_layers = -1, .override_tensors = {}})).error().kind,
             ErrorKind::invalid);
  }
};
FOVEA_TEST(ReplayOffloadTest)

#include "replay_offload_test.moc"
