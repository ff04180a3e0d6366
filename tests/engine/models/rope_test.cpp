// Rotary tables, and how far they are made to reach.
#include <cmath>

#include "engine/models/config.h"
#include "tests/support/test.h"

using namespace fovea;

class RopeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // llama-3.1's published values for heads of 128 at its three kinds of wavelength, by its formula on paper.
  void llama3Frequencies() {
    models::RopeConfig rope{.theta = 500000,
                            .rotary = 128,
                            .scaling = models::RopeScaling::llama3,
                            .factor = 8,
                            .original_context = 8192,
                            .frequency_factors = {}};
    const auto table = models::rotary_table(rope, 131072, 100);
    QCOMPARE(table.inverse_frequency[0], 1.0F);              // short waves: untouched
    const double last = std::pow(500000.0, -126.0 / 128.0);  // long waves: divided by 8
    QVERIFY(std::abs(table.inverse_frequency[63] / (last / 8) - 1) < 1e-6);
    QCOMPARE(table.magnitude, 1.0F);
  }

  // The ramp ends at the last dimension although beta_slow puts its end far behind; the figures are those of
  // transformers 5 (ROPE_INIT_FUNCTIONS["yarn"]).
  void yarnRampEndsAtTheLastDimension() {
    const models::RopeConfig rope{.theta = 100,
                                  .rotary = 8,
                                  .scaling = models::RopeScaling::yarn,
                                  .factor = 4,
                                  .original_context = 32768,
                                  .beta_fast = 2000,
                                  .beta_slow = 0.01,
                                  .frequency_factors = {}};
    const auto table = models::rotary_table(rope, 131072, 100);
    const std::vector expected = {1.0, 0.2823462188243866, 0.07857143133878708, 0.02145831286907196};
    QCOMPARE(table.inverse_frequency.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      QVERIFY(std::abs(static_cast<double>(table.inverse_frequency[i]) / expected[i] - 1) < 1e-6);
    QVERIFY(std::abs(static_cast<double>(table.magnitude) - 1.138629436111989) < 1e-6);
  }

  // Only what is made to stretch does, and layers that see a window or no positions bound nothing.
  void contextsAreExtendedByScalingAlone() {
    using models::RopeScaling;
    const auto table = [](RopeScaling scaling, double factor, std::int64_t original) {
      models::RopeConfig rope;
      rope.scaling = scaling;
      rope.factor = factor;
      rope.original_context = original;
      return rope;
    };
    const auto longest = [&](RopeScaling scaling, double factor, std::int64_t original) {
      models::ModelConfig config;
      config.context = 1000;
      config.rotary = {table(scaling, factor, original), {}};
      models::AttentionConfig window{.window = 8, .rotary = 1}, unplaced{.rotary = -1};
      config.layers = {
          {.mixer = models::AttentionConfig{.rotary = 0}}, {.mixer = window}, {.mixer = unplaced}};
      return models::extended_context(config);
    };
    QCOMPARE(longest(RopeScaling::none, 1, 1000), 1000);
    QCOMPARE(longest(RopeScaling::linear, 8, 1000), 1000);
    QCOMPARE(longest(RopeScaling::llama3, 8, 100), 1000);
    QCOMPARE(longest(RopeScaling::yarn, 4, 800), 3200);
    QCOMPARE(longest(RopeScaling::yarn, 4, 250), 1000);
    QCOMPARE(longest(RopeScaling::yarn, 2, 100), 1000);  // its trained context is longer than that
    QCOMPARE(longest(RopeScaling::dynamic, 2.5, 1000), 2500);

    models::ModelConfig two;  // both see everything: the shorter one bounds
    two.context = 1000;
    two.rotary = {table(RopeScaling::yarn, 8, 500), {}};
    two.layers = {{.mixer = models::AttentionConfig{.rotary = 0}},
                  {.mixer = models::AttentionConfig{.rotary = 1}}};
    QCOMPARE(models::extended_context(two), 1000);
  }

  // Dynamic scaling changes nothing within the trained context.
  void dynamicWithinContextIsUnscaled() {
    models::RopeConfig plain{.rotary = 16, .frequency_factors = {}};
    models::RopeConfig dynamic = plain;
    dynamic.scaling = models::RopeScaling::dynamic;
    dynamic.factor = 4;
    QVERIFY(models::rotary_table(dynamic, 64, 64).inverse_frequency ==
            models::rotary_table(plain, 64, 64).inverse_frequency);
    QVERIFY(models::rotary_table(dynamic, 64, 65).inverse_frequency !=
            models::rotary_table(plain, 64, 65).inverse_frequency);
  }
};
FOVEA_TEST(RopeTest)

#include "rope_test.moc"
