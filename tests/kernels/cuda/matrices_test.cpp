// Products of small matrices on tensor cores: what the emulation takes each lane to hold against the PTX
// ISA's own figures, how kernels load their shares (mma.h) against a plain product, and that a warp which is
// not whole is reported.
#include "tests/kernels/cuda/emulation/matrices.h"

#include <string>
#include <vector>

#include "kernels/cuda/mma.h"
#include "kernels/formats/half.h"
#include "tests/kernels/cuda/emulation/device.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cuda;
using fovea::kernels::cuda::emulation::emulated_device;
using fovea::kernels::cuda::emulation::MatrixPlace;
using fovea::kernels::cuda::emulation::Operand;

namespace {

constexpr unsigned warp = 32;
constexpr int stride = 12;  // words of a row in shared memory

// a's rows, then b's columns, `words` each; c [16, 8]. Matrices are loaded word by word and by one
// instruction, which must be the same.
template <int words, typename Sum, auto multiply>
FOVEA_KERNEL(warp)
product_kernel(const std::uint32_t* matrices, Sum* c) {
  FOVEA_SHARED(std::uint32_t, shared, 32 * stride);
  for (int i = static_cast<int>(thread_index()); i < 32 * words; i += 32)
    shared[i / words * stride + i % words] = i < 24 * words ? matrices[i] : 0U;
  sync_warp();
  std::uint32_t a[words / 2];
  std::uint32_t b[words / 4];
  std::uint32_t more[4];
  bool same = true;
  if constexpr (words == 8) {
    load_rows(shared, 0, stride, a);
    load_matrices(shared, first_of_rows(stride), more);
    for (int k = 0; k < 4; ++k) same &= more[k] == a[k];
    load_columns(shared, 16 * stride, stride, b);
    load_matrices(shared, 16 * stride + first_of_columns(stride), more);
    for (int k = 0; k < 2; ++k) same &= more[k] == b[k] && more[k + 2] == 0;
  } else {
    load_matrices(shared, first_of_short(stride), more);
    for (int k = 0; k < 2; ++k) a[k] = more[k];
    b[0] = more[2];
    same = more[3] == 0;
  }
  Sum sums[4];
  for (int k = 0; k < 4; ++k) sums[k] = same ? c[sum_row(k) * 8 + sum_column(k)] : Sum{-12345};
  multiply(sums, a, b);
  for (int k = 0; k < 4; ++k) c[sum_row(k) * 8 + sum_column(k)] = sums[k];
}

using Words = const std::uint32_t;
constexpr auto halves = [](float (&c)[4], Words (&a)[4], Words (&b)[2]) { multiply_halves(c, a, b); };
constexpr auto bfloat16 = [](float (&c)[4], Words (&a)[4], Words (&b)[2]) { multiply_bfloat16(c, a, b); };
// Onto a base that is taken off again.
template <int a_words, int b_words>
void add_bytes(int (&c)[4], Words (&a)[a_words], Words (&b)[b_words]) {
  int sums[4] = {-1, -1, -1, -1};
  const int base[4] = {77, 78, 79, 80};
  multiply_bytes(sums, a, b, base);
  for (int k = 0; k < 4; ++k) c[k] += sums[k] - base[k];
}
constexpr auto bytes = add_bytes<4, 2>;
constexpr auto short_bytes = add_bytes<2, 1>;

FOVEA_KERNEL(warp) lacks_a_lane(float* c) {
  float sums[4] = {};
  const std::uint32_t a[4] = {};
  const std::uint32_t b[2] = {};
  if (thread_index() == 21) return;
  multiply_halves(sums, a, b);
  c[0] = sums[0];
}
FOVEA_KERNEL(warp) multiplies_in_two_places(float* c) {
  int sums[4] = {};
  const std::uint32_t a[4] = {};
  const std::uint32_t b[2] = {};
  if (thread_index() < 16) {
    multiply_bytes(sums, a, b, sums);
  } else {
    multiply_bytes(sums, a, b, sums);
  }
  c[0] = static_cast<float>(sums[0]);
}
FOVEA_KERNEL(warp) waits_while_others_multiply(float* c) {
  float sums[4] = {};
  const std::uint32_t a[4] = {};
  const std::uint32_t b[2] = {};
  if (thread_index() == 3) {
    sync_block();
  } else {
    multiply_bfloat16(sums, a, b);
    sync_block();
  }
  c[0] = sums[0];
}

struct Bench {
  explicit Bench(std::uint64_t seed = fovea::tests::seed())
      : device(
            emulated_device({.seed = seed, .on_error = [this](const std::string& text) { error = text; }})),
        stream(device->make_stream({})),
        memory(device->allocate(bytes)) {}
  ~Bench() {
    stream.reset();
    device->release(memory, bytes);
  }
  template <typename T>
  void set(std::int64_t at, const std::vector<T>& values) {
    device->copy(memory + at, reinterpret_cast<const std::byte*>(values.data()),
                 static_cast<std::int64_t>(values.size() * sizeof(T)), *stream);
    stream->synchronize();
  }
  template <typename T>
  std::vector<T> get(std::int64_t at, std::size_t count) {
    std::vector<T> values(count);
    device->read_back(reinterpret_cast<std::byte*>(values.data()), memory + at,
                      static_cast<std::int64_t>(count * sizeof(T)), *stream);
    stream->synchronize();
    return values;
  }

