// Slabs, pools and accounting: random work against a simple model, and an audit that sees every planted
// error.
#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "engine/precision/arena_state.h"
#include "kernels/reference/device.h"
#include "tests/support/test.h"

#include "swap_world.h"

using namespace fovea;
using fovea::tests::LaggingDevice;
using precision::Arena;
using precision::ArenaPlan;
using precision::Block;

namespace fovea::precision {

struct ArenaBooks {
  using State = Arena::State;
  static State& of(Arena& arena) { return *arena.state_; }
};

}  // namespace fovea::precision

namespace {

constexpr std::int64_t page = 4096;

Result<Arena> arena_of(std::int64_t slab_pages, std::int64_t slabs, std::vector<std::int64_t> block_pages) {
  ArenaPlan plan{.slab_bytes = slab_pages * page, .slabs = slabs, .block_bytes = {}};
  for (const std::int64_t pages : block_pages) plan.block_bytes.push_back(pages * page);
  return Arena::create(kernels::reference::device(), plan);
}

using Plant = std::function<void(precision::ArenaBooks::State&)>;

// What the arena should do, counted in the simplest way.
struct Model {
  std::int64_t slabs = 0, slab_pages = 0;
  std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>>
      owned;  // slab → pages of a block, blocks used

  std::int64_t used_pages() const {
    std::int64_t pages = 0;
    for (const auto& [slab, use] : owned) pages += use.first * use.second;
    return pages;
  }
  bool can_allocate(std::int64_t pages) const {
    if (static_cast<std::int64_t>(owned.size()) < slabs) return true;
    return std::ranges::any_of(owned, [&](const auto& entry) {
      return entry.second.first == pages && entry.second.second < slab_pages / pages;
    });
  }
};

}  // namespace

Q_DECLARE_METATYPE(Plant)

class ArenaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aPlanThatIsWrongIsRefused_data() {
    QTest::addColumn<qint64>("slab_bytes");
    QTest::addColumn<qint64>("slabs");
    QTest::addColumn<QList<qint64>>("blocks");
    QTest::newRow("no slab size") << qint64{0} << qint64{1} << QList<qint64>{page};
    QTest::newRow("unaligned slab") << qint64{page + 64} << qint64{1} << QList<qint64>{page};
    QTest::newRow("fewer than no slabs") << qint64{page} << qint64{-1} << QList<qint64>{page};
    QTest::newRow("unaligned block") << qint64{2 * page} << qint64{1} << QList<qint64>{page + 64};
    QTest::newRow("block above slab") << qint64{page} << qint64{1} << QList<qint64>{2 * page};
    QTest::newRow("not ascending") << qint64{2 * page} << qint64{1} << QList<qint64>{2 * page, page};
    QTest::newRow("twice the same") << qint64{2 * page} << qint64{1} << QList<qint64>{page, page};
  }
  void aPlanThatIsWrongIsRefused() {
    QFETCH(qint64, slab_bytes);
    QFETCH(qint64, slabs);
    QFETCH(QList<qint64>, blocks);
    const auto arena =
        Arena::create(kernels::reference::device(),
                      {.slab_bytes = slab_bytes,
                       .slabs = slabs,
                       .block_bytes = std::vector<std::int64_t>(blocks.begin(), blocks.end())});
    QVERIFY(!arena);
    QCOMPARE(arena.error().kind, ErrorKind::internal);
  }

  void moreThanTheDeviceHasIsAnError() {
    const LaggingDevice device(true, {});
    const auto arena = Arena::create(
        device, {.slab_bytes = page, .slabs = LaggingDevice::memory_bytes / page + 1, .block_bytes = {page}});
    QVERIFY(!arena);
    QCOMPARE(arena.error().kind, ErrorKind::memory);
  }

  void blocksComeInOrderAndAligned() {
    auto arena = arena_of(5, 2, {1, 2});
    FOVEA_VERIFY(arena);
    QCOMPARE(arena->bytes(), 10 * page);
    std::vector<Block> blocks;
    for (int i = 0; i < 4; ++i)
      blocks.push_back(arena->allocate(2 * page));  // two in each slab, a page wasted
    QVERIFY(std::ranges::all_of(blocks, [](const Block& block) { return static_cast<bool>(block); }));
    for (const Block& block : blocks)
      QCOMPARE(reinterpret_cast<std::uintptr_t>(block.memory) % page, std::uintptr_t{0});
    QCOMPARE(blocks[1].memory - blocks[0].memory, 2 * page);
    QCOMPARE(blocks[2].memory - blocks[0].memory, 5 * page);
    QVERIFY(!arena->allocate(2 * page));
    QVERIFY(!arena->allocate(page));
    QVERIFY(!arena->allocate(3 * page));
    QCOMPARE(arena->used_bytes(), 8 * page);
    // The second slab becomes empty and may serve the other pool.
    arena->release(blocks[2]);
    QCOMPARE(arena->free_slabs(), 0);
    arena->release(blocks[3]);
    QCOMPARE(arena->free_slabs(), 1);
    QCOMPARE(arena->available(2 * page), 2);
    QCOMPARE(arena->available(page), 5);
    QVERIFY(arena->allocate(page));
    QCOMPARE(arena->free_slabs(), 0);
    QCOMPARE(arena->available(2 * page), 0);
    QCOMPARE(arena->available(page), 4);
    FOVEA_VERIFY(arena->audit());
  }

  void anEmptyArenaGivesNothing() {
    auto arena = arena_of(1, 0, {1});
    FOVEA_VERIFY(arena);
    QVERIFY(!arena->allocate(page));
    FOVEA_VERIFY(arena->audit());
  }

  // A replay's blocks are those that the engine would have given.
  void withoutMemoryTheBlocksAreTheSame() {
    std::mt19937 random(tests::seed());
    const ArenaPlan plan{.slab_bytes = 6 * page, .slabs = 5, .block_bytes = {page, 2 * page, 3 * page}};
    auto real = Arena::create(kernels::reference::device(), plan);
    auto counted = Arena::without_memory(plan);
    FOVEA_VERIFY(real);
    FOVEA_VERIFY(counted);
    std::vector<std::pair<Block, Block>> held;
    for (int step = 0; step < 500; ++step) {
      if (held.empty() || random() % 100 < 60) {
        const std::int64_t bytes = plan.block_bytes[random() % 3];
        const Block a = real->allocate(bytes), b = counted->allocate(bytes);
        QVERIFY(a.pool == b.pool && a.slab == b.slab && a.index == b.index && b.memory == nullptr);
        if (a) held.emplace_back(a, b);
      } else {
        std::swap(held[random() % held.size()], held.back());
        real->release(held.back().first);
        counted->release(held.back().second);
        held.pop_back();
      }
      QCOMPARE(counted->used_bytes(), real->used_bytes());
      FOVEA_VERIFY(counted->audit());
    }
    QVERIFY(!Arena::without_memory({.slab_bytes = page, .slabs = -1, .block_bytes = {page}}));
  }

  void randomWorkKeepsTheBooks() {
    std::mt19937 random(tests::seed());
    for (int round = 0; round < tests::rounds(200); ++round) {
      const std::vector<std::int64_t> sizes = {1, 2, 3, 5};
      Model model{.slabs = 1 + static_cast<std::int64_t>(random() % 9),
                  .slab_pages = 5 + static_cast<std::int64_t>(random() % 8),
                  .owned = {}};
      auto arena = arena_of(model.slab_pages, model.slabs, sizes);
      FOVEA_VERIFY(arena);
      std::vector<std::pair<Block, std::int64_t>> held;
      std::int64_t released_bytes = 0, expected_released = 0;
      arena->on_release([&](std::span<std::byte> block) {
        std::ranges::fill(block, std::byte{0xDB});
        released_bytes += static_cast<std::int64_t>(block.size());
      });
      const unsigned appetite = 30 + random() % 60;  // per cent of steps that allocate
      for (int step = 0; step < 200; ++step) {
        const QByteArray where =
            QString("seed %1 round %2 step %3").arg(tests::seed()).arg(round).arg(step).toUtf8();
        if (held.empty() || random() % 100 < appetite) {
          const std::int64_t pages = sizes[random() % sizes.size()];
          const Block block = arena->allocate(pages * page);
          QVERIFY2(static_cast<bool>(block) == model.can_allocate(pages), where);
          if (!block) continue;
          auto& use = model.owned[block.slab];
          QVERIFY2(use.second == 0 || use.first == pages, where);
          use = {pages, use.second + 1};
          QVERIFY2(use.second <= model.slab_pages / pages, where);
          for (const auto& [other, other_pages] : held)
            QVERIFY2(block.memory + pages * page <= other.memory ||
                         other.memory + other_pages * page <= block.memory,
                     where);
          held.emplace_back(block, pages);
        } else {
          std::swap(held[random() % held.size()], held.back());
          const auto [block, pages] = held.back();
          held.pop_back();
          arena->release(block);
          expected_released += pages * page;
          if (--model.owned[block.slab].second == 0) model.owned.erase(block.slab);
        }
        QVERIFY2(arena->used_bytes() == model.used_pages() * page, where);
        QVERIFY2(arena->free_slabs() == model.slabs - static_cast<std::int64_t>(model.owned.size()), where);
        QVERIFY2(arena->audit().has_value(), where);
      }
      QCOMPARE(released_bytes, expected_released);
    }
  }

  // The promise of the header: a pool that never uses more than n blocks never holds more slabs than they
  // fill.
  void theOrderOfWorkStarvesNobody() {
    std::mt19937 random(tests::seed());
    for (int round = 0; round < tests::rounds(100); ++round) {
      const std::int64_t slab_pages = 6;
      const std::vector<std::int64_t> sizes = {1, 2, 3};
      std::vector<std::int64_t> most;
      std::int64_t slabs = 0;
      for (const std::int64_t pages : sizes) {
        most.push_back(1 + static_cast<std::int64_t>(random() % 20));
        const std::int64_t in_slab = slab_pages / pages;
        slabs += (most.back() + in_slab - 1) / in_slab;
      }
      auto arena = arena_of(slab_pages, slabs, sizes);
      FOVEA_VERIFY(arena);
      std::vector<std::vector<Block>> held(sizes.size());
      for (int step = 0; step < 300; ++step) {
        const std::size_t pool = random() % sizes.size();
        if (static_cast<std::int64_t>(held[pool].size()) < most[pool] && random() % 5 < 3) {
          const Block block = arena->allocate(sizes[pool] * page);
          QVERIFY2(block,
                   QString("seed %1 round %2 step %3").arg(tests::seed()).arg(round).arg(step).toUtf8());
          held[pool].push_back(block);
        } else if (!held[pool].empty()) {
          std::swap(held[pool][random() % held[pool].size()], held[pool].back());
          arena->release(held[pool].back());
          held[pool].pop_back();
        }
      }
    }
  }

  // Blocks of any size, against the bytes that are left: what does not find room finds it when the region
  // beside it is emptied, unless less than a block of each size is free.
  void anyMixHasRoom() {
    std::mt19937 random(tests::seed());
    const std::vector<std::int64_t> sizes = {5, 9, 19, 38};  // pages
    constexpr std::int64_t all = 38 * 12;
    int emptied = 0, refused = 0;
    for (int round = 0; round < tests::rounds(30); ++round) {
      ArenaPlan plan{.slab_bytes = page, .slabs = all, .block_bytes = {}, .any_mix = true};
      for (const std::int64_t pages : sizes) plan.block_bytes.push_back(pages * page);
      auto arena = Arena::create(kernels::reference::device(), plan);
      FOVEA_VERIFY(arena);
      QCOMPARE(arena->bytes(), all * page);
      std::vector<Block> held;
      std::int64_t used = 0;
      const auto size_of = [&](const Block& block) { return sizes[static_cast<std::size_t>(block.pool)]; };
      const auto allocate = [&](std::int64_t pages) {
        const bool said = arena->available(pages * page) > 0;
        const Block block = arena->allocate(pages * page);
        if (said != static_cast<bool>(block)) qFatal("available() and allocate() differ");
        if (!block) return false;
        for (const Block& other : held)
          if (block.memory + pages * page > other.memory &&
              other.memory + size_of(other) * page > block.memory)
            qFatal("two blocks overlap");
        held.push_back(block);
        used += pages;
        return true;
      };
      // Moves what is to move; false: its pool has no room.
      const auto move = [&] {
        while (arena->is_emptying()) {
          const auto found =
              std::ranges::find_if(held, [&](const Block& block) { return arena->empties(block); });
          if (found == held.end()) return false;
          const Block old = *found;
          const Block block = arena->allocate(size_of(old) * page);
          if (!block) return false;
          *found = block;
          arena->release(old);
        }
        return true;
      };
      for (int step = 0; step < 400; ++step) {
        if (held.empty() || random() % 100 < 60) {
          const std::int64_t pages = sizes[random() % sizes.size()];
          bool got = allocate(pages);
          for (int tries = 0; !got && tries < 50; ++tries) {
            if (!arena->begin_emptying(pages * page)) {
              got = allocate(pages);  // what was kept for another one
              break;
            }
            ++emptied;
            QVERIFY(!arena->begin_emptying(pages * page));  // one at a time
            QVERIFY(move());
            FOVEA_VERIFY(arena->audit());
            got = allocate(pages);
          }
          // Each gap between two regions may keep less than a block of its neighbours.
          QVERIFY2(got || all - used < pages + 38 + 19 + 9 + 5,
                   qPrintable(QString("%1 of %2 free, %3 wanted").arg(all - used).arg(all).arg(pages)));
          refused += !got;
        } else {
          std::swap(held[random() % held.size()], held.back());
          used -= size_of(held.back());
          arena->release(held.back());
          held.pop_back();
        }
        QCOMPARE(arena->used_bytes(), used * page);
        FOVEA_VERIFY(arena->audit());
      }
      for (const Block& block : held) arena->release(block);
      QCOMPARE(arena->used_bytes(), 0);
      for (const std::int64_t pages : sizes) QCOMPARE(arena->available(pages * page), all / pages);
    }
    QVERIFY2(emptied > 100 && refused > 100,
             qPrintable(QString("%1 emptied, %2 refused").arg(emptied).arg(refused)));
  }

  // Twelve pages: four blocks of one page, and behind them two of four. A third one of four needs a page more
  // than the middle has, so that the last small block moves into the hole.
  void aNeighbourMovesOutOfTheWay() {
    ArenaPlan plan{.slab_bytes = page, .slabs = 16, .block_bytes = {page, 4 * page}, .any_mix = true};
    auto arena = Arena::without_memory(plan);
    std::vector<Block> small, large;
    for (int i = 0; i < 2; ++i) large.push_back(arena->allocate(4 * page));
    for (int i = 0; i < 5; ++i) small.push_back(arena->allocate(page));
    QVERIFY(!arena->begin_emptying(page));      // there is room
    QVERIFY(!arena->begin_emptying(4 * page));  // there is none for what would move
    arena->release(small[1]);
    QVERIFY(!arena->allocate(4 * page));
    QVERIFY(arena->begin_emptying(4 * page));
    QVERIFY(arena->is_emptying() && arena->empties(small[4]) && !arena->empties(small[3]) &&
            !arena->empties(large[0]));
    arena->stop_emptying();
    QVERIFY(!arena->is_emptying() && !arena->empties(small[4]));
    QVERIFY(arena->begin_emptying(4 * page));
    const Block moved = arena->allocate(page);
    QCOMPARE(moved.index, small[1].index);
    QVERIFY(!arena->allocate(page));  // not towards the pool that needs the room
    arena->release(small[4]);
    QVERIFY(!arena->is_emptying());
    QVERIFY(arena->allocate(4 * page));
    FOVEA_VERIFY(arena->audit());
    QCOMPARE(arena->reach(0), 4);
    // Slabs are never emptied.
    plan.any_mix = false;
    plan.slab_bytes = 4 * page;
    plan.slabs = 1;
    auto slabs = Arena::without_memory(plan);
    static_cast<void>(slabs->allocate(page));
    QVERIFY(!slabs->begin_emptying(4 * page));
  }

  void theAuditSeesPlantedErrors_data() {
    QTest::addColumn<Plant>("plant");
    QTest::newRow("a byte too many") << Plant([](auto& a) { ++a.used_bytes; });
    QTest::newRow("a lost slab") << Plant([](auto& a) { --a.free_slabs; });
    QTest::newRow("a slab in nobody's chain")
        << Plant([](auto& a) { a.first_free_slab = a.slab_at(a.first_free_slab).next; });
    QTest::newRow("a pool's use") << Plant([](auto& a) { --a.pools[0].used; });
    QTest::newRow("a pool's blocks") << Plant([](auto& a) { ++a.pools[1].blocks; });
    QTest::newRow("a pool's slabs") << Plant([](auto& a) { ++a.pools[1].slabs; });
    QTest::newRow("a block released twice") << Plant([](auto& a) { a.in_use[a.slot(0, 0)] = false; });
    QTest::newRow("a block beyond the slab") << Plant([](auto& a) { a.in_use[a.slot(1, 3)] = true; });
    QTest::newRow("a used block on offer") << Plant([](auto& a) { a.slab_at(0).first_free = 0; });
    QTest::newRow("a chain that ends early") << Plant([](auto& a) { a.slab_at(0).first_free = -1; });
    QTest::newRow("a chain that never ends") << Plant([](auto& a) { a.next_free[a.slot(0, 1)] = 1; });
    QTest::newRow("a slab counts one block too many") << Plant([](auto& a) { ++a.slab_at(0).used; });
    QTest::newRow("an open slab that nobody finds") << Plant([](auto& a) { a.open_slabs[0] = -1; });
    QTest::newRow("a slab in another pool's chain")
        << Plant([](auto& a) { std::swap(a.open_slabs[0], a.open_slabs[1]); });
    QTest::newRow("an empty slab with a pool") << Plant([](auto& a) { a.slab_at(2).pool = 0; });
  }
  void theAuditSeesPlantedErrors() {
    QFETCH(Plant, plant);
    auto arena = arena_of(4, 4, {1, 2});
    FOVEA_VERIFY(arena);
    const Block first = arena->allocate(page), second = arena->allocate(page);
    const Block other = arena->allocate(2 * page);
    QVERIFY(first.slab == 0 && second.index == 1 && other.slab == 1);
    arena->release(second);
    FOVEA_VERIFY(arena->audit());
    plant(precision::ArenaBooks::of(*arena));
    const auto audit = arena->audit();
    QVERIFY(!audit);
    QCOMPARE(audit.error().kind, ErrorKind::internal);
  }
};
FOVEA_TEST(ArenaTest)

#include "arena_test.moc"
