// Weights that are made from a seed: the same bytes each time, sound values, and no more than the shape asks.
#include "engine/checkpoint/synthetic.h"

#include <cmath>

#include "kernels/formats/formats.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::checkpoint;
using kernels::Type;

namespace {

SyntheticModel model_of(Type type, std::uint64_t seed) {
  SyntheticModel model;
  model.name = "made";
  model.seed = seed;
  model.matrices = {{.name = "a.weight", .type = type, .shape = {300, 4096}},
                    {.name = "b.weight", .type = type, .shape = {300, 4096}}};
  model.vectors = {{.name = "norm.weight", .shape = {7}}, {.name = "long.weight", .shape = {900}}};
  return model;
}

std::vector<std::byte> rows_of(const Checkpoint& made, const char* name, std::int64_t first,
                               std::int64_t count) {
  const TensorInfo* tensor = made.find(name);
  std::vector<std::byte> out(static_cast<std::size_t>(count * kernels::row_bytes(tensor->type, 4096)));
  made.read_rows(*tensor, 4096, first, count, out.data());
  return out;
}

}  // namespace

class SyntheticTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void valuesAreSound_data() {
    QTest::addColumn<int>("type");
    for (const Type type : {Type::bf16, Type::q8_0, Type::q4_f, Type::q4_e, Type::q3_f, Type::q2_f})
      QTest::addRow("%s", std::string(kernels::type_name(type)).c_str()) << int(type);
  }
  void valuesAreSound() {
    QFETCH(int, type);
    const auto made = synthetic_checkpoint(model_of(static_cast<Type>(type), 1));
    FOVEA_VERIFY(made);
    const auto packed = rows_of(*made, "a.weight", 0, 300);
    std::vector<float> values(300 * 4096);
    kernels::formats::dequantize(static_cast<Type>(type), packed.data(), std::ssize(values), values.data());
    double sum = 0, squares = 0;
    for (const float value : values) {
      QVERIFY(std::isfinite(value));
      sum += value;
      squares += double{value} * value;
    }
    const auto count = static_cast<double>(values.size());
    QVERIFY(std::abs(sum / count) < 0.001);
    const double deviation = std::sqrt(squares / count);
    QVERIFY2(deviation > 0.015 && deviation < 0.025, qPrintable(QString::number(deviation)));
  }

  void theSeedDecides() {
    const auto one = synthetic_checkpoint(model_of(Type::q4_f, 1)),
               same = synthetic_checkpoint(model_of(Type::q4_f, 1)),
               other = synthetic_checkpoint(model_of(Type::q4_f, 2));
    FOVEA_VERIFY(one);
    FOVEA_VERIFY(same);
    FOVEA_VERIFY(other);
    const auto rows = rows_of(*one, "a.weight", 0, 300);
    QVERIFY(rows == rows_of(*same, "a.weight", 0, 300));
    QVERIFY(rows != rows_of(*other, "a.weight", 0, 300));
    QVERIFY(rows != rows_of(*one, "b.weight", 0, 300));
    // A part is that part of the whole.
    const auto part = rows_of(*one, "a.weight", 17, 5);
    const auto row_bytes = kernels::row_bytes(Type::q4_f, 4096);
    QVERIFY(std::ranges::equal(part, std::span(rows).subspan(static_cast<std::size_t>(17 * row_bytes),
                                                             static_cast<std::size_t>(5 * row_bytes))));
  }

  void vectorsAreOnes() {
    const auto made = synthetic_checkpoint(model_of(Type::q8_0, 1));
    FOVEA_VERIFY(made);
    for (const auto& [name, count] : {std::pair("norm.weight", 7), std::pair("long.weight", 900)}) {
      const auto bytes = made->bytes(*made->find(name));
      QCOMPARE(bytes.size(), static_cast<std::size_t>(count) * sizeof(float));
      const auto* values = reinterpret_cast<const float*>(bytes.data());
      QVERIFY(std::all_of(values, values + count, [](float value) { return value == 1.0F; }));
    }
    QVERIFY(!made->find("a.weight")->is_mapped());
  }

  void columnsMustBeWholeBlocks() {
    SyntheticModel model = model_of(Type::q4_f, 1);
    model.matrices[1].shape = {4, 33};
    const auto made = synthetic_checkpoint(model);
    QVERIFY(!made);
    QCOMPARE(made.error().kind, ErrorKind::invalid);
    QVERIFY2(made.error().message().contains("b.weight: 33 columns"), made.error().message().c_str());
  }
};

FOVEA_TEST(SyntheticTest)
#include "synthetic_test.moc"
