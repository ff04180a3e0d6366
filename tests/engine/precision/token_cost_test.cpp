// The bytes that a token reads on either side of a card, by hand; and where --n-cpu-moe auto leaves experts
// when a profile tells which are cold.
#include "engine/precision/token_cost.h"

#include <algorithm>

#include "engine/precision/model_shapes.h"
#include "engine/precision/offload.h"
#include "kernels/cpu/device.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::precision;

namespace {

constexpr ModelShape shape{.name = "small",
                           .layers = 4,
                           .hidden = 64,
                           .heads = 2,
                           .kv_heads = 1,
                           .head_dim = 32,
                           .vocabulary = 100,
                           .context = 100,
                           .experts = 8,
                           .experts_used = 2,
                           .expert_width = 32};
constexpr std::int64_t expert_bytes = 3 * 64 * 32 * 2;  // BF16

const ShapeWeights& weights() {
  static const ShapeWeights made = weights_of(shape);
  return made;
}
const UnitTable& units() {
  static const UnitTable table(weights().plan, UnitScope::experts);
  return table;
}

// In each layer the first two experts take 45 % of the uses each, the others share the rest.
std::vector<float> skewed() {
  std::vector<float> uses;
  for (int unit = 0; unit < 32; ++unit) uses.push_back(unit % 8 < 2 ? 0.45F : 0.1F / 6);
  return uses;
}

HostCost cost_of(double gb_per_s, std::span<const float> uses) {
  return {.chances = chances(units(), shape.experts_used, uses),
          .bytes = std::vector<std::int64_t>(32, 1'000'000'000),
          .gb_per_s = gb_per_s};
}

// Fits when at least so many units are away.
FitsWithout fits_with(std::ptrdiff_t away) {
  return [away](const std::vector<bool>& absent) { return std::ranges::count(absent, true) >= away; };
}

}  // namespace

class TokenCostTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aLayersChancesAddUpToTheExpertsUsed() {
    for (const double chance : chances(units(), 2, {})) QCOMPARE(chance, 0.25);
    const auto uses = skewed();
    const auto by_profile = chances(units(), 2, uses);
    QVERIFY(std::abs(by_profile[8] - 0.9) < 1e-6);
    QVERIFY(std::abs(by_profile[15] - 0.2 / 6) < 1e-6);
    // What is always chosen is chosen once.
    std::vector<float> one(32, 0);
    for (int layer = 0; layer < 4; ++layer) one[static_cast<std::size_t>(8 * layer)] = 1;
    QCOMPARE(chances(units(), 2, one)[0], 1.0);
    QCOMPARE(chances(units(), 2, one)[1], 0.0);
  }

  // Of four layers one is the processor's: a quarter of the eight experts that a token reads.
  void readsAreCountedOnBothSides() {
    const kernels::Device& device = *kernels::cpu::default_device();
    PrecisionRequest request;
    request.policy = PolicyKind::static_tiers;
    request.tiers = {"file"};
    request.offload.cpu_moe_layers = 1;
    const Surroundings around{.experts_used = 2, .host_bytes = [](const models::MatrixSource& matrix) {
                                return 10 * matrix.bytes();
                              }};
    const auto plan = plan_units(weights().plan, device, request, around);
    FOVEA_VERIFY(plan);
    const auto precision = plan_precision(plan->inputs, plan->policy);
    FOVEA_VERIFY(precision);
    const UnitReads reads = unit_reads(*plan, *precision, chances(units(), 2, {}), around.host_bytes);
    QCOMPARE(reads.host, 10.0 * 2 * expert_bytes);
    const double block = static_cast<double>(plan->inputs.groups.front().bytes.front());
    QVERIFY(block >= expert_bytes);
    QCOMPARE(reads.device, 3 * 2 * block);
  }

