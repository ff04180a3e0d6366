// The invariants under random schedules with faults at every stage, and each checker shown to see the error
// that it is there for.
#include <algorithm>
#include <functional>
#include <random>
#include <thread>

#include "engine/precision/residency_state.h"
#include "tests/support/test.h"

#include "swap_world.h"

using namespace fovea;
using namespace fovea::tests;
using precision::Residency;
using precision::SwapOutcome;

namespace fovea::precision {

// Every part of the residency, open.
struct ResidencyBooks {
  explicit ResidencyBooks(Residency& residency)
      : versions(*residency.state_->versions),
        handles(residency.state_->handles.handles_),
        bits(residency.state_->handles.bits_),
        parameters(residency.state_->handles.parameters_),
        tiers(versions.tiers_),
        targets(versions.targets_),
        blocks(versions.blocks_),
        in_flight(versions.in_flight_),
        retired_count(versions.retired_count_),
        arena(versions.arena_),
        queue(*residency.state_->queue),
        cache(*residency.state_->cache) {}
  void wait_again(const Decision& decision) { queue.waiting_.push_back({.decision = decision}); }
  void free_first_slot() { queue.slots_[0]->stage = SwapQueue::Slot::Stage::free; }
  void set_on_disk(UnitId unit) { cache.set_on_disk(unit, true); }
  void count_on_disk() { ++cache.on_disk_count_; }
  void hold(UnitId unit) { cache.hold(unit); }

  VersionTable& versions;
  Handles& handles;
  std::int64_t &bits, &parameters;
  std::vector<TierId>&tiers, &targets;
  std::vector<Block>& blocks;
  std::vector<std::uint8_t>& in_flight;
  std::int64_t& retired_count;
  Arena& arena;
  SwapQueue& queue;
  OnDemandCache& cache;
};

}  // namespace fovea::precision

using Plant = std::function<void(precision::ResidencyBooks&)>;
Q_DECLARE_METATYPE(Plant)

namespace {

// A sanitizer makes everything many times slower.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int usual_schedules = 100;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr int usual_schedules = 100;
#else
constexpr int usual_schedules = 500;
#endif
#else
constexpr int usual_schedules = 500;
#endif

struct Schedule {
  WorldOptions options;
  int steps = 60;
  std::size_t lag = 0;
};

Schedule random_schedule(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned bound) { return static_cast<int>(random() % bound); };
  Schedule schedule;
  WorldOptions& world = schedule.options;
  world.seed = seed;
  world.host_memory = below(2) == 0;
  world.lagging_passes = below(3) == 0;
  schedule.lag = static_cast<std::size_t>(below(4));
  const bool disk = below(4) == 0;
  world.first.assign(SwapWorld::units, SwapWorld::lowest);
  if (disk) {
    for (TierId& tier : world.first) tier = below(2) == 0 ? no_tier : SwapWorld::lowest;
  }
  if (below(3) == 0) {
    for (TierId& tier : world.first) {
      world.on_host.push_back(below(3) == 0);
      if (world.on_host.back()) tier = no_tier;
    }
  }
  world.slabs = 3 + below(12);  // three hold every unit at the lowest tier and nothing else
  if (below(2) == 0) {
    world.faults = {
        .io_error = below(30), .checksum_error = below(30), .slow = below(20), .holds = below(100)};
  } else if (below(4) == 0) {
    world.faults = {.io_error = 100};
  }
  world.settings.swaps.in_flight = 1 + below(6);
  world.settings.swaps.queue = 1 + below(12);
  if (below(3) == 0) world.settings.swaps.transfer_bytes = (1 + below(3)) * SwapWorld::slab_bytes;
  if (below(4) == 0) world.settings.swaps.publish_after_passes = below(4);
  if (below(3) == 0) world.settings.on_demand_blocks = 1 + below(4);
  world.any_mix = below(2) == 0;
  return schedule;
}

