// Packing is a lossless permutation: every row comes back as the file had it, and the bytes of a full tile
// are those of its rows in another order.
#include "kernels/cpu/pack.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/device.h"
#include "kernels/cpu/tiles.h"
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

}  // namespace

class PackTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void gives_every_row_back_data();
  void gives_every_row_back();
  void packs_ranges_like_the_whole();
  void a_wrong_row_is_seen();
  void every_set_packs_alike();
};

void PackTest::gives_every_row_back_data() {
  QTest::addColumn<int>("type");
  QTest::addColumn<int>("rows");
  for (const Type type : types) {
    for (const int rows : {16, 1, 15, 17, 64}) {
      QTest::addRow("%s %d rows", type_name(type).data(), rows) << static_cast<int>(type) << rows;
    }
  }
}

void PackTest::gives_every_row_back() {
  QFETCH(int, type);
  QFETCH(int, rows);
  const Type t = static_cast<Type>(type);
  const std::int64_t columns = odd_columns(t);
  const std::int64_t bytes = row_bytes(t, columns);
  const std::vector<std::byte> file = random_bytes(rows * bytes);
  std::vector<std::byte> packed(
      static_cast<std::size_t>(device().packed_bytes(Packing::tiles, t, rows, columns)), std::byte{0xee});
  QCOMPARE(static_cast<std::int64_t>(packed.size()), (rows + 15) / 16 * 16 * bytes);
  device().pack(Packing::tiles, t, rows, columns, file.data(), 0, rows, packed.data());

  std::vector<std::byte> row(static_cast<std::size_t>(bytes));
  for (int r = 0; r < rows; ++r) {
    cpu::unpack_row(t, columns, packed.data() + r / 16 * 16 * bytes, r % 16, row.data());
    QVERIFY2(std::memcmp(row.data(), file.data() + r * bytes, row.size()) == 0,
             qPrintable(QStringLiteral("row %1, seed %2").arg(r).arg(fovea::tests::seed())));
  }
  // Every byte was written, the padding too.
  std::vector<std::byte> again(packed.size(), std::byte{0x11});
  device().pack(Packing::tiles, t, rows, columns, file.data(), 0, rows, again.data());
  QVERIFY(packed == again);
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

void PackTest::a_wrong_row_is_seen() {
  const std::int64_t bytes = row_bytes(Type::q5_0, 32);
  std::vector<std::byte> file = random_bytes(16 * bytes);
  std::vector<std::byte> tile(file.size());
  cpu::pack_tile(Type::q5_0, 32, file.data(), bytes, 16, tile.data());
  file[static_cast<std::size_t>(3 * bytes + 4)] ^= std::byte{1};
  std::vector<std::byte> row(static_cast<std::size_t>(bytes));
  cpu::unpack_row(Type::q5_0, 32, tile.data(), 3, row.data());
  QVERIFY(std::memcmp(row.data(), file.data() + 3 * bytes, row.size()) != 0);
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
