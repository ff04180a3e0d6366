// DynaExq without our additions: the first version of the paper, and the limits of the later ones.
#include <algorithm>
#include <numeric>

#include "engine/precision/dynaexq.h"
#include "tests/support/test.h"

#include "routing.h"

using namespace fovea::precision;
using fovea::dynaexq_as_published;
using fovea::DynaExqSettings;
using fovea::DynaExqVersion;
using fovea::tests::random_routing;
using fovea::tests::Routing;
using fovea::tests::two_tiers;

namespace {

std::unique_ptr<Policy> published(const PolicyWorld& world, const DynaExqSettings& settings) {
  auto policy = make_dynaexq(world, settings);
  if (!policy) qFatal("%s", policy.error().message().c_str());
  return *std::move(policy);
}

std::vector<Decision> moves(Policy& policy, const std::vector<std::uint8_t>& tiers) {
  std::vector<Decision> decisions;
  policy.propose(tiers, 0, decisions);
  return decisions;
}

}  // namespace

class DynaExqPublishedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Algorithm 1, Eq. 2 and §3.5 written out: every unit by itself, α at each pass, τ once behind the warm-up,
  // the first n_hot of those with S ≥ τ in the high tier and nobody else.
  void asPublished_data() {
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("experts");
    QTest::addColumn<int>("hot");
    QTest::newRow("one layer") << 1 << 8 << 2;
    QTest::newRow("several") << 3 << 16 << 5;
    QTest::newRow("all hot") << 2 << 6 << 6;
    QTest::newRow("none hot") << 2 << 6 << 0;
  }
  void asPublished() {
    QFETCH(int, layers);
    QFETCH(int, experts);
    QFETCH(int, hot);
    PolicyWorld world = two_tiers(layers, experts, hot);
    world.capacity = {layers * experts, layers * experts};  // nothing stays for want of a block
    world.spare_blocks = 64;
    DynaExqSettings settings = dynaexq_as_published(DynaExqVersion::v1);
    settings.interval_tokens = 10;
    settings.warm_up_tokens = 30;
    settings.in_flight = 1024;
    const auto policy = published(world, settings);
    std::vector<std::uint8_t> tiers = policy->initial(), expected = tiers;
    std::vector<double> s(static_cast<std::size_t>(layers * experts)), tau;
    std::mt19937 random(11);
    for (std::int64_t tokens = 0, next = 30, pass = 0; pass < 400; ++pass) {
      const std::int64_t n = pass % 7 == 0 ? 4 : 1;
      const Routing routing = random_routing(world, n, 2, pass / 60, random);
      policy->observe(routing.observation());
      for (double& each : s) each *= 0.9;
      for (const ExpertUse& use : routing.uses)
        s[static_cast<std::size_t>(use.unit)] += 0.1 * static_cast<double>(use.gate_sum) /
                                                 routing.routed[static_cast<std::size_t>(use.unit / experts)];
      tokens += n;
      if (tokens >= next) {
        next = tau.empty() ? tokens + 10 : next + (tokens - next) / 10 * 10 + 10;
        const bool first = tau.empty();
        for (int layer = 0; layer < layers; ++layer) {
          std::vector<int> order(static_cast<std::size_t>(experts));
          std::iota(order.begin(), order.end(), layer * experts);
          std::ranges::sort(order, [&](int a, int b) {
            return s[static_cast<std::size_t>(a)] > s[static_cast<std::size_t>(b)];
          });
          if (first)
            tau.push_back(hot > 0 ? s[static_cast<std::size_t>(order[static_cast<std::size_t>(hot - 1)])]
                                  : 0);
          for (int rank = 0; rank < experts; ++rank) {
            const auto unit = static_cast<std::size_t>(order[static_cast<std::size_t>(rank)]);
            expected[unit] = rank < hot && s[unit] >= tau[static_cast<std::size_t>(layer)] ? 0 : 1;
          }
        }
      }
      for (const Decision& d : moves(*policy, tiers)) tiers[static_cast<std::size_t>(d.unit)] = d.target;
      QVERIFY2(tiers == expected, qPrintable(QString("pass %1").arg(pass)));
    }
  }

  // Its later versions move four of the whole model in 200 tokens, and only for 0.01 of hotness.
  void asPublishedLater() {
    const PolicyWorld world = two_tiers(6, 16, 4);
    const auto policy = published(world, dynaexq_as_published(DynaExqVersion::later));
    std::vector<std::uint8_t> tiers = policy->initial();
    std::mt19937 random(5);
    std::vector<std::int64_t> moved(20);  // by the warm-up, and by each update behind it
    for (std::int64_t token = 1; token < 64 + 20 * 200; ++token) {
      policy->observe(random_routing(world, 1, 2, token / 500, random).observation());
      for (const Decision& d : moves(*policy, tiers)) {
        tiers[static_cast<std::size_t>(d.unit)] = d.target;
        if (d.target == 0) ++moved[static_cast<std::size_t>((token - 64) / 200)];
      }
    }
    QCOMPARE(*std::max_element(moved.begin() + 1, moved.end()), 4);
    const auto by_a_hair = published(two_tiers(1, 4, 1), dynaexq_as_published(DynaExqVersion::later));
    tiers = by_a_hair->initial();
    // S of 0 and 1 is nearly their gate after so many passes.
    const auto both = [&](float outsider, int tokens) {
      const std::vector<ExpertUse> uses{{.unit = 0, .tokens = 1, .gate_sum = 0.3F},
                                        {.unit = 1, .tokens = 1, .gate_sum = outsider}};
      for (int token = 0; token < tokens; ++token) by_a_hair->observe({.tokens = 1, .uses = uses});
      return moves(*by_a_hair, tiers);
    };
    QVERIFY(both(0.2F, 64).empty());
    QVERIFY(both(0.309F, 200).empty());
    QCOMPARE(std::ssize(both(0.311F, 200)), 2);
  }
};
FOVEA_TEST(DynaExqPublishedTest)

#include "dynaexq_published_test.moc"