  static constexpr std::int64_t bytes = 4096;
  std::string error;
  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  std::byte* memory;
};

// Element (row or column, k) as the kernel's memory has it, and its value. Small integers: every sum is
// exact.
template <typename Element>
struct Made {
  std::vector<Element> stored;
  std::vector<int> values;
};
template <typename Element, typename Encode>
Made<Element> make(int depth, const Encode& encode) {
  Made<Element> made;
  for (int i = 0; i < 24 * depth; ++i) {
    const int value = i * 37 % 199 - 99;
    made.values.push_back(value);
    made.stored.push_back(encode(value));
  }
  return made;
}

template <auto kernel, typename Sum, typename Element>
std::string wrong_product(const Made<Element>& made, int depth) {
  Bench bench;
  constexpr std::int64_t sums_at = 2048;
  std::vector<Sum> before;
  for (int i = 0; i < 128; ++i) before.push_back(static_cast<Sum>(1000 + i));
  bench.set(0, made.stored);
  bench.set(sums_at, before);
  launch<kernel>({.threads = warp}, on_cuda(*bench.stream),
                 reinterpret_cast<const std::uint32_t*>(bench.memory),
                 reinterpret_cast<Sum*>(bench.memory + sums_at));
  const std::vector<Sum> sums = bench.get<Sum>(sums_at, 128);
  if (!bench.error.empty()) return bench.error;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      int expected = 1000 + row * 8 + column;
      for (int k = 0; k < depth; ++k) {
        expected += made.values[static_cast<std::size_t>(row * depth + k)] *
                    made.values[static_cast<std::size_t>((16 + column) * depth + k)];
      }
      const Sum got = sums[static_cast<std::size_t>(row * 8 + column)];
      if (got != static_cast<Sum>(expected)) {
        return "row " + std::to_string(row) + ", column " + std::to_string(column) + ": " +
               std::to_string(got) + ", expected " + std::to_string(expected);
      }
    }
  }
  return {};
}

}  // namespace

class MatricesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void lanes_hold_what_the_isa_says_data();
  void lanes_hold_what_the_isa_says();
  void each_element_has_one_lane();
  void products_are_right();
  void a_warp_that_is_not_whole_is_reported();
};

