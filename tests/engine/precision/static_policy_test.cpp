#include "engine/precision/static_policy.h"

#include <fstream>

#include "engine/precision/best_mix.h"
#include "engine/precision/tier_map.h"
#include "tests/support/test.h"

#include "routing.h"

using namespace fovea::precision;
using fovea::ErrorKind;
using fovea::tests::two_tiers;

namespace {

const std::vector<std::string> units{"blk.0.expert.0", "blk.0.expert.1", "blk.1.expert.0", "blk.1.expert.1"};
const std::vector<std::string> tiers{"q4", "q2"};

}  // namespace

class StaticPolicyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void readsTierMaps_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");  // a digit for each unit, or the error
    QTest::newRow("every unit")
        << "blk.0.expert.0 q4\nblk.0.expert.1 q2\nblk.1.expert.0 q2\nblk.1.expert.1 q4"
        << "0110";
    QTest::newRow("patterns") << "blk.0.* q4\nblk.1.* q2\n" << "0011";
    QTest::newRow("a star inside") << "blk.*.expert.1 q4\r\nblk.*expert.0\tq2  # cold\r\n" << "1010";
    QTest::newRow("default") << "# one is hot\n\n  default q2\nblk.1.expert.0 q4" << "1101";
    QTest::newRow("only a default") << "default q4" << "0000";
    QTest::newRow("a star for all") << "* q2" << "1111";
    QTest::newRow("empty") << ""
                           << "map.txt: no line names blk.0.expert.0. Add one, or a line \"default TIER\"";
    QTest::newRow("one is missing")
        << "blk.0.* q4\nblk.1.expert.1 q2\n"
        << "map.txt: no line names blk.1.expert.0. Add one, or a line \"default TIER\"";
    QTest::newRow("twice")
        << "blk.0.* q4\n#\nblk.*.expert.1 q2"
        << "map.txt, line 3: blk.0.expert.1 already has its tier from line 1. Name every unit once";
    QTest::newRow("no such unit") << "blk.9.expert.0 q4"
                                  << "map.txt, line 1: the model has no unit \"blk.9.expert.0\". Its units "
                                     "have names like blk.0.expert.0";
    QTest::newRow("pattern without a unit")
        << "default q4\nblk.7.* q4"
        << "map.txt, line 2: the model has no unit \"blk.7.*\". Its units have names like blk.0.expert.0";
    QTest::newRow("no such tier") << "* q3" << "map.txt, line 1: \"q3\" is not one of the tiers q4, q2";
    QTest::newRow("no tier") << "blk.0.expert.0"
                             << "map.txt, line 1: expected a unit's name and a tier, like \"blk.0.expert.17 "
                                "q4\"";
    QTest::newRow("three words") << "* q4 q2"
                                 << "map.txt, line 1: expected a unit's name and a tier, like "
                                    "\"blk.0.expert.17 q4\"";
    QTest::newRow("two defaults") << "default q4\ndefault q2"
                                  << "map.txt, line 2: line 1 already gives a default";
  }
  void readsTierMaps() {
    QFETCH(QString, text);
    QFETCH(QString, expected);
    const auto map = parse_tier_map(text.toStdString(), "map.txt", units, tiers);
    if (!map) {
      QCOMPARE(QString::fromStdString(map.error().message()), expected);
      return;
    }
    QString digits;
    for (const std::uint8_t tier : *map) digits += QString::number(tier);
    QCOMPARE(digits, expected);
  }

  void readsAFile() {
    const fovea::tests::TemporaryFolder folder;
    const auto path = folder.path() / "map.txt";
    QCOMPARE(read_tier_map(path, units, tiers).error().kind, ErrorKind::not_found);
    std::ofstream(path) << "default q2\n";
    QCOMPARE(read_tier_map(path, units, tiers).value(), std::vector<std::uint8_t>(4, 1));
  }

  void staysAsItIs() {
    const PolicyWorld world = two_tiers(2, 2, 1);
    const std::vector<std::uint8_t> fixed{0, 1, 1, 0};
    auto policy = make_static(world, fixed);
    FOVEA_VERIFY(policy);
    QCOMPARE((*policy)->initial(), fixed);
    const std::vector<ExpertUse> uses{{.unit = 1, .tokens = 1, .gate_sum = 1}};
    std::vector<Decision> decisions;
    for (int pass = 0; pass < 1000; ++pass) {
      (*policy)->observe({.tokens = 1, .uses = uses});
      (*policy)->propose(fixed, 0, decisions);
    }
    QVERIFY(decisions.empty());
    QVERIFY((*policy)->hotness()[1] > 0.4F && (*policy)->hotness()[0] == 0);
  }

  void keepsToTheCapacities() {
    const PolicyWorld world = two_tiers(2, 2, 1);
    QCOMPARE(make_static(world, {0, 0, 0, 1}).error().kind, ErrorKind::memory);
    QCOMPARE(make_static(world, {1, 1, 0, 1}).error().kind, ErrorKind::memory);
    QCOMPARE(make_static(world, {0, 2, 1, 0}).error().kind, ErrorKind::internal);
    QCOMPARE(make_static(world, {0, 1, 1}).error().kind, ErrorKind::internal);
    FOVEA_VERIFY(make_static(world, {0, 1, 1, fovea::no_tier}));
  }

  void theBestFillFollowsTheUse() {
    const PolicyWorld world = two_tiers(2, 2, 1);
    const auto filled = [&](const std::vector<double>& uses) {
      return best_fill(world, expected_loss(world, uses));
    };
    QCOMPARE(filled({0.1, 0.2, 0.3, 0.4}), (std::vector<std::uint8_t>{1, 1, 0, 0}));  // layers do not matter
    QCOMPARE(std::ranges::count(filled({1, 1, 1, 1}), 0), 2);
  }

  void aMalformedWorldIsRefused_data() {
    QTest::addColumn<int>("which");
    for (int which = 0; which < 5; ++which) QTest::addRow("%d", which) << which;
  }
  void aMalformedWorldIsRefused() {
    QFETCH(int, which);
    PolicyWorld world = two_tiers(2, 2, 1);
    FOVEA_VERIFY(check(world));
    if (which == 0) world.unit_bytes.pop_back();
    if (which == 1) world.damage = {1, 2};
    if (which == 2) world.uses = {1};
    if (which == 3) world.capacity = {4};
    if (which == 4) world.first_unit = {0, 4, 2};
    QCOMPARE(check(world).error().kind, ErrorKind::internal);
  }
};
FOVEA_TEST(StaticPolicyTest)

#include "static_policy_test.moc"
