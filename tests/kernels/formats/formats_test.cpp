// Block formats against gguf-py (tests/golden/make_formats.py) and against the definition of the 16-bit
// floats.
#include "kernels/formats/formats.h"

#include <QFile>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/test.h"

using namespace fovea::kernels;

namespace {

struct Record {
  std::uint32_t kind = 0;
  Type type = Type::f32;
  std::vector<std::byte> bytes;
  std::vector<float> values;
};

std::vector<Record> golden_records() {
  QFile file(QString::fromStdString(fovea::tests::golden("formats.bin").string()));
  if (!file.open(QIODevice::ReadOnly)) return {};
  const QByteArray data = file.readAll();
  if (!data.startsWith("FVFM")) return {};
  const char* at = data.constData() + 4;
  const auto next = [&at] {
    std::uint32_t value;
    std::memcpy(&value, at, 4);
    at += 4;
    return value;
  };
  std::vector<Record> records(next());
  for (Record& record : records) {
    record.kind = next();
    record.type = static_cast<Type>(next());
    record.values.resize(next());
    record.bytes.resize(next());
    std::memcpy(record.bytes.data(), at, record.bytes.size());
    at += record.bytes.size();
    std::memcpy(record.values.data(), at, record.values.size() * sizeof(float));
    at += record.values.size() * sizeof(float);
  }
  return records;
}

// Bits of two floats are equal, but for the sign of zero.
bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a == 0 && b == 0);
}

// The value of an f16 by its definition.
double value_of_half(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

}  // namespace

class FormatsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void agreesWithGguf_data() {
    QTest::addColumn<int>("index");
    const std::vector<Record> records = golden_records();
    QCOMPARE(records.size(), std::size_t{24});
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::string name =
          (records[i].kind == 0 ? "dequantize " : "quantize ") + std::string(type_name(records[i].type));
      QTest::newRow(name.c_str()) << static_cast<int>(i);
    }
  }
  void agreesWithGguf() {
    QFETCH(int, index);
    const Record record = golden_records()[static_cast<std::size_t>(index)];
    const auto count = static_cast<std::int64_t>(record.values.size());
    QCOMPARE(static_cast<std::int64_t>(record.bytes.size()), row_bytes(record.type, count));
    if (record.kind == 0) {
      // One byte further than any alignment, since files need not align blocks.
      std::vector<std::byte> shifted(record.bytes.size() + 1);
      std::memcpy(shifted.data() + 1, record.bytes.data(), record.bytes.size());
      std::vector<float> out(record.values.size() + 1, -77.0F);
      formats::dequantize(record.type, shifted.data() + 1, count, out.data());
      for (std::size_t i = 0; i < record.values.size(); ++i) {
        QVERIFY2(same(out[i], record.values[i]),
                 qPrintable(QString("element %1: %2, expected %3").arg(i).arg(out[i]).arg(record.values[i])));
      }
      QCOMPARE(out.back(), -77.0F);
    } else {
      QVERIFY(formats::can_quantize(record.type));
      std::vector<std::byte> out(record.bytes.size() + 1, std::byte{0xA5});
      formats::quantize(record.type, record.values.data(), count, out.data());
      for (std::size_t i = 0; i < record.bytes.size(); ++i) {
        QVERIFY2(out[i] == record.bytes[i], qPrintable(QString("byte %1: %2, expected %3")
                                                           .arg(i)
                                                           .arg(static_cast<int>(out[i]))
                                                           .arg(static_cast<int>(record.bytes[i]))));
      }
      QCOMPARE(out.back(), std::byte{0xA5});
    }
  }

  // The comparison must be able to fail: one changed bit of a block is seen in every type.
  void aChangedBitIsSeen() {
    for (Record& record : golden_records()) {
      if (record.kind != 0) continue;
      const auto count = static_cast<std::int64_t>(record.values.size());
      const std::size_t block = static_cast<std::size_t>(block_shape(record.type).bytes);
      record.bytes[2 * block + block / 2] ^= std::byte{1};
      std::vector<float> out(record.values.size());
      formats::dequantize(record.type, record.bytes.data(), count, out.data());
      QVERIFY2(!std::equal(out.begin(), out.end(), record.values.begin(), same),
               type_name(record.type).data());
    }
  }

  void everyHalfHasItsValue() {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      if ((bits & 0x7C00U) == 0x7C00U) continue;
      const float value = formats::f16_to_f32(static_cast<std::uint16_t>(bits));
      QCOMPARE(static_cast<double>(value), value_of_half(bits));
      QCOMPARE(unsigned{formats::f32_to_f16(value)}, bits);
    }
    QVERIFY(std::isinf(formats::f16_to_f32(0x7C00)) && std::isinf(formats::f16_to_f32(0xFC00)));
    QVERIFY(std::isnan(formats::f16_to_f32(0x7E00)) && std::isnan(formats::f16_to_f32(0x7C01)));
  }

  void halfwayValuesRoundToEven() {
    for (unsigned bits = 0; bits < 0x7BFF; ++bits) {
      const auto middle = static_cast<float>((value_of_half(bits) + value_of_half(bits + 1)) / 2);
      const unsigned even = bits % 2 == 0 ? bits : bits + 1;
      QCOMPARE(unsigned{formats::f32_to_f16(middle)}, even);
      QCOMPARE(unsigned{formats::f32_to_f16(-middle)}, even | 0x8000U);
      QCOMPARE(unsigned{formats::f32_to_f16(std::nextafter(middle, 1e9F))}, bits + 1);
      QCOMPARE(unsigned{formats::f32_to_f16(std::nextafter(middle, 0.0F))}, bits);
    }
  }

  void specialValuesSurvive() {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    QCOMPARE(unsigned{formats::f32_to_f16(infinity)}, 0x7C00U);
    QCOMPARE(unsigned{formats::f32_to_f16(65519.0F)}, 0x7BFFU);
    QCOMPARE(unsigned{formats::f32_to_f16(65520.0F)}, 0x7C00U);
    QCOMPARE(unsigned{formats::f32_to_f16(-1e30F)}, 0xFC00U);
    QVERIFY(std::isnan(formats::f16_to_f32(formats::f32_to_f16(nan))));
    QCOMPARE(unsigned{formats::f32_to_bf16(-infinity)}, 0xFF80U);
    QVERIFY(std::isnan(formats::bf16_to_f32(formats::f32_to_bf16(nan))));
    // 1 + 2^-8 lies halfway between two bf16, 1 + 3 · 2^-8 too.
    QCOMPARE(unsigned{formats::f32_to_bf16(1.00390625F)}, 0x3F80U);
    QCOMPARE(unsigned{formats::f32_to_bf16(1.01171875F)}, 0x3F82U);
  }

  // Values that f16 scales cannot hold (too small, not finite) must not trap or shift their neighbours.
  void extremeBlocksStayDefined_data() {
    QTest::addColumn<int>("type");
    for (const Type type : {Type::q4_0, Type::q4_1, Type::q5_0, Type::q5_1, Type::q8_0}) {
      QTest::newRow(std::string(type_name(type)).c_str()) << static_cast<int>(type);
    }
  }
  void extremeBlocksStayDefined() {
    QFETCH(int, type);
    const Type t = static_cast<Type>(type);
    std::vector<float> in(96, 1e-41F);
    in[5] = -1e-40F;
    in[40] = std::numeric_limits<float>::quiet_NaN();
    in[41] = std::numeric_limits<float>::infinity();
    for (int i = 64; i < 96; ++i) in[static_cast<std::size_t>(i)] = static_cast<float>(i % 2);
    std::vector<std::byte> packed(static_cast<std::size_t>(row_bytes(t, 96)));
    formats::quantize(t, in.data(), 96, packed.data());
    std::vector<float> out(96);
    formats::dequantize(t, packed.data(), 96, out.data());
    for (std::size_t i = 0; i < 32; ++i) QCOMPARE(out[i], 0.0F);
    for (std::size_t i = 64; i < 96; ++i) QVERIFY(std::fabs(out[i] - in[i]) < 0.07F);
  }
};
FOVEA_TEST(FormatsTest)

#include "formats_test.moc"