// Read off the figures "MMA .m16n8k16 fragment layout …" and "MMA .m16n8k32 fragment layout …" of the PTX
// ISA.
void MatricesTest::lanes_hold_what_the_isa_says_data() {
  using P = emulation::Product;
  QTest::addColumn<int>("product");
  QTest::addColumn<int>("operand");
  QTest::addColumn<int>("lane");
  QTest::addColumn<int>("element");
  QTest::addColumn<int>("row");
  QTest::addColumn<int>("column");
  const auto add = [](const char* name, P product, Operand operand, std::vector<std::vector<int>> places) {
    for (const auto& p : places) {
      QTest::addRow("%s, lane %d, element %d", name, p[0], p[1])
          << static_cast<int>(product) << static_cast<int>(operand) << p[0] << p[1] << p[2] << p[3];
    }
  };
  // {lane, element, row, column}
  for (const P product : {P::halves, P::bfloat16}) {
    const char* const name = product == P::halves ? "f16" : "bf16";
    add((std::string(name) + " a").c_str(), product, Operand::a,
        {{0, 0, 0, 0},   {0, 1, 0, 1},   {0, 2, 8, 0},    {0, 3, 8, 1},   {0, 4, 0, 8},
         {0, 5, 0, 9},   {0, 6, 8, 8},   {0, 7, 8, 9},    {1, 0, 0, 2},   {3, 5, 0, 15},
         {4, 0, 1, 0},   {5, 3, 9, 3},   {18, 6, 12, 12}, {30, 1, 7, 5},  {31, 0, 7, 6},
         {31, 3, 15, 7}, {31, 4, 7, 14}, {31, 7, 15, 15}, {27, 2, 14, 6}, {12, 4, 3, 8}});
    add((std::string(name) + " b").c_str(), product, Operand::b,
        {{0, 0, 0, 0},
         {0, 1, 1, 0},
         {0, 2, 8, 0},
         {0, 3, 9, 0},
         {1, 0, 2, 0},
         {3, 1, 7, 0},
         {3, 3, 15, 0},
         {4, 0, 0, 1},
         {6, 2, 12, 1},
         {17, 1, 3, 4},
         {28, 0, 0, 7},
         {31, 0, 6, 7},
         {31, 3, 15, 7}});
    add((std::string(name) + " c").c_str(), product, Operand::c,
        {{0, 0, 0, 0},
         {0, 1, 0, 1},
         {0, 2, 8, 0},
         {0, 3, 8, 1},
         {1, 0, 0, 2},
         {3, 1, 0, 7},
         {4, 0, 1, 0},
         {17, 2, 12, 2},
         {31, 0, 7, 6},
         {31, 3, 15, 7}});
  }
  add("s8 k32 a", P::bytes, Operand::a,
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
       {31, 15, 15, 31}});
  add("s8 k32 b", P::bytes, Operand::b,
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
       {31, 7, 31, 7}});
  add("s8 k16 a", P::short_bytes, Operand::a,
      {{0, 0, 0, 0},
       {0, 3, 0, 3},
       {0, 4, 8, 0},
       {0, 7, 8, 3},
       {1, 0, 0, 4},
       {3, 3, 0, 15},
       {18, 6, 12, 10},
       {31, 0, 7, 12},
       {31, 7, 15, 15}});
  add("s8 k16 b", P::short_bytes, Operand::b,
      {{0, 0, 0, 0}, {0, 3, 3, 0}, {1, 0, 4, 0}, {3, 3, 15, 0}, {4, 0, 0, 1}, {31, 3, 15, 7}});
  for (const P product : {P::bytes, P::short_bytes}) {
    add(product == P::bytes ? "s8 k32 c" : "s8 k16 c", product, Operand::c,
        {{0, 0, 0, 0},
         {0, 1, 0, 1},
         {0, 2, 8, 0},
         {0, 3, 8, 1},
         {2, 1, 0, 5},
         {29, 3, 15, 3},
         {31, 2, 15, 6}});
  }
}

void MatricesTest::lanes_hold_what_the_isa_says() {
  QFETCH(int, product);
  QFETCH(int, operand);
  QFETCH(int, lane);
  QFETCH(int, element);
  QFETCH(int, row);
  QFETCH(int, column);
  const MatrixPlace at = emulation::place_of_element(static_cast<emulation::Product>(product),
                                                     static_cast<Operand>(operand), lane, element);
  QCOMPARE(at.row, row);
  QCOMPARE(at.column, column);
}

