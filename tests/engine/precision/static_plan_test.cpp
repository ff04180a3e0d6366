// The best fixed map of a budget: fits its arena, and loses little against the bound.
#include "engine/precision/static_plan.h"

#include <numeric>
#include <random>

#include "engine/precision/best_mix.h"
#include "engine/precision/model_shapes.h"
#include "kernels/reference/device.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::precision;
using namespace fovea::tests;

namespace {

constexpr ModelShape small{.name = "small",
                           .layers = 6,
                           .hidden = 256,
                           .heads = 2,
                           .kv_heads = 1,
                           .head_dim = 32,
                           .vocabulary = 100,
                           .context = 100,
                           .experts = 16,
                           .experts_used = 2,
                           .expert_width = 128};

Result<UnitPlan> plan_of(const ShapeWeights& weights, std::int64_t budget, std::int64_t offloaded,
                         PolicyKind policy = PolicyKind::static_tiers) {
  PrecisionRequest request;
  request.policy = policy;
  request.tiers = {"file", "q8"};
  request.budget_bytes = budget;
  if (offloaded > 0) {
    request.policy = PolicyKind::offload;
    request.offload.cpu_moe_layers = offloaded;
  }
  return plan_units(weights.plan, kernels::reference::device(), request, {.safety_share = 0});
}

// [96 units, 2 tiers]: nothing is lost at the upper one.
std::vector<double> random_loss(std::mt19937& random) {
  std::vector<double> loss;
  for (int unit = 0; unit < 96; ++unit)
    loss.insert(loss.end(), {0, static_cast<double>(1 + random() % 1000)});
  return loss;
}

double loss_of(const std::vector<TierId>& tiers, const std::vector<double>& loss) {
  double sum = 0;
  for (std::size_t unit = 0; unit < tiers.size(); ++unit)
    if (tiers[unit] != no_tier) sum += loss[2 * unit + tiers[unit]];
  return sum;
}

}  // namespace

class StaticPlanTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // 96 units of 98,304 weights: 48 pages in BF16, 26 (25.5) at 8.5 bits. The gain of a unit is its number.
  void theBestUnitsStandHigh() {
    const ShapeWeights weights = weights_of(small);
    std::vector<double> loss;
    for (int unit = 0; unit < 96; ++unit) {
      loss.push_back(0);
      loss.push_back(unit);
    }
    // 20 units high and 76 low have 20 · 48 + 76 · 26 pages. In so small an arena slabs of both sizes waste
    // up to a twentieth, six units.
    const auto units = plan_of(weights, (20 * 48 + 76 * 26) * 4096, 0);
    FOVEA_VERIFY(units);
    const auto plan = plan_static(*units, loss);
    FOVEA_VERIFY(plan);
    QVERIFY(plan->plan.plan.fits);
    const auto high = plan->plan.capacity[0];
    QVERIFY2(high >= 14 && high <= 20, qPrintable(QString::number(high)));
    for (std::size_t unit = 0; unit < 96; ++unit)
      QCOMPARE(int(plan->tiers[unit]), unit < static_cast<std::size_t>(96 - high) ? 1 : 0);
  }

  // … whatever the lower ones are said to cost.
  void withoutABudgetAllStandHighest() {
    const ShapeWeights weights = weights_of(small);
    const auto units = plan_of(weights, 0, 0);
    FOVEA_VERIFY(units);
    const auto plan = plan_static(*units, std::vector<double>(2 * 96, 0.0));
    FOVEA_VERIFY(plan);
    QCOMPARE(plan->tiers, std::vector<TierId>(96, 0));
    QVERIFY(plan->plan.plan.fits);
  }

  void everyBudgetHasAMap() {
    std::mt19937 random(seed());
    const ShapeWeights weights = weights_of(small);
    const std::vector<double> loss = random_loss(random);
    for (const std::int64_t offloaded : {0, 2}) {
      const auto least = plan_of(weights, 1, offloaded);
      FOVEA_VERIFY(least);
      double before = 1e30;
      for (std::int64_t budget = min_budget(least->inputs, PolicyKind::static_tiers);
           budget < 110 * 48 * 4096; budget += 37 * 4096) {
        const auto units = plan_of(weights, budget, offloaded);
        FOVEA_VERIFY(units);
        const auto plan = plan_static(*units, loss);
        FOVEA_VERIFY(plan);
        QVERIFY(plan->plan.plan.fits && plan->plan.plan.total_bytes <= budget);
        QCOMPARE(counts_of(*units, plan->tiers), plan->plan.group_capacity);
        const auto absent = std::ranges::count(plan->tiers, no_tier);
        QCOMPARE(absent, std::ptrdiff_t(offloaded * 16));
        // Falls with the budget but for what slabs waste.
        const double now = loss_of(plan->tiers, loss);
        QVERIFY(now <= before + 4000);
        before = std::min(before, now);
      }
      QCOMPARE(before, 0.0);
    }
    const auto refused = plan_of(weights, 4096, 0);
    FOVEA_VERIFY(refused);
    QVERIFY(!plan_static(*refused, loss));
  }

  // fovea begins as the best fixed mix of what its spare blocks leave: doing nothing costs these blocks
  // alone.
  void foveaStartsAsStatic() {
    std::mt19937 random(seed());
    const ShapeWeights weights = weights_of(small);
    const std::vector<double> loss = random_loss(random);
    const double all_low = std::reduce(loss.begin(), loss.end());
    const auto least = plan_of(weights, 1, 0, PolicyKind::fovea);
    FOVEA_VERIFY(least);
    int compared = 0;
    for (std::int64_t budget = min_budget(least->inputs, PolicyKind::fovea); budget < 96 * 48 * 4096;
         budget += 97 * 4096) {
      const auto units = plan_of(weights, budget, 0, PolicyKind::fovea);
      FOVEA_VERIFY(units);
      const auto ours = plan_static(*units, loss);
      FOVEA_VERIFY(ours);
      QVERIFY(ours->plan.plan.fits && ours->plan.plan.total_bytes <= budget);
      const auto high = std::ranges::count(ours->tiers, TierId{0});
      std::vector<double> gains;  // nobody below gains more than anybody above
      double worst_above = 1e9, best_below = 0;
      for (std::size_t unit = 0; unit < 96; ++unit) {
        const double gain = loss[2 * unit + 1];
        if (ours->tiers[unit] == 0)
          worst_above = std::min(worst_above, gain);
        else
          best_below = std::max(best_below, gain);
      }
      QVERIFY(high == 0 || worst_above >= best_below);
      // A fixed mix in what is left beside the spare blocks, two of each tier, is no better.
      const std::int64_t left = budget - 2 * (48 + 26) * 4096;
      const auto fixed_units = plan_of(weights, left, 0);
      FOVEA_VERIFY(fixed_units);
      const auto fixed = plan_static(*fixed_units, loss);
      if (!fixed || !fixed->plan.plan.fits) continue;
      ++compared;
      QVERIFY2(loss_of(ours->tiers, loss) <= loss_of(fixed->tiers, loss) + 0.06 * all_low,
               qPrintable(QString("%1: %2 %3")
                              .arg(budget)
                              .arg(loss_of(ours->tiers, loss))
                              .arg(loss_of(fixed->tiers, loss))));
    }
    QVERIFY(compared > 10);
  }
};
FOVEA_TEST(StaticPlanTest)

#include "static_plan_test.moc"