  void timeIsReadsQuestionsAndMisses() {
    std::vector<bool> first_layer(32);
    std::fill_n(first_layer.begin(), 8, true);
    // Two of a gigabyte each at 100 GB/s, a question, and mostly an answer.
    const double seconds = cost_of(100, {}).seconds(units(), first_layer);
    QVERIFY(seconds > 0.02 && seconds < 0.0202);
    QCOMPARE(cost_of(100, {}).seconds(units(), std::vector<bool>(32)), 0.0);
    // Where reading takes no time: one expert of eight is missed by a quarter of the tokens, one of two
    // layers twice as often.
    const HostCost quick = cost_of(1e12, {});
    std::vector<bool> one(32);
    one[3] = true;
    const double once = quick.seconds(units(), one);
    QVERIFY(std::abs(once - (10e-6 + 0.25 * 100e-6)) < 1e-9);
    one[20] = true;
    QVERIFY(std::abs(quick.seconds(units(), one) - 2 * once) < 1e-9);
    one[20] = false;
    one[4] = true;
    QVERIFY(std::abs(quick.seconds(units(), one) - (10e-6 + (1 - 0.75 * 0.75) * 100e-6)) < 1e-9);
  }

  // Eight units must go: two cold ones of each layer cost a fifteenth of a whole layer.
  void autoLeavesTheColdExperts_data() {
    QTest::addColumn<bool>("profile");
    QTest::addColumn<bool>("even");
    QTest::addColumn<double>("gb_per_s");
    QTest::addColumn<bool>("cold");
    QTest::newRow("no profile") << false << false << 100.0 << false;
    QTest::newRow("a profile") << true << false << 100.0 << true;
    QTest::newRow("memory so fast that misses alone cost") << true << false << 1e6 << true;
    QTest::newRow("likewise, and every layer missed as often") << true << true << 1e6 << false;
  }
  void autoLeavesTheColdExperts() {
    QFETCH(bool, profile);
    QFETCH(bool, even);
    QFETCH(double, gb_per_s);
    QFETCH(bool, cold);
    const auto uses = even ? std::vector<float>(32, 1.0F) : skewed();
    const HostCost cost = cost_of(gb_per_s, uses);
    const OffloadSettings automatic{.cpu_moe_layers = -1, .override_tensors = {}};
    const auto choice =
        choose_offloaded(units(), automatic, fits_with(8), SlowerPlace::host, profile ? &cost : nullptr);
    FOVEA_VERIFY(choice);
    QCOMPARE(std::ranges::count(choice->absent, true), 8);
    QCOMPARE(choice->cold_experts, cold ? 2 : 0);
    QCOMPARE(choice->cpu_moe_layers, cold ? 0 : 1);
    for (int layer = 0; layer < 4; ++layer) {
      for (int e = 0; e < 8; ++e)
        QCOMPARE(choice->absent[static_cast<std::size_t>(8 * layer + e)],
                 cold ? e == 2 || e == 3 : layer == 0);
    }
    QVERIFY(english(choice->notes.back())
                .contains(cold ? "the 2 coldest experts of each layer" : "auto is 1 of 4"));
  }

  // What a pattern has decided stays; where nothing has to go, or everything, there is nothing to choose.
  void coldExpertsKeepToThePatterns() {
    const auto uses = skewed();
    const HostCost cost = cost_of(100, uses);
    OffloadSettings settings{.cpu_moe_layers = -1, .override_tensors = {"blk\\.0\\.=CPU,blk\\.1\\.=GPU"}};
    const auto choice = choose_offloaded(units(), settings, fits_with(10), SlowerPlace::host, &cost);
    FOVEA_VERIFY(choice);
    QCOMPARE(choice->cold_experts, 1);
    const std::vector<std::int64_t> away = {8, 0, 1, 1};
    for (std::size_t layer = 0; layer < 4; ++layer) {
      const auto first = choice->absent.begin() + static_cast<std::ptrdiff_t>(8 * layer);
      QCOMPARE(std::count(first, first + 8, true), away[layer]);
    }
    settings.override_tensors.clear();
    for (const std::ptrdiff_t needed : {0, 32, 99}) {
      const auto none = choose_offloaded(units(), settings, fits_with(needed), SlowerPlace::host, &cost);
      FOVEA_VERIFY(none);
      QCOMPARE(std::ranges::count(none->absent, true), needed == 0 ? 0 : 32);
    }
  }
};
FOVEA_TEST(TokenCostTest)

#include "token_cost_test.moc"