void MatricesTest::each_element_has_one_lane() {
  using P = emulation::Product;
  for (const P product : {P::halves, P::bfloat16, P::bytes, P::short_bytes}) {
    for (const Operand operand : {Operand::a, Operand::b, Operand::c}) {
      const int depth = product == P::bytes ? 32 : 16;
      const int rows = operand == Operand::b ? depth : 16;
      const int columns = operand == Operand::a ? depth : 8;
      std::vector<int> held(static_cast<std::size_t>(rows * columns));
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < emulation::elements_of_lane(product, operand); ++i) {
          const MatrixPlace at = emulation::place_of_element(product, operand, lane, i);
          QVERIFY(at.row >= 0 && at.row < rows && at.column >= 0 && at.column < columns);
          ++held[static_cast<std::size_t>(at.row * columns + at.column)];
        }
      }
      QCOMPARE(held, std::vector<int>(held.size(), 1));
    }
  }
}

void MatricesTest::products_are_right() {
  const auto half =
      make<std::uint16_t>(16, [](int value) { return formats::float_to_half(static_cast<float>(value)); });
  const auto rounded = make<std::uint16_t>(
      16, [](int value) { return formats::float_to_bfloat16(static_cast<float>(value)); });
  const auto byte = [](int value) { return static_cast<std::int8_t>(value); };
  std::string wrong = wrong_product<product_kernel<8, float, halves>, float>(half, 16);
  QVERIFY2(wrong.empty(), wrong.c_str());
  wrong = wrong_product<product_kernel<8, float, bfloat16>, float>(rounded, 16);
  QVERIFY2(wrong.empty(), wrong.c_str());
  wrong = wrong_product<product_kernel<8, int, bytes>, int>(make<std::int8_t>(32, byte), 32);
  QVERIFY2(wrong.empty(), wrong.c_str());
  wrong = wrong_product<product_kernel<4, int, short_bytes>, int>(make<std::int8_t>(16, byte), 16);
  QVERIFY2(wrong.empty(), wrong.c_str());
  // The checker itself: halves read as bfloat16.
  QVERIFY(!(wrong_product<product_kernel<8, float, bfloat16>, float>(half, 16)).empty());
}

void MatricesTest::a_warp_that_is_not_whole_is_reported() {
  const auto report = [](std::uint64_t seed, auto start) {
    Bench bench(seed);
    start(on_cuda(*bench.stream), reinterpret_cast<float*>(bench.memory));
    bench.stream->synchronize();
    return bench.error;
  };
  const auto has = [](const std::string& text, const char* part) {
    const bool there = text.find(part) != std::string::npos;
    if (!there) qWarning("not in the report: %s\nthe report: %s", part, text.c_str());
    return there;
  };
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    std::string text = report(
        seed, [](CudaStream& stream, float* c) { launch<lacks_a_lane>({.threads = warp}, stream, c); });
    QVERIFY(has(text, "kernel lacks_a_lane, block (0, 0, 0), thread "));
    QVERIFY(has(text, "in multiply_halves at matrices_test.cpp:"));
    text = report(seed, [](CudaStream& stream, float* c) {
      launch<multiplies_in_two_places>({.threads = warp}, stream, c);
    });
    QVERIFY(has(text, "is in multiply_bytes at matrices_test.cpp:"));
    QVERIFY(has(text, "while lanes of its warp in multiply_bytes at matrices_test.cpp:"));
    text = report(seed, [](CudaStream& stream, float* c) {
      launch<waits_while_others_multiply>({.threads = warp}, stream, c);
    });
    QVERIFY(has(text, "kernel waits_while_others_multiply, block (0, 0, 0) cannot go on: thread "));
    // A block of fewer threads than a warp has lanes.
    text = report(seed, [](CudaStream& stream, float* c) {
      launch<multiplies_in_two_places>({.threads = 16}, stream, c);
    });
    QVERIFY(has(text, "for lanes that its warp does not have"));
  }
}

FOVEA_TEST(MatricesTest)
#include "matrices_test.moc"
