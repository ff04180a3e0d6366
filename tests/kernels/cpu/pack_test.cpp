// Packing is lossless: a permutation of the file's bits, some of them turned.
#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/cpu/device.h"
#include "tests/support/test.h"

using namespace fovea::kernels;

namespace {

constexpr Type types[] = {Type::f32,   Type::f16,  Type::bf16, Type::q4_0,   Type::q4_1,
                          Type::q5_0,  Type::q5_1, Type::q8_0, Type::q2_k,   Type::q3_k,
                          Type::q4_k,  Type::q5_k, Type::q6_k, Type::iq4_nl, Type::iq4_xs,
                          Type::mxfp4, Type::q4_f, Type::q4_e, Type::q3_f,   Type::q2_f};

// A multiple of no vector's width beyond what the type's blocks demand.
std::int64_t odd_columns(Type type) {
  const std::int64_t elements = block_shape(type).elements;
  return elements == 1 ? 37 : 3 * elements;
}

std::vector<std::byte> random_bytes(std::int64_t count) {
  std::mt19937 random(fovea::tests::seed());
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

const Device& device() {
  return *cpu::device("scalar");
}

using Bytes = std::vector<std::byte>;

bool bit(const Bytes& bytes, std::size_t i) {
  return (bytes[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0};
}

Bytes pack(Type type, std::int64_t rows, std::int64_t columns, const Bytes& file, std::byte before = {}) {
  Bytes packed(static_cast<std::size_t>(device().packed_bytes(Packing::tiles, type, rows, columns)), before);
  device().pack(Packing::tiles, type, rows, columns, file.data(), 0, rows, packed.data());
  return packed;
}

// For each bit of the packing, which bit of the file decides it, counted from 1; 0: none.
std::vector<std::uint32_t> sources(Type type, std::int64_t rows, std::int64_t columns) {
  Bytes file(static_cast<std::size_t>(rows * row_bytes(type, columns)));
  const Bytes of_zeros = pack(type, rows, columns, file);
  std::vector<std::uint32_t> sources(of_zeros.size() * 8);
  // One digit of all numbers at a time.
  const auto digits = static_cast<int>(std::bit_width(file.size() * 8));
  for (int digit = 0; digit < digits; ++digit) {
    std::ranges::fill(file, std::byte{0});
    for (std::size_t i = 0; i < file.size() * 8; ++i)
      if ((i + 1) >> digit & 1) file[i / 8] |= std::byte{1} << (i % 8);
    const Bytes packed = pack(type, rows, columns, file);
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (bit(packed, i) != bit(of_zeros, i)) sources[i] |= 1U << digit;
  }
  return sources;
}

}  // namespace

class PackTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void every_bit_has_its_place_data();
  void every_bit_has_its_place();
  void packs_ranges_like_the_whole();
  void every_set_packs_alike();
};

void PackTest::every_bit_has_its_place_data() {
  QTest::addColumn<int>("type");
  QTest::addColumn<int>("rows");
  for (const Type type : types) {
    for (const int rows : {16, 1, 15, 17, 64}) {
      QTest::addRow("%s %d rows", type_name(type).data(), rows) << static_cast<int>(type) << rows;
    }
  }
}

void PackTest::every_bit_has_its_place() {
  QFETCH(int, type);
  QFETCH(int, rows);
  const Type t = static_cast<Type>(type);
  const std::int64_t columns = odd_columns(t);
  const Bytes file = random_bytes(rows * row_bytes(t, columns));
  const Bytes packed = pack(t, rows, columns, file);
  QCOMPARE(static_cast<std::int64_t>(packed.size()), (rows + 15) / 16 * 16 * row_bytes(t, columns));
  QVERIFY(packed ==
          pack(t, rows, columns, file, std::byte{0xee}));  // every byte was written, the padding too

  std::vector<std::uint32_t> from = sources(t, rows, columns);
  const Bytes of_zeros = pack(t, rows, columns, Bytes(file.size()));
  const auto is_right = [&](std::size_t i) {
    const bool changed = bit(packed, i) != bit(of_zeros, i);
    return changed == (from[i] != 0 && bit(file, from[i] - 1));
  };
  std::size_t right = 0;
  while (right < from.size() && is_right(right)) ++right;
  QVERIFY2(right == from.size(),
           qPrintable(QStringLiteral("bit %1, seed %2").arg(right).arg(fovea::tests::seed())));
  std::erase(from, 0U);
  std::ranges::sort(from);
  std::vector<std::uint32_t> each(file.size() * 8);
  std::iota(each.begin(), each.end(), 1U);
  QVERIFY(from == each);
}

void PackTest::packs_ranges_like_the_whole() {
  const std::int64_t rows = 75;
  const std::int64_t columns = 96;
  const std::int64_t bytes = row_bytes(Type::q4_1, columns);
  const std::vector<std::byte> file = random_bytes(rows * bytes);
  const auto size =
      static_cast<std::size_t>(device().packed_bytes(Packing::tiles, Type::q4_1, rows, columns));
  std::vector<std::byte> whole(size);
  std::vector<std::byte> pieces(size);
  device().pack(Packing::tiles, Type::q4_1, rows, columns, file.data(), 0, rows, whole.data());
  const std::int64_t unit = device().pack_granularity(Packing::tiles);
  for (std::int64_t first = 0; first < rows; first += unit) {
    device().pack(Packing::tiles, Type::q4_1, rows, columns, file.data() + first * bytes, first,
                  std::min(unit, rows - first), pieces.data());
  }
  QVERIFY(whole == pieces);
}

// A packed file serves every processor: all sets read the same order.
void PackTest::every_set_packs_alike() {
  const std::int64_t columns = 64;
  for (const Type type : {Type::f32, Type::q4_0, Type::q8_0}) {
    const std::vector<std::byte> file = random_bytes(48 * row_bytes(type, columns));
    std::vector<std::byte> first;
    for (const std::string_view set : cpu::available_instruction_sets()) {
      const Device& on = *cpu::device(set);
      std::vector<std::byte> packed(
          static_cast<std::size_t>(on.packed_bytes(Packing::tiles, type, 48, columns)));
      on.pack(Packing::tiles, type, 48, columns, file.data(), 0, 48, packed.data());
      if (first.empty()) first = packed;
      QVERIFY(packed == first);
    }
  }
}

FOVEA_TEST(PackTest)
#include "pack_test.moc"
