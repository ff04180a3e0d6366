#include "engine/precision/weight_divergence.h"

#include <cmath>

#include "kernels/cpu/device.h"
#include "kernels/formats/formats.h"
#include "tests/support/test.h"

#include "store_subject.h"

using namespace fovea;
using namespace fovea::precision;
using fovea::tests::matrix_values;
using fovea::tests::store_subject;

namespace {

// 256 bins from −most to most, each with half a count more; in double precision from end to end.
double kl(const std::vector<float>& original, const std::vector<float>& rounded) {
  double most = 0;
  for (const float w : original) most = std::max(most, std::abs(double(w)));
  const auto shares = [&](const std::vector<float>& weights) {
    std::vector<double> share(256, 0.5 / (double(weights.size()) + 128));
    for (const float w : weights)
      share[std::size_t(std::clamp(std::floor((double(w) / most + 1) * 128), 0.0, 255.0))] +=
          1 / (double(weights.size()) + 128);
    return share;
  };
  const auto p = shares(original), q = shares(rounded);
  double sum = 0;
  for (std::size_t i = 0; i < 256; ++i) sum += p[i] * std::log(p[i] / q[i]);
  return sum;
}

}  // namespace

class WeightDivergenceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void histogramsByHand() {
    // With a half more each: 3/4 and 1/4 against 1/4 and 3/4.
    QVERIFY(std::abs(histogram_divergence({1, 0}, {0, 1}) - 0.5 * std::log(3.0)) < 1e-12);
    QCOMPARE(histogram_divergence({3, 5, 0}, {3, 5, 0}), 0.0);
  }

  // Every linear layer of a small model, whose rows are all looked at; and the same from several threads.
  void ofAModel() {
    const auto s = store_subject(*kernels::cpu::default_device(), UnitScope::linear_layers);
    FOVEA_VERIFY(s);
    const std::vector<std::string> names{"file", "q8", "q4", "q2"};
    const auto tiers = parse_tiers(names, s->units);
    FOVEA_VERIFY(tiers);
    const auto found = weight_divergences(s->checkpoint, s->units, *tiers, 1);
    FOVEA_VERIFY(found);
    QCOMPARE(*weight_divergences(s->checkpoint, s->units, *tiers, 3), *found);
    for (UnitId unit = 0; unit < UnitId(s->units.size()); ++unit) {
      const models::MatrixSource& matrix = s->units[unit].parts[0];
      const std::vector<float> original = matrix_values(*s, matrix);
      QVERIFY(original.size() <= 1 << 16);
      QCOMPARE((*found)[std::size_t(4 * unit)], 0.0F);
      for (std::size_t tier = 1; tier < 4; ++tier) {
        const kernels::Type type = *(*tiers)[tier].type;
        std::vector<std::byte> packed(std::size_t(matrix.rows * kernels::row_bytes(type, matrix.columns)));
        std::vector<float> rounded(original.size());
        kernels::formats::quantize(type, original.data(), std::ssize(original), packed.data());
        kernels::formats::dequantize(type, packed.data(), std::ssize(original), rounded.data());
        const double expected = kl(original, rounded), value = double((*found)[std::size_t(4 * unit) + tier]);
        QVERIFY2(std::abs(value - expected) < 0.02 * expected + 1e-4,
                 qPrintable(QString("%1 at %2: %3, expected %4")
                                .arg(QString::fromStdString(s->units.name(unit)),
                                     QString::fromStdString(names[tier]))
                                .arg(value)
                                .arg(expected)));
      }
      QVERIFY((*found)[std::size_t(4 * unit) + 1] < (*found)[std::size_t(4 * unit) + 3]);
    }
  }
};
FOVEA_TEST(WeightDivergenceTest)

#include "weight_divergence_test.moc"
