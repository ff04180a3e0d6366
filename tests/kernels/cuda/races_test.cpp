// Races in device memory: what counts as one, and that a kernel with one is ended where the compiler tells
// its accesses (accesses.h), which is where Clang builds for the address sanitizer.
#include <string>
#include <vector>

#include "kernels/cuda/platform.h"
#include "tests/kernels/cuda/emulation/accesses.h"
#include "tests/kernels/cuda/emulation/device.h"
#include "tests/kernels/cuda/emulation/memory.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cuda;
using fovea::kernels::cuda::emulation::Accesses;
using fovea::kernels::cuda::emulation::DeviceMemory;
using fovea::kernels::cuda::emulation::emulated_device;

namespace {

constexpr unsigned many = 64;  // threads of a block: two warps

FOVEA_KERNEL(many) each_its_own(int* x, char* bytes) {
  const unsigned i = block_x() * many + thread_index();
  bytes[i] = static_cast<char>(x[i]);
  x[i] += bytes[i];
}
FOVEA_KERNEL(many) shares_behind_a_barrier(int* x, char*) {
  int* const mine = x + block_x() * many;
  mine[thread_index()] = 1;
  sync_block();
  const int other = mine[(thread_index() + 40) % many];
  sync_block();
  mine[thread_index()] = other;
}
FOVEA_KERNEL(many) counts(int* x, char*) {
  if (thread_index() % 32 == 0) atomic_add(x, 1);
}

FOVEA_KERNEL(many) blocks_write_the_same(int* x, char*) {
  if (thread_index() == 0) x[5] = static_cast<int>(block_x());
}
FOVEA_KERNEL(many) blocks_read_what_others_write(int* x, char*) {
  if (thread_index() == 0) x[block_x()] = x[(block_x() + 1) % grid_x()];
}
FOVEA_KERNEL(many) warps_write_the_same(int* x, char*) {
  if (thread_index() % 32 == 0) x[block_x()] = 1;
}
FOVEA_KERNEL(many) warps_read_without_a_barrier(int* x, char*) {
  int* const mine = x + block_x() * many;
  mine[thread_index()] = mine[(thread_index() + 40) % many];
}
FOVEA_KERNEL(many) reads_a_count_of_others(int* x, char*) {
  if (thread_index() == 0) x[1 + block_x()] = atomic_add(x, 1);
  if (thread_index() == 32) x[9 + block_x()] = x[0];
}

struct Step {
  Accesses::Actor actor;
  int byte;
  Accesses::Kind kind;
};
using Steps = std::vector<Step>;

}  // namespace
Q_DECLARE_METATYPE(Steps)

class CudaRacesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void ordersAccesses_data() {
    using enum Accesses::Kind;
    QTest::addColumn<Steps>("steps");  // of which the last one may race
    QTest::addColumn<QString>("with");
    const auto row = [](const char* name, const Steps& steps, const char* with) {
      QTest::newRow(name) << steps << QString::fromLatin1(with);
    };
    row("reads", {{{0, 0, 1}, 4, read}, {{1, 0, 2}, 4, read}}, "");
    row("one warp", {{{0, 0, 1}, 4, write}, {{0, 0, 1}, 4, read}, {{0, 0, 1}, 4, write}}, "");
    row("neighbours", {{{0, 0, 1}, 4, write}, {{1, 0, 2}, 5, write}}, "");
    row("two blocks write", {{{0, 0, 1}, 4, write}, {{1, 0, 2}, 4, write}}, "a write of block 0, warp 0");
    row("a block reads", {{{7, 1, 1}, 4, write}, {{1, 0, 2}, 4, read}}, "a write of block 7, warp 1");
    row("a block writes what was read", {{{0, 3, 1}, 4, read}, {{1, 0, 2}, 4, write}},
        "a read of block 0, warp 3");
    row("the first of several readers", {{{0, 3, 1}, 4, read}, {{1, 0, 2}, 4, read}, {{1, 0, 2}, 4, write}},
        "a read of block 0, warp 3");
    row("two warps", {{{0, 0, 1}, 4, write}, {{0, 1, 1}, 4, read}}, "a write of block 0, warp 0");
    row("two warps behind a barrier", {{{0, 0, 1}, 4, write}, {{0, 1, 2}, 4, read}}, "");
    row("two warps, written behind a barrier", {{{0, 0, 1}, 4, read}, {{0, 1, 2}, 4, write}}, "");
    row("atomic operations", {{{0, 0, 1}, 4, atomic}, {{1, 0, 2}, 4, atomic}}, "");
    row("an atomic one and a write", {{{0, 0, 1}, 4, atomic}, {{1, 0, 2}, 4, write}},
        "an atomic operation of block 0, warp 0");
    row("a write and an atomic one", {{{0, 0, 1}, 4, write}, {{1, 0, 2}, 4, atomic}},
        "a write of block 0, warp 0");
  }
  void ordersAccesses() {
    QFETCH(Steps, steps);
    QFETCH(QString, with);
    DeviceMemory memory;
    const std::byte* const bytes = memory.allocate(100);
    const int outside = 0;
    Accesses accesses;
    accesses.begin_launch();
    std::string found;
    for (const Step& step : steps) {
      QCOMPARE(found, std::string());
      QCOMPARE(accesses.add(memory, &outside, 4, step.kind, step.actor), std::string());
      found = accesses.add(memory, bytes + step.byte, 1, step.kind, step.actor);
    }
    QCOMPARE(found, with.toStdString());
    // Blocks with a fence are, one with and one without are not, and so are launches.
    accesses.begin_launch();
    QCOMPARE(accesses.add(memory, bytes, 4, Accesses::Kind::write, {0, 0, 1}), std::string());
    accesses.fence(0);
    accesses.fence(1);
    QCOMPARE(accesses.add(memory, bytes, 4, Accesses::Kind::read, {1, 0, 2}), std::string());
    QCOMPARE(accesses.add(memory, bytes, 4, Accesses::Kind::read, {2, 0, 3}),
             std::string("a write of block 0, warp 0"));
    accesses.begin_launch();
    QCOMPARE(accesses.add(memory, bytes, 100, Accesses::Kind::write, {9, 9, 9}), std::string());
  }

  void kernels_data() {
    QTest::addColumn<QString>("kernel");
    QTest::addColumn<bool>("races");
    for (const char* name : {"each_its_own", "shares_behind_a_barrier", "counts"})
      QTest::newRow(name) << QString::fromLatin1(name) << false;
    for (const char* name : {"blocks_write_the_same", "blocks_read_what_others_write", "warps_write_the_same",
                             "warps_read_without_a_barrier", "reads_a_count_of_others"})
      QTest::newRow(name) << QString::fromLatin1(name) << true;
  }
  void kernels() {
    if (!emulation::traces_accesses)
      QSKIP("this compiler does not tell kernels' accesses: Clang with the address sanitizer does");
    QFETCH(QString, kernel);
    QFETCH(bool, races);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      std::vector<std::string> errors;
      const auto device = emulated_device(
          {.seed = seed, .on_error = [&](const std::string& error) { errors.push_back(error); }});
      const auto stream = device->make_stream({});
      std::byte* const x = device->allocate(4 * 4 * many);
      std::byte* const bytes = device->allocate(4 * many);
      start(kernel.toStdString(), on_cuda(*stream), reinterpret_cast<int*>(x),
            reinterpret_cast<char*>(bytes));
      stream->synchronize();
      QCOMPARE(errors.size(), std::size_t{races});
      if (!races) continue;
      const std::string& error = errors.front();
      QVERIFY2(error.starts_with("kernel " + kernel.toStdString() + ", block ("), error.c_str());
      QVERIFY2(error.contains(" of 1024 bytes of device memory (allocation "), error.c_str());
      QVERIFY2(error.contains(", which races with a"), error.c_str());
    }
  }

 private:
  static void start(const std::string& name, CudaStream& stream, int* x, char* bytes) {
    const LaunchShape shape{.grid_x = 4, .threads = many};
    if (name == "each_its_own") launch<each_its_own>(shape, stream, x, bytes);
    if (name == "shares_behind_a_barrier") launch<shares_behind_a_barrier>(shape, stream, x, bytes);
    if (name == "counts") launch<counts>(shape, stream, x, bytes);
    if (name == "blocks_write_the_same") launch<blocks_write_the_same>(shape, stream, x, bytes);
    if (name == "blocks_read_what_others_write")
      launch<blocks_read_what_others_write>(shape, stream, x, bytes);
    if (name == "warps_write_the_same") launch<warps_write_the_same>(shape, stream, x, bytes);
    if (name == "warps_read_without_a_barrier") launch<warps_read_without_a_barrier>(shape, stream, x, bytes);
    if (name == "reads_a_count_of_others") launch<reads_a_count_of_others>(shape, stream, x, bytes);
  }
};

FOVEA_TEST(CudaRacesTest)
#include "races_test.moc"
