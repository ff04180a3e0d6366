// Versions that stay in main memory: the source's bytes, read once while they are there; a bound that is
// kept; what was used last stays; what somebody waits for goes past it.
#include "engine/precision/version_cache.h"

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "engine/checkpoint/errors.h"
#include "engine/core/result.h"
#include "kernels/cpu/device.h"
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

class Bench {
 public:
  // Units whose versions take 2 pages, and 1.
  Bench(std::int64_t units, std::int64_t bytes) {
    for (std::int64_t unit = 0; unit < units; ++unit) sizes_.insert(sizes_.end(), {2 * page, page});
    auto own = std::make_unique<Source>();
    source = own.get();
    auto made = VersionCache::create(*kernels::cpu::default_device(), bytes, tiers, sizes_);
    if (!made) qFatal("%s", made.error().message().c_str());
    cache = *std::move(made);
    cache->read_from(std::move(own));
  }
  // As a swap does; whether the bytes are the version's.
  bool read(UnitId unit, TierId tier) {
    const auto pace = [this](std::int64_t bytes) {
      paced += bytes;
      return true;
    };
    return read(unit, tier, pace);
  }
  bool read(UnitId unit, TierId tier, const checkpoint::Pace& pace) {
    std::vector<std::byte> memory(static_cast<std::size_t>(tier == 0 ? 2 * page : page));
    return cache->read(unit, tier, memory, pace) &&
           std::ranges::count(memory, std::byte(unit * tiers + tier + 1)) == std::ssize(memory);
  }
  int reads(UnitId unit, TierId tier) { return source->reads[{unit, tier}]; }

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
    QVERIFY(bench.read(0, 0, {}) && bench.read(0, 0, {}));
    QCOMPARE(bench.reads(0, 0), 2);
    QCOMPARE(bench.cache->use().held_bytes, 0);
  }

  void aSwapThatIsGivenUpIsSo() {
    Bench bench(4, 16 * page);
    const auto gives_up = [](std::int64_t) { return false; };
    QVERIFY(!bench.read(0, 0, gives_up));
    QCOMPARE(bench.cache->use().held_bytes, 0);
    QVERIFY(bench.read(0, 0));
    std::vector<std::byte> memory(static_cast<std::size_t>(2 * page));
    const auto given_up = bench.cache->read(0, 0, memory, gives_up);
    QVERIFY(!given_up);
    QCOMPARE(given_up.error().kind, ErrorKind::cancelled);
  }

  void whatCannotBeReadIsNotKept() {
    Bench bench(4, 16 * page);
    bench.source->fails = true;
    QVERIFY(!bench.read(0, 0));
    bench.source->fails = false;
    QVERIFY(bench.read(0, 0));
    QCOMPARE(bench.reads(0, 0), 2);
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
      QVERIFY(bench.read(static_cast<UnitId>(random() % 40), static_cast<TierId>(random() % tiers)));
      QVERIFY(bench.cache->use().held_bytes <= pages * page);
    }
    const VersionCache::Use use = bench.cache->use();
    QCOMPARE(use.bytes_found > 0, pages >= 2);
  }

  void severalMayReadAtOnce() {
    Bench bench(40, 30 * page);
    std::atomic<bool> right = true;
    {
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          std::mt19937 random(seed() + t);
          for (int i = 0; i < 2000; ++i) {
            if (!bench.read(static_cast<UnitId>(random() % 40), static_cast<TierId>(random() % tiers)))
              right = false;
          }
        });
      }
    }
    QVERIFY(right);
    QVERIFY(bench.cache->use().held_bytes <= 30 * page);
  }
};
FOVEA_TEST(VersionCacheTest)

#include "version_cache_test.moc"
