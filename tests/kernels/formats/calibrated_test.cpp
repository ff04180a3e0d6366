// Quantisation with knowledge of the inputs, judged by the outputs' error on inputs made here.
#include "kernels/formats/calibrated.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/formats/formats.h"
#include "tests/support/test.h"

using namespace fovea::kernels;

namespace {

constexpr std::int64_t columns = 96;
constexpr std::int64_t rows = 15;

std::vector<float> normals(std::mt19937& random, std::int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& v : x) v = normal(random);
  return x;
}

// Inputs [count, columns] that a few directions dominate, with columns of very different size, as activations
// have them.
std::vector<float> correlated_inputs(std::mt19937& random, std::int64_t count) {
  constexpr std::int64_t directions = 24;
  std::mt19937 fixed(fovea::tests::seed() + 1);
  const std::vector<float> mix = normals(fixed, directions * columns);
  const std::vector<float> sizes = normals(fixed, columns);
  std::vector<float> x = normals(random, count * columns);
  for (std::int64_t t = 0; t < count; ++t) {
    const std::vector<float> hidden = normals(random, directions);
    for (std::int64_t i = 0; i < columns; ++i) {
      float& v = x[static_cast<std::size_t>(t * columns + i)];
      v *= 0.5F;
      for (std::int64_t k = 0; k < directions; ++k)
        v += hidden[static_cast<std::size_t>(k)] * mix[static_cast<std::size_t>(k * columns + i)] / 4;
      v *= std::exp(sizes[static_cast<std::size_t>(i)] / 2);
    }
  }
  return x;
}

std::vector<float> second_moments(const std::vector<float>& x) {
  const auto count = static_cast<std::int64_t>(x.size()) / columns;
  std::vector<float> h(static_cast<std::size_t>(columns * columns));
  for (std::int64_t i = 0; i < columns; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t t = 0; t < count; ++t)
        sum += static_cast<double>(x[static_cast<std::size_t>(t * columns + i)]) *
               static_cast<double>(x[static_cast<std::size_t>(t * columns + j)]);
      h[static_cast<std::size_t>(i * columns + j)] = static_cast<float>(sum / static_cast<double>(count));
    }
  }
  return h;
}

// |x Wᵀ − x Qᵀ| / |x Wᵀ| over all inputs.
double output_error(const std::vector<float>& x, const std::vector<float>& w, Type type,
                    const std::vector<std::byte>& bytes) {
  std::vector<float> q(w.size());
  formats::dequantize(type, bytes.data(), static_cast<std::int64_t>(w.size()), q.data());
  double error = 0;
  double size = 0;
  for (std::size_t t = 0; t < x.size(); t += columns) {
    for (std::size_t row = 0; row < w.size(); row += columns) {
      double exact = 0;
      double found = 0;
      for (std::size_t i = 0; i < columns; ++i) {
        exact += static_cast<double>(x[t + i]) * static_cast<double>(w[row + i]);
        found += static_cast<double>(x[t + i]) * static_cast<double>(q[row + i]);
      }
      error += (exact - found) * (exact - found);
      size += exact * exact;
    }
  }
  return std::sqrt(error / size);
}

std::vector<std::byte> room(Type type) {
  return std::vector<std::byte>(static_cast<std::size_t>(rows * row_bytes(type, columns)));
}

}  // namespace

class CalibratedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void outputs_are_nearer_on_other_inputs_of_the_kind_data() {
    QTest::addColumn<int>("type");
    for (const Type type : {Type::q8_0, Type::q4_0, Type::q4_f, Type::q4_e, Type::q3_f, Type::q2_f})
      QTest::newRow(type_name(type).data()) << static_cast<int>(type);
  }
  void outputs_are_nearer_on_other_inputs_of_the_kind() {
    QFETCH(int, type);
    const Type t = static_cast<Type>(type);
    std::mt19937 random(fovea::tests::seed());
    const std::vector<float> w = normals(random, rows * columns);
    const std::vector<float> calibration = correlated_inputs(random, 2000);
    const std::vector<float> other = correlated_inputs(random, 500);
    const std::vector<float> h = second_moments(calibration);
    std::vector<float> diagonal;
    for (std::size_t i = 0; i < columns; ++i) diagonal.push_back(h[i * columns + i]);

    std::vector<std::byte> plain = room(t);
    QVERIFY(formats::quantize_rows(t, w.data(), rows, columns, nullptr, plain.data()));
    std::vector<std::byte> weighted = room(t);
    QVERIFY(formats::quantize_rows(t, w.data(), rows, columns, diagonal.data(), weighted.data()));
    const auto metric = formats::InputMetric::make(h.data(), columns);
    QVERIFY(metric.has_value());
    std::vector<std::byte> calibrated = room(t);
    QVERIFY(formats::quantize_rows(t, w.data(), rows, *metric, calibrated.data()));

    const double errors[] = {output_error(other, w, t, plain), output_error(other, w, t, weighted),
                             output_error(other, w, t, calibrated)};
    const QString text = QString("%1 without data, %2 with the diagonal, %3 with all moments (seed %4)")
                             .arg(errors[0])
                             .arg(errors[1])
                             .arg(errors[2])
                             .arg(fovea::tests::seed());
    if (qEnvironmentVariableIsSet("FOVEA_TEST_PRINT")) qInfo("%s", qPrintable(text));
    QVERIFY2(errors[2] < 0.85 * errors[0], qPrintable(text));
    QVERIFY2(errors[2] < errors[1], qPrintable(text));
  }

  // Without correlation and with equal sizes there is nothing to make up for.
  void white_inputs_change_nothing() {
    std::mt19937 random(fovea::tests::seed());
    const std::vector<float> w = normals(random, rows * columns);
    std::vector<float> h(static_cast<std::size_t>(columns * columns), 0.0F);
    for (std::size_t i = 0; i < columns; ++i) h[i * columns + i] = 3;
    const auto metric = formats::InputMetric::make(h.data(), columns);
    QVERIFY(metric.has_value());
    for (const Type t : {Type::q8_0, Type::q4_f, Type::q2_f}) {
      std::vector<std::byte> plain = room(t);
      std::vector<std::byte> calibrated = room(t);
      QVERIFY(formats::quantize_rows(t, w.data(), rows, columns, nullptr, plain.data()));
      QVERIFY(formats::quantize_rows(t, w.data(), rows, *metric, calibrated.data()));
      QVERIFY2(plain == calibrated, qPrintable(QString("seed %1").arg(fovea::tests::seed())));
    }
  }

  // One input, columns that are never used, exact copies: no factor without damping.
  void singular_moments_are_damped() {
    std::mt19937 random(fovea::tests::seed());
    const std::vector<float> w = normals(random, rows * columns);
    std::vector<float> x = normals(random, columns);
    for (std::size_t i = 40; i < 60; ++i) x[i] = 0;
    for (std::size_t i = 0; i < 20; ++i) x[i + 70] = x[i];
    for (float& v : x) v *= 1e-8F;
    const std::vector<float> h = second_moments(x);
    for (const double damping : {0.01, 1e-15}) {
      const auto metric = formats::InputMetric::make(h.data(), columns, damping);
      QVERIFY(metric.has_value());
      std::vector<std::byte> plain = room(Type::q3_f);
      std::vector<std::byte> calibrated = room(Type::q3_f);
      QVERIFY(formats::quantize_rows(Type::q3_f, w.data(), rows, columns, nullptr, plain.data()));
      QVERIFY(formats::quantize_rows(Type::q3_f, w.data(), rows, *metric, calibrated.data()));
      QVERIFY(output_error(x, w, Type::q3_f, calibrated) < output_error(x, w, Type::q3_f, plain));
    }
  }

  void what_has_no_meaning_is_refused() {
    std::vector<float> h(static_cast<std::size_t>(columns * columns), 0.0F);
    QVERIFY(!formats::InputMetric::make(h.data(), columns).has_value());
    for (std::size_t i = 0; i < columns; ++i) h[i * columns + i] = 1;
    const auto metric = formats::InputMetric::make(h.data(), columns);
    QVERIFY(metric.has_value());
    h[5 * columns + 5] = -1;
    QVERIFY(!formats::InputMetric::make(h.data(), columns).has_value());
    h[5 * columns + 5] = 1;
    h[7 * columns + 2] = std::numeric_limits<float>::quiet_NaN();
    QVERIFY(!formats::InputMetric::make(h.data(), columns).has_value());
    std::vector<float> w(static_cast<std::size_t>(rows * columns), 1.0F);
    std::vector<std::byte> out = room(Type::q4_f);
    QVERIFY(formats::quantize_rows(Type::q4_f, w.data(), rows, *metric, out.data()));
    w.back() = std::numeric_limits<float>::infinity();
    QVERIFY(!formats::quantize_rows(Type::q4_f, w.data(), rows, *metric, out.data()));
  }
};
FOVEA_TEST(CalibratedTest)
#include "calibrated_test.moc"
