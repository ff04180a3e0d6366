// Versions that stay in main memory: the source's bytes, read once while they are there, in pinned memory; a
// bound that is kept; what was used last stays, and what somebody holds; what somebody waits for goes past
// it.
#include "engine/precision/version_cache.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <thread>

#include "engine/checkpoint/errors.h"
#include "engine/core/result.h"
#include "kernels/cpu/device.h"
#include "swap_world.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::tests;
using precision::TierId;
using precision::UnitId;
using precision::VersionCache;

namespace {

constexpr std::int64_t page = 4096, tiers = 2;

// Says whose version it is, and counts how often it was read.
class Source final : public precision::VersionSource {
 public:
  std::map<std::pair<UnitId, TierId>, int> reads;
  bool fails = false;
  Result<void> read(UnitId unit, TierId tier, std::span<std::byte> memory,
                    const checkpoint::Pace& pace) override {
    if (pace && !pace(std::ssize(memory)))
      return fail(phrases::store_read_place(), errors::store_read_given_up());
    const std::scoped_lock lock(mutex_);
    ++reads[{unit, tier}];
    if (fails) return fail(phrases::store_read_place(), errors::store_unit_checksum(unit, "q4"));
    std::ranges::fill(memory, std::byte(unit * tiers + tier + 1));
    return {};
  }

 private:
  std::mutex mutex_;
};

// Pins so many bytes at most, and knows which.
class Pinning final : public LaggingDevice {
 public:
  Pinning() : LaggingDevice(false, {}) {}
  mutable std::map<const std::byte*, std::int64_t> pinned;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool pin(std::byte* memory, std::int64_t bytes) const override {
    if (bytes > most - sum()) return false;
    pinned[memory] = bytes;
    return true;
  }
  void unpin(std::byte* memory) const override { QCOMPARE(pinned.erase(memory), std::size_t{1}); }
  std::int64_t sum() const {
    std::int64_t all = 0;
    for (const auto& [memory, bytes] : pinned) all += bytes;
    return all;
  }
  bool is_pinned(const std::byte* memory, std::int64_t bytes) const {
    const auto after = pinned.upper_bound(memory);
    if (after == pinned.begin()) return false;
    const auto& [start, size] = *std::prev(after);
    return memory + bytes <= start + size;
  }
};

class Bench {
 public:
  // Units whose versions take 2 pages, and 1.
  Bench(std::int64_t units, std::int64_t bytes,
        std::int64_t pinned = std::numeric_limits<std::int64_t>::max()) {
    device.most = pinned;
    for (std::int64_t unit = 0; unit < units; ++unit) sizes_.insert(sizes_.end(), {2 * page, page});
    auto own = std::make_unique<Source>();
    source = own.get();
    auto made = VersionCache::create(*kernels::cpu::default_device(), device, bytes, tiers, sizes_);
    if (!made) qFatal("%s", made.error().message().c_str());
    cache = *std::move(made);
    cache->read_from(std::move(own));
  }
  ~Bench() {
    cache.reset();
    if (!device.pinned.empty()) qFatal("something stays pinned");
  }
  precision::HeldVersion hold(UnitId unit, TierId tier) {
    auto held = cache->hold(unit, tier, [this](std::int64_t size) {
      paced += size;
      return true;
    });
    return held ? *std::move(held) : nullptr;
  }
  // As a swap does; whether the bytes are the version's, and pinned.
  bool read(UnitId unit, TierId tier) { return holds(hold(unit, tier), unit, tier); }
  bool holds(const precision::HeldVersion& held, UnitId unit, TierId tier) const {
    const std::int64_t bytes = tier == 0 ? 2 * page : page;
    return held && device.is_pinned(held.get(), bytes) &&
           std::count(held.get(), held.get() + bytes, std::byte(unit * tiers + tier + 1)) == bytes;
  }
  int reads(UnitId unit, TierId tier) { return source->reads[{unit, tier}]; }

  Pinning device;
  Source* source = nullptr;
  std::unique_ptr<VersionCache> cache;
  std::atomic<std::int64_t> paced = 0;