// One random step. What it may do never depends on the pipeline's timing, what comes of it does.
void step(SwapWorld& world, std::mt19937& random, std::size_t lag) {
  Residency& residency = world.residency();
  const auto unit = [&] { return static_cast<UnitId>(random() % SwapWorld::units); };
  const auto tier = [&] { return static_cast<TierId>(random() % (SwapWorld::lowest + 1)); };
  switch (random() % 12) {
    case 0:
    case 1: {  // a promotion and the demotion behind it
      const bool promoted = world.request(unit(), 0);
      world.story.accepted += promoted;
      world.story.accepted += world.request(unit(), SwapWorld::lowest);
      break;
    }
    case 2:
    case 3:
      world.story.accepted += world.request(unit(), tier());
      break;
    case 4:
      if (random() % 8 == 0) world.story.accepted += world.request(unit(), no_tier);
      if (random() % 8 == 0) residency.cancel_all();
      if (random() % 8 == 0) residency.drain();
      break;
    case 5: {
      std::vector<UnitId> wanted;
      for (int i = 0; i < 3; ++i) wanted.push_back(unit());
      static_cast<void>(world.need(wanted));  // refused or failed: counted
      break;
    }
    case 6:
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 50));
      break;
    default:
      world.pass(lag);
      residency.end_pass();
      break;
  }
}

// What is wrong at the end or on the way, with the seed; empty when all was well.
std::string run(const Schedule& schedule, bool drain_at_end = true) {
  SwapWorld world(schedule.options);
  const auto said = [&](const std::string& what, int at) {
    return "seed " + std::to_string(schedule.options.seed) + ", step " + std::to_string(at) + ": " + what;
  };
  if (const auto opened = world.open(); !opened) {
    // Three slabs hold every unit but not always in every mix of sizes.
    return opened.error().kind == ErrorKind::memory ? "" : said(opened.error().message(), -1);
  }
  std::mt19937 random(schedule.options.seed);
  for (int at = 0; at < schedule.steps; ++at) {
    step(world, random, schedule.lag);
    if (const std::string complaint = world.complaint(); !complaint.empty()) return said(complaint, at);
  }
  if (!drain_at_end) return {};  // destroyed with whatever is in flight
  world.residency().drain();
  for (std::size_t i = 0; i < 4; ++i) {
    world.pass();
    world.residency().end_pass();
  }
  if (const std::string complaint = world.complaint(); !complaint.empty())
    return said(complaint, schedule.steps);
  const auto queues = world.residency().queues();
  if (queues.sum() != 0) return said("something is in flight after drain()", -1);
  const std::span<const TierId> tiers = world.residency().tiers();
  if (!std::ranges::equal(tiers, world.residency().tiers_or_target()))
    return said("something still arrives after drain()", -1);
  world.close();
  if (world.device().allocated() != 0 || world.device().host_allocated() != 0)
    return said("memory leaks", -1);
  return {};
}

// A schedule without faults that swaps a lot, for planted errors.
Schedule busy(unsigned seed) {
  Schedule schedule = random_schedule(seed);
  schedule.options.first.assign(SwapWorld::units, SwapWorld::lowest);
  schedule.options.on_host.clear();
  schedule.options.slabs = 12;
  schedule.options.faults = {};
  schedule.options.settings = {};
  schedule.options.host_memory = true;
  schedule.options.lagging_passes = false;
  schedule.lag = 0;
  return schedule;
}

// Whether some of a few schedules complain.
bool some_complain(const std::function<void(Schedule&)>& plant) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Schedule schedule = busy(seed);
    plant(schedule);
    if (!run(schedule).empty()) return true;
  }
  return false;
}

}  // namespace

class SwapScheduleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everySchedule() {
    const int count = rounds(usual_schedules);
    for (int round = 0; round < count; ++round) {
      const unsigned seed = tests::seed() * 1'000'003U + static_cast<unsigned>(round);
      const std::string complaint = run(random_schedule(seed), round % 4 != 0);
      QVERIFY2(complaint.empty(), (complaint + " (again: FOVEA_TEST_SEED=" + std::to_string(tests::seed()) +
                                   " test_engine_precision SwapScheduleTest everySchedule)")
                                      .c_str());
    }
  }

  // The same requests at the same passes give the same versions after each pass, whatever the threads do.
  void deterministicSchedulesRepeat() {
    for (int round = 0; round < rounds(60); ++round) {
      const unsigned seed = tests::seed() * 7919U + static_cast<unsigned>(round);
      std::vector<std::vector<TierId>> histories;
      for (const int slow : {0, 40}) {
        Schedule schedule = random_schedule(seed);
        schedule.options.first.assign(SwapWorld::units, SwapWorld::lowest);
        schedule.options.on_host.clear();
        schedule.options.slabs = std::max<std::int64_t>(schedule.options.slabs, 4);
        schedule.options.faults = {.slow = slow};
        schedule.options.lagging_passes = false;
        schedule.options.settings.swaps.publish_after_passes = round % 4;
        SwapWorld world(schedule.options);
        FOVEA_VERIFY(world.open());
        std::mt19937 random(seed);
        std::vector<TierId> history;
        for (int at = 0; at < 40; ++at) {
          for (int i = 0; i < 2; ++i) {
            const auto unit = static_cast<UnitId>(random() % SwapWorld::units);
            world.request(unit, static_cast<TierId>(random() % 3));
          }
          world.pass();
          world.residency().end_pass();
          const auto tiers = world.residency().tiers();
          history.insert(history.end(), tiers.begin(), tiers.end());
        }
        histories.push_back(std::move(history));
      }
      QVERIFY2(histories[0] == histories[1], ("seed " + std::to_string(seed)).c_str());
    }
  }

  // Every stage that dies leaves what was published in service.
  void aDeadStageLeavesAServableState_data() {
    QTest::addColumn<bool>("host_memory");
    QTest::newRow("memory of the host") << true;
    QTest::newRow("memory of its own") << false;
  }
  void aDeadStageLeavesAServableState() {
    QFETCH(bool, host_memory);
    for (unsigned seed = 1; seed <= static_cast<unsigned>(rounds(40)); ++seed) {
      Schedule schedule = busy(seed);
      schedule.options.host_memory = host_memory;
      SwapWorld world(schedule.options);
      FOVEA_VERIFY(world.open());
      std::mt19937 random(seed);
      for (int at = 0; at < 20; ++at) step(world, random, 0);
      world.source().set_faults({.io_error = 100, .slow = 20});
      for (int at = 0; at < 20; ++at) step(world, random, 0);
      world.residency().drain();
      const std::vector<TierId> before(world.residency().tiers().begin(), world.residency().tiers().end());
      for (UnitId unit = 0; unit < SwapWorld::units; ++unit) world.request(unit, 1);
      for (int pass = 0; pass < 10; ++pass) {
        world.pass();
        world.residency().end_pass();
      }
      world.residency().drain();
      world.pass();
      QVERIFY(std::ranges::equal(before, world.residency().tiers()));
      const std::string complaint = world.complaint();
      QVERIFY2(complaint.empty(), ("seed " + std::to_string(seed) + ": " + complaint).c_str());
    }
  }

  void trafficKeepsItsLimit_data() {
    QTest::addColumn<bool>("host_memory");
    QTest::newRow("memory of the host") << true;
    QTest::newRow("memory of its own") << false;
  }
  void trafficKeepsItsLimit() {
    QFETCH(bool, host_memory);
    for (unsigned seed = 1; seed <= static_cast<unsigned>(rounds(40)); ++seed) {
      const double rate = 1000.0 * static_cast<double>(1 + seed % 7);
      const auto movements = moved(seed, host_memory, rate);
      QVERIFY2(movements.size() > 10, std::to_string(movements.size()).c_str());
      // The uploader's waiting moves the clock for the reader too: each may note one movement late.
      const std::string wrong = overfull_window(movements, rate, host_memory ? largest : 3 * largest);
      QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
    }
    QVERIFY2(!overfull_window(moved(1, host_memory, 0), 1000.0, 3 * largest).empty(),
             "a pipeline without a limit is not seen");
  }

  void anotherUnitsBytesAreSeen() {
    QVERIFY(!some_complain([](Schedule&) {}));
    QVERIFY(some_complain([](Schedule& schedule) { schedule.options.faults.wrong_unit = true; }));
  }

  void aBlockThatIsReclaimedTooEarlyIsSeen() {
    const auto lag = [](Schedule& schedule) {
      schedule.options.lagging_passes = true;
      schedule.lag = 2;
    };
    QVERIFY(!some_complain(lag));
    QVERIFY(some_complain([&](Schedule& schedule) {
      lag(schedule);
      schedule.options.faults.early_events = true;
    }));
  }

  void aVersionThatIsPublishedBeforeItIsCopiedIsSeen() {
    const auto own = [](Schedule& schedule) { schedule.options.host_memory = false; };
    QVERIFY(!some_complain(own));
    QVERIFY(some_complain([&](Schedule& schedule) {
      own(schedule);
      schedule.options.faults.early_copies = true;
    }));
  }

  void theAuditSeesPlantedErrors_data() {
    QTest::addColumn<Plant>("plant");
    QTest::newRow("a handle at another block") << Plant([](auto& b) { b.handles[0][1]->data += 64; });
    QTest::newRow("a handle of another type")
        << Plant([](auto& b) { b.handles[0][1]->type = kernels::Type::f32; });
    QTest::newRow("a tier that the block is not") << Plant([](auto& b) { b.tiers[0] = 0; });
    QTest::newRow("no such tier") << Plant([](auto& b) { b.tiers[0] = 3; });
    QTest::newRow("a unit without a version") << Plant([](auto& b) { b.versions.take_away(0); });
    QTest::newRow("a unit without a block") << Plant([](auto& b) { b.blocks[0] = {}; });
    QTest::newRow("a block with two owners") << Plant([](auto& b) { b.versions.publish(0, 2, b.blocks[1]); });
    QTest::newRow("a leaked block") << Plant([](auto& b) { static_cast<void>(b.arena.allocate(4096)); });
    QTest::newRow("a released block") << Plant([](auto& b) { b.arena.release(b.blocks[0]); });
    QTest::newRow("retired blocks") << Plant([](auto& b) { ++b.retired_count; });
    QTest::newRow("the bits") << Plant([](auto& b) { ++b.bits; });
    QTest::newRow("the weights") << Plant([](auto& b) { --b.parameters; });
    QTest::newRow("in flight nowhere") << Plant([](auto& b) { b.in_flight[4] = 1; });
    QTest::newRow("in flight, not marked") << Plant([](auto& b) { b.in_flight[3] = 0; });
    QTest::newRow("in flight twice") << Plant([](auto& b) { b.wait_again({.unit = 3, .target = 0}); });
    QTest::newRow("goes elsewhere") << Plant([](auto& b) { b.targets[3] = 1; });
    QTest::newRow("goes where no swap takes it") << Plant([](auto& b) { b.targets[4] = 1; });
    QTest::newRow("a slot without its block") << Plant([](auto& b) { b.free_first_slot(); });
    QTest::newRow("on disk and in memory") << Plant([](auto& b) { b.set_on_disk(0); });
    QTest::newRow("units on disk") << Plant([](auto& b) { b.count_on_disk(); });
    QTest::newRow("held and not from the disk") << Plant([](auto& b) { b.hold(0); });
  }
  void theAuditSeesPlantedErrors() {
    QFETCH(Plant, plant);
    // Deterministic, so that unit 3's swap stays in flight.
    SwapWorld world({.settings = {.swaps = {.publish_after_passes = 1000}}});
    FOVEA_VERIFY(world.open());
    QVERIFY(world.request(3, 0));
    FOVEA_VERIFY(world.residency().audit());
    precision::ResidencyBooks books(world.residency());
    plant(books);
    const auto audit = world.residency().audit();
    QVERIFY(!audit);
    QCOMPARE(audit.error().kind, ErrorKind::internal);
  }

 private:
  static constexpr std::int64_t largest = SwapWorld::slab_bytes;

  // What a storm of swaps reads and copies under a limit, on a clock that only waiting moves.
  static std::vector<Movement> moved(unsigned seed, bool host_memory, double rate) {
    TestClock clock;
    WorldOptions options{.seed = seed, .host_memory = host_memory, .slabs = 30};
    options.settings.clock = &clock;
    options.settings.bytes_per_second = rate;
    SwapWorld world(options);
    if (!world.open()) return {};
    world.source().forget_movements();
    std::mt19937 random(seed);
    for (int at = 0; at < 20; ++at) {
      for (int i = 0; i < 4; ++i)
        world.request(static_cast<UnitId>(random() % SwapWorld::units), static_cast<TierId>(random() % 3));
      world.pass();
      if (at % 4 == 0) world.residency().drain();
      world.residency().end_pass();
    }
    world.residency().drain();
    return world.source().movements();
  }
};
FOVEA_TEST(SwapScheduleTest)

#include "swap_schedule_test.moc"
