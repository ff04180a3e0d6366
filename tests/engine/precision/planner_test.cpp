// The planner: its plans hold what they promise in the arena, add up, stay within the budget, and refuse with
// the number that would do.
#include "engine/precision/planner.h"

#include <map>
#include <numeric>
#include <random>

#include "engine/precision/arena.h"
#include "kernels/reference/device.h"
#include "tests/support/test.h"

#include "arena_model.h"

using namespace fovea;
using namespace fovea::precision;
using namespace fovea::tests;

namespace {

constexpr std::int64_t page = 4096;

// Two layers' worth of hand arithmetic: 4 layers of 8 units, 10 pages high and 2 pages low.
PlanInputs small_inputs(std::int64_t budget_pages) {
  return {.tier_names = {"high", "low"},
          .groups = {{.layers = 4, .units = 8, .parameters = 16384, .bytes = {10 * page, 2 * page}}},
          .dense_bytes = 3 * page,
          .kv_bytes = 5 * page,
          .activation_bytes = 3 * page,
          .safety_bytes = page,
          .budget_bytes = budget_pages * page};
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// Blocks of each size that the plan's promises can need at once, counted from the promises.
std::map<std::int64_t, std::int64_t> promised(const PlanInputs& inputs, const PrecisionPlan& plan) {
  std::map<std::int64_t, std::int64_t> blocks;
  for (std::size_t g = 0; g < inputs.groups.size(); ++g) {
    for (std::size_t t = 0; t < inputs.tier_names.size(); ++t)
      if (plan.group_capacity[g][t] > 0) blocks[inputs.groups[g].bytes[t]] += plan.group_capacity[g][t];
  }
  return blocks;
}

// Random allocations and releases that never exceed `limits`; false when one finds no room.
bool holds(const ArenaPlan& arena, const std::map<std::int64_t, std::int64_t>& limits, std::mt19937& random) {
  ArenaModel model(arena);
  std::vector<ArenaModel::Block> blocks;
  std::map<std::int64_t, std::int64_t> used;
  // Fill, then empty and refill in a random order: the worst case leaves each pool's blocks scattered.
  for (int round = 0; round < 4; ++round) {
    for (const auto& [bytes, limit] : limits) {
      while (used[bytes] < limit) {
        if (!model.allocate(bytes, blocks.emplace_back())) return false;
        ++used[bytes];
      }
    }
    std::ranges::shuffle(blocks, random);
    const std::size_t keep = blocks.size() * (random() % 4) / 4;
    for (; blocks.size() > keep; blocks.pop_back()) {
      --used[blocks.back().bytes];
      model.release(blocks.back());
    }
  }
  return true;
}

struct RandomCase {
  PlanInputs inputs;
  PolicyKind policy = PolicyKind::dynaexq;
};

RandomCase random_case(std::mt19937& random) {
  const auto upto = [&](std::int64_t n) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n));
  };
  RandomCase out;
  PlanInputs& in = out.inputs;
  const std::int64_t tiers = upto(4);
  for (std::int64_t t = 0; t < tiers; ++t) in.tier_names.push_back("t" + std::to_string(t));
  for (std::int64_t g = upto(3); g > 0; --g) {
    UnitGroup group{.layers = upto(20), .units = upto(64), .parameters = 1000 * upto(1000), .bytes = {}};
    std::int64_t bytes = 0;
    for (std::int64_t t = 0; t < tiers; ++t)
      group.bytes.insert(group.bytes.begin(), bytes += page * upto(t == 0 ? 40 : 60));
    in.groups.push_back(group);
  }
  if (random() % 3 == 0) {
    in.host_computes_absent = true;
    for (UnitGroup& group : in.groups) group.absent = random() % 3 == 0 ? group.units : upto(group.units) - 1;
  }
  in.dense_bytes = upto(100'000'000);
  in.kv_bytes = upto(10'000'000);
  in.window_bytes = upto(10'000'000);
  in.state_bytes = upto(10'000'000);
  in.activation_bytes = upto(10'000'000);
  in.host = {.weights = upto(4'000'000), .transfer = upto(4'000'000), .exchange = upto(4'000'000)};
  in.safety_bytes = upto(1000);
  if (random() % 2) {
    in.safety_share = 0.02;
    in.max_safety_bytes = upto(8'000'000);
  }
  in.spare_blocks = upto(4);
  in.may_use_disk = random() % 4 == 0;
  if (random() % 2) in.pass_units = upto(16);
  out.policy = random() % 3 ? PolicyKind::dynaexq : PolicyKind::static_tiers;
  return out;
}

}  // namespace

class PlannerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // 12 pages are fixed. All low: 64 pages. n_hot = n: 4 · n · 10 + 4 · (8 − n) · 2 pages, and a spare of
  // each.
  void capacityByHand_data() {
    QTest::addColumn<int>("budgetPages");
    QTest::addColumn<int>("high");       // in each layer; −1: refused
    QTest::newRow("nothing") << 0 << 8;  // no budget: all high
    QTest::newRow("one page short") << 75 << -1;
    QTest::newRow("all low") << 76 << 0;
    // One in each layer: 40 + 56 and the spares' 12; whole slabs of 10 pages: 5 + ⌈29 ÷ 5⌉ = 11 slabs.
    QTest::newRow("one short of one") << 12 + 109 << 0;
    QTest::newRow("one") << 12 + 110 << 1;
    // Four: 17 high blocks and 17 low ones: 17 + ⌈17 ÷ 5⌉ = 21 slabs of 10 pages.
    QTest::newRow("four") << 12 + 210 << 4;
    QTest::newRow("four and a bit") << 12 + 219 << 4;
    QTest::newRow("all high") << 12 + 320 << 8;
    QTest::newRow("more than all") << 1000 << 8;
  }
  void capacityByHand() {
    QFETCH(int, budgetPages);
    QFETCH(int, high);
    const auto plan = plan_precision(small_inputs(budgetPages), PolicyKind::dynaexq);
    if (high < 0) {
      QVERIFY(!plan);
      QCOMPARE(plan.error().kind, ErrorKind::memory);
      QVERIFY(plan.error().what_words().find(std::to_string(76 * page)) != std::string::npos);
      return;
    }
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->high_per_layer, high);
    QCOMPARE(plan->capacity, (std::vector<std::int64_t>{4 * high, 4 * (8 - high)}));
    QCOMPARE(plan->plan.units_on_disk, 0);
  }

  // Four high ones in each layer: 16 + s high and 16 + s low blocks are 16 + s + ⌈(16 + s) ÷ 5⌉ slabs of 10
  // pages; five and one spare would be 24.
  void whatIsLeftBecomesSpareBlocks_data() {
    QTest::addColumn<int>("budgetPages");
    QTest::addColumn<int>("spare");
    QTest::newRow("the least") << 12 + 210 << 1;
    QTest::newRow("one page short of two") << 12 + 219 << 1;
    QTest::newRow("two") << 12 + 220 << 2;
    QTest::newRow("three") << 12 + 230 << 3;
    QTest::newRow("not more than three") << 12 + 239 << 3;
  }
  void whatIsLeftBecomesSpareBlocks() {
    QFETCH(int, budgetPages);
    QFETCH(int, spare);
    PlanInputs inputs = small_inputs(budgetPages);
    inputs.max_spare_blocks = 3;
    const auto plan = plan_precision(inputs, PolicyKind::dynaexq);
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->high_per_layer, 4);
    QCOMPARE(plan->spare_blocks, spare);
    QVERIFY(plan->plan.fits);
    const std::int64_t slabs = 16 + spare + (16 + spare + 4) / 5;
    QCOMPARE(plan->plan.total_bytes, (12 + 10 * slabs) * page);
    const auto fixed = plan_precision(inputs, PolicyKind::static_tiers);
    FOVEA_VERIFY(fixed);
    inputs.max_spare_blocks = 0;
    QCOMPARE(plan_precision(inputs, PolicyKind::static_tiers)->capacity, fixed->capacity);
  }

  // Of four layers e have five high units: 17 + e high and 17 − e low blocks, a spare of each among them, are
  // 17 + e + ⌈(17 − e) ÷ 5⌉ slabs: 21, 22, 22 and 23; all four would be 24.
  void whatIsLeftGivesSomeLayersMore_data() {
    QTest::addColumn<int>("budgetPages");
    QTest::addColumn<int>("more");
    QTest::newRow("none") << 12 + 219 << 0;
    QTest::newRow("two") << 12 + 220 << 2;
    QTest::newRow("three") << 12 + 239 << 3;
    QTest::newRow("all layers five") << 12 + 240 << 4;
  }
  void whatIsLeftGivesSomeLayersMore() {
    QFETCH(int, budgetPages);
    QFETCH(int, more);
    PlanInputs inputs = small_inputs(budgetPages);
    inputs.uneven_layers = true;
    const auto plan = plan_precision(inputs, PolicyKind::dynaexq);
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->capacity, (std::vector<std::int64_t>{16 + more, 16 - more}));
    QCOMPARE(plan->high_per_layer, more == 4 ? 5 : 4);
    QCOMPARE(plan->layers_with_more, more % 4);
    QVERIFY(plan->plan.fits);
    inputs.groups.push_back(inputs.groups.front());  // layers that are not alike
    inputs.groups.back().parameters += 1;
    inputs.budget_bytes *= 2;
    QCOMPARE(plan_precision(inputs, PolicyKind::dynaexq)->layers_with_more, 0);
  }

  // The page that is kept free of a budget is not needed; the budget that would do counts it.
  void noBudgetMeansWhatTheHighestTierNeeds() {
    const auto plan = plan_precision(small_inputs(0), PolicyKind::dynaexq);
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->plan.budget_bytes, 331 * page);
    QCOMPARE(plan->plan.total_bytes, 331 * page);
    QCOMPARE(plan->plan.parts.safety, 0);
    QCOMPARE(plan->plan.whole_bytes, 332 * page);
    QCOMPARE(plan->arena.slabs, 32);
    QCOMPARE(plan->arena.slab_bytes, 10 * page);
  }

  // Without a policy units are no blocks: their bytes are the sum, and there is no arena.
  void noPolicyNoArena() {
    const auto plan = plan_precision(small_inputs(0), PolicyKind::none);
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->plan.arena_bytes, 0);
    QCOMPARE(plan->plan.parts.experts[0].bytes, 320 * page);
    QCOMPARE(plan->plan.total_bytes, 331 * page);
    QVERIFY(!plan_precision(small_inputs(331), PolicyKind::none));
  }

  // A fixed map never swaps, so it needs no spare blocks and fills the budget unit by unit: at 12 + 64 + 8 n
  // pages n units are high, up to what slabs of both sizes waste.
  void staticMixGoesUnitByUnit() {
    std::int64_t before = -1;
    for (std::int64_t pages = 76; pages <= 332; ++pages) {
      const auto plan = plan_precision(small_inputs(pages), PolicyKind::static_tiers);
      FOVEA_VERIFY(plan);
      const std::int64_t high = plan->capacity[0];
      QVERIFY(high <= (pages - 76) / 8);
      QVERIFY(high >= (pages - 76) / 8 - 1);
      QVERIFY(high >= before);
      QCOMPARE(sum(plan->capacity), 32);
      before = high;
    }
    QCOMPARE(before, 32);
  }

  void aChosenMapIsKept() {
    PlanInputs inputs = small_inputs(1000);
    inputs.counts = {{5, 27}};
    const auto plan = plan_precision(inputs, PolicyKind::static_tiers);
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->capacity, (std::vector<std::int64_t>{5, 27}));
    // 5 slabs of 10 pages, and 27 blocks of 2 pages in 6 more.
    QCOMPARE(plan->plan.arena_bytes, 110 * page);
    inputs.budget_bytes = 121 * page;
    QVERIFY(!plan_precision(inputs, PolicyKind::static_tiers));
    inputs.budget_bytes = 122 * page;
    FOVEA_VERIFY(plan_precision(inputs, PolicyKind::static_tiers));
  }

  // Three tiers: the bytes above the floor are shared between the upper two while there are low units left.
  void threeTiersShareWhatIsLeft() {
    PlanInputs inputs{
        .tier_names = {"a", "b", "c"},
        .groups = {{.layers = 10, .units = 64, .parameters = 1000, .bytes = {9 * page, 5 * page, 3 * page}}}};
    // Half of the way from all at c to all at b: 640 pages, 320 of them for a at 6 more, 320 for b at 2 more.
    inputs.budget_bytes = (640 * 3 + 640 + 40) * page;
    const auto plan = plan_precision(inputs, PolicyKind::dynaexq);
    FOVEA_VERIFY(plan);
    QVERIFY(plan->high_per_layer >= 4 && plan->high_per_layer <= 6);
    QVERIFY(plan->capacity[1] >= 140 && plan->capacity[1] <= 180);
    QCOMPARE(sum(plan->capacity), 640);
    // The first that goes up goes to the top: 10 at a, 630 at c and a spare of each are 1,992 pages.
    inputs.budget_bytes = 2010 * page;
    QCOMPARE(plan_precision(inputs, PolicyKind::dynaexq)->capacity, (std::vector<std::int64_t>{10, 0, 630}));
    inputs.budget_bytes = 640 * 9 * page;
    const auto all = plan_precision(inputs, PolicyKind::dynaexq);
    FOVEA_VERIFY(all);
    QCOMPARE(all->capacity, (std::vector<std::int64_t>{640, 0, 0}));
  }

  // 12 pages fixed, 8 blocks of 2 pages for one layer's on-demand cache, and what is left for units that
  // stay.
  void theDiskTakesWhatDoesNotFit() {
    PlanInputs inputs = small_inputs(28);
    inputs.may_use_disk = true;
    auto plan = plan_precision(inputs, PolicyKind::dynaexq);
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->plan.units_on_disk, 32);
    QCOMPARE(plan->on_demand_blocks, 8);
    QCOMPARE(plan->plan.arena_bytes, 16 * page);
    inputs.budget_bytes = 27 * page;
    QVERIFY(!plan_precision(inputs, PolicyKind::dynaexq));
    inputs.pass_units = 3;  // one token with three experts
    plan = plan_precision(inputs, PolicyKind::dynaexq);
    FOVEA_VERIFY(plan);
    // 15 pages: 7 blocks, three for the on-demand cache: one unit of each layer stays.
    QCOMPARE(plan->on_demand_blocks, 3);
    QCOMPARE(plan->capacity, (std::vector<std::int64_t>{0, 4}));
    QCOMPARE(plan->plan.units_on_disk, 28);
  }

  // Layers run one after the other, so that two kinds of them with blocks alike share the cache's blocks.
  void versionsOnDemandShareTheirBlocks() {
    PlanInputs inputs = small_inputs(28);
    inputs.may_use_disk = true;
    inputs.groups.front().layers = 2;
    inputs.groups.push_back(inputs.groups.front());
    inputs.groups.back().parameters += 1;
    const auto plan = plan_precision(inputs, PolicyKind::dynaexq);
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->plan.units_on_disk, 32);
    QCOMPARE(plan->on_demand_blocks, 8);
    QCOMPARE(plan->plan.arena_bytes, 16 * page);
  }

  // No place more in the high tier as long as units have none at all.
  void noLayerHasMoreBesideTheDisk() {
    int beside = 0;
    for (std::int64_t pages = 28; pages < 350; ++pages) {
      PlanInputs inputs = small_inputs(pages);
      inputs.groups.front().layers = 20;  // a unit more of each is much
      inputs.may_use_disk = true;
      inputs.pass_units = 3;
      const auto even = plan_precision(inputs, PolicyKind::dynaexq);
      inputs.uneven_layers = true;
      const auto uneven = plan_precision(inputs, PolicyKind::dynaexq);
      FOVEA_VERIFY(even);
      FOVEA_VERIFY(uneven);
      if (even->plan.units_on_disk == 0) continue;
      ++beside;
      QCOMPARE(uneven->capacity, even->capacity);
      QCOMPARE(uneven->layers_with_more, 0);
    }
    QVERIFY(beside > 200);
  }

  // Offloaded layers: 2 of 4 away leaves 16 units at 10 pages, and 8 blocks for visits where this machine has
  // no second place to compute.
  void offloadedUnitsLeaveTheDevice() {
    PlanInputs inputs = small_inputs(0);
    inputs.tier_names = {"high"};
    inputs.groups = {
        {.layers = 2, .units = 8, .parameters = 16384, .bytes = {10 * page}, .bits = {}, .absent = 8},
        {.layers = 2, .units = 8, .parameters = 16384, .bytes = {10 * page}}};
    auto plan = plan_precision(inputs, PolicyKind::offload);
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->capacity, std::vector<std::int64_t>{16});
    QCOMPARE(plan->plan.arena_bytes, (160 + 80) * page);
    QCOMPARE(plan->plan.units_on_disk, 16);
    inputs.host_computes_absent = true;
    plan = plan_precision(inputs, PolicyKind::offload);
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->plan.arena_bytes, 160 * page);
    QCOMPARE(plan->plan.units_on_disk, 0);
    QCOMPARE(plan->absent_units, 16);
  }

  // Half of the layers are the host's: n_hot is of the others, and one of them may have one more.
  void layersOfTheHostHaveNoHighTier() {
    PlanInputs inputs = small_inputs(0);
    inputs.groups = {{.layers = 2,
                      .units = 8,
                      .parameters = 16384,
                      .bytes = {10 * page, 2 * page},
                      .bits = {},
                      .absent = 8},
                     {.layers = 2, .units = 8, .parameters = 16384, .bytes = {10 * page, 2 * page}}};
    inputs.host_computes_absent = true;
    inputs.uneven_layers = true;
    // Beside 11 pages of others and one kept free, slabs of ten pages hold one high or five low units, a
    // spare of each included: 2 · (2 high + 6 low) take 5 + 3 slabs; a unit more at the high tier 6 + 3; 2 ·
    // (3 + 5) 7 + 3, and with one more 8 + 2.
    const auto expect = [&](std::int64_t pages, std::int64_t high, std::int64_t more,
                            const TierCounts& counts) {
      inputs.budget_bytes = (12 + pages) * page;
      const auto plan = plan_precision(inputs, PolicyKind::dynaexq);
      FOVEA_VERIFY(plan);
      QCOMPARE(plan->high_per_layer, high);
      QCOMPARE(plan->layers_with_more, more);
      QCOMPARE(plan->group_capacity, counts);
      QCOMPARE(plan->plan.units_on_host, 16);
      QCOMPARE(plan->plan.units_on_disk, 0);
    };
    expect(89, 2, 0, {{0, 0}, {4, 12}});
    expect(99, 2, 1, {{0, 0}, {5, 11}});
    expect(100, 3, 1, {{0, 0}, {7, 9}});
  }

  // Every plan of random shapes and budgets: within its budget, adds up, holds its promises.
  void promisesHold() {
    std::mt19937 random(seed());
    int planted = 0;
    for (int round = 0; round < rounds(300); ++round) {
      auto [inputs, policy] = random_case(random);
      const auto note = QString("FOVEA_TEST_SEED=%1, round %2").arg(seed()).arg(round).toStdString();
      const std::int64_t least = min_budget(inputs, policy);
      inputs.budget_bytes = 0;
      const std::int64_t all = plan_precision_anyway(inputs, policy).plan.whole_bytes;
      inputs.budget_bytes =
          least + static_cast<std::int64_t>(static_cast<double>(all - least) * (random() % 1100) / 1000.0);
      const auto plan = plan_precision(inputs, policy);
      QVERIFY2(plan.has_value(), note.c_str());
      const Plan& p = plan->plan;
      QVERIFY2(p.fits && p.total_bytes <= inputs.budget_bytes && p.budget_bytes == inputs.budget_bytes,
               note.c_str());

      std::int64_t experts = 0, units = 0;
      for (const PlanTier& tier : p.parts.experts) experts += tier.bytes, units += tier.units;
      QVERIFY2(experts == p.arena_bytes && p.arena_bytes == plan->arena.bytes(), note.c_str());
      QVERIFY2(p.parts.dense + experts + p.parts.kv + p.parts.windows + p.parts.states + p.parts.activations +
                       p.parts.safety ==
                   p.total_bytes,
               note.c_str());
      QVERIFY2(p.host.weights + p.host.transfer + p.host.exchange == p.host_bytes, note.c_str());
      std::int64_t shape = 0, away = 0;
      for (const UnitGroup& group : inputs.groups) {
        shape += group.layers * group.units;
        away += group.layers * group.absent;
      }
      QVERIFY2(units + plan->absent_units == shape && plan->absent_units >= away, note.c_str());
      QVERIFY2(inputs.may_use_disk || plan->absent_units == away, note.c_str());
      QVERIFY2(p.units_on_disk + p.units_on_host == plan->absent_units, note.c_str());

      auto blocks = promised(inputs, *plan);
      if (policy == PolicyKind::dynaexq) {
        for (std::size_t g = 0; g < inputs.groups.size(); ++g) {
          const auto& counts = plan->group_capacity[g];
          if (std::ranges::count_if(counts, [](std::int64_t n) { return n > 0; }) < 2) continue;
          // The spare of each pool that this group's units move between; once, whoever shares the pool.
          for (std::size_t t = 0; t < counts.size(); ++t)
            if (counts[t] > 0) blocks[-inputs.groups[g].bytes[t]] = inputs.spare_blocks;
        }
        std::map<std::int64_t, std::int64_t> with_spares;
        for (const auto& [bytes, count] : blocks) with_spares[std::abs(bytes)] += count;
        blocks = with_spares;
      }
      QVERIFY2(holds(plan->arena, blocks, random), note.c_str());
      if (plan->arena.slabs == 0) continue;  // everything is the host's
      // The check can fail: the same arena without its last slab, when nothing was to spare.
      ArenaPlan cut_short = plan->arena;
      --cut_short.slabs;
      if (!holds(cut_short, blocks, random)) ++planted;
    }
    QVERIFY(planted > rounds(300) / 2);
  }

  // The same in the arena itself, for each budget of the small shape.
  void theArenaHoldsThem() {
    std::mt19937 random(seed());
    for (std::int64_t pages = 76; pages <= 332; pages += 4) {
      const auto plan = plan_precision(small_inputs(pages), PolicyKind::dynaexq);
      FOVEA_VERIFY(plan);
      auto arena = Arena::create(kernels::reference::device(), plan->arena);
      FOVEA_VERIFY(arena);
      QCOMPARE(arena->bytes(), plan->plan.arena_bytes);
      const std::int64_t spare = plan->capacity[0] > 0 && plan->capacity[1] > 0 ? 1 : 0;
      std::vector<Block> blocks;
      for (int round = 0; round < 3; ++round) {
        std::int64_t high = 0, low = 0;
        for (const Block& block : blocks)
          ++(plan->arena.block_bytes[static_cast<std::size_t>(block.pool)] == 10 * page ? high : low);
        for (; high < plan->capacity[0] + (plan->capacity[0] > 0 ? spare : 0); ++high) {
          blocks.push_back(arena->allocate(10 * page));
          QVERIFY(blocks.back());
        }
        for (; low < plan->capacity[1] + (plan->capacity[1] > 0 ? spare : 0); ++low) {
          blocks.push_back(arena->allocate(2 * page));
          QVERIFY(blocks.back());
        }
        std::ranges::shuffle(blocks, random);
        const std::size_t keep = blocks.size() / 2;
        for (; blocks.size() > keep; blocks.pop_back()) arena->release(blocks.back());
      }
    }
  }

  void refusedBudgetsNameTheSmallest() {
    std::mt19937 random(seed());
    for (int round = 0; round < rounds(300); ++round) {
      auto [inputs, policy] = random_case(random);
      const auto note = QString("FOVEA_TEST_SEED=%1, round %2").arg(seed()).arg(round).toStdString();
      inputs.budget_bytes = 1;
      const auto refused = plan_precision(inputs, policy);
      QVERIFY2(!refused, note.c_str());
      const std::int64_t least = plan_precision_anyway(inputs, policy).plan.min_bytes;
      QVERIFY2(
          refused.error().what_words().find("(" + std::to_string(least) + " bytes)") != std::string::npos,
          note.c_str());
      inputs.budget_bytes = least - 1;
      QVERIFY2(!plan_precision(inputs, policy), note.c_str());
      inputs.budget_bytes = least;
      QVERIFY2(plan_precision(inputs, policy).has_value(), note.c_str());
    }
  }

  // A larger budget never buys less.
  void moreIsNeverLess() {
    std::mt19937 random(seed());
    for (int round = 0; round < rounds(60); ++round) {
      auto [inputs, policy] = random_case(random);
      inputs.budget_bytes = min_budget(inputs, policy);
      std::int64_t bytes = -1, disk = 1 << 30;
      for (int step = 0; step < 40; ++step) {
        const auto plan = plan_precision(inputs, policy);
        FOVEA_VERIFY(plan);
        std::int64_t held = 0;
        for (std::size_t g = 0; g < inputs.groups.size(); ++g) {
          for (std::size_t t = 0; t < inputs.tier_names.size(); ++t)
            held += plan->group_capacity[g][t] * inputs.groups[g].bytes[t];
        }
        QVERIFY(held >= bytes && plan->plan.units_on_disk <= disk);
        bytes = held;
        disk = plan->plan.units_on_disk;
        inputs.budget_bytes += inputs.budget_bytes / 50;
      }
    }
  }

  // What slabs and spares cost: at the sizes of Qwen3-30B-A3B's experts (768 wide, BF16 above 4.5 bits) less
  // than 2 % of the arena for every n_hot, and of the demo model's (576 pages' worth at most) less than 6 %.
  void slabsWasteLittle_data() {
    QTest::addColumn<qint64>("layers");
    QTest::addColumn<qint64>("units");
    QTest::addColumn<qint64>("high");
    QTest::addColumn<qint64>("low");
    QTest::addColumn<double>("share");
    QTest::newRow("qwen3-30b") << qint64(48) << qint64(128) << qint64(9437184) << qint64(2654208) << 0.02;
    QTest::newRow("qwen3-next-80b") << qint64(48) << qint64(512) << qint64(1769472) << qint64(983040) << 0.02;
    QTest::newRow("mixtral") << qint64(32) << qint64(8) << qint64(352321536) << qint64(99090432) << 0.10;
    QTest::newRow("small") << qint64(30) << qint64(8) << qint64(466944) << qint64(208896) << 0.06;
  }
  void slabsWasteLittle() {
    QFETCH(qint64, layers);
    QFETCH(qint64, units);
    QFETCH(qint64, high);
    QFETCH(qint64, low);
    QFETCH(double, share);
    for (qint64 hot = 0; hot <= units; hot += std::max<qint64>(1, units / 32)) {
      const ArenaPlan arena = cut_arena({{low, layers * (units - hot) + 1}, {high, layers * hot + 1}});
      const double need = static_cast<double>(layers * ((units - hot) * low + hot * high));
      QVERIFY2(static_cast<double>(arena.bytes()) <= need * (1 + share),
               qPrintable(QString("%1 hot: %2 of %3").arg(hot).arg(arena.bytes()).arg(need)));
    }
  }

  // fovea among three tiers: as many bytes as the mix and its spare blocks take, for any mix of them.
  void memoryForAnyMix() {
    const std::vector<std::int64_t> bytes{9437184, 2654208, 1769472};  // of Qwen3-30B-A3B's experts
    PlanInputs inputs{.tier_names = {"file", "q4", "q2"},
                      .groups = {{.layers = 48, .units = 128, .parameters = 16384, .bytes = bytes}},
                      .spare_blocks = 2,
                      .max_spare_blocks = 2};
    const std::int64_t all = 48 * 128;
    for (int part = 1; part < 20; ++part) {
      inputs.budget_bytes = all * (bytes[2] + (bytes[0] - bytes[2]) * part / 20);
      const auto plan = plan_precision(inputs, PolicyKind::fovea);
      FOVEA_VERIFY(plan);
      QVERIFY(plan->arena.any_mix);
      std::int64_t need = 0, parts = 0;
      for (std::size_t tier = 0; tier < 3; ++tier) {
        if (plan->capacity[tier] > 0) need += (plan->capacity[tier] + plan->spare_blocks) * bytes[tier];
        parts += plan->plan.parts.experts[tier].bytes;
      }
      QCOMPARE(plan->arena.bytes(), need);
      QCOMPARE(parts, need);
      QVERIFY(plan->plan.total_bytes <= inputs.budget_bytes);
      QVERIFY(plan->plan.total_bytes > inputs.budget_bytes - 2 * bytes[0] - 2 * bytes[1]);
      QCOMPARE(plan->arena.block_bytes.size(), std::size_t{3});  // whoever begins there
    }
    // Two tiers have numbers that follow from the bytes; other policies keep theirs, and so do units at one
    // tier and those of which a part is on disk.
    inputs.budget_bytes *= 2;
    QVERIFY(!plan_precision(inputs, PolicyKind::fovea)->arena.any_mix);
    inputs.budget_bytes = all * (bytes[0] + bytes[2]) / 2;
    QVERIFY(plan_precision(inputs, PolicyKind::fovea)->arena.any_mix);
    QVERIFY(!plan_precision(inputs, PolicyKind::dynaexq)->arena.any_mix);
    inputs.groups[0].absent = 1;
    QVERIFY(!plan_precision(inputs, PolicyKind::fovea)->arena.any_mix);
    inputs.host_computes_absent = true;
    QVERIFY(plan_precision(inputs, PolicyKind::fovea)->arena.any_mix);
    inputs.tier_names.pop_back();
    inputs.groups[0].bytes.pop_back();
    QVERIFY(!plan_precision(inputs, PolicyKind::fovea)->arena.any_mix);
  }

  void adviceHasNumbers() {
    const auto plan = plan_precision(small_inputs(200), PolicyKind::dynaexq);
    FOVEA_VERIFY(plan);
    QVERIFY(!plan->plan.advice.empty());
    QVERIFY(english(plan->plan.advice.back()).find(std::to_string(332 * page)) != std::string::npos);
  }

  // 32 units of 512 or 128 MiB in slabs of 512: n high ones take n + ⌈(32 − n) ÷ 4⌉ slabs, which are 16 of
  // 10, 18 of 13, and 32 of all.
  void adviceTellsWhatAGibibyteBuys() {
    constexpr std::int64_t mebibyte = 1 << 20;
    PlanInputs inputs{.tier_names = {"high", "low"},
                      .groups = {{.layers = 4,
                                  .units = 8,
                                  .parameters = 1000,
                                  .bytes = {512 * mebibyte, 128 * mebibyte},
                                  .bits = {8, 4}}},
                      .budget_bytes = 8192 * mebibyte};
    const auto advice = [&] {
      return english(plan_precision_anyway(inputs, PolicyKind::static_tiers).plan.advice);
    };
    const std::string all = "Everything at high needs 16.0 GiB (17179869184 bytes)";
    QCOMPARE(advice(),
             (std::vector<std::string>{"1 GiB more: 5.62 instead of 5.25 bits per weight, 13 instead of "
                                       "10 units at high (3 instead of 2 in each layer)",
                                       all}));
    inputs.budget_bytes = 15360 * mebibyte;
    QCOMPARE(advice(), std::vector<std::string>{all});
    inputs.budget_bytes = 16384 * mebibyte;
    QCOMPARE(advice(), std::vector<std::string>{"Everything is at the highest tier, high"});
    inputs.budget_bytes = 16896 * mebibyte;
    QCOMPARE(advice(), std::vector<std::string>{
                           "Everything is at the highest tier, high, and 512 MiB of the budget stay free"});
    // Half of the units are away for good: room for more brings none of them back.
    inputs.budget_bytes = 6144 * mebibyte;
    inputs.groups.push_back(inputs.groups.front());
    inputs.groups.back().absent = 8;
    for (UnitGroup& group : inputs.groups) group.layers = 2;
    const std::string more = advice().front();
    QVERIFY2(more.find("1 GiB more: ") == 0 && more.find("disk") == std::string::npos, more.c_str());
  }
};
FOVEA_TEST(PlannerTest)

#include "planner_test.moc"