 private:
  std::vector<std::int64_t> sizes_;
};

}  // namespace

class VersionCacheTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatWasReadIsFound() {
    Bench bench(4, 16 * page);
    QVERIFY(bench.read(1, 0) && bench.read(1, 1) && bench.read(1, 0) && bench.read(1, 1));
    QCOMPARE(bench.reads(1, 0) + bench.reads(1, 1), 2);
    QCOMPARE(bench.paced, 3 * page);  // what is found takes nothing of the traffic
    const VersionCache::Use use = bench.cache->use();
    QCOMPARE(use.held_bytes, 3 * page);
    QCOMPARE(use.bytes_found, 3 * page);
  }

  // Two of the larger ones fit.
  void whatWasUsedLastStays() {
    Bench bench(4, 4 * page);
    QVERIFY(bench.read(0, 0) && bench.read(1, 0) && bench.read(0, 0) && bench.read(2, 0));
    QVERIFY(bench.read(0, 0));
    QCOMPARE(bench.reads(0, 0), 1);
    QVERIFY(bench.read(1, 0));
    QCOMPARE(bench.reads(1, 0), 2);
  }

  // A size that comes late gets room that others have not used for long, a slab at a time, and they get it
  // back.
  void sizesFollowTheUse() {
    Bench bench(64, 64 * page);
    const auto used = [&](TierId tier) {
      for (int round = 0; round < 3; ++round)
        for (UnitId unit = 0; unit < 24; ++unit) QVERIFY(bench.read(unit, tier));
    };
    const auto kept = [&](TierId tier) {
      int count = 0;
      for (UnitId unit = 0; unit < 24; ++unit) count += bench.reads(unit, tier) == 1 ? 1 : 0;
      return count;
    };
    used(0);
    QCOMPARE(kept(0), 24);
    for (int i = 0; i < 3; ++i) used(1);
    QCOMPARE(kept(1), 24);
    const std::int64_t held = bench.cache->use().held_bytes;
    QVERIFY2(held >= 48 * page, std::to_string(held / page).c_str());
  }

  // As the first filling does: it comes from the source and stays nowhere.
  void whatSomebodyWaitsForGoesPastIt() {
    Bench bench(4, 16 * page);
    std::vector<std::byte> memory(static_cast<std::size_t>(2 * page));
    for (int round = 0; round < 2; ++round) QVERIFY(bench.cache->read(0, 0, memory, {}));
    QCOMPARE(memory[0], std::byte(1));
    QCOMPARE(bench.reads(0, 0), 2);
    QCOMPARE(bench.cache->use().held_bytes, 0);
    QCOMPARE(bench.device.sum(), 0);
  }

  void aSwapThatIsGivenUpIsSo() {
    Bench bench(4, 16 * page);
    const auto gives_up = [](std::int64_t) { return false; };
    QVERIFY(!bench.cache->hold(0, 0, gives_up));
    QCOMPARE(bench.cache->use().held_bytes, 0);
    QVERIFY(bench.read(0, 0));
    const auto given_up = bench.cache->hold(0, 0, gives_up);
    QVERIFY(!given_up);
    QCOMPARE(given_up.error().kind, ErrorKind::cancelled);
    QVERIFY(bench.read(0, 0));
    QCOMPARE(bench.reads(0, 0), 1);
  }

  void whatCannotBeReadIsNotKept() {
    Bench bench(4, 16 * page);
    bench.source->fails = true;
    QVERIFY(!bench.read(0, 0));
    bench.source->fails = false;
    QVERIFY(bench.read(0, 0));
    QCOMPARE(bench.reads(0, 0), 2);
  }

  // Until the last one lets go, whatever else wants its place.
  void whatIsHeldStays() {
    Bench bench(40, 6 * page);
    const precision::HeldVersion first = bench.hold(0, 0), second = bench.hold(1, 1);
    for (int round = 0; round < 3; ++round) {
      for (UnitId unit = 2; unit < 40; ++unit) {
        bench.read(unit, static_cast<TierId>(unit % 2));  // where there is room beside them
        QVERIFY(bench.holds(first, 0, 0) && bench.holds(second, 1, 1));
      }
    }
    QVERIFY(bench.cache->use().held_bytes <= 6 * page);
    QCOMPARE(bench.reads(0, 0) + bench.reads(1, 1), 2);
    precision::HeldVersion third = bench.hold(0, 0), fourth = third;
    third.reset();
    QVERIFY(bench.holds(fourth, 0, 0));
  }

  // All of it is held: nothing is read, and the swap goes by way of the transient buffer.
  void whereAllIsHeldThereIsNoRoom() {
    Bench bench(8, 4 * page);
    const precision::HeldVersion first = bench.hold(0, 0), second = bench.hold(1, 0);
    QVERIFY(first && second);
    QVERIFY(!bench.hold(2, 0));
    QCOMPARE(bench.reads(2, 0), 0);
    QVERIFY(bench.holds(first, 0, 0) && bench.holds(second, 1, 0));
  }

  void whatCannotBePinnedIsNotUsed_data() {
    QTest::addColumn<int>("pages");
    for (const int pages : {0, 6, 20, 30}) QTest::addRow("%d pages", pages) << pages;
  }
  void whatCannotBePinnedIsNotUsed() {
    QFETCH(int, pages);
    Bench bench(40, 60 * page, pages * page);
    std::mt19937 random(seed());
    int held = 0;
    for (int i = 0; i < 2000; ++i) {
      const auto unit = static_cast<UnitId>(random() % 40);
      const auto tier = static_cast<TierId>(random() % tiers);
      const precision::HeldVersion version = bench.hold(unit, tier);
      if (!version) continue;
      ++held;
      QVERIFY(bench.holds(version, unit, tier));
    }
    QVERIFY(bench.device.sum() <= pages * page);
    QCOMPARE(held > 0, bench.device.sum() > 0);
    QCOMPARE(bench.device.sum() > 0, pages > 0);
    if (pages == 0) return;
    // What is pinned goes on changing hands, and both sizes get their part of it.
    for (const TierId tier : {TierId{0}, TierId{1}, TierId{0}}) {
      for (int round = 0; round < 40; ++round) QVERIFY(bench.read(round % 2, tier) || round < 20);
      const int before = bench.reads(1, tier);
      QVERIFY(bench.read(1, tier));
      QCOMPARE(bench.reads(1, tier), before);
    }
  }

  // Too small for the largest: smaller ones stay.
  void aSmallBoundIsKept_data() {
    QTest::addColumn<int>("pages");
    for (const int pages : {0, 1, 2, 3, 5, 17, 64}) QTest::addRow("%d pages", pages) << pages;
  }
  void aSmallBoundIsKept() {
    QFETCH(int, pages);
    Bench bench(40, pages * page);
    std::mt19937 random(seed());
    for (int i = 0; i < 2000; ++i) {
      const auto unit = static_cast<UnitId>(random() % 40);
      const auto tier = static_cast<TierId>(random() % tiers);
      const precision::HeldVersion held = bench.hold(unit, tier);
      QVERIFY(!held || bench.holds(held, unit, tier));
      QVERIFY(bench.cache->use().held_bytes <= pages * page);
    }
    const VersionCache::Use use = bench.cache->use();
    QCOMPARE(use.bytes_found > 0, pages >= 2);
  }

  void severalMayReadAtOnce() {
    Bench bench(40, 30 * page);
    std::atomic<bool> right = true;
    std::atomic<int> found = 0;
    {
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          std::mt19937 random(seed() + t);
          for (int i = 0; i < 2000; ++i) {
            const auto unit = static_cast<UnitId>(random() % 40);
            const auto tier = static_cast<TierId>(random() % tiers);
            const precision::HeldVersion held = bench.hold(unit, tier);
            if (held && !bench.holds(held, unit, tier)) right = false;
            if (held) ++found;
          }
        });
      }
    }
    QVERIFY(right);
    QVERIFY(found > 1000);
    QVERIFY(bench.cache->use().held_bytes <= 30 * page);
  }
};
FOVEA_TEST(VersionCacheTest)

#include "version_cache_test.moc"
