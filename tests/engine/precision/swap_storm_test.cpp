// The policy that forces swaps: what each of its modes asks for.
#include "engine/precision/swap_storm.h"

#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::precision;

namespace {

// Two layers of four, one unit of the second on the host.
PolicyWorld two_layers() {
  PolicyWorld world;
  world.first_unit = {0, 4, 8};
  world.bits_per_weight = {8, 4, 2};
  world.spare_blocks = 2;
  world.high_per_layer = 1;
  world.on_host = {false, false, false, false, true, false, false, false};
  return world;
}

}  // namespace

class SwapStormTest : public QObject {
  Q_OBJECT

  using Tiers = std::vector<std::uint8_t>;
  std::shared_ptr<StormControl> control_ = std::make_shared<StormControl>();

  static std::vector<Decision> asked(SwapStorm& storm, const Tiers& tiers, std::int32_t in_flight = 0) {
    std::vector<Decision> decisions;
    storm.propose(tiers, in_flight, decisions);
    return decisions;
  }
  static std::uint8_t tier(const Tiers& tiers, const Decision& decision) {
    return tiers[static_cast<std::size_t>(decision.unit)];
  }

 private Q_SLOTS:
  void init() { control_ = std::make_shared<StormControl>(); }

  void beginsWithTheFirstOfEachLayer() {
    const SwapStorm storm(two_layers(), control_);
    QCOMPARE(storm.initial(), (Tiers{0, 2, 2, 2, no_tier, 0, 2, 2}));
    const Tiers given = {2, 2, 2, 0, no_tier, 2, 2, 0};
    QCOMPARE(SwapStorm(two_layers(), given, control_, 4).initial(), given);
  }

  void asksForPairs() {
    SwapStorm storm(two_layers(), control_);
    const Tiers tiers = storm.initial();
    control_->mode = StormMode::still;
    QVERIFY(asked(storm, tiers).empty());
    control_->mode = StormMode::storm;
    for (int pass = 0; pass < 10; ++pass) {
      const auto pair = asked(storm, tiers);
      QCOMPARE(pair.size(), std::size_t{2});
      QVERIFY(tier(tiers, pair[0]) == 2 && pair[0].target == 0);
      QVERIFY(tier(tiers, pair[1]) == 0 && pair[1].target == 2);
    }
    control_->mode = StormMode::flood;
    QCOMPARE(asked(storm, tiers).size(), std::size_t{4});  // two spare blocks of each tier
    QCOMPARE(asked(storm, tiers, 1).size(), std::size_t{2});
    QVERIFY(asked(storm, tiers, 3).empty());
    SwapStorm narrow(two_layers(), control_, 3);
    QCOMPARE(asked(narrow, tiers).size(), std::size_t{2});
  }

  void goesHomeAPairInAPass() {
    SwapStorm storm(two_layers(), control_);
    const Tiers begun = storm.initial();
    Tiers tiers = {2, 0, 0, 2, no_tier, 2, 2, 0};
    control_->mode = StormMode::home;
    for (int pass = 0; tiers != begun; ++pass) {
      QVERIFY(pass < 4);
      const auto back = asked(storm, tiers);
      QVERIFY(!control_->home && !back.empty() && back.size() <= 2);
      for (const Decision& decision : back) tiers[static_cast<std::size_t>(decision.unit)] = decision.target;
    }
    QVERIFY(asked(storm, tiers, 1).empty());
    QVERIFY(!control_->home);  // something is in flight
    QVERIFY(asked(storm, tiers).empty());
    QVERIFY(control_->home);
    control_->mode = StormMode::still;
    asked(storm, tiers);
    QVERIFY(!control_->home);
  }
};
FOVEA_TEST(SwapStormTest)

#include "swap_storm_test.moc"
