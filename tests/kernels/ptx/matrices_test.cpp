// Products of small matrices on tensor cores: what each lane holds, read off the figures "MMA .m16n8k16
// fragment layout …" and "MMA .m16n8k32 fragment layout …" of the PTX ISA.
#include <string>
#include <string_view>
#include <vector>

#include "small_kernel.h"

using namespace fovea::tests;
using ptx::run_small;
using ptx::small_kernel;

namespace {

struct Place {
  unsigned lane, element;
  int row, column;
};

struct Product {
  const char* name;
  const char* types;                        // of the instruction
  unsigned a_registers, b_registers, bits;  // of an element
  unsigned one;
  unsigned sum;  // of a single one
  std::vector<Place> a, b;
};

const std::vector<Place> of_halves_a = {{0, 0, 0, 0},    {0, 1, 0, 1},    {0, 2, 8, 0},   {0, 3, 8, 1},
                                        {0, 4, 0, 8},    {0, 5, 0, 9},    {0, 6, 8, 8},   {0, 7, 8, 9},
                                        {1, 0, 0, 2},    {3, 5, 0, 15},   {4, 0, 1, 0},   {5, 3, 9, 3},
                                        {18, 6, 12, 12}, {30, 1, 7, 5},   {31, 0, 7, 6},  {31, 3, 15, 7},
                                        {31, 4, 7, 14},  {31, 7, 15, 15}, {27, 2, 14, 6}, {12, 4, 3, 8}};
const std::vector<Place> of_halves_b = {
    {0, 0, 0, 0}, {0, 1, 1, 0},  {0, 2, 8, 0},  {0, 3, 9, 0},  {1, 0, 2, 0},  {3, 1, 7, 0},  {3, 3, 15, 0},
    {4, 0, 0, 1}, {6, 2, 12, 1}, {17, 1, 3, 4}, {28, 0, 0, 7}, {31, 0, 6, 7}, {31, 3, 15, 7}};

const Product products[] = {
    {"halves", "m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 16, 0x3C00, 0x3F800000, of_halves_a, of_halves_b},
    {"bfloat16", "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 16, 0x3F80, 0x3F800000, of_halves_a,
     of_halves_b},
    {"bytes",
     "m16n8k32.row.col.s32.s8.s8.s32",
     4,
     2,
     8,
     1,
     1,
     {{0, 0, 0, 0},
      {0, 3, 0, 3},
      {0, 4, 8, 0},
      {0, 7, 8, 3},
      {0, 8, 0, 16},
      {0, 11, 0, 19},
      {0, 12, 8, 16},
      {0, 15, 8, 19},
      {1, 0, 0, 4},
      {3, 3, 0, 15},
      {3, 11, 0, 31},
      {4, 0, 1, 0},
      {18, 6, 12, 10},
      {18, 13, 12, 25},
      {31, 0, 7, 12},
      {31, 7, 15, 15},
      {31, 15, 15, 31}},
     {{0, 0, 0, 0},
      {0, 3, 3, 0},
      {0, 4, 16, 0},
      {0, 7, 19, 0},
      {1, 0, 4, 0},
      {3, 3, 15, 0},
      {3, 7, 31, 0},
      {4, 0, 0, 1},
      {17, 2, 6, 4},
      {31, 0, 12, 7},
      {31, 7, 31, 7}}},
    {"short bytes",
     "m16n8k16.row.col.s32.s8.s8.s32",
     2,
     1,
     8,
     1,
     1,
     {{0, 0, 0, 0},
      {0, 3, 0, 3},
      {0, 4, 8, 0},
      {0, 7, 8, 3},
      {1, 0, 0, 4},
      {3, 3, 0, 15},
      {18, 6, 12, 10},
      {31, 0, 7, 12},
      {31, 7, 15, 15}},
     {{0, 0, 0, 0}, {0, 3, 3, 0}, {1, 0, 4, 0}, {3, 3, 15, 0}, {4, 0, 0, 1}, {31, 3, 15, 7}}}};

// Nothing but a one where the place says, in registers from %r`first` on.
std::string one_at(const Product& product, const Place& place, unsigned first, unsigned registers,
                   const char* predicate) {
  const unsigned in_register = 32 / product.bits;
  std::string text;
  for (unsigned r = 0; r < registers; ++r) text += "mov.u32 %r" + std::to_string(first + r) + ", 0;\n";
  return text + "setp.eq.u32 " + predicate + ", %r1, " + std::to_string(place.lane) + ";\n@" + predicate +
         " mov.u32 %r" + std::to_string(first + place.element / in_register) + ", " +
         std::to_string(product.one << product.bits * (place.element % in_register)) + ";\n";
}

// Sums [lane][element].
std::vector<std::uint32_t> multiply(const Product& product, const Place& a, const Place& b) {
  const bool is_short = product.a_registers == 2;
  const ptx::Ran ran = run_small(small_kernel(
      one_at(product, a, 3, product.a_registers, "%p1") + one_at(product, b, 7, product.b_registers, "%p2") +
      "mov.u32 %r9, 0;\nmma.sync.aligned." + product.types + " {%r3, %r4, %r5, %r6}, " +
      (is_short ? "{%r3, %r4}, {%r7}" : "{%r3, %r4, %r5, %r6}, {%r7, %r8}") +
      ", {%r9, %r9, %r9, %r9};\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd4, %rd1, %rd3;\n"
      "add.s64 %rd5, %rd2, %rd3;\nst.global.v2.u32 [%rd4], {%r3, %r4};\nst.global.v2.u32 [%rd5], {%r5, "
      "%r6};"));
  if (!ran.wrong.empty()) qFatal("%s", ran.wrong.c_str());
  std::vector<std::uint32_t> sums(128);
  for (std::size_t i = 0; i < 64; ++i) {
    sums[i / 2 * 4 + i % 2] = ran.first[i];
    sums[i / 2 * 4 + 2 + i % 2] = ran.second[i];
  }
  return sums;
}

}  // namespace

class PtxMatricesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void lanes_hold_what_the_isa_says_data() {
    QTest::addColumn<int>("index");
    for (int i = 0; i < static_cast<int>(std::size(products)); ++i) QTest::newRow(products[i].name) << i;
  }
  void lanes_hold_what_the_isa_says() {
    QFETCH(int, index);
    const Product& product = products[index];
    int met = 0;
    for (const Place& a : product.a) {
      for (const Place& b : product.b) {
        const std::vector<std::uint32_t> sums = multiply(product, a, b);
        for (unsigned lane = 0; lane < 32; ++lane) {
          for (unsigned i = 0; i < 4; ++i) {
            const auto row = static_cast<int>(lane / 4 + i / 2 * 8),
                       column = static_cast<int>(lane % 4 * 2 + i % 2);
            const bool is_there = a.column == b.row && row == a.row && column == b.column;
            met += is_there ? 1 : 0;
            QCOMPARE(sums[4 * lane + i], is_there ? product.sum : 0U);
          }
        }
      }
    }
    QVERIFY(met > 4);
  }
};
FOVEA_TEST(PtxMatricesTest)

#include "matrices_test.moc"
